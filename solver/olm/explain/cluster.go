package explain

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/crd"
	"github.com/fairlead/fairlead/solver/olm/gate"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/resource"
	"github.com/fairlead/fairlead/solver/olm/source"
)

// ObjectMeta is the part of an object's metadata that is read.
type ObjectMeta = fairlead.ObjectMeta

// Kind is a kind of object that a Cluster holds.
type Kind string

// The kinds.
const (
	KindSubscription      Kind = "Subscription"
	KindCSV               Kind = "ClusterServiceVersion"
	KindInstallPlan       Kind = "InstallPlan"
	KindOperatorGroup     Kind = "OperatorGroup"
	KindCatalogSource     Kind = "CatalogSource"
	KindOperatorCondition Kind = "OperatorCondition"
	KindNamespace         Kind = "Namespace"
	KindDefinition        Kind = "CustomResourceDefinition"
	KindJob               Kind = "Job"
	KindExtension         Kind = "ClusterExtension"
	KindClusterCatalog    Kind = "ClusterCatalog"
	KindPackageManifest   Kind = "PackageManifest"
)

// Cluster is what is known of the operators of a cluster. Lists are in any
// order. The functions of this package do not change it.
type Cluster struct {
	Subscriptions []resource.Subscription          // of all namespaces, as are the others
	CSVs          []resource.ClusterServiceVersion // with copies
	Plans         []resource.InstallPlan           // also old ones
	Groups        []group.OperatorGroup            // as observed
	Catalogs      []source.CatalogSource           // as observed
	Conditions    []gate.OperatorCondition         // as observed
	Namespaces    []ObjectMeta                     // with their labels
	Definitions   []crd.Definition                 // of custom resources
	Jobs          []Job                            // those that unpack bundles; others do no harm
	Packages      []resource.PackageManifest       // what catalogs offer; those that are missing are not known
	Hub           *source.Hub                      // which default catalogs the cluster has; nil if it is not known
	Config        *Config                          // nil if it is not known
	Extensions    []Extension                      // of OLM v1
	Served        []resource.ClusterCatalog        // of OLM v1

	// Kinds are those of which all objects are known, so that what is not there does
	// not exist. Kinds that have an object count as known.
	Kinds []Kind
	// Looked says so for a namespace, "" for objects without one; nil means that Kinds
	// says it.
	Looked func(k Kind, namespace string) bool
	// Global is the namespace whose catalogs all namespaces see; empty means that it
	// is guessed from the catalogs and what subscriptions name.
	Global string
	// Answers are what resolution gives, by namespace. Where there is none, the next
	// version of an operator is not known.
	Answers map[string]*Answer
	// Now is when the cluster was looked at: what lasts longer than OLM takes for it does
	// not pass by itself. Zero means that it is not known.
	Now time.Time
	// OpenShift says that the commands are for an OpenShift cluster.
	OpenShift bool

	retried map[string]bool // by namespace, whether OLM resolves it again after a change; see After
}

// Answer is what resolution gives for a namespace.
type Answer struct {
	Next []Next // the operators that it would install or update
	// Refused says why there is no answer, a line each; nil if there is one.
	Refused []string
	// Advice is what would help then, a sentence; "" if nothing is known to.
	Advice string
	// Steps are the changes of which Advice consists, if they are known.
	Steps []olm.Step
}

// Next is an operator that resolution chooses.
type Next struct {
	CSV           string             // its name
	Updates       string             // the CSV that it replaces, or ""
	Subscriptions []string           // those that it serves
	RequiredBy    []string           // the CSVs that require it
	Modes         group.InstallModes // its install modes
	ModesKnown    bool               // whether the catalog states them
	Deprecated    []string           // what the catalog says of deprecations, a sentence each
	MaxOpenShift  string             // the last version of OpenShift that it supports, as in "4.19", or "" if it states none
}

