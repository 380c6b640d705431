package diff

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
)

// packageGone is why the users of a removed package are stranded, whatever channel they
// follow.
const packageGone = "the package is gone"

// Base is the old side of comparisons. It finds once which bundles users may have, so that
// several new catalogs can be compared with it. It must not be used by several goroutines at
// once.
type Base struct {
	catalog *catalog.Catalog
	users   map[userKey][]catalog.Installed
}

// userKey names users: those of a channel, by a set of rules.
type userKey struct {
	channel *catalog.Channel
	rules   catalog.Rules
}

// NewBase returns the base of comparisons with a catalog.
func NewBase(before *catalog.Catalog) *Base {
	return &Base{catalog: before, users: map[userKey][]catalog.Installed{}}
}

// Users returns the bundles of a channel of the old catalog from which updates lead to a head:
// what its users may have installed without being stuck. They are as the channel lists them,
// each once. The list must not be changed.
func (base *Base) Users(ch *catalog.Channel, rules catalog.Rules) []catalog.Installed {
	key := userKey{ch, rules}
	list, ok := base.users[key]
	if !ok {
		list = following(ch, rules)
		base.users[key] = list
	}
	return list
}

// Lost returns the users of a channel of the old catalog for whom a channel of a new one has
// no path to a head, as [Base.Compare] does, by name. No document is read. The error is that of
// ctx.
func (base *Base) Lost(ctx context.Context, before, after *catalog.Channel, opts *Options) ([]string, error) {
	lost := map[string]bool{}
	for _, r := range opts.rules() {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		installed := base.Users(before, r)
		lead := leading(after, after.GraphWith(r, installed...), r)
		for _, x := range installed {
			if !lead[x.Name] {
				lost[x.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(lost)), nil
}

// Stranded returns the users of a package of the old catalog who have no path to a head of
// their channel in a new catalog, as [Base.Compare] does. No document is read. The error is
// that of ctx.
func (base *Base) Stranded(ctx context.Context, after *catalog.Catalog, pkg string, opts *Options) ([]Stranded, error) {
	old, ok := base.catalog.Package(pkg)
	if !ok {
		return nil, nil
	}
	now, _ := after.Package(pkg)
	d := &PackageDiff{Name: pkg}
	if err := d.findStranded(ctx, base, old, now, opts.rules()); err != nil {
		return nil, err
	}
	return d.Stranded, nil
}

// findStranded looks for entries of the old package that lose their path to a head, by
// each set of rules.
func (d *PackageDiff) findStranded(ctx context.Context, base *Base, a, b *catalog.Package, rules []catalog.Rules) error {
	for ch := range a.Channels() {
		var now *catalog.Channel
		if b != nil {
			now, _ = b.Channel(ch.Name())
		}
		from := len(d.Stranded)
		for _, r := range rules {
			if err := d.strandedIn(ctx, base, ch, now, b == nil, r); err != nil {
				return err
			}
		}
		d.Stranded = append(d.Stranded[:from], merged(d.Stranded[from:])...)
	}
	return nil
}

// merged sorts the stranded users of a channel, and makes one of those by several rules, in
// the same list.
func merged(stranded []Stranded) []Stranded {
	slices.SortStableFunc(stranded, func(a, b Stranded) int { return cmp.Compare(a.Bundle, b.Bundle) })
	merged := stranded[:0]
	for _, s := range stranded {
		if n := len(merged); n > 0 && merged[n-1].Bundle == s.Bundle {
			merged[n-1].Rules = slices.Concat(merged[n-1].Rules, s.Rules)
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}

// strandedIn checks one channel, which may no longer exist.
func (d *PackageDiff) strandedIn(ctx context.Context, base *Base, ch, now *catalog.Channel, gone bool, rules catalog.Rules) error {
	installed := base.Users(ch, rules)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var after map[string]bool
	var obstacles *catalog.Obstacles
	if !gone && now != nil {
		g := now.GraphWith(rules, installed...)
		after = leading(now, g, rules)
		if heads := now.Heads(); len(heads) > 0 {
			obstacles = g.Obstacles(heads[len(heads)-1])
		}
	}
	by := []catalog.Rules{rules}
	for i, x := range installed {
		if i%64 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !after[x.Name] {
			d.Stranded = append(d.Stranded, Stranded{ch.Name(), x.Name, by, strandedWhy(gone, now, obstacles, x.Name), x.Version})
		}
	}
	return nil
}

// following finds what Base.Users returns. The graph is not kept: there may be very many.
func following(ch *catalog.Channel, rules catalog.Rules) (installed []catalog.Installed) {
	before, known := leading(ch, ch.GraphWith(rules), rules), map[string]bool{}
	for _, e := range ch.Entries() {
		if before[e.Name] && !known[e.Name] {
			known[e.Name] = true
			installed = append(installed, catalog.Installed{Name: e.Name, Version: ch.Package().Version(e.Name)})
		}
	}
	return installed
}

// leading returns the bundles from which updates lead to one of the heads of a channel, and
// the heads. By the rules of OLM v0 there are none if the channel has several: it resolves
// nothing for whoever follows that channel, users of a head among them.
func leading(ch *catalog.Channel, g *catalog.Graph, rules catalog.Rules) map[string]bool {
	lead, heads := map[string]bool{}, ch.Heads()
	if rules == catalog.OLMv0 && len(heads) > 1 && ch.HeadFault(rules) != nil {
		return lead
	}
	for _, head := range heads {
		lead[head] = true
	}
	for name := range g.Reaching(heads...) {
		lead[name] = true
	}
	return lead
}

// strandedWhy says why a user does not reach the first head of a channel.
func strandedWhy(gone bool, now *catalog.Channel, obstacles *catalog.Obstacles, name string) string {
	switch {
	case gone:
		return packageGone
	case now == nil:
		return "the channel is gone"
	case obstacles == nil:
		return "the channel has no head"
	}
	if w := obstacles.From(name); w != nil {
		return strings.Join(w.Reasons, "; ")
	}
	return cmp.Or(obstacles.Closed(), "it has no update")
}
