package install

import (
	"encoding/json"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/gate"
	"github.com/fairlead/fairlead/solver/olm/group"
)

// World is what is observed of one namespace. A backend fills in all but the
// answer of the resolver and the failures, which a [Runner] adds.
//
// What it holds may be old, but no part of it may be older than another. Lists
// may be in any order. Step does not change it.
type World struct {
	Namespace     string                   `json:"namespace"`
	Groups        []group.OperatorGroup    `json:"groups,omitempty"`        // of the namespace, and of all others whose targets meet its own
	Subscriptions []Subscription           `json:"subscriptions,omitempty"` // of the namespace
	CSVs          []CSV                    `json:"csvs,omitempty"`          // of the namespace
	Plans         []InstallPlan            `json:"plans,omitempty"`         // of the namespace
	Conditions    []gate.OperatorCondition `json:"conditions,omitempty"`    // of the namespace
	CRDs          []CRD                    `json:"crds,omitempty"`          // of the cluster: at least those that the CSVs name
	// APIServices names the aggregated APIs that are available, as VERSION.GROUP.
	APIServices []string `json:"apiServices,omitempty"`
	// Objects are all other objects that a step of the newest plan names, as far
	// as they exist.
	Objects []Object `json:"objects,omitempty"`
	// Contents are what has been unpacked of bundles; see [Unpack].
	Contents []Content `json:"contents,omitempty"`

	// Resolution is the resolver's answer to Request, unless Refusal says why
	// there is none.
	Resolution *olm.Resolution `json:"-"`
	Refusal    *Refusal        `json:"-"` // why there is no Resolution
	// Failures are what the last attempts failed with. They change no decision
	// and are told in Blocks.
	Failures []Failure `json:"-"`
}

// Mark is what a backend says of an object besides what it is.
type Mark struct {
	// Revision changes whenever the object does, and never comes back. It is
	// opaque; Kubernetes calls it resourceVersion.
	Revision string `json:"revision,omitempty"`
	// Digest is that of the [ApplyStep] that wrote the object last, empty if none
	// did.
	Digest string `json:"digest,omitempty"`
}

// Ref names an object.
type Ref struct {
	Group     string `json:"group,omitempty"`     // its API group, "" is the core group
	Kind      string `json:"kind"`                // its kind
	Namespace string `json:"namespace,omitempty"` // empty for what is of the cluster
	Name      string `json:"name"`                // its name
}

// String returns the kind and the name, with the namespace if there is one.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// Subscription is a subscription as it is observed.
type Subscription struct {
	olm.Subscription
	Mark
}

// Health is how that stands which a CSV's install strategy creates: its
// deployments, mostly.
type Health string

// The healths. Empty means that nothing of it exists.
const (
	Progressing Health = "Progressing" // it exists and is not ready yet
	Ready       Health = "Ready"       // it is ready
	Broken      Health = "Broken"      // it exists and will not become ready by itself
)

// CSV is a ClusterServiceVersion as it is observed.
type CSV struct {
	olm.ClusterServiceVersion
	Mark
	InstallModes group.InstallModes `json:"installModes,omitempty"` // those that its spec states
	Deployed     Health             `json:"deployed,omitempty"`     // how its install strategy stands
	Detail       string             `json:"detail,omitempty"`       // that in words
}

// member returns the CSV as operator groups see it.
func (c *CSV) member() *group.Operator {
	op := &group.Operator{
		ObjectMeta:   c.ObjectMeta,
		InstallModes: c.InstallModes,
		Phase:        string(c.Status.Phase),
		Reason:       group.Reason(c.Status.Reason),
	}
	for _, d := range c.Spec.CustomResourceDefinitions.Owned {
		plural, g, _ := strings.Cut(d.Name, ".")
		op.Owned = append(op.Owned, group.Owned{API: group.API{Group: g, Version: d.Version, Kind: d.Kind}, Plural: plural})
	}
	for _, d := range c.Spec.APIServiceDefinitions.Owned {
		op.Owned = append(op.Owned, group.Owned{API: group.API{Group: d.Group, Version: d.Version, Kind: d.Kind}, Plural: d.Name, Service: true})
	}
	return op
}

// CRD is a CustomResourceDefinition as it is observed.
type CRD struct {
	Name        string   `json:"name"`             // PLURAL.GROUP
	Served      []string `json:"served,omitempty"` // the versions that it serves
	Established bool     `json:"established"`      // whether its API can be used
	Mark
}

// Object is any other object.
type Object struct {
	Ref
	Mark
	Owner string `json:"owner,omitempty"` // the CSV that it belongs to
}

// Content is what a bundle holds.
type Content struct {
	Source    olm.SourceKey     `json:"source"`              // the catalog
	Bundle    string            `json:"bundle"`              // the bundle's name
	Manifests []json.RawMessage `json:"manifests,omitempty"` // its objects, in the bundle's order
	// Error says why it could not be unpacked; it is tried again.
	Error string `json:"error,omitempty"`
}

// Refusal says why there is no resolution.
type Refusal struct {
	Reason  string // ReasonUnsatisfiable or ReasonResolutionError
	Message string // for people, of one or more lines
}

// Failure is what the last attempt of an action failed with.
type Failure struct {
	Key     string // its Key, see Key
	Message string // the error
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

// upgradeable says whether the operator of a CSV may be replaced.
func (w *World) upgradeable(c *CSV) gate.Verdict {
	for i := range w.Conditions {
		if w.Conditions[i].Name == c.Name {
			return gate.Upgradeable(&w.Conditions[i])
		}
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

func (w *World) content(source olm.SourceKey, bundle string) *Content {
	for i := range w.Contents {
		if c := &w.Contents[i]; c.Source == source && c.Bundle == bundle {
			return c
		}
	}
	return nil
}

// mark returns what is seen of an object; ok is false if it does not exist.
func (w *World) mark(r Ref) (m Mark, ok bool) {
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
		for i := range w.CRDs {
			if w.CRDs[i].Name == r.Name {
				return w.CRDs[i].Mark, true
			}
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

// failForward reports whether a newer version may replace one that failed.
func (w *World) failForward() bool {
	g, err := group.Sole(w.Groups, w.Namespace)
	return err == nil && g.FailsForward()
}
