package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/catalog/diff"
	"github.com/fairlead/fairlead/catalog/draw"
	"github.com/fairlead/fairlead/catalog/release"
)

// hard is a catalog of one package, and its next version.
type hard struct{ before, after string }

// hardText writes a package p with channels of entries, whose first is the default, and a
// bundle for each name in them.
func hardText(channels ...[]catalog.Entry) string {
	var text strings.Builder
	out := json.NewEncoder(&text)
	write := func(v map[string]any) {
		if err := out.Encode(v); err != nil {
			panic(err)
		}
	}
	write(map[string]any{"schema": "olm.package", "name": "p", "defaultChannel": "c0"})
	known := map[string]bool{}
	for i, entries := range channels {
		write(map[string]any{"schema": "olm.channel", "package": "p", "name": fmt.Sprintf("c%d", i), "entries": entries})
		for _, e := range entries {
			if !known[e.Name] {
				known[e.Name] = true
				write(map[string]any{"schema": "olm.bundle", "package": "p", "name": e.Name, "image": fmt.Sprintf("r.example/p@sha256:%064x", len(known)),
					"properties": []any{map[string]any{"type": "olm.package", "value": map[string]any{"packageName": "p", "version": e.Name[len("p.v"):]}}}})
			}
		}
	}
	return text.String()
}

// chained returns a channel of n entries, each of which replaces the one before.
func chained(n int) []catalog.Entry {
	entries := make([]catalog.Entry, n)
	for i := range entries {
		entries[i].Name = fmt.Sprintf("p.v0.0.%d", i)
		if i > 0 {
			entries[i].Replaces = entries[i-1].Name
		}
	}
	return entries
}

// hardCatalogs are catalogs of which a careless algorithm takes the square of the time or
// memory, by name and size.
var hardCatalogs = map[string]func(n int) hard{
	"chain without its middle third": func(n int) hard {
		entries := chained(n)
		return hard{hardText(entries), hardText(append(chained(n)[:n/3], entries[2*n/3:]...))}
	},
	"entries that skip all older ones": func(n int) hard {
		entries := chained(n)
		for i := 2; i < n; i++ {
			for _, older := range entries[:i-1] {
				entries[i].Skips = append(entries[i].Skips, older.Name)
			}
		}
		last := catalog.Entry{Name: entries[n-1].Name, Replaces: entries[n/2-1].Name}
		return hard{hardText(entries), hardText(append(entries[:n/2:n/2], last))}
	},
	"wide skipRanges": func(n int) hard {
		entries := chained(n)
		for i := 1; i < n; i++ {
			entries[i].SkipRange = fmt.Sprintf(">=0.0.0 <0.0.%d", i)
		}
		return hard{hardText(entries), hardText(append(chained(n)[:n/3], entries[2*n/3:]...))}
	},
	"channels over 60 bundles": func(n int) hard {
		var before, after [][]catalog.Entry
		for i := range n {
			entries := chained(60)
			if i > 0 {
				entries = entries[:1+i%60]
			}
			before = append(before, entries)
			after = append(after, []catalog.Entry{{Name: entries[len(entries)-1].Name}})
		}
		return hard{hardText(before...), hardText(after...)}
	},
}

// hardWork is what is done with them.
var hardWork = map[string]func(ctx context.Context, before, after *catalog.Catalog, text hard) error{
	"diff": func(ctx context.Context, before, after *catalog.Catalog, _ hard) error {
		_, err := diff.Compare(ctx, before, after, nil)
		return err
	},
	"release": func(ctx context.Context, before, _ *catalog.Catalog, text hard) error {
		_, err := release.Evaluate(ctx, before, fstest.MapFS{"c": {Data: []byte(text.after)}}, nil)
		return err
	},
	"check": func(ctx context.Context, before, _ *catalog.Catalog, _ hard) error {
		_, err := check.Catalog(ctx, before, nil)
		return err
	},
	"lint": func(ctx context.Context, before, _ *catalog.Catalog, _ hard) error {
		_, err := check.Lint(ctx, before)
		return err
	},
	"path": func(ctx context.Context, before, _ *catalog.Catalog, _ hard) error {
		p, _ := before.Package("p")
		ch, _ := p.Channel("c0")
		for _, rules := range []catalog.Rules{catalog.OLMv0, catalog.OLMv1} {
			g := ch.Graph(rules)
			g.Path("p.v0.0.0", ch.Heads()[0])
			g.WhyNot(ch.Heads()[0], "p.v0.0.0")
			if _, _, err := p.Route(ctx, rules, "", "p.v0.0.0", ch.Heads()[0]); err != nil {
				return err
			}
		}
		return nil
	},
	"draw": func(ctx context.Context, before, _ *catalog.Catalog, _ hard) error {
		p, _ := before.Package("p")
		return draw.SVG(ctx, io.Discard, p, &draw.Options{Channels: []string{"c0"}})
	},
}

// hardSizes are the sizes of the benchmarks.
var hardSizes = map[string][]int{
	"chain without its middle third":   {2_500, 5_000, 10_000},
	"entries that skip all older ones": {250, 500, 1_000},
	"wide skipRanges":                  {1_250, 2_500, 5_000},
	"channels over 60 bundles":         {375, 750, 1_500},
}

// BenchmarkHard shows how time and memory grow with what is read.
func BenchmarkHard(b *testing.B) {
	for _, shape := range slices.Sorted(maps.Keys(hardCatalogs)) {
		for _, n := range hardSizes[shape] {
			text := hardCatalogs[shape](n)
			before, after := openText(b, text.before), openText(b, text.after)
			for _, work := range slices.Sorted(maps.Keys(hardWork)) {
				b.Run(fmt.Sprintf("%s/%d %s", work, n, shape), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						b.StopTimer()
						before, after := catalogAgain(b, before), catalogAgain(b, after) // graphs are kept
						runtime.GC()
						b.StartTimer()
						if err := hardWork[work](b.Context(), before, after, text); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(len(text.before)), "input-bytes")
				})
			}
		}
	}
}

// catalogAgain returns a catalog of the same documents without what was computed from them.
func catalogAgain(t testing.TB, c *catalog.Catalog) *catalog.Catalog {
	t.Helper()
	var documents []*catalog.Document
	for d := range c.Documents() {
		documents = append(documents, d)
	}
	return catalog.New(documents)
}

// TestCollapsedText: a package with more updates than viewers draw is written with fewer
// boxes, and one that they draw as it is.
func TestCollapsedText(t *testing.T) {
	entries := chained(900)
	for i := range entries {
		for k := range i {
			entries[i].Skips = append(entries[i].Skips, entries[k].Name)
		}
	}
	for _, c := range []struct {
		entries []catalog.Entry
		most    int
	}{{chained(40), 40}, {entries, 500}, {chained(2_000), 500}} {
		p, _ := openText(t, hardText(c.entries)).Package("p")
		var mermaid, dot strings.Builder
		if err := errors.Join(draw.Mermaid(t.Context(), &mermaid, p, nil), draw.DOT(t.Context(), &dot, p, nil)); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{mermaid.String(), dot.String()} {
			if n := strings.Count(text, "->") + strings.Count(text, "-->") + strings.Count(text, "-.->"); n > 2*c.most || n == 0 || len(text) > 100_000 {
				t.Errorf("%d entries: %d arrows in %d characters", len(c.entries), n, len(text))
			}
		}
	}
}
