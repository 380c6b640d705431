package olm

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/catalog"
)

// The reasons of the solver's constraints. They are kept as values, rendered
// only on demand, and recognized by their type when a conflict is explained.

// csvExists says that an installed operator that no subscription refers to
// stays.
type csvExists struct{ csv *entry }

func (r *csvExists) String() string {
	return fmt.Sprintf("clusterserviceversion %s exists and is not referenced by a subscription", r.csv.name)
}

// subNeeds says that a subscription is served by one of its candidates, or by
// its installed operator.
type subNeeds struct{ sub *subscription }

func (r *subNeeds) String() string {
	options := r.sub.options()
	switch len(options) {
	case 0:
		return fmt.Sprintf("no operators found matching the criteria of subscription %s", r.sub.Name)
	case 1:
		return fmt.Sprintf("subscription %s requires %s", r.sub.Name, options[0].id)
	}
	return fmt.Sprintf("subscription %s requires at least one of %s", r.sub.Name, listEntries(options))
}

// subInvalid says that nothing can serve a subscription, for example because it
// names something that does not exist.
type subInvalid struct{ sub *subscription }

func (r *subInvalid) String() string {
	return fmt.Sprintf("subscription %s exists, but %s", r.sub.Name, r.sub.invalid)
}

// What users can do about the facts of a request, see solver.Adviser; they can
// do nothing about the facts of catalogs.

func (r *csvExists) Advice() (string, int)  { return "delete csv " + r.csv.name, effortDelete }
func (r *subNeeds) Advice() (string, int)   { return "remove subscription " + r.sub.Name, effortRemove }
func (r *subInvalid) Advice() (string, int) { return "remove subscription " + r.sub.Name, effortRemove }
func (r *refused) Advice() (string, int)    { return "", 0 }

// bundleNeeds says that an operator requires another.
type bundleNeeds struct {
	by         *entry
	need       *need
	candidates []*entry
}

func (r *bundleNeeds) String() string {
	return fmt.Sprintf("bundle %s requires %s", r.by.name, r.need)
}

// refused says that an operator may not be chosen.
type refused struct {
	entry *entry
	text  string // to follow its name
}

func (r *refused) String() string { return "bundle " + r.entry.name + " " + r.text }

// replacement says that an update and the operator that it replaces exclude
// each other.
type replacement struct{ update, current *entry }

func (r *replacement) String() string {
	return fmt.Sprintf("%s replaces %s", r.update.name, r.current.name)
}

// exclusion says that an operator excludes another.
type exclusion struct {
	by    *entry
	need  *need
	other *entry
}

func (r *exclusion) String() string {
	return fmt.Sprintf("bundle %s excludes %s: %s", r.by.name, r.other.name, r.need)
}

// onePackage says that there is at most one operator of a package.
type onePackage struct {
	pkg     string
	entries []*entry
}

func (r *onePackage) String() string {
	return fmt.Sprintf("there can be only one operator from package %s: %s", r.pkg, listEntries(r.entries))
}

// oneProvider says that there is at most one provider of an API.
type oneProvider struct {
	gvk     catalog.GVK
	entries []*entry
}

func (r *oneProvider) String() string {
	return fmt.Sprintf("there can be only one provider of %s: %s", gvkText(r.gvk), listEntries(r.entries))
}

func listEntries(entries []*entry) string {
	var names []string
	for _, e := range entries {
		names = append(names, e.id)
	}
	return strings.Join(names, ", ")
}
