package olm

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/catalog"
)

// check verifies a joint answer independently of how it was found: it shares only
// the decoded properties with the encoding. It does not verify the order of
// preference.
func (t *together) check(ctx context.Context, selected []*bundleMember) error {
	for _, step := range []func([]*bundleMember) error{t.checkChoices, t.checkUnique, t.checkWanted(ctx)} {
		if err := step(selected); err != nil {
			return fmt.Errorf("internal error: the joint answer is not valid: %w", err)
		}
	}
	return nil
}

// checkChoices verifies that each Extension has at most one bundle, which it might
// have got alone, and that what is installed stays if nothing takes its place.
func (t *together) checkChoices(selected []*bundleMember) error {
	for i, x := range t.xs {
		var has *bundleMember
		for _, m := range selected {
			if m.of != i {
				continue
			}
			if has != nil {
				return fmt.Errorf("%s and %s are both for package %s", has, m, x.Package)
			}
			if has = m; m.contender.Package != x.Package {
				return fmt.Errorf("%s is not of package %s", m, x.Package)
			}
			if m.stays && (x.Installed == nil || x.Installed.Name != m.contender.Name) {
				return fmt.Errorf("%s is not installed", m.contender.Name)
			}
		}
		stays := slices.ContainsFunc(t.members, func(m *bundleMember) bool { return m.of == i && m.stays })
		if has == nil && stays {
			return fmt.Errorf("%s is installed, and was dropped", x.Installed.Name)
		}
	}
	return nil
}

// checkUnique verifies that there is one bundle of a package, and one provider of an
// API.
func (t *together) checkUnique(selected []*bundleMember) error {
	packages, apis := map[string]*bundleMember{}, map[catalog.GVK]*bundleMember{}
	for _, m := range selected {
		if o := packages[m.contender.Package]; o != nil {
			return fmt.Errorf("%s and %s are both of package %s", o, m, m.contender.Package)
		}
		packages[m.contender.Package] = m
		for _, g := range m.facts().gvks {
			if o := apis[g]; o != nil && o != m {
				return fmt.Errorf("%s and %s both provide %s", o, m, gvkText(g))
			}
			apis[g] = m
		}
	}
	return nil
}

// checkWanted verifies that requirements are met, that nothing is selected which
// another excludes, and that every dependency is required, directly or not, by a
// bundle of an Extension.
func (t *together) checkWanted(ctx context.Context) func([]*bundleMember) error {
	return func(selected []*bundleMember) error {
		wanted := map[*bundleMember]bool{}
		var queue []*bundleMember
		for _, m := range selected {
			if m.of >= 0 {
				queue, wanted[m] = append(queue, m), true
			}
		}
		for ; len(queue) > 0; queue = queue[1:] {
			for _, n := range queue[0].facts().needs {
				by, err := t.checkNeed(ctx, selected, queue[0], n)
				if err != nil {
					return err
				}
				for _, o := range by {
					if !wanted[o] {
						queue, wanted[o] = append(queue, o), true
					}
				}
			}
		}
		for _, m := range selected {
			if !wanted[m] {
				return fmt.Errorf("%s is selected, and nothing requires it", m)
			}
		}
		return ctx.Err()
	}
}

// checkNeed returns what meets a requirement of a selected bundle: nil for one that
// something is absent, and for one of an installed bundle that nothing installed met.
func (t *together) checkNeed(ctx context.Context, selected []*bundleMember, m *bundleMember, n *need) (by []*bundleMember, err error) {
	if n.banned != nil {
		for _, o := range selected {
			matches, err := n.banned.Match(ctx, o.facts().prepared())
			if err != nil || matches && o != m && !(m.stays && o.stays) {
				return nil, cmp.Or(err, fmt.Errorf("%s excludes %s, and both are selected", m, o))
			}
		}
		return nil, nil
	}
	for _, o := range selected {
		if n.holdsFor(ctx, &entry{operator: o.operator, pkg: o.contender.Package}) {
			by = append(by, o)
		}
	}
	if by != nil {
		return by, nil
	}
	if m.stays && !slices.ContainsFunc(t.members, func(o *bundleMember) bool {
		return o.stays && n.holdsFor(ctx, &entry{operator: o.operator, pkg: o.contender.Package})
	}) {
		return nil, nil
	}
	return nil, fmt.Errorf("%s requires %s, which nothing selected meets", m, n)
}
