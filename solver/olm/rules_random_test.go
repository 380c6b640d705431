package olm

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/catalog/diff"
	desk "github.com/fairlead/fairlead/catalog/release"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/semverx"
)

// drawPackage returns a random package: a few bundles, in one to three channels
// with a single head each, with entries that replace, skip or have a range, and
// names of entries that do not exist.
func drawPackage(r *rand.Rand) fstest.MapFS {
	n := 1 + r.IntN(6)
	name := func(i int) string { return fmt.Sprintf("p.v1.%d.0", i) }
	var text strings.Builder
	write := func(v any) {
		line, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&text, "%s\n", line)
	}
	used := map[string]bool{}
	channels := 1 + r.IntN(3)
	for c := range channels {
		var entries []catalog.Entry
		head := r.IntN(n)
		for i := range n {
			if i != head && r.IntN(3) == 0 {
				continue
			}
			e := catalog.Entry{Name: name(i)}
			switch r.IntN(4) {
			case 0:
			case 1:
				e.SkipRange = fmt.Sprintf(">=1.%d.0 <1.%d.0", r.IntN(i+1), i)
				fallthrough
			default:
				if i > 0 {
					e.Replaces = name(r.IntN(i))
				}
			}
			if i > 0 && r.IntN(3) == 0 {
				e.Skips = append(e.Skips, name(r.IntN(i)))
			}
			entries = append(entries, e)
		}
		for heads := catalog.Heads(entries); len(heads) > 1; heads = catalog.Heads(entries) {
			last := slices.IndexFunc(entries, func(e catalog.Entry) bool { return e.Name == heads[len(heads)-1] })
			entries[last].Skips = append(entries[last].Skips, heads[0])
		}
		r.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		for _, e := range entries {
			used[e.Name] = true
		}
		write(map[string]any{"schema": catalog.SchemaChannel, "package": "p", "name": fmt.Sprint("c", c), "entries": entries})
	}
	write(map[string]any{"schema": catalog.SchemaPackage, "name": "p", "defaultChannel": "c0"})
	for i := range n {
		if used[name(i)] {
			properties := []map[string]any{{"type": catalog.PropertyPackage, "value": map[string]any{"packageName": "p", "version": fmt.Sprintf("1.%d.0", i)}}}
			write(map[string]any{"schema": catalog.SchemaBundle, "package": "p", "name": name(i), "image": "r.io/p:1", "properties": properties})
		}
	}
	return fstest.MapFS{"catalog.json": {Data: []byte(text.String())}}
}

// hopsV1 counts the updates, one at a time, that an extension takes from one
// bundle of a channel to another; -1 if none lead there.
func hopsV1(p *catalog.Package, from catalog.Installed, ch *catalog.Channel, to string) int {
	steps := map[string]int{from.Name: 0}
	for queue := []catalog.Installed{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at.Name == to {
			return steps[at.Name]
		}
		version, _ := semverx.ParseTolerant(at.Version)
		q := &extensionQuery{
			Extension: &Extension{Package: p.Name(), Installed: &InstalledBundle{Name: at.Name, Version: at.Version}},
			installed: release{version: version},
		}
		for _, e := range ch.Entries() {
			_, there := p.Bundle(e.Name)
			if _, seen := steps[e.Name]; there && !seen && q.follows(p, e.Name) {
				steps[e.Name] = steps[at.Name] + 1
				queue = append(queue, catalog.Installed{Name: e.Name, Version: p.Version(e.Name)})
			}
		}
	}
	return -1
}

