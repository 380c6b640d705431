package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
)

// packageGone is why the users of a removed package are stranded, whatever channel they
// follow.
const packageGone = "the package is gone"

// StrandedIn returns the users of a package of the old catalog for whom the new one has
// no path to a head, as [Compare] does, by channel and bundle. No document is read.
func StrandedIn(before, after *catalog.Catalog, pkg string, opts *Options) []Stranded {
	a, ok := before.Package(pkg)
	if !ok {
		return nil
	}
	b, _ := after.Package(pkg)
	d := &PackageDiff{}
	d.findStranded(a, b, opts.rules())
	return d.Stranded
}

// findStranded looks for entries of the old package that lose their path to a head, by
// each set of rules.
func (d *PackageDiff) findStranded(a, b *catalog.Package, rules []catalog.Rules) {
	for ch := range a.Channels() {
		var now *catalog.Channel
		if b != nil {
			now, _ = b.Channel(ch.Name())
		}
		for _, r := range rules {
			d.strandedIn(ch, now, b == nil, r)
		}
	}
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
func (d *PackageDiff) strandedIn(ch, now *catalog.Channel, gone bool, rules catalog.Rules) {
	var installed []catalog.Installed
	known := map[string]bool{}
	before := leading(ch.Graph(rules), ch.Heads())
	for _, e := range ch.Entries() {
		if before[e.Name] && !known[e.Name] {
			known[e.Name] = true
			installed = append(installed, catalog.Installed{Name: e.Name, Version: ch.Package().Version(e.Name)})
		}
	}
	var g *catalog.Graph
	var after map[string]bool
	why := func(string) string { return "the channel is gone" }
	switch {
	case gone:
		why = func(string) string { return packageGone }
	case now != nil:
		g = now.GraphWith(rules, installed...)
		after = leading(g, now.Heads())
		why = func(name string) string { return strandedReason(g, now.Heads(), name) }
	}
	for _, x := range installed {
		if !after[x.Name] {
			d.Stranded = append(d.Stranded, Stranded{ch.Name(), x.Name, []catalog.Rules{rules}, why(x.Name), x.Version})
		}
	}
}

// leading returns the bundles from which updates lead to one of the heads, and
// the heads.
func leading(g *catalog.Graph, heads []string) map[string]bool {
	lead := map[string]bool{}
	for _, head := range heads {
		lead[head] = true
		for name := range g.Reaching(head) {
			lead[name] = true
		}
	}
	return lead
}

func strandedReason(g *catalog.Graph, heads []string, name string) string {
	if len(heads) == 0 {
		return "the channel has no head"
	}
	if w := g.WhyNot(name, heads[0]); w != nil {
		return strings.Join(w.Reasons, "; ")
	}
	return "it has no update"
}
