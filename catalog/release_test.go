package catalog_test

import (
	"math/rand/v2"
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
			if n := len(report.Left); n != want {
				t.Fatalf("%d are left of %d without a patch", n, want)
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
		if d.Stranded() >= want || d.Stranded() != len(report.Left) {
			t.Fatalf("of %d stranded %d are left, and %d are said to be", want, d.Stranded(), len(report.Left))
		}
		if d.Stranded() == 0 {
			all++
		}
	}
	if patched == 0 || all == 0 {
		t.Errorf("%d pass, %d get a patch, %d one that helps everybody", passed, patched, all)
	}
}
