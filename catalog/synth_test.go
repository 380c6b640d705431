package catalog_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
)

// synth is a catalog made up by chance, in a form that tests can change.
type synth struct {
	Packages     []map[string]any
	Channels     []*synthChannel
	Bundles      []*synthBundle
	Deprecations []map[string]any
}

type synthChannel struct {
	Schema  string          `json:"schema"`
	Name    string          `json:"name"`
	Package string          `json:"package"`
	Entries []catalog.Entry `json:"entries"`
}

type synthBundle struct {
	Schema        string           `json:"schema"`
	Name          string           `json:"name"`
	Package       string           `json:"package"`
	Image         string           `json:"image,omitempty"`
	Properties    []map[string]any `json:"properties"`
	RelatedImages []map[string]any `json:"relatedImages,omitempty"`
}

type object = map[string]any

// newSynth makes a valid catalog of a few packages, whose channels have chains
// of replaces, skips and ranges, and whose bundles require things of each
// other.
func newSynth(r *rand.Rand) *synth {
	s := &synth{}
	for i := range 1 + r.IntN(4) {
		s.addPackage(r, string(rune('a'+i)))
	}
	for i, b := range s.Bundles {
		if r.IntN(6) == 0 {
			other := s.Bundles[r.IntN(len(s.Bundles))]
			b.Properties = append(b.Properties, object{"type": "olm.gvk.required", "value": object{"group": other.Package + ".io", "version": "v1", "kind": "K"}})
		}
		if r.IntN(8) == 0 {
			other := s.Bundles[r.IntN(len(s.Bundles))]
			b.Properties = append(b.Properties, object{"type": "olm.package.required", "value": object{"packageName": other.Package, "versionRange": []string{">=1.0.0", ">1.2.0", "<2.0.0", ">=9.0.0"}[i%4]}})
		}
		if r.IntN(20) == 0 {
			b.Properties = append(b.Properties, object{"type": "olm.constraint", "value": object{"any": object{"constraints": []any{
				object{"package": object{"packageName": "z", "versionRange": ">=1.0.0"}}, object{"gvk": object{"group": "b.io", "version": "v1", "kind": "K"}},
			}}}})
		}
	}
	return s
}

func (s *synth) addPackage(r *rand.Rand, name string) {
	n := 1 + r.IntN(9)
	var versions []string
	for i := range n {
		versions = append(versions, fmt.Sprintf("%d.%d.0", 1+i/4, i%4))
	}
	used := map[string]bool{}
	var channels []string
	for c := range 1 + r.IntN(3) {
		ch := &synthChannel{Schema: catalog.SchemaChannel, Name: fmt.Sprintf("c%d", c), Package: name}
		ch.Entries = chain(r, name, versions)
		s.Channels = append(s.Channels, ch)
		channels = append(channels, ch.Name)
		for _, e := range ch.Entries {
			used[e.Name] = true
		}
	}
	s.Packages = append(s.Packages, object{"schema": catalog.SchemaPackage, "name": name, "defaultChannel": channels[r.IntN(len(channels))]})
	var deprecated []any
	for _, v := range versions {
		b := &synthBundle{Schema: catalog.SchemaBundle, Name: name + ".v" + v, Package: name, Image: "r.io/" + name + ":" + v}
		if !used[b.Name] {
			continue
		}
		b.Properties = []map[string]any{{"type": "olm.package", "value": object{"packageName": name, "version": v}}}
		if r.IntN(2) == 0 {
			b.Properties = append(b.Properties, object{"type": "olm.gvk", "value": object{"group": name + ".io", "version": "v1", "kind": "K"}})
		}
		b.RelatedImages = []map[string]any{{"name": "x", "image": "r.io/x:" + v}}
		s.Bundles = append(s.Bundles, b)
		if r.IntN(5) == 0 {
			deprecated = append(deprecated, object{"reference": object{"schema": catalog.SchemaBundle, "name": b.Name}, "message": "old"})
		}
	}
	if r.IntN(3) == 0 {
		deprecated = append(deprecated, object{"reference": object{"schema": catalog.SchemaChannel, "name": channels[0]}, "message": "old"})
	}
	if len(deprecated) > 0 {
		s.Deprecations = append(s.Deprecations, object{"schema": catalog.SchemaDeprecations, "package": name, "entries": deprecated})
	}
}

// chain makes the entries of a valid channel of some of the versions.
func chain(r *rand.Rand, pkg string, versions []string) []catalog.Entry {
	low := r.IntN(len(versions))
	high := low + r.IntN(len(versions)-low)
	name := func(i int) string { return pkg + ".v" + versions[i] }
	entries := map[int]*catalog.Entry{}
	for i := low; i <= high; i++ {
		entries[i] = &catalog.Entry{Name: name(i)}
		if r.IntN(4) == 0 {
			entries[i].SkipRange = "<" + versions[i]
		}
	}
	for at := high; at > low; {
		next := at - 1 - r.IntN(min(3, at-low))
		entries[at].Replaces = name(next)
		for i := next + 1; i < at; i++ {
			entries[at].Skips = append(entries[at].Skips, name(i))
			if r.IntN(2) == 0 {
				entries[i].Replaces = name(next)
			}
		}
		at = next
	}
	if r.IntN(3) == 0 {
		entries[low].Replaces = pkg + ".v0.9.0"
	}
	var list []catalog.Entry
	for _, i := range r.Perm(high - low + 1) {
		list = append(list, *entries[low+i])
	}
	return list
}

// text returns the catalog as JSON documents.
func (s *synth) text() string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	encode := func(v any) {
		if err := e.Encode(v); err != nil {
			panic(err)
		}
	}
	for _, v := range s.Packages {
		encode(v)
	}
	for _, v := range s.Channels {
		encode(v)
	}
	for _, v := range s.Bundles {
		encode(v)
	}
	for _, v := range s.Deprecations {
		encode(v)
	}
	return b.String()
}

// mustCheck opens and validates a catalog of one file.
func mustCheck(t testing.TB, text string) (*catalog.Catalog, *check.Report) {
	t.Helper()
	c, report, err := check.Open(t.Context(), scriptFiles(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c, report
}

func TestSynthIsValid(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		text := newSynth(r).text()
		if _, report := mustCheck(t, text); !report.Valid() || report.OPM() != "" {
			t.Fatalf("%v\n%s", report.Err(), text)
		}
	}
}
