package olm

import (
	"context"
	"fmt"
)

// check verifies a joint answer, as the check of a query does: it shares only the decoded
// properties with the code that found it, and does not verify the order of preference.
func (t *together) check(ctx context.Context, selected []*entry) error {
	j, err := newJudge(&query{Resolver: t.r}, selected)
	if err != nil {
		return err
	}
	if err := t.checkChoices(j); err != nil {
		return err
	}
	had := map[*need]bool{} // what something installed meets
	var installed []*entry
	for _, m := range t.members {
		if m.isInstalled() {
			installed = append(installed, m.entry)
		}
	}
	for _, by := range installed {
		for _, n := range by.facts().needs {
			for _, e := range installed {
				had[n] = had[n] || n.banned == nil && n.holdsFor(ctx, e)
			}
		}
	}
	j.spares = func(by *entry, n *need) bool { return by.isInstalled() && n.banned == nil && !had[n] }
	j.beside = func(by, other *entry) bool { return by.isInstalled() && other.isInstalled() }
	if err := j.unique(); err != nil {
		return err
	}
	return j.needs(ctx)
}

// checkChoices verifies that each Extension has at most one bundle, which it might have got
// alone, and that what is installed stays if nothing takes its place.
func (t *together) checkChoices(j *judge) error {
	has := make([]*bundleMember, len(t.xs))
	for _, e := range j.selected {
		m := t.known[e]
		switch {
		case !e.isInstalled() && e.facts().problem != nil:
			return fmt.Errorf("%s is malformed: %w", e.id, e.facts().problem)
		case m.of < 0:
			continue
		case has[m.of] != nil:
			return fmt.Errorf("%s and %s are both for package %s", has[m.of].id, e.id, t.xs[m.of].Package)
		case e.pkg != t.xs[m.of].Package:
			return fmt.Errorf("%s is not of package %s", e.id, t.xs[m.of].Package)
		case e.isInstalled() && (t.xs[m.of].Installed == nil || t.xs[m.of].Installed.Name != e.name):
			return fmt.Errorf("%s is not installed", e.id)
		}
		has[m.of], j.wanted[e] = m, true
	}
	for _, m := range t.members {
		if m.isInstalled() && has[m.of] == nil {
			return fmt.Errorf("%s was dropped", m.id)
		}
	}
	return nil
}
