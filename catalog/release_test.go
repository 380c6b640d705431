package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/catalog/diff"
	"github.com/fairlead/fairlead/catalog/release"
	"github.com/fairlead/fairlead/internal/long"
)

// TestReleaseOfRandomCatalogs: a release passes if and only if the new catalog
// is valid and strands nobody, and a patch that is offered always helps.
func TestReleaseOfRandomCatalogs(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	passed, patched, all := 0, 0, 0
	for range long.N(30, 20_000) {
		before, after := newSynth(r), newSynth(r)
		a := openText(t, before.text())
		files := fstest.MapFS{"catalog.json": {Data: []byte(after.text())}}
		report, err := release.Evaluate(t.Context(), a, files, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := compare(t, a, openText(t, after.text())).Stranded()
		if report.Passes() != (want == 0) {
			t.Fatalf("passes: %v, but %d are stranded", report.Passes(), want)
		}
		if report.Passes() {
			passed++
		}
		if report.Patch == nil {
			if n := groups(t, report.Diff); n != len(report.Left) {
				t.Fatalf("%d are left of %d without a patch", len(report.Left), n)
			}
			continue
		}
		patched++
		fsys, err := report.Patch.Patched(files)
		if err != nil {
			t.Fatal(err)
		}
		now, judged, err := check.Open(t.Context(), fsys, nil)
		if err != nil || !judged.Valid() {
			t.Fatalf("the patch makes it invalid: %v, %v", err, judged.Err())
		}
		d, err := diff.Compare(t.Context(), a, now, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := groups(t, d); d.Stranded() >= want || n != len(report.Left) {
			t.Fatalf("of %d stranded %d are left, and %d of %d groups are said to be", want, d.Stranded(), len(report.Left), n)
		}
		if d.Stranded() == 0 {
			all++
		}
	}
	if patched == 0 || all == 0 {
		t.Errorf("%d pass, %d get a patch, %d one that helps everybody", passed, patched, all)
	}
}

// groups counts the groups of stranded users, each of whom is in one.
func groups(t *testing.T, d *diff.Diff) (n int) {
	t.Helper()
	for _, p := range d.Packages {
		var all []string
		for _, g := range diff.Groups(p.Stranded) {
			n++
			for _, name := range g.Bundles {
				all = append(all, g.Channel+" "+name+fmt.Sprint(g.Rules))
			}
		}
		var want []string
		for _, s := range p.Stranded {
			user := s.Channel + " " + s.Bundle + fmt.Sprint(s.Rules)
			if p.Removed { // whatever channel it follows, and once
				if user = " " + s.Bundle + fmt.Sprint(s.Rules); slices.Contains(want, user) {
					continue
				}
			}
			want = append(want, user)
		}
		slices.Sort(all)
		slices.Sort(want)
		if !slices.Equal(all, want) {
			t.Fatalf("groups name %q, and stranded are %q", all, want)
		}
	}
	return n
}

// An edge that went strands everybody behind it: that is one finding, and the patch
// brings the edge back.
func TestLostEdge(t *testing.T) {
	chain := func(lost int) string {
		text := `{"schema": "olm.package", "name": "kiln", "defaultChannel": "stable"}` + "\n"
		var entries []string
		for i := range 12 {
			e := fmt.Sprintf(`{"name": "kiln.v1.%d.0"`, i)
			if i > 0 && i != lost {
				e += fmt.Sprintf(`, "replaces": "kiln.v1.%d.0", "skipRange": "<0.%d.0", "skips": ["kiln.v1.%d.1"]`, i-1, i, i-1)
			}
			entries = append(entries, e+"}")
			text += fmt.Sprintf(`{"schema": "olm.bundle", "package": "kiln", "name": "kiln.v1.%d.0", "image": "r.io/kiln:%[1]d", "properties": [{"type": "olm.package", "value": {"packageName": "kiln", "version": "1.%[1]d.0"}}]}`, i) + "\n"
		}
		return text + `{"schema": "olm.channel", "package": "kiln", "name": "stable", "entries": [` + strings.Join(entries, ", ") + "]}\n"
	}
	for _, lost := range []int{5, 11} {
		report, err := release.Evaluate(t.Context(), openText(t, chain(0)), fstest.MapFS{"catalog.json": {Data: []byte(chain(lost))}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		stranded, told := report.Diff.Stranded(), 0
		for _, f := range report.Findings {
			if f.Code == release.CodeStranded && strings.Contains(f.Message, fmt.Sprintf("users of %d versions", stranded)) {
				told++
			}
		}
		if stranded < 4 || told != 1 || len(report.Left) != 0 || report.Patch == nil {
			t.Fatalf("without the edge of %d, %d are stranded; left: %q; findings: %v", lost, stranded, report.Left, report.Findings)
		}
		want := release.Fix{Package: "kiln", Channel: "stable", Entry: fmt.Sprintf("kiln.v1.%d.0", lost), Replaces: fmt.Sprintf("kiln.v1.%d.0", lost-1)}
		if len(report.Fixes) != 1 || !reflect.DeepEqual(report.Fixes[0], want) {
			t.Errorf("fixes: %v", report.Fixes)
		}
	}
}

// A release with two heads is repaired by one edit, which is told once: the newest head skips
// the other one. A channel that is gone has to stay.
func TestTwoHeads(t *testing.T) {
	text := func(entries ...string) string {
		text := `{"schema": "olm.package", "name": "kiln", "defaultChannel": "stable"}` + "\n"
		for i := range len(entries) {
			text += fmt.Sprintf(`{"schema": "olm.bundle", "package": "kiln", "name": "kiln.v1.%d.0", "image": "r.io/kiln:%[1]d", "properties": [{"type": "olm.package", "value": {"packageName": "kiln", "version": "1.%[1]d.0"}}]}`, i) + "\n"
		}
		return text + `{"schema": "olm.channel", "package": "kiln", "name": "stable", "entries": [` + strings.Join(entries, ", ") + "]}\n"
	}
	old := []string{`{"name": "kiln.v1.0.0"}`, `{"name": "kiln.v1.1.0", "replaces": "kiln.v1.0.0"}`}
	before := openText(t, text(old...))
	evaluate := func(after string) *release.Report {
		report, err := release.Evaluate(t.Context(), before, fstest.MapFS{"catalog.json": {Data: []byte(after)}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	report := evaluate(text(append(old, `{"name": "kiln.v1.2.0", "replaces": "kiln.v1.0.0"}`)...))
	want := release.Fix{Package: "kiln", Channel: "stable", Entry: "kiln.v1.2.0", Skips: []string{"kiln.v1.1.0"}}
	if len(report.Fixes) != 1 || !reflect.DeepEqual(report.Fixes[0], want) || len(report.Left) > 0 || report.Patch == nil {
		t.Errorf("fixes: %v, left: %v", report.Fixes, report.Left)
	}
	gone := evaluate(strings.ReplaceAll(text(old...), "stable", "fast"))
	if len(gone.Findings) == 0 || gone.Findings[0].Hint != "keep the channel, deprecated, as long as it is in use" {
		t.Errorf("findings: %v", gone.Findings)
	}
}
