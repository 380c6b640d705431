package removal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm/resource"
)

// Object names an object.
type Object struct {
	Group     string `json:"group,omitempty"`     // the API group; "" is the core group
	Kind      string `json:"kind"`                // as the object states it
	Namespace string `json:"namespace,omitempty"` // "" if it is cluster-scoped
	Name      string `json:"name"`                // unique in its namespace
}

// String returns "Kind namespace/name".
func (o Object) String() string {
	return o.Kind + " " + resource.ObjectMeta{Name: o.Name, Namespace: o.Namespace}.String()
}

// Verb is what is done to an object.
type Verb string

// The verbs.
const (
	Create Verb = "create"
	Update Verb = "update"
	Delete Verb = "delete"
)

// Step is one step of a plan.
type Step struct {
	Verb   Verb   `json:"verb"`   // what to do
	Object Object `json:"object"` // to what
	Why    string `json:"why"`    // a sentence
}

// Remnant is an object that stays.
type Remnant struct {
	Object Object `json:"object"` // what stays
	Why    string `json:"why"`    // why, and how to remove it
}

// Dependent is an operator that requires something that is removed.
type Dependent struct {
	Operator string `json:"operator"` // its CSV
	// Requires is what nothing else provides: APIs as Kind.version.group, packages
	// as "package NAME", then olm.constraint properties in words, in the order of
	// the CSV's properties.
	Requires []string `json:"requires"`
}

// Plan says what a removal does.
type Plan struct {
	// Steps must be taken in this order.
	Steps []Step `json:"steps"`
	// Stays is what stays, in this order: CSVs, subscriptions, CRDs, custom
	// resources.
	Stays []Remnant `json:"stays,omitempty"`
	// Dependents are the operators that lose something, by name. They keep running,
	// but without what they require.
	Dependents []Dependent `json:"dependents,omitempty"`
}

// World is a namespace, with the objects of the cluster that are related to it.
type World struct {
	// Subscriptions and CSVs are those of the namespace, in any order.
	Subscriptions []resource.Subscription
	CSVs          []resource.ClusterServiceVersion // see Subscriptions
	// Objects are the objects that belong to each CSV, by the CSV's name:
	// deployments, roles, and the optional objects of its bundle.
	Objects map[string][]Object
	// CRDs are the names of the CRDs that each CSV provides, by the CSV's name.
	CRDs map[string][]string
	// Resources counts the custom resources of each CRD, by the CRD's name.
	Resources map[string]int
	// Unpackings are the jobs that fetched bundles, and the config maps that they
	// wrote, in the namespaces of catalogs.
	Unpackings []Unpacking
	// Judge evaluates constraints. Without one, whoever states a constraint counts as
	// a dependent.
	Judge Judge
}

// Unpacking is an attempt to fetch a bundle: a job and a config map of the same
// name.
type Unpacking struct {
	Namespace string // of the catalog
	Name      string // of the job and of the config map
	Bundle    string // the CSV in the bundle
	Failed    bool   // whether the attempt failed
}

// NotFoundError says that there is no such subscription.
type NotFoundError struct {
	Subscription string   // the requested one
	Known        []string // the names of those that exist, sorted
}

// Error implements error.
func (e *NotFoundError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("subscription %s does not exist, nor does any other in the namespace", e.Subscription)
	}
	return fmt.Sprintf("subscription %s does not exist; there are %s", e.Subscription, strings.Join(e.Known, ", "))
}

func (w *World) find(name string) (*resource.Subscription, error) {
	var known []string
	for i := range w.Subscriptions {
		if w.Subscriptions[i].Name == name {
			return &w.Subscriptions[i], nil
		}
		known = append(known, w.Subscriptions[i].Name)
	}
	slices.Sort(known)
	return nil, &NotFoundError{Subscription: name, Known: known}
}

// csvs returns the existing CSVs of a subscription: the current one, then the
// installed one, then those that they replace.
func (w *World) csvs(sub *resource.Subscription) []*resource.ClusterServiceVersion {
	var found []*resource.ClusterServiceVersion
	names := []string{sub.Status.CurrentCSV, sub.Status.InstalledCSV}
	for i := 0; i < len(names); i++ {
		at := slices.IndexFunc(w.CSVs, func(c resource.ClusterServiceVersion) bool { return c.Name == names[i] && !c.Copied() })
		if at < 0 || slices.Contains(found, &w.CSVs[at]) {
			continue
		}
		found = append(found, &w.CSVs[at])
		names = append(names, w.CSVs[at].Spec.Replaces)
	}
	return found
}

