package catalog_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/long"
)

// TestRoute: a way has as few changes, and then as few updates, as a search
// through all pairs of a channel and a bundle finds.
func TestRoute(t *testing.T) {
	r := rand.New(rand.NewPCG(81, 82))
	changing, none := 0, 0
	for range long.N(150, 20_000) {
		c := openText(t, newSynth(r).text())
		for p := range c.Packages() {
			bundles, channels := slices.Collect(p.Bundles()), slices.Collect(p.Channels())
			rules := []catalog.Rules{catalog.AsWritten, catalog.OLMv0, catalog.OLMv1}[r.IntN(3)]
			from, to := bundles[r.IntN(len(bundles))].Name(), bundles[r.IntN(len(bundles))].Name()
			start := ""
			if r.IntN(2) == 0 {
				start = channels[r.IntN(len(channels))].Name()
			}
			changes, updates, ok := slowRoute(p, rules, start, from, to)
			way, found, err := p.Route(t.Context(), rules, start, from, to)
			if ok != found || err != nil {
				t.Fatalf("from %s to %s by %s: %v %v", from, to, rules, found, err)
			}
			if !ok {
				none++
				continue
			}
			n, at, in := 0, from, start
			for _, h := range way {
				if in != h.Channel && (in != "" || at != from) {
					n++
				}
				ch, _ := p.Channel(h.Channel)
				if h.From != at || !slices.Contains(slices.Collect(ch.Graph(rules).Successors(at)), h.Edge) {
					t.Fatalf("channel %s offers no update %v", h.Channel, h.Edge)
				}
				at, in = h.To, h.Channel
			}
			if at != to || n != changes || len(way) != updates {
				t.Fatalf("from %s to %s by %s: %d changes and %d updates, want %d and %d: %v", from, to, rules, n, len(way), changes, updates, way)
			}
			if n > 0 {
				changing++
			}
		}
	}
	if changing == 0 || none == 0 {
		t.Errorf("%d ways change the channel, %d are not there", changing, none)
	}
}

// slowRoute relaxes every pair of a channel and a bundle until nothing changes.
func slowRoute(p *catalog.Package, rules catalog.Rules, start, from, to string) (changes, updates int, ok bool) {
	type state struct{ channel, bundle string }
	type cost struct{ changes, updates int }
	less := func(a, b cost) bool { return a.changes < b.changes || a.changes == b.changes && a.updates < b.updates }
	best := map[state]cost{}
	for ch := range p.Channels() {
		if start == "" || ch.Name() == start {
			best[state{ch.Name(), from}] = cost{}
		}
	}
	for again := true; again; {
		again = false
		relax := func(s state, c cost) {
			if old, ok := best[s]; !ok || less(c, old) {
				best[s] = c
				again = true
			}
		}
		for s, c := range best {
			ch, _ := p.Channel(s.channel)
			for e := range ch.Graph(rules).Successors(s.bundle) {
				relax(state{s.channel, e.To}, cost{c.changes, c.updates + 1})
			}
			for other := range p.Channels() {
				if other != ch {
					relax(state{other.Name(), s.bundle}, cost{c.changes + 1, c.updates})
				}
			}
		}
	}
	least := cost{1 << 30, 0}
	for s, c := range best {
		if s.bundle == to && less(c, least) {
			least, ok = c, true
		}
	}
	return least.changes, least.updates, ok
}
