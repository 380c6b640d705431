package olm

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/solver/olm/group"
)

// The same operator may be installed once for each tenant: in namespaces of its
// own, whose operator groups select namespaces that do not meet. The instances
// share their CRDs, so they have limits.

// surface is where the operators of a namespace may meet those of others; empty
// if that is not known.
func (s *space) surface() group.Namespaces {
	g := s.req.Group
	if g == nil {
		return nil
	}
	if known := g.Surface(); len(known) > 0 {
		return known
	}
	if targets, err := g.Targets(nil); err == nil && len(targets) > 0 {
		return group.NewNamespaces(append([]string{s.req.Namespace}, targets...)...)
	}
	return nil
}

// besides reports whether an operator that is new may stand beside another that
// provides an API of it in another namespace:
//
//  1. Both are of one package, and the operator groups of their namespaces select
//     namespaces that do not meet; a group's own counts as selected.
//  2. Neither requires anything of other operators.
//  3. Both are of one version, or the other one is of this version as it is and
//     can wait with its update.
//
// That neither converts CRDs by a webhook need not be asked: that takes a group
// that selects all namespaces, which meets every other. Why is empty where they
// are not meant for tenants: where the first does not hold, unless it is that two
// groups of some namespaces meet.
func besides(is, other holder) (ok bool, why string) {
	a, b := is.entry, other.entry
	if a.pkg == "" || a.pkg != b.pkg {
		return false, ""
	}
	mine, theirs := is.space.surface(), other.space.surface()
	if len(mine) == 0 || len(theirs) == 0 {
		return false, ""
	}
	if both := mine.Intersection(theirs); both.All() {
		return false, ""
	} else if len(both) > 0 {
		return false, "their operator groups overlap in namespace " + listNames(both)
	}
	for _, e := range []*entry{a, b} {
		if needs := e.facts().needs; len(needs) > 0 {
			return false, fmt.Sprintf("%s requires %s, and an instance for a tenant may depend on no other operator", e.name, needs[0])
		}
	}
	same := func(o *entry) bool { return o.pkg == a.pkg && o.name == a.name }
	if same(b) || slices.ContainsFunc(other.space.before, same) {
		return true, ""
	}
	return false, fmt.Sprintf("all instances must be of one version, and namespace %s has %s", other.space.req.Namespace, b.name)
}

// clash says which of the providers of an API have to wait, by the names of their
// namespaces, and why those that are instances of one operator do.
func clash(all []holder) (wait []string, why string) {
	for _, h := range all {
		if h.entry.isInstalled() {
			continue
		}
		for _, o := range all {
			if o.space == h.space {
				continue
			}
			ok, because := besides(h, o)
			if ok {
				continue
			}
			wait = append(wait, h.space.req.Namespace)
			if why == "" {
				why = because
			}
		}
	}
	slices.Sort(wait)
	return slices.Compact(wait), why
}
