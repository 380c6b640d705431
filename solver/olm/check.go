package olm

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/solver/rule"
)

// check verifies every answer: it decides from the statements of the catalogs
// whether a selection follows all rules, and shares only the decoded properties
// with the code that found it. It does not verify the order of preference.
//
// selected contains the chosen entries and the installed ones that stay.
func (q *query) check(ctx context.Context, selected []*entry) error {
	j, err := newJudge(q, selected)
	if err != nil {
		return err
	}
	for _, step := range []func() error{j.installed, j.allowed, j.unique, j.served} {
		if err := step(); err != nil {
			return err
		}
	}
	return j.needs(ctx)
}

// judge is the state of a check.
type judge struct {
	*query
	selected  []*entry
	has       map[*entry]bool
	wanted    map[*entry]bool
	chained   map[*entry]bool     // entries that their channel offers
	byPackage map[string][]*entry // selected entries, by the package that lists them or that they name
	byAPI     map[catalog.GVK]*entry
	spares    func(by *entry, n *need) bool // requirements that need not be met
	beside    func(by, other *entry) bool   // what may be beside what it excludes
}

func newJudge(q *query, selected []*entry) (*judge, error) {
	j := &judge{query: q, selected: selected, has: make(map[*entry]bool), wanted: make(map[*entry]bool), chained: make(map[*entry]bool),
		byPackage: make(map[string][]*entry), byAPI: make(map[catalog.GVK]*entry)}
	for _, e := range selected {
		if j.has[e] {
			return nil, fmt.Errorf("%s is selected twice", e.id)
		}
		j.has[e] = true
	}
	j.spares = func(_ *entry, n *need) bool { return q.waived[n] }
	j.beside = func(_, _ *entry) bool { return false }
	return j, nil
}

// installed verifies that no installed operator without a subscription is
// dropped, and that nothing selected is only claimed to be installed.
func (j *judge) installed() error {
	known := make(map[*entry]bool)
	for _, e := range j.query.installed {
		known[e], j.wanted[e] = true, true
	}
	for _, s := range j.subs {
		delete(j.wanted, s.current)
	}
	for _, e := range j.query.installed {
		if j.wanted[e] && !j.has[e] {
			return fmt.Errorf("csv %s is installed without a subscription, but was dropped", e.name)
		}
	}
	for _, e := range j.selected {
		if e.source == nil && !known[e] {
			return fmt.Errorf("%s is not installed", e.id)
		}
	}
	return nil
}

// allowed rejects entries that may never be chosen, and bundles that their
// channel does not offer.
func (j *judge) allowed() error {
	starting := make(map[[2]string]bool)
	for _, s := range j.subs {
		if s.current == nil {
			starting[[2]string{s.Spec.Package, s.Spec.StartingCSV}] = true
		}
	}
	for _, e := range j.selected {
		if slices.ContainsFunc(e.facts().props, func(p rule.Property) bool { return p.Type == propertyDeprecated }) {
			return fmt.Errorf("%s is deprecated", e.id)
		}
		if text := j.exclusions.against(e); text != "" {
			return fmt.Errorf("%s %s", e.id, text)
		}
		if e.source == nil {
			continue
		}
		if e.facts().problem != nil {
			return fmt.Errorf("%s is malformed: %w", e.id, e.facts().problem)
		}
		if j.opts.Forbid != nil && j.opts.Forbid(candidateOf(e)) != "" {
			return fmt.Errorf("%s is forbidden", e.id)
		}
		if err := j.steady(e); err != nil {
			return err
		}
		if !slices.ContainsFunc(j.sources, func(s *source) bool { return s.SourceKey == e.source.SourceKey }) {
			return fmt.Errorf("%s: catalog %s is not visible in the namespace", e.id, e.source.SourceKey)
		}
		j.chained[e] = inChain(e)
		if !j.chained[e] && !starting[[2]string{e.pkg, e.name}] {
			return fmt.Errorf("%s is not in the chain of its channel", e.id)
		}
	}
	return nil
}

