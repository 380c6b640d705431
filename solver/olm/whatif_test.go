package olm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
)

// A guess is a supposition, with the world and what is ruled out under it.
type guess struct {
	olm.Supposition
	w       *world
	sources []olm.Source
	bans    []string
	pins    map[string]int // version by package
}

// drawGuess draws a few suppositions about a world.
func drawGuess(b *batch, w *world, rnd *rand.Rand) *guess {
	g := &guess{w: &world{catalogs: w.catalogs, installed: slices.Clone(w.installed)}, sources: slices.Clone(b.sources), pins: map[string]int{}}
	for i, s := range w.subs {
		c := *s
		switch rnd.IntN(8) {
		case 0:
			g.Unsubscribe = append(g.Unsubscribe, s.name)
			continue
		case 1:
			c.channel, c.source = "m", ""
			g.Subscribe = append(g.Subscribe, (&world{catalogs: w.catalogs, subs: []*wSub{&c}}).request().Subscriptions[0])
		}
		g.w.subs = append(g.w.subs, &c)
		if i == 0 && rnd.IntN(3) == 0 {
			n := &wSub{name: "new", pkg: w.catalogs[0].packages[rnd.IntN(len(w.catalogs[0].packages))].name}
			g.w.subs = append(g.w.subs, n)
			g.Subscribe = append(g.Subscribe, (&world{subs: []*wSub{n}}).request().Subscriptions[0])
		}
	}
	p := w.catalogs[0].packages[rnd.IntN(len(w.catalogs[0].packages))]
	x := p.bundles[rnd.IntN(len(p.bundles))]
	switch rnd.IntN(5) {
	case 0:
		g.Ban, g.bans = []string{x.name}, []string{x.name}
	case 1:
		g.Pin, g.pins[p.name] = []olm.Pin{{Package: p.name, Version: fmt.Sprint("v", x.version, ".0.0")}}, x.version
	case 2:
		g.Pin, g.pins[p.name] = []olm.Pin{{Package: p.name, Name: x.name}}, x.version
	case 3:
		if len(g.sources) > 1 {
			g.WithoutCatalogs = []olm.SourceKey{g.sources[1].SourceKey}
			g.sources, g.w.catalogs = g.sources[:1], g.w.catalogs[:1]
		}
	}
	if len(g.w.installed) > 0 && rnd.IntN(10) == 0 {
		g.Uninstall = []string{g.w.installed[0].name}
		g.w.installed = g.w.installed[1:]
	}
	return g
}

// exclusions reports whether the guess forbids a bundle.
func (g *guess) exclusions(pkg, name string, version int, installed bool) bool {
	v, pinned := g.pins[pkg]
	return slices.Contains(g.bans, name) && !installed || pinned && v != version
}

// TestWhatIf compares each answer with that of a new resolver for the changed
// request and catalogs, to the byte, and with the oracle's.
func TestWhatIf(t *testing.T) {
	n := long.N(50, 200_000)
	rnd := rand.New(rand.NewPCG(8, 8))
	breaks, fixes, differ := 0, 0, 0
	for b := range batches(t, n) {
		r, err := olm.NewResolver(b.sources, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range b.worlds {
			base, err := r.Base(context.Background(), w.request())
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				g := drawGuess(b, w, rnd)
				e, err := base.WhatIf(context.Background(), &g.Supposition)
				if err != nil {
					t.Fatalf("%+v: %v\n%s", g.Supposition, err, w)
				}
				g.compare(t, e)
				if e.Breaks {
					breaks++
				}
				if e.Fixes {
					fixes++
				}
				if !e.Empty() {
					differ++
				}
			}
			if e, err := base.WhatIf(context.Background(), nil); err != nil || !e.Empty() || e.Breaks || e.Fixes {
				t.Fatalf("nothing is supposed, but %+v, %v\n%s", e, err, w)
			}
		}
	}
	t.Logf("%d questions: %d break, %d fix, %d choose otherwise", 3*n, breaks, fixes, differ)
	if breaks*100 < n || fixes*50 < n || differ*10 < n {
		t.Error("too few of a kind to mean something")
	}
}