// known reports whether all objects of a kind are known, in a namespace.
func (c *Cluster) known(k Kind, namespace string) bool {
	if c.Looked != nil {
		return c.Looked(k, namespace)
	}
	if slices.Contains(c.Kinds, k) {
		return true
	}
	switch k {
	case KindSubscription:
		return len(c.Subscriptions) > 0
	case KindCSV:
		return len(c.CSVs) > 0
	case KindInstallPlan:
		return len(c.Plans) > 0
	case KindOperatorGroup:
		return len(c.Groups) > 0
	case KindCatalogSource:
		return len(c.Catalogs) > 0
	case KindOperatorCondition:
		return len(c.Conditions) > 0
	case KindNamespace:
		return len(c.Namespaces) > 0
	case KindDefinition:
		return len(c.Definitions) > 0
	case KindJob:
		return len(c.Jobs) > 0
	case KindExtension:
		return len(c.Extensions) > 0
	case KindClusterCatalog:
		return len(c.Served) > 0
	}
	return false
}

// global is the namespace whose catalogs all namespaces see.
func (c *Cluster) global() string {
	if c.Global != "" {
		return c.Global
	}
	return GuessGlobal(c.Subscriptions, c.Catalogs)
}

// GuessGlobal guesses the namespace whose catalogs all namespaces see: the one
// with the most catalogs, or else the one that most subscriptions name.
func GuessGlobal(subs []resource.Subscription, catalogs []source.CatalogSource) string {
	count := make(map[string]int)
	for i := range catalogs {
		count[catalogs[i].Namespace] += len(subs) + 1
	}
	for i := range subs {
		if n := subs[i].Spec.SourceNamespace; n != "" {
			count[n]++
		}
	}
	best := ""
	for name, n := range count {
		if n > count[best] || n == count[best] && name < best {
			best = name
		}
	}
	return best
}

func (c *Cluster) csv(namespace, name string) *resource.ClusterServiceVersion {
	for i := range c.CSVs {
		if c.CSVs[i].Namespace == namespace && c.CSVs[i].Name == name {
			return &c.CSVs[i]
		}
	}
	return nil
}

func (c *Cluster) plan(namespace, name string) *resource.InstallPlan {
	for i := range c.Plans {
		if c.Plans[i].Namespace == namespace && c.Plans[i].Name == name {
			return &c.Plans[i]
		}
	}
	return nil
}

func (c *Cluster) catalog(key resource.SourceKey) *source.CatalogSource {
	for i := range c.Catalogs {
		if c.Catalogs[i].Key() == key {
			return &c.Catalogs[i]
		}
	}
	return nil
}

func (c *Cluster) condition(namespace, name string) *gate.OperatorCondition {
	for i := range c.Conditions {
		if c.Conditions[i].Namespace == namespace && c.Conditions[i].Name == name {
			return &c.Conditions[i]
		}
	}
	return nil
}

// subscriptions are those of a namespace, by name.
func (c *Cluster) subscriptions(namespace string) []*resource.Subscription {
	var all []*resource.Subscription
	for i := range c.Subscriptions {
		if c.Subscriptions[i].Namespace == namespace {
			all = append(all, &c.Subscriptions[i])
		}
	}
	slices.SortStableFunc(all, func(a, b *resource.Subscription) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// chain returns what resolution chooses for a subscription, and then what that
// requires and is installed with it.
func (c *Cluster) chain(namespace, subscription string) []*Next {
	first := c.next(namespace, subscription)
	if first == nil {
		return nil
	}
	all := []*Next{first}
	for i := 0; i < len(all); i++ {
		for k := range c.Answers[namespace].Next {
			n := &c.Answers[namespace].Next[k]
			if slices.Contains(n.RequiredBy, all[i].CSV) && !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	return all
}

// next returns what resolution chooses for a subscription, or nil.
func (c *Cluster) next(namespace, subscription string) *Next {
	a := c.Answers[namespace]
	if a == nil {
		return nil
	}
	for i := range a.Next {
		if slices.Contains(a.Next[i].Subscriptions, subscription) {
			return &a.Next[i]
		}
	}
	return nil
}
