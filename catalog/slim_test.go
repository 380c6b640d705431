package catalog_test

import (
	"slices"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/samples"
)

// The figures of the real catalog, counted by other means.
func TestRealCatalogFigures(t *testing.T) {
	c := samples.Open(t, samples.Archive(t, "slim"))
	got := map[string]int{}
	for p := range c.Packages() {
		got["packages"]++
		for ch := range p.Channels() {
			got["channels"]++
			if len(ch.Heads()) != 1 {
				t.Errorf("%s %s has heads %q", p.Name(), ch.Name(), ch.Heads())
			}
			for _, e := range ch.Entries() {
				got["entries"]++
				got["skips"] += len(e.Skips)
				if e.SkipRange != "" {
					got["skip ranges"]++
				}
				if _, ok := p.Bundle(e.Name); !ok {
					t.Errorf("%s: no bundle %s", p.Name(), e.Name)
				}
			}
		}
		for b := range p.Bundles() {
			got["bundles"]++
			facts, err := b.Facts()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range facts {
				got[f.Type]++
			}
		}
	}
	for what, want := range map[string]int{
		"packages": 220, "channels": 389, "bundles": 4757, "entries": 5794, "skips": 138, "skip ranges": 1109,
		"olm.constraint": 1, "olm.gvk": 26678, "olm.gvk.required": 40, "olm.maxOpenShiftVersion": 381,
		"olm.package": 4757, "olm.package.required": 10, "olm.csv.metadata": 0,
	} {
		if got[what] != want {
			t.Errorf("%d %s, want %d", got[what], what, want)
		}
	}
	providers := slices.Collect(c.Providers(catalog.GVK{Group: "hive.openshift.io", Version: "v1", Kind: "ClusterDeployment"}))
	for _, b := range providers {
		if b.Package().Name() != "hive-operator" {
			t.Errorf("%s of %s provides it, too", b.Name(), b.Package().Name())
		}
	}
	if len(providers) == 0 {
		t.Error("nobody provides ClusterDeployment")
	}
	checkRealGraphs(t, c)
}

// checkRealGraphs holds the graphs of all channels against what a valid
// channel is: from each entry that is not skipped, updates lead to the head.
func checkRealGraphs(t *testing.T, c *catalog.Catalog) {
	t.Helper()
	for p := range c.Packages() {
		for ch := range p.Channels() {
			g, head := ch.Graph(catalog.AsWritten), ch.Heads()[0]
			for _, e := range ch.Entries() {
				path, ok := g.Path(e.Name, head)
				if !ok || (len(path) == 0) != (e.Name == head) {
					t.Errorf("%s %s: from %s to %s: %v", p.Name(), ch.Name(), e.Name, head, g.WhyNot(e.Name, head))
				}
			}
		}
	}
}