// steady rejects a downgrade or a change of channel if the options forbid it.
func (j *judge) steady(e *entry) error {
	for _, c := range j.query.installed {
		if c.pkg != e.pkg {
			continue
		}
		now, then := c.facts().version, e.facts().version
		if j.opts.NoDowngrades && !now.IsZero() && !then.IsZero() && then.Compare(now) < 0 {
			return fmt.Errorf("%s downgrades %s from version %s to %s", e.id, c.name, now, then)
		}
		if !j.opts.StayOnChannel {
			continue
		}
		listed, same := false, false
		for _, ch := range e.source.pkg(e.pkg).channels {
			for _, other := range ch.entries {
				if other.name == c.name {
					listed, same = true, same || ch == e.channel
				}
			}
		}
		for _, s := range j.subs {
			same = same || s.Spec.Package == e.pkg && s.Spec.Channel == e.channel.name
		}
		if listed && !same {
			return fmt.Errorf("%s is of another channel than %s", e.id, c.name)
		}
	}
	return nil
}

// unique verifies that no two operators are of the same package or provide the
// same API.
func (j *judge) unique() error {
	for _, e := range j.selected {
		names := []string{e.pkg}
		for _, p := range e.facts().packages {
			if others := j.byPackage[p.name]; len(others) > 0 && others[len(others)-1] != e {
				return fmt.Errorf("%s and %s are both of package %s", others[len(others)-1].id, e.id, p.name)
			}
			names = append(names, p.name)
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			j.byPackage[name] = append(j.byPackage[name], e)
		}
		for _, g := range e.facts().gvks {
			if other := j.byAPI[g]; other != nil {
				return fmt.Errorf("%s and %s both provide %s", other.id, e.id, gvkText(g))
			}
			j.byAPI[g] = e
		}
	}
	return nil
}

// inChain follows the channel as the catalog states it, from e up through the
// entries that replace it, to one that no entry replaces or skips; e itself
// must not be skipped.
func inChain(e *entry) bool {
	p, ok := e.source.Catalog.Package(e.pkg)
	if !ok {
		return false
	}
	c, ok := p.Channel(e.channel.name)
	if !ok {
		return false
	}
	entries := c.Entries()
	listed := func(i int) bool { // of two entries of the same name, the later one counts
		_, has := p.Bundle(entries[i].Name)
		return has && !slices.ContainsFunc(entries[i+1:], func(x catalog.Entry) bool { return x.Name == entries[i].Name })
	}
	above := []string{e.name}
	for at := 0; at < len(above); at++ {
		head := true
		for i := range entries {
			x := &entries[i]
			skips := slices.Contains(x.Skips, above[at])
			if !skips && x.Replaces != above[at] {
				continue
			}
			if _, has := p.Bundle(x.Name); !has {
				continue
			}
			if skips && at == 0 {
				return false
			}
			head = false
			if x.Replaces == above[at] && listed(i) && !slices.Contains(above, x.Name) {
				above = append(above, x.Name)
			}
		}
		if head {
			return true
		}
	}
	return false
}

// served verifies that every subscription gets what it requests: a bundle of
// its package, channel and catalog that, if an operator is installed, is a
// direct update of it; or the installed operator. Whatever serves it is wanted.
func (j *judge) served() error {
	for _, s := range j.subs {
		served := false
		for _, e := range j.byPackage[s.Spec.Package] {
			if !j.mayServe(e, s) && !j.elsewhere(e, s) {
				continue
			}
			if s.current != nil && j.has[s.current] {
				return fmt.Errorf("subscription %s: %s replaces %s, but both are selected", s.Name, e.id, s.current.name)
			}
			served, j.wanted[e] = true, true
		}
		if !served && s.current != nil && j.has[s.current] {
			served, j.wanted[s.current] = true, true
		}
		if !served {
			return fmt.Errorf("subscription %s is not served", s.Name)
		}
	}
	return nil
}

func (j *judge) mayServe(e *entry, s *subscription) bool {
	if e.source == nil || e.pkg != s.Spec.Package || s.Spec.Channel != "" && e.channel.name != s.Spec.Channel {
		return false
	}
	own := s.Source() == SourceKey{} || e.source.SourceKey == s.Source()
	if s.current == nil {
		return own && (e.name == s.Spec.StartingCSV || s.Spec.StartingCSV == "" && j.chained[e])
	}
	return (own || j.opts.CrossCatalogUpdates) && isUpdate(e, s.current) && j.chained[e]
}

