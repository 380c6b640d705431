package catalog_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/release"
	"github.com/fairlead/fairlead/internal/long"
)

// TestReleaseOfDamagedCatalogs: a release of which one side cannot be read as a whole never
// passes, and never says that who would be stranded is known.
func TestReleaseOfDamagedCatalogs(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	damaged := 0
	for range long.N(60, 5_000) {
		text := newSynth(r).text()
		lines := strings.SplitAfter(strings.TrimSpace(text), "\n")
		i := r.IntN(len(lines))
		line := lines[i]
		switch r.IntN(4) {
		case 0: // cut off
			lines[i] = line[:r.IntN(len(line)-1)+1] + "\n"
		case 1: // a byte that is no text
			at := r.IntN(len(line))
			lines[i] = line[:at] + "\xff" + line[at:]
		case 2: // a bracket less
			lines[i] = strings.Replace(line, "]", "", 1)
		default: // another type
			lines[i] = strings.Replace(line, `"name":"`, `"name":[1],"x":"`, 1)
		}
		broken := fstest.MapFS{"c.json": {Data: []byte(strings.Join(lines, ""))}}
		whole := fstest.MapFS{"c.json": {Data: []byte(text)}}
		old, err := catalog.Open(t.Context(), broken, nil)
		if err == nil || old == nil {
			continue // the damage changed nothing that is read, or made another sound document
		}
		damaged++
		report, err := release.Evaluate(t.Context(), old, whole, nil)
		if err != nil || report.Passes() || len(report.Old) == 0 {
			t.Fatalf("OLD is damaged, and it passes: %v, %v\n%s", report.Passes(), err, lines[i])
		}
		var markdown, sarif strings.Builder
		if err := report.WriteMarkdown(&markdown, whole); err != nil || !strings.Contains(markdown.String(), "**Not known.**") {
			t.Fatalf("%v: %s", err, markdown.String())
		}
		if err := report.WriteSARIF(&sarif); err != nil || !strings.Contains(sarif.String(), `"old-unread"`) {
			t.Fatalf("%v: %s", err, sarif.String())
		}
		report, err = release.Evaluate(t.Context(), openText(t, text), broken, nil)
		if err != nil || report.Passes() {
			t.Fatalf("NEW is damaged, and it passes: %v\n%s", err, lines[i])
		}
	}
	if damaged < 20 {
		t.Errorf("only %d catalogs were damaged", damaged)
	}
}

// A report fits into a comment of a code host, however much is wrong.
func TestMarkdownFits(t *testing.T) {
	for _, n := range []int{10, 400, 1_500} {
		text := hardCatalogs["chain without its middle third"](n)
		files := fstest.MapFS{"c": {Data: []byte(text.after)}}
		report, err := release.Evaluate(t.Context(), openText(t, text.before), files, nil)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := report.WriteMarkdown(&out, files); err != nil {
			t.Fatal(err)
		}
		size := len([]rune(out.String()))
		if size > release.MaxMarkdown || strings.Count(out.String(), "```")%2 != 0 || strings.Count(out.String(), "<details>") != strings.Count(out.String(), "</details>") {
			t.Errorf("%d entries: %d characters", n, size)
		}
		if n == 1_500 && !strings.Contains(out.String(), "more line") {
			t.Errorf("nothing is left out of a long report")
		}
	}
}
