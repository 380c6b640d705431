package registry_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/internal/bench/registry"
	"github.com/fairlead/fairlead/internal/long"
)

// TestMutants breaks real packages in every known way, one at a time: the verdict is
// opm's, the finding that names the fault is the first one, and in nine of ten cases
// the only one.
func TestMutants(t *testing.T) {
	packages, kinds := append(realPackages(t, "slim.tar.gz", long.N(12, 60)), realPackages(t, "full-sample.tar.gz", long.N(2, 20))...), harms()
	r := source(t.Name())
	n, single, first, placed := 0, 0, 0, 0
	differ, many := map[string]int{}, map[string]int{}
	for i := 0; n < long.N(250, 2_500); i++ {
		h := kinds[i%len(kinds)]
		original := pick(r, packages)
		text, ok := damaged(r, parse(t, original.text()), h)
		if !ok || text == original.text() {
			continue
		}
		n++
		fsys := fstest.MapFS{"catalog.json": {Data: []byte(text)}}
		theirs := registry.Theirs(t.Context(), fsys)
		_, report, err := check.Open(t.Context(), fsys, nil)
		if err != nil {
			t.Fatal(err)
		}
		if theirs.Valid != (report.OPM() == "") {
			differ[h.name]++
			if exceptions[h.name] == "" {
				t.Errorf("%s: theirs %q, ours %q", h.name, theirs.Text, report.OPM())
			}
			continue
		}
		findings := report.Findings()
		if len(findings) == 0 {
			continue
		}
		first++
		if len(findings) == 1 {
			single++
		} else {
			many[h.name]++
		}
		if changed := changedLines(original.text(), text); len(changed) == 0 || slices.Contains(changed, findings[0].Pos.Line) {
			placed++
		}
	}
	t.Logf("%d mutants; verdicts that differ: %v; of %d with findings %d have one, and %d have the first at the place that changed; several: %v",
		n, differ, first, single, placed, many)
	if single*10 < first*9 || placed*10 < first*9 {
		t.Errorf("of %d mutants %d have a single finding, and %d have the first at the place that changed", first, single, placed)
	}
}

// changedLines returns the numbers of the lines that are not in the original.
func changedLines(before, after string) []int {
	old := map[string]bool{}
	for line := range strings.Lines(before) {
		old[line] = true
	}
	var numbers []int
	n := 0
	for line := range strings.Lines(after) {
		if n++; !old[line] {
			numbers = append(numbers, n)
		}
	}
	return numbers
}
