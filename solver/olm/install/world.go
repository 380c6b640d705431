package install

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/gate"
	"github.com/fairlead/fairlead/solver/olm/group"
)

// World is what is observed of one namespace. A backend fills in all but the
// answer of the resolver and the failures, which a [Runner] adds.
//
// It may be stale, but all of its parts must be of the same age. Lists may be
// in any order. Step does not change it.
type World struct {
	Namespace     string              `json:"namespace"`
	Groups        []OperatorGroup     `json:"groups,omitempty"`        // of the namespace, and of all others whose targets may overlap
	Subscriptions []Subscription      `json:"subscriptions,omitempty"` // of the namespace
	CSVs          []CSV               `json:"csvs,omitempty"`          // of the namespace
	Plans         []InstallPlan       `json:"plans,omitempty"`         // of the namespace
	Conditions    []OperatorCondition `json:"conditions,omitempty"`    // of the namespace
	// Objects are all other existing objects that a step of a plan names, or that
	// belong to a CSV of the namespace.
	Objects []Object `json:"objects,omitempty"`
	// Generated are the objects written by a [WriteObject] of the namespace,
	// cluster-scoped ones of any namespace, and the CSVs and copies of CSVs in
	// other namespaces, whose Owner is the namespace that they come from. So are
	// the API services that the CSVs of the namespace name, whoever wrote them.
	Generated []Object `json:"generated,omitempty"`
	// Certificates are those issued for the namespace, see [IssueCertificate].
	Certificates []Certificate `json:"certificates,omitempty"`
	// Contents are the unpacked contents of bundles; see [Unpack].
	Contents []Content `json:"contents,omitempty"`
	// Deprecations are those that concern subscriptions of the namespace; see
	// status.Deprecations.
	Deprecations []Deprecation `json:"deprecations,omitempty"`
	// Upgradeable is the last report for the namespace, see [ReportUpgradeable];
	// nil if there was none.
	Upgradeable *olm.Condition `json:"upgradeable,omitempty"`

	Cluster // what all namespaces have in common

	// Resolution is the resolver's answer to Request. With a Refusal it is nil, or
	// what the installed operators require, even if the rest cannot be resolved.
	Resolution *olm.Resolution `json:"resolution,omitempty"`
	Refusal    *Refusal        `json:"refusal,omitempty"` // why Request cannot be met
	// Outcomes are the errors of the last attempts, see [fairlead.Ledger].
	Outcomes []fairlead.Outcome `json:"outcomes,omitempty"`
}

// Mark is what a backend records about an object.
type Mark struct {
	// Revision changes whenever the object does, and never repeats. It is opaque;
	// Kubernetes calls it resourceVersion.
	Revision string `json:"revision,omitempty"`
	// Digest is that of the last [ApplyStep] or [WriteObject] that wrote the
	// object, empty if none did.
	Digest string `json:"digest,omitempty"`
}

// Ref names an object.
type Ref struct {
	Group     string `json:"group,omitempty"`     // its API group, "" is the core group
	Kind      string `json:"kind"`                // its kind
	Namespace string `json:"namespace,omitempty"` // empty if it is cluster-scoped
	Name      string `json:"name"`                // its name
}

// String returns the kind and the name, with the namespace if there is one.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// Subscription is an observed subscription.
type Subscription struct {
	olm.Subscription
	Mark
}

// OperatorGroup is an observed operator group.
type OperatorGroup struct {
	group.OperatorGroup
	Mark
}

// OperatorCondition is the observed condition that an operator reports about
// itself.
type OperatorCondition struct {
	gate.OperatorCondition
	Mark
}

// Health is the health of what a CSV's install strategy creates, mostly its
// deployments.
type Health string

// The healths. Empty means that nothing of it exists.
const (
	Progressing Health = "Progressing" // it exists, but is not ready yet
	Ready       Health = "Ready"       // it is ready
	Broken      Health = "Broken"      // it exists and will not become ready by itself
)

// CSV is an observed ClusterServiceVersion.
type CSV struct {
	olm.ClusterServiceVersion
	Mark
	Deployed Health `json:"deployed,omitempty"` // health of what its install strategy creates
	Detail   string `json:"detail,omitempty"`   // that in words
	// DeployedDigest is the Digest of the last [Deploy] carried out.
	DeployedDigest string `json:"deployedDigest,omitempty"`
}

// Object is any other object.
type Object struct {
	Ref
	Mark
	// Owner is what it belongs to: the CSV of a step, or the namespace for which
	// it was generated; empty if that is not known, or a CSV of another namespace.
	Owner string `json:"owner,omitempty"`
	// Home is the namespace of the CSV that a step's object belongs to, if it has no
	// namespace of its own; empty if that is not known, or the observed one.
	Home string `json:"home,omitempty"`
}

