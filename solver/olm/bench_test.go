package olm_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
)

// BenchmarkResolve resolves against a catalog of many packages, some of which
// depend on another, with a new resolver (cold) and with a used one (warm).
func BenchmarkResolve(b *testing.B) {
	text := chainedPackages(300, 30)
	held := samples.Text(b, text)
	sources := []olm.Source{{SourceKey: olm.SourceKey{Name: "c"}, Catalog: held}}
	ctx := context.Background()
	for _, n := range []int{1, 20, 100} {
		var c olm.Case
		for i := range n {
			c.Subscriptions = append(c.Subscriptions, fmt.Sprintf("p%03d", 299-i))
		}
		warm, err := olm.NewResolver(sources, nil)
		if err != nil {
			b.Fatal(err)
		}
		req, err := warm.Request("", &c)
		if err != nil {
			b.Fatal(err)
		}
		for _, kind := range []string{"cold", "warm"} {
			b.Run(fmt.Sprintf("subscriptions=%d/%s", n, kind), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					r := warm
					if kind == "cold" {
						if r, err = olm.NewResolver(sources, nil); err != nil {
							b.Fatal(err)
						}
					}
					if _, err := r.Resolve(ctx, req); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkReal resolves packages of a real catalog with a warm resolver: each
// operation resolves one subscription, taking all packages in turn, or fifty at
// once.
func BenchmarkReal(b *testing.B) {
	held := samples.Open(b, samples.Archive(b, "slim"))
	r, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "c"}, Catalog: held}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	var names []string
	for p := range held.Packages() {
		names = append(names, p.Name())
	}
	ctx := context.Background()
	run := func(b *testing.B, sets [][]string) {
		var reqs []*olm.Request
		for _, set := range sets {
			req, err := r.Request("", &olm.Case{Subscriptions: set})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := r.Resolve(ctx, req); err == nil {
				reqs = append(reqs, req)
			}
		}
		i := 0
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.Resolve(ctx, reqs[i%len(reqs)]); err != nil {
				b.Fatal(err)
			}
			i++
		}
	}
	b.Run("one", func(b *testing.B) {
		var sets [][]string
		for _, n := range names {
			sets = append(sets, []string{n})
		}
		run(b, sets)
	})
	b.Run("fifty", func(b *testing.B) { run(b, [][]string{names[:50]}) })
}

// chainedPackages writes a catalog of packages with versions in one channel;
// three of ten packages require an earlier one, by package or by API.
func chainedPackages(packages, versions int) string {
	w := &wCatalog{name: "c"}
	for i := range packages {
		p := &wPackage{name: fmt.Sprintf("p%03d", i), defaultChannel: "stable"}
		ch := &wChannel{name: "stable"}
		for v := versions; v > 0; v-- {
			x := &wBundle{name: fmt.Sprintf("%s.v%d", p.name, v), version: v, provides: []string{fmt.Sprintf("K%d", i)}}
			switch {
			case i > 0 && i%10 < 2:
				x.needs = []*wNeed{{api: fmt.Sprintf("K%d", i*7%i)}}
			case i > 0 && i%10 == 2:
				x.needs = []*wNeed{{pkg: fmt.Sprintf("p%03d", i/2), versions: span{1, versions}}}
			}
			e := &wEntry{name: x.name}
			if v > 1 {
				e.replaces = fmt.Sprintf("%s.v%d", p.name, v-1)
			}
			p.bundles = append(p.bundles, x)
			ch.entries = append(ch.entries, e)
		}
		p.channels = []*wChannel{ch}
		w.packages = append(w.packages, p)
	}
	return w.json()
}
