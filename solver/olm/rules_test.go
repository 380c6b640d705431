package olm

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/internal/semverx"
)

// realCatalogs visits the available real catalogs, the largest only in long
// runs.
func realCatalogs(t *testing.T, visit func(name string, c *catalog.Catalog)) {
	t.Helper()
	archives := []string{"published", "full-sample"}
	if long.Enabled() {
		archives = append(archives, "slim")
	}
	for name, fsys := range samples.Catalogs(t, archives...) {
		visit(name, samples.Open(t, fsys))
	}
}

// TestRulesOnRealCatalogs verifies that the updates in a catalog's graphs, from
// every bundle of a package to every entry of a channel, are those of this
// package.
func TestRulesOnRealCatalogs(t *testing.T) {
	pairs, heads, stuck, packages := 0, 0, 0, 0
	realCatalogs(t, func(where string, c *catalog.Catalog) {
		r, err := NewResolver([]Source{{SourceKey: SourceKey{Name: "c", Namespace: "ns"}, Catalog: c}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for p := range c.Packages() {
			if packages++; !long.Enabled() && packages%10 != 0 {
				continue
			}
			index := r.sources[0].pkg(p.Name())
			for ch := range p.Channels() {
				at := slices.IndexFunc(index.channels, func(x *channel) bool { return x.name == ch.Name() })
				v0, v1 := ch.Graph(catalog.OLMv0), ch.Graph(catalog.OLMv1)
				for b := range p.Bundles() {
					checkSuccessors(t, where, b, index.channels[at], v0)
					checkSuccessorsV1(t, where, p, b, ch, v1)
					pairs++
				}
				for _, head := range ch.Heads() {
					for _, e := range ch.Entries() {
						heads++
						if _, ok := v0.Path(e.Name, head); !ok {
							stuck++
							if os.Getenv("FAIRLEAD_SHOW") != "" {
								t.Logf("%s: %s/%s: %s", where, p.Name(), ch.Name(), v0.WhyNot(e.Name, head))
							}
						}
					}
				}
			}
		}
	})
	t.Logf("%d bundles in a channel compared, %d ways to a head, %d of them not there by the rules of v0", pairs, heads, stuck)
}

func checkSuccessors(t *testing.T, where string, b *catalog.Bundle, ch *channel, g *catalog.Graph) {
	t.Helper()
	version, _ := semverx.ParseTolerant(b.Version())
	var want, got []string
	for _, e := range ch.chain {
		if e.name != b.Name() && e.updates(b.Name(), version) {
			want = append(want, e.name)
		}
	}
	for e := range g.Successors(b.Name()) {
		got = append(got, e.To)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("%s: channel %s of %s: from %s the resolver goes to %q, the graph to %q", where, ch.name, ch.pkg.name, b.Name(), want, got)
	}
}

func checkSuccessorsV1(t *testing.T, where string, p *catalog.Package, b *catalog.Bundle, ch *catalog.Channel, g *catalog.Graph) {
	t.Helper()
	version, _ := semverx.ParseTolerant(b.Version())
	q := &extensionQuery{
		Extension: &Extension{Package: p.Name(), Installed: &InstalledBundle{Name: b.Name(), Version: b.Version()}},
		installed: release{version: version},
	}
	goes := map[string]bool{}
	for e := range g.Successors(b.Name()) {
		goes[e.To] = true
	}
	for _, e := range ch.Entries() {
		_, there := p.Bundle(e.Name)
		if want := there && e.Name != b.Name() && q.follows(p, e.Name); want != goes[e.Name] {
			t.Errorf("%s: channel %s of %s: from %s to %s: %v, but the graph says %v", where, ch.Name(), p.Name(), b.Name(), e.Name, want, goes[e.Name])
		}
	}
}

// TestRulesAndUpgradePath verifies, for bundles and heads of real catalogs
// whose requirements are removed, that the search for paths, which resolves
// each hop, finds a path of the same length as the graph, or none.
func TestRulesAndUpgradePath(t *testing.T) {
	found, none := 0, 0
	every := 211 // one of so many pairs is looked at
	if long.Enabled() {
		every = 1
	}
	n := 0
	realCatalogs(t, func(where string, c *catalog.Catalog) {
		for p := range c.Packages() {
			resolver := sync.OnceValue(func() *Resolver { // for most packages, no pair is looked at
				r, err := NewResolver([]Source{{SourceKey: SourceKey{Name: "c", Namespace: "ns"}, Catalog: withoutRequirements(t, p)}}, nil)
				if err != nil {
					t.Fatal(err)
				}
				return r
			})
			for ch := range p.Channels() {
				for b := range p.Bundles() {
					for _, head := range ch.Heads() {
						if n++; n%every != 0 {
							continue
						}
						length := -1
						if way, ok := ch.Graph(catalog.OLMv0).Path(b.Name(), head); ok {
							length = len(way)
						}
						got := hops(t, resolver(), p, catalog.Installed{Name: b.Name(), Version: b.Version()}, ch.Name(), head)
						if got != length {
							t.Errorf("%s: channel %s of %s: from %s to %s: %d hops, by the graph %d", where, ch.Name(), p.Name(), b.Name(), head, got, length)
						}
						if got < 0 {
							none++
						} else {
							found++
						}
					}
				}
			}
		}
	})
	t.Logf("%d paths, %d pairs without", found, none)
}

// hops returns the number of hops of a path; -1 if there is none.
func hops(t *testing.T, r *Resolver, p *catalog.Package, from catalog.Installed, channel, head string) int {
	t.Helper()
	installed := ClusterServiceVersion{}
	installed.Name, installed.Namespace = from.Name, "ns"
	installed.Spec.Version = from.Version
	sub := Subscription{}
	sub.Name, sub.Namespace = "s", "ns"
	sub.Spec.Package, sub.Spec.Channel = p.Name(), channel
	sub.Status.InstalledCSV = from.Name
	req := &Request{Namespace: "ns", Installed: []ClusterServiceVersion{installed}, Subscriptions: []Subscription{sub}}
	path, err := r.UpgradePath(context.Background(), req, []Target{{Package: p.Name(), Name: head}}, nil)
	var no *PathError
	switch {
	case errors.As(err, &no):
		return -1
	case err != nil:
		t.Fatalf("from %s to %s in %s: %v", from.Name, head, channel, err)
	}
	return len(path.Hops)
}

// withoutRequirements returns the package alone, with nothing but the
// olm.package property in its bundles.
func withoutRequirements(t *testing.T, p *catalog.Package) *catalog.Catalog {
	t.Helper()
	documents := []*catalog.Document{p.Document()}
	for ch := range p.Channels() {
		documents = append(documents, ch.Document())
	}
	for b := range p.Bundles() {
		text := `{"schema": "olm.bundle", "package": "` + p.Name() + `", "name": "` + b.Name() + `", "image": "i", "properties": [
			{"type": "olm.package", "value": {"packageName": "` + p.Name() + `", "version": "` + strings.ReplaceAll(b.Version(), `"`, "") + `"}}]}`
		d, err := catalog.NewDocument([]byte(text), catalog.Position{})
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, d)
	}
	return catalog.New(documents)
}
