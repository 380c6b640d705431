package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/catalog/edit"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
)

// randomSelections chooses parts of a catalog.
func randomSelections(r *rand.Rand, c *catalog.Catalog) []edit.Selection {
	var list []edit.Selection
	for p := range c.Packages() {
		for range r.IntN(3) {
			s := edit.Selection{Package: p.Name()}
			channels := slices.Collect(p.Channels())
			for range r.IntN(2) * r.IntN(3) {
				s.Channels = append(s.Channels, channels[r.IntN(len(channels))].Name())
			}
			s.Versions = []string{"", "", ">=1.1.0", "<1.3.0", ">=1.1.0 <2.0.0", "1.2.0 || 2.0.0", "1.1.0", ">2.0.0", "!1.1.0"}[r.IntN(9)]
			if r.IntN(4) == 0 {
				s.DefaultChannel = channels[r.IntN(len(channels))].Name()
			}
			list = append(list, s)
		}
	}
	return list
}

// TestFilterIsValid: whatever is selected of a valid catalog is a valid
// catalog, in memory and written, and has what was selected or says why not.
func TestFilterIsValid(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for i := range long.N(400, 50_000) {
		text := newSynth(r).text()
		c := openText(t, text)
		selections := randomSelections(r, c)
		opts := &edit.FilterOptions{NoDependencies: r.IntN(4) == 0}
		got, report, err := edit.Filter(context.Background(), c, selections, opts)
		if err != nil {
			t.Fatal(err)
		}
		fail := func(format string, args ...any) {
			t.Fatalf("%d: %s\nselections %+v\nreport %+v\nof\n%sis\n%s", i, fmt.Sprintf(format, args...), selections, report, text, inFormat(t, got, catalog.FormatLines))
		}
		v, err := check.Catalog(context.Background(), got, nil)
		if err != nil || !v.Valid() {
			fail("not valid: %v %v", err, v.Err())
		}
		again, checked := mustCheck(t, inFormat(t, got, catalog.FormatJSON))
		if !checked.Valid() || inFormat(t, again, catalog.FormatLines) != inFormat(t, got, catalog.FormatLines) {
			fail("what is written differs: %v", checked.Err())
		}
		checkSelected(c, got, selections, report, fail)
		if !opts.NoDependencies {
			checkClosed(t, got, report, fail)
		}
		slices.Reverse(selections)
		if reversed, _, err := edit.Filter(context.Background(), c, selections, opts); err != nil || len(selections) < 2 && inFormat(t, reversed, catalog.FormatLines) != inFormat(t, got, catalog.FormatLines) {
			fail("in another order it differs: %v", err)
		}
	}
}

// checkSelected checks that what was selected is there or dropped.
func checkSelected(c, got *catalog.Catalog, selections []edit.Selection, report *edit.FilterReport, fail func(string, ...any)) {
	for _, s := range selections {
		p, _ := c.Package(s.Package)
		for ch := range p.Channels() {
			if s.Versions != "" || len(s.Channels) > 0 && !slices.Contains(s.Channels, ch.Name()) {
				continue
			}
			kept, ok := got.Package(s.Package)
			if !ok {
				fail("package %s is missing", s.Package)
			}
			same, ok := kept.Channel(ch.Name())
			if !ok || len(same.Entries()) != len(ch.Entries()) {
				fail("channel %s of %s is not whole", ch.Name(), s.Package)
			}
		}
		if _, ok := got.Package(s.Package); !ok && !slices.ContainsFunc(report.Dropped, func(d edit.Change) bool { return d.Package == s.Package }) {
			fail("package %s is gone without a word", s.Package)
		}
	}
}

// checkClosed checks that what kept bundles require by package is kept or
// reported.
func checkClosed(t *testing.T, got *catalog.Catalog, report *edit.FilterReport, fail func(string, ...any)) {
	for p := range got.Packages() {
		for b := range p.Bundles() {
			facts, err := b.Facts()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range facts {
				var v struct{ PackageName string }
				if f.Type != catalog.PropertyPackageRequired || json.Unmarshal(f.Value, &v) != nil {
					continue
				}
				unmet := slices.ContainsFunc(report.Unmet, func(u edit.Change) bool { return u.Bundle == b.Name() })
				if _, ok := got.Package(v.PackageName); !ok && !unmet {
					fail("%s requires %s", b.Name(), v.PackageName)
				}
			}
		}
	}
}

