package olm_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
)

// drawer draws small worlds in which little fits together.
type drawer struct {
	*rand.Rand
	w    *world
	pkgs []string
	apis []string
	mark string // is in all names, so that many worlds fit into one set of catalogs
}

// A batch is a number of worlds whose catalogs have the same names, priorities
// and namespaces, and nothing else in common. Opening one set of catalogs for
// all of them is cheaper.
type batch struct {
	worlds  []*world
	sources []olm.Source
}

const batchSize = 25

// batches draws n worlds.
func batches(t *testing.T, n int) iter.Seq[*batch] { return batchesOf(t, n, func(*drawer) {}) }

// batchesOf draws n worlds that change alters before they are written down.
func batchesOf(t *testing.T, n int, change func(d *drawer)) iter.Seq[*batch] {
	return func(yield func(*batch) bool) {
		for seed := range uint64(n / batchSize) {
			if !yield(drawBatchOf(t, seed, change)) {
				return
			}
		}
	}
}

func drawBatch(t *testing.T, seed uint64) *batch { return drawBatchOf(t, seed, func(*drawer) {}) }

func drawBatchOf(t *testing.T, seed uint64, change func(d *drawer)) *batch {
	d := &drawer{Rand: rand.New(rand.NewPCG(seed, 1))}
	var catalogs []wCatalog
	for i := range 1 + d.IntN(5)/3 {
		c := wCatalog{name: fmt.Sprintf("c%d", i), priority: d.IntN(2), namespace: testNamespace}
		if d.chance(30) {
			c.namespace = ""
		}
		catalogs = append(catalogs, c)
	}
	b := &batch{}
	texts := make([]string, len(catalogs))
	for i := range batchSize {
		d.mark = fmt.Sprint(i)
		w := d.draw(catalogs)
		change(d)
		b.worlds = append(b.worlds, w)
		for k, c := range w.catalogs {
			texts[k] += c.json()
		}
	}
	for i, c := range catalogs {
		b.sources = append(b.sources, olm.Source{
			SourceKey: olm.SourceKey{Name: c.name, Namespace: c.namespace},
			Priority:  c.priority,
			Catalog:   samples.Text(t, texts[i]),
		})
	}
	return b
}

func (d *drawer) draw(catalogs []wCatalog) *world {
	d.w, d.pkgs, d.apis = &world{}, nil, nil
	for i := range 3 + d.IntN(3) {
		d.pkgs = append(d.pkgs, string(rune('a'+i))+d.mark)
	}
	for i := range 3 + d.IntN(3) {
		d.apis = append(d.apis, fmt.Sprintf("K%d-%s", i, d.mark))
	}
	for _, c := range catalogs {
		d.fill(&c)
		d.w.catalogs = append(d.w.catalogs, &c)
	}
	d.existing()
	d.subscriptions()
	return d.w
}

func (d *drawer) chance(percent int) bool { return d.IntN(100) < percent }

func (d *drawer) fill(c *wCatalog) {
	for _, name := range d.pkgs {
		if len(d.w.catalogs) == 0 || d.chance(50) {
			c.packages = append(c.packages, d.pkg(name))
		}
	}
}

func (d *drawer) pkg(name string) *wPackage {
	p := &wPackage{name: name, defaultChannel: "m"}
	versions := 2 + d.IntN(3)
	for v := 1; v <= versions; v++ {
		p.bundles = append(p.bundles, d.bundle(name, v))
	}
	p.channels = []*wChannel{d.channel("m", p)}
	if d.chance(35) {
		p.channels = append(p.channels, d.channel(string("bx"[d.IntN(2)]), p))
	}
	return p
}

func (d *drawer) bundle(pkg string, v int) *wBundle {
	b := &wBundle{name: fmt.Sprintf("%s.v%d", pkg, v), version: v, deprecated: d.chance(3), malformed: d.chance(3)}
	for _, api := range d.apis {
		if d.chance(26) {
			b.provides = append(b.provides, api)
		}
	}
	if d.chance(20) {
		b.labels = append(b.labels, "l"+d.mark)
	}
	for d.chance(45) && len(b.needs) < 3 {
		b.needs = append(b.needs, d.need(2))
	}
	return b
}

func (d *drawer) need(depth int) *wNeed {
	switch n := d.IntN(20); {
	case n < 9:
		return &wNeed{api: d.apis[d.IntN(len(d.apis))]}
	case n < 16 || depth == 0:
		low := 1 + d.IntN(3)
		return &wNeed{pkg: d.pkgs[d.IntN(len(d.pkgs))], versions: span{low, low + 1 + d.IntN(3)}}
	case n < 17 && depth == 2:
		return &wNeed{label: "l" + d.mark}
	case n < 18:
		return &wNeed{all: []*wNeed{d.need(0), {not: []*wNeed{d.need(0)}}}}
	}
	return &wNeed{any: []*wNeed{d.need(depth - 1), d.need(depth - 1)}}
}