// elsewhere reports whether an entry that serves another subscription to the
// package also serves s, which names no channel: another channel offers s the
// same bundle.
func (j *judge) elsewhere(e *entry, s *subscription) bool {
	if s.Spec.Channel != "" || e.source == nil || !slices.ContainsFunc(j.subs, func(o *subscription) bool {
		return o != s && o.Spec.Package == s.Spec.Package && j.mayServe(e, o)
	}) {
		return false
	}
	for _, ch := range e.source.pkg(e.pkg).channels {
		x := ch.named(e.name)
		if x == nil || x == e || !inChain(x) {
			continue
		}
		j.chained[x] = true
		if j.mayServe(x, s) {
			return true
		}
	}
	return false
}

func isUpdate(e, current *entry) bool {
	p, _ := e.source.Catalog.Package(e.pkg)
	c, _ := p.Channel(e.channel.name)
	for _, x := range c.Entries() {
		if x.Name != e.name {
			continue
		}
		if x.Replaces == current.name || slices.Contains(x.Skips, current.name) {
			return true
		}
		versions, err := semverx.ParseRange(x.SkipRange)
		v := current.facts().version
		if err == nil && !v.IsZero() && versions.Contains(v) {
			return true
		}
	}
	return false
}

// needs verifies that every requirement is met, and that everything selected is
// wanted itself or, directly or indirectly, required by something that is.
func (j *judge) needs(ctx context.Context) error {
	meets := make(map[*entry][]*entry)
	for _, by := range j.selected {
		for _, n := range by.facts().needs {
			if j.spares(by, n) {
				continue
			}
			if n.banned != nil {
				if err := j.excluded(ctx, by, n); err != nil {
					return err
				}
				continue
			}
			met := false
			for _, e := range j.near(n) {
				if n.holdsFor(ctx, e) {
					met = true
					meets[by] = append(meets[by], e)
				}
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if !met {
				return fmt.Errorf("%s requires %s, which nothing selected meets", by.id, n)
			}
		}
	}
	queue := slices.DeleteFunc(slices.Clone(j.selected), func(e *entry) bool { return !j.wanted[e] })
	for ; len(queue) > 0; queue = queue[1:] {
		for _, e := range meets[queue[0]] {
			if !j.wanted[e] {
				j.wanted[e] = true
				queue = append(queue, e)
			}
		}
	}
	for _, e := range j.selected {
		if !j.wanted[e] {
			return fmt.Errorf("%s is selected, but nothing wants it", e.id)
		}
	}
	return nil
}

// excluded verifies that nothing is selected together with an operator that
// excludes it.
func (j *judge) excluded(ctx context.Context, by *entry, n *need) error {
	for _, e := range j.selected {
		if matches, err := n.banned.Match(ctx, e.facts().prepared()); err != nil || matches && e != by && !j.beside(by, e) {
			return cmp.Or(err, fmt.Errorf("%s excludes %s (%s), but both are selected", by.id, e.id, n))
		}
	}
	return nil
}

// near returns selected operators that include all that meet n.
func (j *judge) near(n *need) []*entry {
	switch {
	case n.gvk != nil:
		if e := j.byAPI[*n.gvk]; e != nil {
			return []*entry{e}
		}
		return nil
	case n.pkg != "":
		return j.byPackage[n.pkg]
	}
	return j.selected
}

// holdsFor is the checker's own evaluation of a requirement.
func (n *need) holdsFor(ctx context.Context, e *entry) bool {
	f := e.facts()
	if n.constraint != nil {
		ok, err := n.constraint.Match(ctx, f.prepared())
		return ok && err == nil
	}
	if n.gvk != nil {
		for _, g := range f.gvks {
			if g.Group == n.gvk.Group && g.Version == n.gvk.Version && g.Kind == n.gvk.Kind {
				return true
			}
		}
		return false
	}
	if n.label != nil {
		return slices.Contains(f.labels, *n.label)
	}
	named := e.pkg == n.pkg
	versions := []semverx.Version{f.version}
	for _, p := range f.packages {
		if p.name == n.pkg {
			named = true
			versions = append(versions, p.version)
		}
	}
	return named && slices.ContainsFunc(versions, func(v semverx.Version) bool {
		return !v.IsZero() && n.versions.Contains(v)
	})
}