// Uninstall plans the removal of a subscription's operator:
//
//  1. The subscription is deleted first, or the operator would be reinstalled.
//  2. Its CSVs follow: the current one before the installed one.
//  3. Each CSV is followed by the objects that belong to it, in the order of World.
//
// CRDs and custom resources stay, as do subscriptions that were created for what
// the operator required. Another subscription to the package stays, with its
// CSV, and so does a CSV that another subscription refers to. The error is a
// *NotFoundError.
func Uninstall(w *World, subscription string) (*Plan, error) {
	sub, err := w.find(subscription)
	if err != nil {
		return nil, err
	}
	p := &Plan{}
	p.remove(w, sub)
	return p, nil
}

// Refresh plans to start a failed subscription over. The steps are those of
// Uninstall; then the jobs and config maps of failed attempts to fetch its bundles
// are deleted, so that the bundles are fetched again; and finally the subscription
// is created again with its spec and without status. The error is a *NotFoundError.
func Refresh(w *World, subscription string) (*Plan, *resource.Subscription, error) {
	sub, err := w.find(subscription)
	if err != nil {
		return nil, nil, err
	}
	p := &Plan{}
	p.remove(w, sub)
	for _, u := range w.Unpackings {
		if !u.Failed || u.Bundle != sub.Status.CurrentCSV && u.Bundle != sub.Status.InstalledCSV {
			continue
		}
		p.step(Delete, Object{Group: "batch", Kind: "Job", Namespace: u.Namespace, Name: u.Name}, "it failed to fetch %s", cmp.Or(u.Bundle, "the bundle"))
		p.step(Delete, Object{Kind: "ConfigMap", Namespace: u.Namespace, Name: u.Name}, "it holds what the failed job left")
	}
	p.step(Create, subscriptionObject(sub), "the operator is chosen and installed again")
	p.Dependents = nil // they get back what they lose
	again := &resource.Subscription{ObjectMeta: sub.ObjectMeta, Spec: sub.Spec}
	return p, again, nil
}

func (p *Plan) step(verb Verb, o Object, format string, args ...any) {
	p.Steps = append(p.Steps, Step{Verb: verb, Object: o, Why: fmt.Sprintf(format, args...)})
}

func subscriptionObject(s *resource.Subscription) Object {
	return Object{Group: "operators.coreos.com", Kind: "Subscription", Namespace: s.Namespace, Name: s.Name}
}

func (p *Plan) remove(w *World, sub *resource.Subscription) {
	p.step(Delete, subscriptionObject(sub), "while it is there the operator is installed again")
	var gone []*resource.ClusterServiceVersion
	for _, c := range w.csvs(sub) {
		if other := w.user(c.Name, sub); other != nil {
			p.Stays = append(p.Stays, Remnant{
				Object: csvObject(c),
				Why:    fmt.Sprintf("subscription %s also has it; uninstall that one as well", other.Name),
			})
			continue
		}
		gone = append(gone, c)
		p.step(Delete, csvObject(c), "it is the operator; its deployments, roles and copies go with it")
		for _, o := range w.Objects[c.Name] {
			p.step(Delete, o, "it belongs to %s", c.Name)
		}
	}
	p.generated(w, sub)
	p.definitions(w, gone)
	p.Dependents = dependents(w, gone)
}

func csvObject(c *resource.ClusterServiceVersion) Object {
	return Object{Group: "operators.coreos.com", Kind: "ClusterServiceVersion", Namespace: c.Namespace, Name: c.Name}
}

// user returns another subscription that has a CSV, or nil.
func (w *World) user(csv string, sub *resource.Subscription) *resource.Subscription {
	for i := range w.Subscriptions {
		s := &w.Subscriptions[i]
		if s.Name != sub.Name && (s.Status.CurrentCSV == csv || s.Status.InstalledCSV == csv) {
			return s
		}
	}
	return nil
}

// generated lists the subscriptions that seem to have been created for what an
// operator requires: their names consist of package, channel and catalog.
func (p *Plan) generated(w *World, sub *resource.Subscription) {
	for i := range w.Subscriptions {
		s := &w.Subscriptions[i]
		made := strings.Join([]string{s.Spec.Package, s.Spec.Channel, s.Spec.Source, s.Spec.SourceNamespace}, "-")
		if s.Name != sub.Name && s.Name == made {
			p.Stays = append(p.Stays, Remnant{
				Object: subscriptionObject(s),
				Why:    "it was created because an operator required the package; if none does any more, uninstall it as well",
			})
		}
	}
}

func (p *Plan) definitions(w *World, gone []*resource.ClusterServiceVersion) {
	var names []string
	for _, c := range gone {
		names = append(names, w.CRDs[c.Name]...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names {
		p.Stays = append(p.Stays, Remnant{
			Object: Object{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: name},
			Why:    "deleting it also deletes the objects that users created; delete it once nobody needs them",
		})
	}
	for _, name := range names {
		if n := w.Resources[name]; n > 0 {
			p.Stays = append(p.Stays, Remnant{
				Object: Object{Kind: "custom resources of", Name: name},
				Why:    fmt.Sprintf("there are %d, which no operator serves any more; delete them before the operator if it has to clean up after them", n),
			})
		}
	}
}
