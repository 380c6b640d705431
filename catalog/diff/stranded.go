package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/semverx"
)

// findStranded looks for entries of the old package that lose their way to a
// head.
func (d *PackageDiff) findStranded(a, b *catalog.Package) {
	for ch := range a.Channels() {
		var now *catalog.Channel
		if b != nil {
			now, _ = b.Channel(ch.Name())
		}
		for _, e := range ch.Entries() {
			version := semverx.Tolerant(ch.Package().Version(e.Name))
			if !leadsToHead(ch, e.Name, version) {
				continue
			}
			why := ""
			switch {
			case b == nil:
				why = "the package is gone"
			case now == nil:
				why = "the channel is gone"
			case !leadsToHead(now, e.Name, version):
				why = strandedReason(now, e.Name)
			default:
				continue
			}
			d.Stranded = append(d.Stranded, Stranded{ch.Name(), e.Name, why})
		}
	}
	slices.SortFunc(d.Stranded, func(a, b Stranded) int {
		return cmp.Or(cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.Bundle, b.Bundle))
	})
	d.Stranded = slices.Compact(d.Stranded)
}

// leadsToHead reports whether updates lead to a head of the channel from an
// installed bundle, which the channel need not have.
func leadsToHead(ch *catalog.Channel, name string, version semverx.Version) bool {
	g := ch.Graph()
	starts := []string{name}
	for _, e := range ch.Entries() {
		if r, err := semverx.ParseRange(e.SkipRange); e.SkipRange != "" && err == nil && !version.IsZero() && r.Contains(version) {
			starts = append(starts, e.Name)
		}
	}
	for _, head := range ch.Heads() {
		for _, start := range starts {
			if start == head {
				return true
			}
			if _, ok := g.Path(start, head); ok {
				return true
			}
		}
	}
	return false
}

func strandedReason(ch *catalog.Channel, name string) string {
	heads := ch.Heads()
	if len(heads) == 0 {
		return "the channel has no head"
	}
	if w := ch.Graph().WhyNot(name, heads[0]); w != nil {
		return strings.Join(w.Reasons, "; ")
	}
	return "nothing leads on from it"
}
