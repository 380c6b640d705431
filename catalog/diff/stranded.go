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

// Lost returns the users of a channel of the old catalog for whom a channel of the new one has
// no path to a head, as [Compare] does, by name. No document is read. The error is that of
// ctx.
func Lost(ctx context.Context, before, after *catalog.Channel, opts *Options) ([]string, error) {
	lost := map[string]bool{}
	for _, r := range opts.rules() {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		installed := following(before, r)
		lead := leading(after.GraphWith(r, installed...), after.Heads())
		for _, x := range installed {
			if !lead[x.Name] {
				lost[x.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(lost)), nil
}

// findStranded looks for entries of the old package that lose their path to a head, by
// each set of rules.
func (d *PackageDiff) findStranded(ctx context.Context, a, b *catalog.Package, rules []catalog.Rules) error {
	for ch := range a.Channels() {
		var now *catalog.Channel
		if b != nil {
			now, _ = b.Channel(ch.Name())
		}
		for _, r := range rules {
			if err := d.strandedIn(ctx, ch, now, b == nil, r); err != nil {
				return err
			}
		}
	}
	d.mergeStranded()
	return nil
}

// mergeStranded sorts the stranded users, and makes one of those by several rules.
func (d *PackageDiff) mergeStranded() {
	slices.SortStableFunc(d.Stranded, func(a, b Stranded) int {
		return cmp.Or(cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.Bundle, b.Bundle))
	})
	merged := d.Stranded[:0]
	for _, s := range d.Stranded {
		if n := len(merged); n > 0 && merged[n-1].Channel == s.Channel && merged[n-1].Bundle == s.Bundle {
			merged[n-1].Rules = append(merged[n-1].Rules, s.Rules...)
		} else {
			merged = append(merged, s)
		}
	}
	d.Stranded = merged
}

// strandedIn checks one channel, which may no longer exist.
func (d *PackageDiff) strandedIn(ctx context.Context, ch, now *catalog.Channel, gone bool, rules catalog.Rules) error {
	installed := following(ch, rules)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var after map[string]bool
	var obstacles *catalog.Obstacles
	if !gone && now != nil {
		g := now.GraphWith(rules, installed...)
		after = leading(g, now.Heads())
		if heads := now.Heads(); len(heads) > 0 {
			obstacles = g.Obstacles(heads[len(heads)-1])
		}
	}
	for i, x := range installed {
		if i%64 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !after[x.Name] {
			d.Stranded = append(d.Stranded, Stranded{ch.Name(), x.Name, []catalog.Rules{rules}, strandedWhy(gone, now, obstacles, x.Name), x.Version})
		}
	}
	return nil
}

// Users returns the bundles of a channel from which updates lead to a head: what its users
// may have installed without being stuck. They are as the channel lists them, each once.
func Users(ch *catalog.Channel, rules catalog.Rules) []string {
	var names []string
	for _, x := range following(ch, rules) {
		names = append(names, x.Name)
	}
	return names
}

func following(ch *catalog.Channel, rules catalog.Rules) (installed []catalog.Installed) {
	before, known := leading(ch.Graph(rules), ch.Heads()), map[string]bool{}
	for _, e := range ch.Entries() {
		if before[e.Name] && !known[e.Name] {
			known[e.Name] = true
			installed = append(installed, catalog.Installed{Name: e.Name, Version: ch.Package().Version(e.Name)})
		}
	}
	return installed
}

// leading returns the bundles from which updates lead to one of the heads, and
// the heads.
func leading(g *catalog.Graph, heads []string) map[string]bool {
	lead := map[string]bool{}
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
	return "it has no update"
}