// Certificate identifies the pods of an operator: a Secret with a key, its
// certificate, and the authority that signed it.
type Certificate struct {
	Name  string   `json:"name"`  // of the Secret
	Hosts []string `json:"hosts"` // its DNS names
	// Authority is the certificate of the authority, PEM; the previous one follows
	// it, so that both are trusted while pods restart.
	Authority string    `json:"authority"`
	NotBefore time.Time `json:"notBefore"` // start of its validity
	NotAfter  time.Time `json:"notAfter"`  // end of its validity
	Mark
}

// Content is the content of a bundle.
type Content struct {
	Source olm.SourceKey `json:"source"` // the catalog
	Bundle string        `json:"bundle"` // the bundle's name
	// Properties are those of the bundle in its catalog; its CSV is annotated with
	// them.
	Properties []catalog.Property `json:"properties,omitempty"`
	Manifests  []json.RawMessage  `json:"manifests,omitempty"` // its objects, in the bundle's order
	// Error says why it could not be unpacked; it is retried.
	Error string `json:"error,omitempty"`
}

// Deprecation is a deprecation that concerns a subscription.
type Deprecation struct {
	Subscription string `json:"subscription"` // its name
	catalog.Deprecation
}

// Refusal says why the subscriptions of a namespace cannot be satisfied.
type Refusal struct {
	Reason  string `json:"reason"`  // ReasonUnsatisfiable, ReasonNamespaces or ReasonResolutionError
	Message string `json:"message"` // for people, of one or more lines
	// Again requests another resolution in a minute, even if nothing has changed.
	Again bool `json:"again,omitempty"`
}

// csv returns the CSV of that name, nil if there is none.
func (w *World) csv(name string) *CSV {
	for i := range w.CSVs {
		if w.CSVs[i].Name == name && !w.CSVs[i].Copied() {
			return &w.CSVs[i]
		}
	}
	return nil
}

func (w *World) condition(name string) *OperatorCondition {
	for i := range w.Conditions {
		if w.Conditions[i].Name == name {
			return &w.Conditions[i]
		}
	}
	return nil
}

// upgradeable says whether the operator of a CSV may be replaced.
func (w *World) upgradeable(c *CSV) gate.Verdict {
	if o := w.condition(c.Name); o != nil {
		return gate.Upgradeable(&o.OperatorCondition)
	}
	return gate.Upgradeable(nil)
}

func (w *World) plan(name string) *InstallPlan {
	for i := range w.Plans {
		if w.Plans[i].Name == name {
			return &w.Plans[i]
		}
	}
	return nil
}

func (w *World) subscription(name string) *Subscription {
	for i := range w.Subscriptions {
		if w.Subscriptions[i].Name == name {
			return &w.Subscriptions[i]
		}
	}
	return nil
}

func (w *World) crd(name string) *CRD {
	for i := range w.CRDs {
		if w.CRDs[i].Name == name {
			return &w.CRDs[i]
		}
	}
	return nil
}

func (w *World) content(source olm.SourceKey, bundle string) *Content {
	for i := range w.Contents {
		if c := &w.Contents[i]; c.Source == source && c.Bundle == bundle {
			return c
		}
	}
	return nil
}

// mark returns the mark of an object, and whether it exists.
func (w *World) mark(r Ref) (Mark, bool) {
	switch {
	case r.Kind == kindCSV && r.Group == groupOLM:
		if c := w.csv(r.Name); c != nil {
			return c.Mark, true
		}
	case r.Kind == kindSubscription && r.Group == groupOLM:
		if s := w.subscription(r.Name); s != nil {
			return s.Mark, true
		}
	case r.Kind == kindCRD && r.Group == groupCRD:
		if c := w.crd(r.Name); c != nil {
			return c.Mark, true
		}
	default:
		for i := range w.Objects {
			if w.Objects[i].Ref == r {
				return w.Objects[i].Mark, true
			}
		}
	}
	return Mark{}, false
}

// operatorGroups returns all operator groups without their marks.
func (w *World) operatorGroups() []group.OperatorGroup {
	all := make([]group.OperatorGroup, len(w.Groups))
	for i := range w.Groups {
		all[i] = w.Groups[i].OperatorGroup
	}
	return all
}

// failForward reports whether a newer version may replace one that failed.
func (w *World) failForward() bool {
	g, err := group.Sole(w.operatorGroups(), w.Namespace)
	return err == nil && g.FailsForward()
}

// sorted returns pointers to the elements of a list, by name.
func sorted[T any](list []T, name func(*T) string) []*T {
	all := make([]*T, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	slices.SortFunc(all, func(a, b *T) int {
		x, y := name(a), name(b)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return all
}
