package olm

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/solver/olm/group"
)

// The same operator may be installed once for each tenant: in separate
// namespaces whose operator groups select namespaces that do not overlap. The
// instances share their CRDs, so there are limits.

// surface returns the namespaces in which the operators of a namespace may
// overlap with those of others; empty if that is not known.
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

// besides reports whether a new operator may be installed beside another one
// that provides one of its APIs in another namespace:
//
//  1. Both are of one package, and the operator groups of their namespaces
//     select namespaces that do not overlap; a group's own counts as selected.
//  2. Neither requires anything of other operators.
//  3. Both are of one version, or the other one currently has this version and
//     can defer its update.
//
// There is no need to check whether one of them converts CRDs by a webhook:
// that takes a group that selects all namespaces, which overlaps with every
// other. why is empty if the operators are not meant for tenants: if the first
// condition does not hold, unless the reason is that two groups of some
// namespaces overlap.
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

// clash returns the namespaces, by name, whose providers of an API must wait,
// and why those that are instances of one operator must.
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