// TestRandomCatalogsAgree verifies for two versions of a random package that
// the paths of the graph, the search for paths, the updates of the resolver,
// the comparison and the gate agree on every user and head, by the rules of v0
// and of v1.
func TestRandomCatalogsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(91, 92))
	ways, none, stuck, passed := 0, 0, map[catalog.Rules]int{}, 0
	for range long.N(120, 10_000) { // two catalogs each
		files := [2]fstest.MapFS{drawPackage(r), drawPackage(r)}
		var packages [2]*catalog.Package
		var catalogs [2]*catalog.Catalog
		var resolvers [2]*Resolver
		for i := range files {
			c, err := catalog.Open(t.Context(), files[i], nil)
			if err != nil {
				t.Fatal(err)
			}
			catalogs[i] = c
			packages[i], _ = c.Package("p")
			if resolvers[i], err = NewResolver([]Source{{SourceKey: SourceKey{Name: "c", Namespace: "ns"}, Catalog: c}}, nil); err != nil {
				t.Fatal(err)
			}
		}
		show := func() string {
			return string(files[0]["catalog.json"].Data) + "--- then\n" + string(files[1]["catalog.json"].Data)
		}
		// length asks the resolver for the path from an installed bundle to the
		// head of a channel of a version of the package.
		length := func(version int, rules catalog.Rules, from catalog.Installed, channel string) int {
			ch, ok := packages[version].Channel(channel)
			if !ok {
				return -1
			}
			if rules == catalog.OLMv1 {
				return hopsV1(packages[version], from, ch, ch.Heads()[0])
			}
			if from.Name == ch.Heads()[0] {
				return 0
			}
			return hops(t, resolvers[version], packages[version], from, channel, ch.Heads()[0])
		}
		want := map[string]bool{} // the users that are stranded
		for _, rules := range []catalog.Rules{catalog.OLMv0, catalog.OLMv1} {
			for i, p := range packages {
				for ch := range p.Channels() {
					g := ch.Graph(rules)
					index := resolvers[i].sources[0].pkg("p")
					at := slices.IndexFunc(index.channels, func(x *channel) bool { return x.name == ch.Name() })
					for b := range p.Bundles() {
						if rules == catalog.OLMv0 {
							checkSuccessors(t, "drawn", b, index.channels[at], g)
						} else {
							checkSuccessorsV1(t, "drawn", p, b, ch, g)
						}
						from := catalog.Installed{Name: b.Name(), Version: b.Version()}
						n := -1
						if way, ok := g.Path(b.Name(), ch.Heads()[0]); ok {
							n = len(way)
							ways++
						} else {
							none++
						}
						if got := length(i, rules, from, ch.Name()); got != n {
							t.Fatalf("%s: channel %s: from %s: %d updates to the head by the resolver, %d by the graph\n%s", rules, ch.Name(), b.Name(), got, n, show())
						}
						entered := slices.ContainsFunc(ch.Entries(), func(e catalog.Entry) bool { return e.Name == b.Name() })
						if i == 0 && entered && n >= 0 && length(1, rules, from, ch.Name()) < 0 {
							want[fmt.Sprint(rules, " ", ch.Name(), " ", b.Name())] = true
							stuck[rules]++
						}
					}
				}
			}
		}
		d, err := diff.Compare(t.Context(), catalogs[0], catalogs[1], nil)
		if err != nil {
			t.Fatal(err)
		}
		report, err := desk.Evaluate(t.Context(), catalogs[0], files[1], nil)
		if err != nil {
			t.Fatal(err)
		}
		for what, d := range map[string]*diff.Diff{"the comparison": d, "the gate": report.Diff} {
			got := map[string]bool{}
			for _, p := range d.Packages {
				for _, s := range p.Stranded {
					for _, rules := range s.Rules {
						got[fmt.Sprint(rules, " ", s.Channel, " ", s.Bundle)] = true
					}
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s says that %v are stranded, the resolver %v\n%s", what, got, want, show())
			}
		}
		judged, err := check.Catalog(t.Context(), catalogs[1], nil)
		if err != nil {
			t.Fatal(err)
		}
		if report.Passes() != (len(want) == 0 && judged.Valid()) {
			t.Fatalf("the gate passes: %v, stranded are %v, the new catalog: %v\n%s", report.Passes(), want, judged.Err(), show())
		}
		if report.Passes() {
			passed++
		}
		if t.Failed() {
			t.Fatal(show())
		}
	}
	t.Logf("%d ways to a head, %d users without; stranded: %v; %d releases pass", ways, none, stuck, passed)
	if ways == 0 || none == 0 || stuck[catalog.OLMv0] == 0 || stuck[catalog.OLMv1] == 0 || passed == 0 {
		t.Error("too few of a kind to mean something")
	}
}
