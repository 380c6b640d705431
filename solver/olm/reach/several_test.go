package reach_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/release"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/reach"
)

// product is a package as a test makes it: a chain of versions 1.0.0 to N.0.0, each with what
// it requires.
type product struct {
	name     string
	requires [][]need // by version, from 1
}

// need is a required package from a version on; it is written as one of two kinds.
type need struct {
	pkg        string
	from       int
	constraint bool
}

// catalogOf writes products, without what drop accepts.
func catalogOf(products []product, drop func(need) bool) fstest.MapFS {
	var text strings.Builder
	out := json.NewEncoder(&text)
	write := func(v map[string]any) {
		if err := out.Encode(v); err != nil {
			panic(err)
		}
	}
	for _, p := range products {
		name := func(v int) string { return fmt.Sprintf("%s.v%d.0.0", p.name, v) }
		write(map[string]any{"schema": catalog.SchemaPackage, "name": p.name, "defaultChannel": "stable"})
		var entries []catalog.Entry
		for v := 1; v <= len(p.requires); v++ {
			e := catalog.Entry{Name: name(v)}
			if v > 1 {
				e.Replaces = name(v - 1)
			}
			entries = append(entries, e)
		}
		write(map[string]any{"schema": catalog.SchemaChannel, "package": p.name, "name": "stable", "entries": entries})
		for i, needs := range p.requires {
			properties := []any{map[string]any{"type": catalog.PropertyPackage, "value": map[string]any{"packageName": p.name, "version": fmt.Sprintf("%d.0.0", i+1)}}}
			for _, n := range needs {
				value := map[string]any{"packageName": n.pkg, "versionRange": fmt.Sprintf(">=%d.0.0", n.from)}
				switch {
				case drop != nil && drop(n):
				case n.constraint:
					properties = append(properties, map[string]any{"type": catalog.PropertyConstraint, "value": map[string]any{"failureMessage": "x", "all": map[string]any{"constraints": []any{map[string]any{"package": value}}}}})
				default:
					properties = append(properties, map[string]any{"type": catalog.PropertyPackageRequired, "value": value})
				}
			}
			write(map[string]any{"schema": catalog.SchemaBundle, "package": p.name, "name": name(i + 1), "image": "r.io/x:1", "properties": properties})
		}
	}
	return fstest.MapFS{"catalog.json": {Data: []byte(text.String())}}
}

// randomProducts makes products that require each other and those of other catalogs.
func randomProducts(r *rand.Rand, names, others []string) (list []product) {
	for _, name := range names {
		p := product{name: name}
		for range 1 + r.IntN(4) {
			var needs []need
			if r.IntN(2) == 0 {
				n := need{others[r.IntN(len(others))], 1 + r.IntN(4), r.IntN(3) == 0}
				if n.pkg != name {
					needs = append(needs, n)
				}
			}
			p.requires = append(p.requires, needs)
		}
		list = append(list, p)
	}
	return list
}

// TestReleasesOverCatalogs: for random releases over several catalogs, the gate agrees with
// asking the resolver for every user, about catalogs without the requirements that nothing
// met before.
func TestReleasesOverCatalogs(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	stranding, elsewhere := 0, 0
	for range long.N(60, 2_000) {
		before := randomProducts(r, []string{"a", "b"}, []string{"a", "b", "x", "y", "z"})
		after := slices.Clone(before)
		for i := range after {
			more := randomProducts(r, []string{after[i].name}, []string{"a", "b", "x", "y", "z"})[0].requires
			after[i].requires = slices.Concat(after[i].requires, more[:min(len(more), 1+r.IntN(2))])
		}
		others := randomProducts(r, []string{"x", "y"}, []string{"x", "y"})
		for i := range others {
			others[i].requires = make([][]need, len(others[i].requires)) // they require nothing
		}
		offers := map[string]int{}
		for _, p := range slices.Concat(before, others) {
			offers[p.name] = len(p.requires)
		}
		unmet := map[need]bool{}
		absent := map[string]bool{}
		for _, p := range before {
			for _, n := range slices.Concat(p.requires...) {
				if offers[n.pkg] < n.from {
					unmet[n] = true
					absent[n.pkg] = absent[n.pkg] || n.pkg != "a" && n.pkg != "b" && !n.constraint
				}
			}
		}
		drop := func(n need) bool { return unmet[n] || absent[n.pkg] && !n.constraint }
		with := []olm.Source{{SourceKey: olm.SourceKey{Name: "others"}, Catalog: samples.Open(t, catalogOf(others, nil)), Priority: r.IntN(3) - 1}}
		old := samples.Open(t, catalogOf(before, nil))
		report, err := release.Evaluate(t.Context(), old, catalogOf(after, nil), &release.Options{Resolver: &reach.Resolver{With: with}})
		if err != nil {
			t.Fatal(err)
		}
		elsewhere += report.Elsewhere
		asked := &reach.Resolver{With: with}
		ask := func(c *catalog.Catalog) (lost []string) {
			for p := range old.Packages() {
				ch, _ := p.Channel("stable")
				for _, e := range ch.Entries() {
					why, err := asked.Reach(t.Context(), c, p.Name(), "stable", catalog.Installed{Name: e.Name, Version: p.Version(e.Name)})
					if err != nil {
						t.Fatal(err)
					}
					if why != "" {
						lost = append(lost, e.Name)
					}
				}
			}
			return lost
		}
		stuck := ask(samples.Open(t, catalogOf(before, drop)))
		want := slices.DeleteFunc(ask(samples.Open(t, catalogOf(after, drop))), func(name string) bool { return slices.Contains(stuck, name) })
		var got []string
		for _, u := range report.Unresolved {
			got = append(got, u.Bundle)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("the gate says %q, the resolver %q\nold %v\nnew %v\nothers %v", got, want, before, after, offers)
		}
		if len(want) > 0 {
			stranding++
		}
	}
	if stranding == 0 || elsewhere == 0 {
		t.Errorf("%d releases strand users, %d requirements are met elsewhere", stranding, elsewhere)
	}
}