func (g *guess) compare(t *testing.T, e *olm.Effect) {
	t.Helper()
	o := newOracle(g.w)
	o.bar = func(x *option) bool { return g.exclusions(x.pkgName, x.bundle.name, x.bundle.version, x.entry == nil) }
	selected, ok := o.best()
	got := []string{}
	if e.Resolution != nil {
		for _, c := range e.Resolution.Chosen {
			got = append(got, c.String())
		}
	}
	if ok != (e.Unsat == nil) || ok && !slices.Equal(got, o.news(selected)) {
		t.Fatalf("%+v: got %v, %v; want %v %v\n%s", g.Supposition, got, e.Unsat, ok, o.news(selected), g.w)
	}
	if len(g.pins) > 0 {
		return // a pin also applies to what is installed, which no option does
	}
	cold, err := olm.Resolve(context.Background(), g.sources, g.w.request(), &olm.Options{Forbid: func(c olm.Candidate) string {
		if g.exclusions(c.Package, c.Name, 0, false) {
			return "the question bans it"
		}
		return ""
	}})
	var unsat *olm.UnsatError
	if errors.As(err, &unsat) {
		if want, got := new(scenario).explain(unsat), new(scenario).explain(e.Unsat); got != want {
			t.Fatalf("%+v: got %s\nwant %s\n%s", g.Supposition, got, want, g.w)
		}
		return
	}
	want, _ := json.Marshal(cold)
	if text, _ := json.Marshal(e.Resolution); string(text) != string(want) {
		t.Fatalf("%+v: got %s\nwant %s\n%s", g.Supposition, text, want, g.w)
	}
}

// TestWhatIfConcurrently asks one base the same questions from several
// goroutines, in different orders.
func TestWhatIfConcurrently(t *testing.T) {
	b := drawBatch(t, 3)
	w := b.worlds[4]
	r, err := olm.NewResolver(b.sources, nil)
	if err != nil {
		t.Fatal(err)
	}
	base, err := r.Base(context.Background(), w.request())
	if err != nil {
		t.Fatal(err)
	}
	other := samples.Text(t, "")
	rnd := rand.New(rand.NewPCG(4, 4))
	var guesses []*guess
	var want []string
	ask := func(g *guess) string {
		e, err := base.WhatIf(context.Background(), &g.Supposition)
		if err != nil {
			return err.Error()
		}
		text, err := json.Marshal(e)
		return fmt.Sprint(string(text), err)
	}
	for i := range 40 {
		g := drawGuess(b, w, rnd)
		if i%3 == 0 {
			g.Catalogs = []olm.Source{{SourceKey: olm.SourceKey{Name: fmt.Sprint("x", i%12), Namespace: testNamespace}, Catalog: other}}
		}
		guesses, want = append(guesses, g), append(want, ask(g))
	}
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for _, k := range rand.New(rand.NewPCG(uint64(i), 0)).Perm(len(guesses)) {
				if got := ask(guesses[k]); got != want[k] {
					t.Errorf("question %d: got %s, want %s", k, got, want[k])
				}
			}
		})
	}
	group.Wait()
}

// TestWhatIfOtherCatalogs supposes one catalog after another, some of them
// twice.
func TestWhatIfOtherCatalogs(t *testing.T) {
	s := parseScenario(t, "catalog c\na stable*: a.v1\nsubscription a a/stable\n")
	r, err := olm.NewResolver(s.sources, nil)
	if err != nil {
		t.Fatal(err)
	}
	base, err := r.Base(context.Background(), s.request)
	if err != nil {
		t.Fatal(err)
	}
	var others []olm.Source
	for v := range 12 {
		other := parseScenario(t, fmt.Sprintf("catalog c\na stable*: a.v%d\n", v+2)).sources[0]
		others = append(others, other)
	}
	for _, v := range []int{0, 1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 11} {
		e, err := base.WhatIf(context.Background(), &olm.Supposition{Catalogs: others[v : v+1]})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := e.Resolution.Chosen[0].Name, fmt.Sprintf("a.v%d", v+2); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestDiffImage verifies that a bundle of the same name with another image
// counts as another.
func TestDiffImage(t *testing.T) {
	open := func(text string) []olm.Source {
		return []olm.Source{{SourceKey: olm.SourceKey{Name: "c"}, Catalog: samples.Text(t, text)}}
	}
	r, err := olm.NewResolver(open(shop), nil)
	if err != nil {
		t.Fatal(err)
	}
	req, err := r.Request("", &olm.Case{Subscriptions: []string{"database"}})
	if err != nil {
		t.Fatal(err)
	}
	base, err := r.Base(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	for image, want := range map[string]int{"database:4.2": 0, "database:rebuilt": 1} {
		e, err := base.WhatIf(context.Background(), &olm.Supposition{Catalogs: open(strings.ReplaceAll(shop, "database:4.2", image))})
		if err != nil || len(e.Changed) != want || len(e.Added)+len(e.Removed)+len(e.Subscriptions) != 0 {
			t.Errorf("image %s: %+v, %v; want %d changed", image, e, err, want)
		}
	}
}