// channel chains some of the bundles, the highest version at the head.
func (d *drawer) channel(name string, p *wPackage) *wChannel {
	ch := &wChannel{name: name}
	var above *wEntry
	for i := len(p.bundles) - 1; i >= 0; i-- {
		if above != nil && d.chance(15) {
			continue
		}
		e := &wEntry{name: p.bundles[i].name}
		if above != nil {
			above.replaces = e.name
			if d.chance(15) {
				above.skips = append(above.skips, e.name)
			}
		}
		if d.chance(25) {
			low := 1 + d.IntN(2)
			e.skipRange = span{low, low + 1 + d.IntN(2)}
		}
		ch.entries = append(ch.entries, e)
		above = e
	}
	d.Shuffle(len(ch.entries), func(i, j int) { ch.entries[i], ch.entries[j] = ch.entries[j], ch.entries[i] })
	return ch
}

// existing installs some operators, most of them as the first catalog has them.
func (d *drawer) existing() {
	for _, p := range d.w.catalogs[0].packages {
		if !d.chance(25) {
			continue
		}
		x := *p.bundles[d.IntN(len(p.bundles))]
		if d.chance(70) {
			x.needs = nil
		}
		d.w.installed = append(d.w.installed, &wCSV{&x, p.name})
	}
}

func (d *drawer) subscriptions() {
	for i := range 2 + d.IntN(3) {
		s := &wSub{name: fmt.Sprintf("s%d", i), pkg: d.pkgs[d.IntN(len(d.pkgs))]}
		if taken := slices.ContainsFunc(d.w.subs, func(o *wSub) bool { return o.pkg == s.pkg }); taken && !d.chance(10) {
			continue
		}
		if d.chance(40) {
			s.channel = "m"
		}
		if d.chance(20) {
			s.source = "c0"
		}
		for _, c := range d.w.installed {
			if c.pkg == s.pkg && d.chance(90) {
				s.installed = c.name
			}
		}
		if d.chance(8) {
			s.starting = s.pkg + ".v1"
		}
		d.w.subs = append(d.w.subs, s)
	}
}

// TestResolveAgainstOracle compares verdict and choice with the oracle's on
// random worlds, and ensures that these are hard enough to be meaningful.
func TestResolveAgainstOracle(t *testing.T) {
	n := long.N(500, 500_000)
	hard, unsatisfiable := 0, 0
	for b := range batches(t, n) {
		r, err := olm.NewResolver(b.sources, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range b.worlds {
			o := newOracle(w)
			selected, ok := o.best()
			res, err := r.Resolve(context.Background(), w.request())
			var unsat *olm.UnsatError
			switch {
			case errors.As(err, &unsat) != !ok || err != nil && unsat == nil:
				t.Fatalf("oracle solved it: %v; got error %v\n%s", ok, err, w)
			case !ok:
				unsatisfiable++
				continue
			}
			if o.freed > 0 {
				hard++
			}
			got := []string{}
			for _, c := range res.Chosen {
				got = append(got, c.String())
			}
			if want := o.news(selected); !slices.Equal(got, want) {
				t.Fatalf("got %v, want %v\n%s", got, want, w)
			}
			checkDrawing(t, res)
		}
	}
	t.Logf("%d worlds: %d need a better-looking candidate rejected, %d have no solution", n, hard, unsatisfiable)
	if hard*3 < n || unsatisfiable*3 < n {
		t.Errorf("of %d worlds %d need a better-looking candidate rejected and %d have no solution: want a third each", n, hard, unsatisfiable)
	}
}

// checkDrawing checks that the drawings of a resolution are well formed, and
// contain each subscription and everything that is installed.
func checkDrawing(t *testing.T, res *olm.Resolution) {
	t.Helper()
	var dot, mermaid strings.Builder
	if err := errors.Join(res.WriteDOT(&dot), res.WriteMermaid(&mermaid)); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range res.Chosen {
		names = append(names, c.Name)
	}
	for _, o := range res.Subscriptions {
		names = append(names, "subscription "+o.Subscription)
	}
	for _, name := range names {
		if strings.Count(dot.String(), fmt.Sprintf("\t%q [label", name)) != 1 || !strings.Contains(mermaid.String(), name) {
			t.Fatalf("%s is not drawn once:\n%s", name, dot.String())
		}
	}
}
