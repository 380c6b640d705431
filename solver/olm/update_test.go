package olm_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/olm"
)

// install gives most subscriptions that have nothing installed an operator,
// like some version of their package.
func install(w *world, rnd *rand.Rand) {
	for _, s := range w.subs {
		taken := slices.ContainsFunc(w.installed, func(c *wCSV) bool { return c.pkg == s.pkg })
		for _, p := range w.catalogs[0].packages {
			if p.name == s.pkg && s.installed == "" && !taken && rnd.IntN(100) < 85 {
				x := *p.bundles[rnd.IntN(len(p.bundles))]
				x.deprecated, x.malformed = false, false
				w.installed = append(w.installed, &wCSV{&x, p.name})
				s.installed, s.starting = x.name, ""
			}
		}
	}
}

// TestUpdateOnlyAgainstOracle compares with the oracle, which goes through all
// selections: what serves the named packages, how many others move, how many
// are added, and which.
func TestUpdateOnlyAgainstOracle(t *testing.T) {
	n := long.N(300, 400_000)
	moved, fewer, skipped := 0, 0, 0
	rnd := rand.New(rand.NewPCG(5, 5))
	for b := range batches(t, n) {
		r, err := olm.NewResolver(b.sources, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range b.worlds {
			install(w, rnd)
			named := []string{w.subs[rnd.IntN(len(w.subs))].pkg}
			o := newOracle(w)
			want, ok := o.least(named)
			if !ok {
				skipped++
				continue
			}
			u, err := r.UpdateOnly(context.Background(), w.request(), named)
			var unsat *olm.UnsatError
			if errors.As(err, &unsat) != (want == nil) || err != nil && unsat == nil {
				t.Fatalf("%v: oracle solved it: %v; got error %v\n%s", named, want != nil, err, w)
			}
			if want == nil {
				continue
			}
			var got []string
			for _, c := range u.Resolution.Chosen {
				got = append(got, c.String())
			}
			if news := o.news(want.selected); fmt.Sprint(got) != fmt.Sprint(news) || len(u.Moved) != want.moves || len(u.Added) != want.adds {
				t.Fatalf("update only %v: got %v, moved %v, added %v; want %v, %d, %d\n%s", named, got, u.Moved, u.Added, news, want.moves, want.adds, w)
			}
			for _, m := range u.Moved {
				if m.Why == "" || m.To == "" {
					t.Fatalf("update only %v: %+v lacks something\n%s", named, m, w)
				}
			}
			if want.moves > 0 {
				moved++
			}
			if want.better {
				fewer++
			}
		}
	}
	t.Logf("%d worlds: in %d others had to move, in %d the answer that comes first moves or adds more than is needed; %d had too many answers", n, moved, fewer, skipped)
	if moved*50 < n || fewer*300 < n || skipped*20 > n {
		t.Error("too few worlds to mean something")
	}
}

// leastAnswer is the best answer of the oracle when only some packages should
// move.
type leastAnswer struct {
	selected    []*option
	moves, adds int
	better      bool // than the first selection
}

// least goes through all selections that serve the named packages as the first
// does. The result is nil if there is none; ok is false if there are too many.
func (o *oracle) least(named []string) (best *leastAnswer, ok bool) {
	queue, found := o.demands(named)
	if !found {
		return nil, true
	}
	asked := map[*option]bool{}
	for _, s := range o.w.subs {
		c, _ := o.forSub(s)
		for _, x := range c.candidates {
			asked[x] = true
		}
	}
	served := func(selected []*option) string {
		var names []string
		for _, s := range o.w.subs {
			c, _ := o.forSub(s)
			for _, x := range c.candidates {
				if slices.Contains(named, s.pkg) && slices.Contains(selected, x) {
					names = append(names, s.name+x.id())
				}
			}
		}
		sort.Strings(names)
		return fmt.Sprint(names)
	}
	first := ""
	budget := 20_000
	ok = o.all(queue, nil, &budget, func(selected []*option) {
		a := &leastAnswer{selected: selected}
		gone := map[*option]bool{}
		for _, s := range o.w.subs {
			if x := o.current(s); x != nil && !slices.Contains(named, s.pkg) && !slices.Contains(selected, x) {
				gone[x] = true
			}
		}
		a.moves = len(gone)
		for _, x := range selected {
			if x.entry != nil && !asked[x] {
				a.adds++
			}
		}
		switch {
		case best == nil:
			best, first = a, served(selected)
		case served(selected) != first:
		case a.moves < best.moves || a.moves == best.moves && a.adds < best.adds:
			best, a.better = a, true
		}
	})
	return best, ok
}