const filterInput = `{"schema":"olm.package","name":"foo","defaultChannel":"stable","custom":1.0}
{"schema":"olm.channel","name":"stable","package":"foo","entries":[
  {"name":"foo.v1.0.0"},
  {"name":"foo.v1.1.0","replaces":"foo.v1.0.0","note":"kept"},
  {"name":"foo.v1.1.1","replaces":"foo.v1.0.0"},
  {"name":"foo.v2.0.0","replaces":"foo.v1.1.0","skips":["foo.v1.1.1"]}
 ], "z": 1e2}
{"schema":"olm.channel","name":"beta","package":"foo","entries":[{"name":"foo.v2.0.0"}]}
{"schema":"olm.bundle","name":"foo.v1.0.0","package":"foo","image":"i","properties":[{"type":"olm.package","value":{"packageName":"foo","version":"1.0.0"}}]}
{"schema":"olm.bundle","name":"foo.v1.1.0","package":"foo","image":"i","properties":[{"type":"olm.package","value":{"packageName":"foo","version":"1.1.0"}}]}
{"schema":"olm.bundle","name":"foo.v1.1.1","package":"foo","image":"i","properties":[{"type":"olm.package","value":{"packageName":"foo","version":"1.1.1"}}]}
{"schema":"olm.bundle","name":"foo.v2.0.0","package":"foo","image":"i","properties":[{"type":"olm.package","value":{"packageName":"foo","version":"2.0.0"}},{"type":"olm.package.required","value":{"packageName":"bar","versionRange":"<2.0.0"}},{"type":"olm.gvk.required","value":{"group":"g","version":"v1","kind":"K"}}]}
{"schema":"olm.deprecations","package":"foo","entries":[{"reference":{"schema":"olm.bundle","name":"foo.v1.0.0"},"message":"m"},{"reference":{"schema":"olm.channel","name":"beta"},"message":"m"}]}
{"schema":"olm.package","name":"bar","defaultChannel":"a"}
{"schema":"olm.channel","name":"a","package":"bar","entries":[{"name":"bar.v1.0.0"},{"name":"bar.v1.5.0","replaces":"bar.v1.0.0"},{"name":"bar.v2.0.0","replaces":"bar.v1.5.0"}]}
{"schema":"olm.bundle","name":"bar.v1.0.0","package":"bar","image":"i","properties":[{"type":"olm.package","value":{"packageName":"bar","version":"1.0.0"}}]}
{"schema":"olm.bundle","name":"bar.v1.5.0","package":"bar","image":"i","properties":[{"type":"olm.package","value":{"packageName":"bar","version":"1.5.0"}}]}
{"schema":"olm.bundle","name":"bar.v2.0.0","package":"bar","image":"i","properties":[{"type":"olm.package","value":{"packageName":"bar","version":"2.0.0"}}]}
{"schema":"example.com/x","package":"foo","name":"of foo"}
{"schema":"example.com/x","package":"bar","name":"of bar"}
{"schema":"example.com/x","name":"of none"}
`

