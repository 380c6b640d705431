package template_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/catalog/template"
	"github.com/fairlead/fairlead/internal/long"
)

func TestSchemas(t *testing.T) {
	if got := template.Schemas(); !slices.IsSorted(got) || len(got) != 3 {
		t.Errorf("Schemas() = %q", got)
	}
	var types []string
	for _, s := range template.Schemas() {
		types = append(types, template.TypeOf(s))
	}
	slices.Sort(types)
	if got := template.Types(); !slices.Equal(got, types) {
		t.Errorf("Types() = %q, want %q", got, types)
	}
	if template.TypeOf("plain") != "plain" {
		t.Error("a schema without dots is its own type")
	}
}

// TestRendererErrors: what a renderer returns comes out, and a template whose
// context ended asks for nothing.
func TestRendererErrors(t *testing.T) {
	tmpl, err := template.Parse([]byte("schema: olm.semver\nstable: {bundles: [{image: a}, {image: b}]}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	bad := errors.New("registry is down")
	_, err = tmpl.Render(context.Background(), func(context.Context, string) ([]template.Bundle, error) { return nil, bad })
	if !errors.Is(err, bad) || !strings.Contains(err.Error(), `2:28: rendering "a"`) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	_, err = tmpl.Render(ctx, func(ctx context.Context, ref string) ([]template.Bundle, error) {
		calls++
		cancel()
		return renderer(ctx, "p@1.0.0")
	})
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// version is a version of the model below.
type version struct {
	major, minor, patch int
	pre                 string
}

func (v version) String() string {
	s := fmt.Sprintf("%d.%d.%d", v.major, v.minor, v.patch)
	if v.pre != "" {
		s += "-" + v.pre
	}
	return s
}

func (v version) name() string { return "p.v" + v.String() }

func (v version) compare(o version) int {
	pre := func(v version) string { return cmp.Or(v.pre, "~") } // none comes last
	return cmp.Or(cmp.Compare(v.major, o.major), cmp.Compare(v.minor, o.minor), cmp.Compare(v.patch, o.patch), cmp.Compare(pre(v), pre(o)))
}

// expected says from its definition what a version updates among others.
func (v version) expected(all []version) (e catalog.Entry) {
	e.Name = v.name()
	var before *version
	for _, o := range all {
		if o.major == v.major && o.minor == v.minor && o.compare(v) > 0 {
			return e // not the last of its minor
		}
		if o.major == v.major && o.minor < v.minor && (before == nil || o.compare(*before) > 0) {
			before = &o
		}
	}
	if before != nil {
		e.Replaces = before.name()
	}
	for _, o := range all {
		if o.major == v.major && o.compare(v) < 0 && o.name() != e.Replaces {
			e.Skips = append(e.Skips, o.name())
		}
	}
	slices.Sort(e.Skips)
	return e
}

// TestSemverModel compares channels with what their definition says, for
// random sets of versions, and has the results judged as catalogs.
func TestSemverModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range long.N(150, 20_000) {
		lists, text := map[string][]version{}, "schema: olm.semver\ngenerateMajorChannels: true\ngenerateMinorChannels: true\n"
		for _, archetype := range []string{"candidate", "fast", "stable"} {
			for range r.IntN(9) {
				v := version{r.IntN(3), r.IntN(3), r.IntN(3), []string{"", "", "", "alpha", "beta"}[r.IntN(5)]}
				if !slices.Contains(lists[archetype], v) {
					lists[archetype] = append(lists[archetype], v)
				}
			}
			if len(lists[archetype]) > 0 {
				text += archetype + ":\n  bundles:\n"
				for _, v := range lists[archetype] {
					text += "  - image: p@" + v.String() + "\n"
				}
			}
		}
		if !strings.Contains(text, "image") {
			continue
		}
		want := map[string][]catalog.Entry{}
		for archetype, list := range lists {
			sorted := slices.SortedFunc(slices.Values(list), version.compare)
			for _, v := range sorted {
				for _, channel := range []string{fmt.Sprintf("%s-v%d", archetype, v.major), fmt.Sprintf("%s-v%d.%d", archetype, v.major, v.minor)} {
					want[channel] = append(want[channel], v.expected(list))
				}
			}
		}
		checkSemver(t, text, want)
	}
}

func checkSemver(t *testing.T, text string, want map[string][]catalog.Entry) {
	t.Helper()
	tmpl, err := template.Parse([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := tmpl.Render(context.Background(), renderer)
	if err != nil {
		t.Fatalf("%s%v", text, err)
	}
	found := 0
	for _, raw := range result.Documents {
		var ch struct {
			Schema, Name string
			Entries      []catalog.Entry
		}
		if err := json.Unmarshal(raw, &ch); err != nil {
			t.Fatal(err)
		}
		if ch.Schema != catalog.SchemaChannel {
			continue
		}
		found++
		if got, want := fmt.Sprintf("%+v", ch.Entries), fmt.Sprintf("%+v", want[ch.Name]); got != want {
			t.Fatalf("%schannel %s is\n%s, want\n%s", text, ch.Name, got, want)
		}
	}
	if found != len(want) {
		t.Fatalf("%s%d channels, want %d", text, found, len(want))
	}
	var out bytes.Buffer
	if err := result.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	_, report, err := check.Open(context.Background(), fstest.MapFS{"catalog.json": {Data: out.Bytes()}}, nil)
	if err != nil || !report.Valid() {
		t.Fatalf("%sis no valid catalog: %v %v", text, err, report.Findings())
	}
}

// FuzzTemplate expands any text that can be parsed.
func FuzzTemplate(f *testing.F) {
	for _, text := range []string{
		"schema: olm.semver\nstable: {bundles: [{image: p@1.0.0}, {image: p@1.1.0}]}\n",
		"schema: olm.semver\ngenerateMajorChannels: yes\ndefaultChannelTypePreference: major\nfast: {bundles: [{image: p@1.0.0-a}]}\n",
		"schema: olm.template.basic\nentries: [{schema: olm.bundle, image: p@1.0.0}, {schema: olm.package, name: p}, {schema: x}]\n",
		`{"schema": "olm.template.substitutes", "entries": [{"schema": "olm.package", "name": "p", "defaultChannel": "c"}, ` +
			`{"schema": "olm.channel", "package": "p", "name": "c", "entries": [{"name": "p.v1.0.0"}]}, {"schema": "olm.bundle", "package": "p", "name": "p.v1.0.0", ` +
			`"image": "a", "properties": [{"type": "olm.package", "value": {"packageName": "p", "version": "1.0.0"}}]}], "substitutions": [{"name": "p@1.0.1", "base": "p.v1.0.0"}]}`,
		"schema: olm.template.substitutes\nentries: [{schema: olm.channel, entries: 1}]\n",
		"schema: olm.template.basic\nentries: &a [*a]\n",
		"schema: olm.semver\nstable: " + strings.Repeat("[", 2000),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tmpl, err := template.Parse([]byte(text), &template.Options{File: "t.yaml"})
		if err != nil {
			judge(t, err)
			return
		}
		first, err := tmpl.Render(context.Background(), renderer)
		again, err2 := tmpl.Render(context.Background(), renderer)
		if (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
			t.Fatalf("two answers: %v and %v", err, err2)
		}
		if err != nil {
			var ds catalog.Diagnostics
			if errors.As(err, &ds) {
				judge(t, err)
			}
			return
		}
		var a, b bytes.Buffer
		if first.WriteJSON(&a) != nil || again.WriteJSON(&b) != nil || a.String() != b.String() {
			t.Fatalf("two results or none:\n%s\n%s", a.String(), b.String())
		}
	})
}

// check checks what holds for all findings.
func judge(t *testing.T, err error) {
	t.Helper()
	var ds catalog.Diagnostics
	if !errors.As(err, &ds) || len(ds) == 0 {
		t.Fatalf("not findings: %v", err)
	}
	for _, d := range ds {
		if d.Code == "" || d.Message == "" || d.Pos.File != "t.yaml" || d.Pos.Line > 0 && d.Pos.Column < 1 {
			t.Errorf("a finding that says too little: %+v", d)
		}
	}
}

func BenchmarkSemver(b *testing.B) {
	for _, n := range []int{100, 1000} {
		text := "schema: olm.semver\ngenerateMajorChannels: true\ngenerateMinorChannels: true\nstable:\n  bundles:\n"
		for i := range n {
			text += fmt.Sprintf("  - image: p@%d.%d.%d\n", i/100, i/10%10, i%10)
		}
		b.Run(fmt.Sprintf("bundles=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tmpl, err := template.Parse([]byte(text), nil)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := tmpl.Render(context.Background(), renderer); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
