package install

import (
	"fmt"
	"maps"
	"slices"

	"github.com/fairlead/fairlead/solver/olm/scope"
)

// elsewhere are the cluster-scoped objects of steps that belong to the operators of
// other namespaces.
func (b *MemBackend) elsewhere(namespace string) []Object {
	var all []Object
	for _, other := range slices.Sorted(maps.Keys(b.namespaces)) {
		if other == namespace {
			continue
		}
		for _, o := range b.namespaces[other].Objects {
			if o.Namespace != "" {
				continue
			}
			if o.Owner != "" {
				o.Home = other
			}
			o.Owner = ""
			all = append(all, o)
		}
	}
	return all
}

// forbidden refuses, as an API server does, what the service account in whose name an
// action is carried out may not do.
func (b *MemBackend) forbidden(w *World, action Action) error {
	as, steps := taken(w, action)
	if as == "" {
		return nil
	}
	account := scope.Account{Namespace: w.Namespace, Name: as}
	if !slices.Contains(b.cluster.Accounts, account) {
		return asRefused(fmt.Errorf("there is no service account %s/%s", w.Namespace, as))
	}
	for i := range steps {
		steps[i].Patch = b.cluster.Applies
	}
	return asRefused(scope.Judge(account, &b.cluster.Access, steps))
}

// taken returns the service account that an action names, and what it writes.
func taken(w *World, action Action) (as string, steps []scope.Step) {
	manifest := func(text []byte, r Ref, exists bool) {
		step, err := scope.StepOf(text, r.Namespace, exists)
		if err != nil {
			step = scope.Step{Group: r.Group, Kind: r.Kind, Resource: scope.Plural(r.Kind), Name: r.Name, Exists: exists}
		}
		step.Namespace = r.Namespace
		steps = append(steps, step)
	}
	switch a := action.(type) {
	case ApplyStep:
		as = a.As
		manifest(a.Manifest, a.Ref, a.Revision != "")
	case WriteObject:
		as = a.As
		manifest(a.Manifest, a.Ref, a.Revision != "")
	case IssueCertificate:
		as = a.As
		steps = append(steps, scope.Step{Kind: kindSecret, Resource: "secrets", Namespace: w.Namespace, Name: a.Name, Exists: a.Revision != ""})
	case Deploy:
		as = a.As
		c := w.csv(a.CSV)
		for _, d := range a.Deployments {
			manifest(d, Ref{Group: "apps", Kind: "Deployment", Namespace: w.Namespace}, c != nil && c.Deployed != "")
		}
	}
	return as, steps
}