func TestFilter(t *testing.T) {
	for _, c := range []struct {
		name    string
		select_ edit.Selection
		opts    *edit.FilterOptions
		want    string // names kept
		report  string
		text    string // part of what is written
	}{
		{
			name: "all of a package", select_: edit.Selection{Package: "foo"},
			want:   "bar a bar.v1.5.0 bar.v2.0.0 of bar foo beta stable foo.v1.0.0 foo.v1.1.0 foo.v1.1.1 foo.v2.0.0 of foo of none",
			report: "added package bar, channel a, bundle bar.v1.5.0: foo.v2.0.0 of foo requires the package bar in versions \"<2.0.0\"; added package bar, channel a, bundle bar.v2.0.0: foo.v2.0.0 of foo requires the package bar in versions \"<2.0.0\"; unmet package foo, bundle foo.v2.0.0: nothing in the catalog provides the API g/v1/K",
			text:   "{\"schema\":\"olm.package\",\"name\":\"foo\",\"defaultChannel\":\"stable\",\"custom\":1.0}\n",
		},
		{
			name: "without dependencies", select_: edit.Selection{Package: "foo", Channels: []string{"beta"}}, opts: &edit.FilterOptions{NoDependencies: true},
			want:   "foo beta foo.v2.0.0 of foo of none",
			report: "changed package foo, channel beta: it is now the default channel instead of \"stable\"",
			text:   "{\"schema\":\"olm.package\",\"name\":\"foo\",\"defaultChannel\":\"beta\",\"custom\":1.0}\n",
		},
		{
			name: "up to the head", select_: edit.Selection{Package: "foo", Channels: []string{"stable"}, Versions: "1.1.1 || 2.0.0"}, opts: &edit.FilterOptions{NoDependencies: true},
			want: "foo stable foo.v1.1.1 foo.v2.0.0 of foo of none",
			text: "{\"schema\":\"olm.channel\",\"name\":\"stable\",\"package\":\"foo\",\"entries\":[\n  {\"name\":\"foo.v1.1.1\",\"replaces\":\"foo.v1.0.0\"},\n  {\"name\":\"foo.v2.0.0\",\"replaces\":\"foo.v1.1.0\",\"skips\":[\"foo.v1.1.1\"]}\n ], \"z\": 1e2}\n",
		},
		{
			name: "with what lies between", select_: edit.Selection{Package: "foo", Channels: []string{"stable"}, Versions: "1.0.0 || 2.0.0"}, opts: &edit.FilterOptions{NoDependencies: true},
			want:   "foo stable foo.v1.0.0 foo.v1.1.0 foo.v2.0.0 of foo of none",
			report: "added package foo, channel stable, bundle foo.v1.1.0: it is on the update path",
			text:   "\"note\":\"kept\"",
		},
		{
			name: "another head", select_: edit.Selection{Package: "foo", Versions: "<2.0.0"},
			want:   "foo stable foo.v1.0.0 foo.v1.1.1 of foo of none",
			report: "dropped package foo, channel beta: no entry has a version in the range; dropped package foo, channel stable, bundle foo.v1.1.0: without the entries left out, no update leads from it to the head foo.v1.1.1",
			text:   `"entries":[{"reference":{"schema":"olm.bundle","name":"foo.v1.0.0"},"message":"m"}]}`,
		},
		{
			name: "nothing", select_: edit.Selection{Package: "foo", Versions: ">9.0.0"}, want: "of none",
			report: "dropped package foo: nothing of it is left; dropped package foo, channel beta: no entry has a version in the range; dropped package foo, channel stable: no entry has a version in the range",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := openText(t, filterInput)
			got, report, err := edit.Filter(context.Background(), in, []edit.Selection{c.select_}, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for d := range got.Ordered() {
				if d.Schema() != catalog.SchemaDeprecations {
					names = append(names, d.Name())
				}
			}
			if s := strings.Join(names, " "); s != c.want {
				t.Errorf("kept %s", s)
			}
			var lines []string
			for _, part := range []struct {
				what string
				list []edit.Change
			}{{"added", report.Added}, {"dropped", report.Dropped}, {"changed", report.Changed}, {"unmet", report.Unmet}} {
				for _, change := range part.list {
					lines = append(lines, part.what+" "+change.String())
				}
			}
			if s := strings.Join(lines, "; "); s != c.report {
				t.Errorf("report %s", s)
			}
			if text := inFormat(t, got, catalog.FormatJSON); !strings.Contains(text, c.text) {
				t.Errorf("%q is not in\n%s", c.text, text)
			}
		})
	}
}

func TestFilterFails(t *testing.T) {
	c := openText(t, filterInput)
	for _, x := range []struct {
		s    edit.Selection
		want string
	}{
		{edit.Selection{Package: "fooo"}, `catalog: filter: there is no package "fooo"; did you mean "foo"?`},
		{edit.Selection{Package: "foo", Channels: []string{"x"}}, `catalog: filter: package "foo" has no channel "x"`},
		{edit.Selection{Package: "foo", DefaultChannel: "x"}, `catalog: filter: package "foo" has no channel "x" to be the default`},
		{edit.Selection{Package: "foo", Versions: "^1"}, `catalog: filter: package "foo": version range "^1": unknown operator "^"; write ">=1.0.0 <2.0.0-0"`},
	} {
		if _, _, err := edit.Filter(context.Background(), c, []edit.Selection{x.s}, nil); err == nil || err.Error() != x.want {
			t.Errorf("%v", err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := edit.Filter(ctx, c, []edit.Selection{{Package: "foo"}}, nil); err != context.Canceled {
		t.Errorf("%v", err)
	}
}

// TestFilterRealCatalog takes parts of a real catalog.
func TestFilterRealCatalog(t *testing.T) {
	c := samples.Open(t, samples.Archive(t, "full-sample"))
	r := rand.New(rand.NewPCG(9, 10))
	for range long.N(6, 100) {
		selections := randomSelections(r, c)
		got, report, err := edit.Filter(context.Background(), c, selections, nil)
		if err != nil {
			t.Fatal(err)
		}
		v, err := check.Catalog(context.Background(), got, nil)
		if err != nil || !v.Valid() || report.Packages != len(slices.Collect(got.Packages())) {
			t.Errorf("%+v: %v %v", selections, err, v.Err())
		}
	}
}
