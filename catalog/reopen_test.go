package catalog_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
)

// TestReopenJudgement: after any changes of files, what is judged again is the
// same as what is judged from scratch.
func TestReopenJudgement(t *testing.T) {
	r := rand.New(rand.NewPCG(91, 92))
	for range long.N(60, 5_000) {
		now := time.Unix(1, 0)
		files := fstest.MapFS{}
		names := []string{"a.json", "b.yaml", "c/d.json", "e"}
		write := func() {
			now = now.Add(time.Second)
			text := newSynth(r).text()
			text = strings.ReplaceAll(text, `"package":"a"`, `"package":"`+string(rune('a'+r.IntN(2)))+`"`)
			if lines := strings.SplitAfter(text, "\n"); r.IntN(2) == 0 {
				at := r.IntN(len(lines))
				lines[at] = strings.Replace(lines[at], []string{"c0", ".v1", "r.io", `"name"`, ","}[r.IntN(5)], []string{"c9", "v", "R io", `"nam"`, ",,"}[r.IntN(5)], 1)
				text = strings.Join(lines, "")
			}
			files[names[r.IntN(len(names))]] = &fstest.MapFile{Data: []byte(text), ModTime: now}
		}
		write()
		c, report, err := check.Open(t.Context(), files, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			switch r.IntN(4) {
			case 0:
				delete(files, names[r.IntN(len(names))])
			case 1: // nothing
			default:
				write()
			}
			if c, report, err = check.Reopen(t.Context(), c, report); err != nil && c == nil {
				t.Fatal(err)
			}
			_, want, err := check.Open(t.Context(), files, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := told(t, report), told(t, want); got != want {
				t.Fatalf("got\n%s\nwant\n%s", got, want)
			}
		}
	}
	a, first := mustCheck(t, newSynth(r).text())
	_, other := mustCheck(t, newSynth(r).text())
	if _, report, err := check.Reopen(t.Context(), a, other); err != nil || told(t, report) != told(t, first) {
		t.Errorf("the report of another catalog is of no use, but: %v", err)
	}
}

func told(t *testing.T, r *check.Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.String() + r.OPM()
}

// BenchmarkReopenJudged is what judging a published catalog costs after one of its
// files changed, and from scratch.
func BenchmarkReopenJudged(b *testing.B) {
	dir := filepath.Join(unpack(b, samples.Data(b, "catalog", "published.tar.gz"), "v4.20"), "v4.20")
	one := filepath.Join(dir, "3scale-community-operator", "catalog.yaml")
	if list, err := filepath.Glob(filepath.Join(dir, "*", "catalog.yaml")); err != nil || len(list) == 0 {
		b.Fatal(err)
	} else if _, err := os.Stat(one); err != nil {
		one = list[len(list)/2]
	}
	text, err := os.ReadFile(one)
	if err != nil {
		b.Fatal(err)
	}
	c, report, err := check.Open(b.Context(), os.DirFS(dir), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("changed", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if err := os.WriteFile(one, append(text, strings.Repeat("\n", i%2)...), 0o600); err != nil {
				b.Fatal(err)
			}
			if c, report, err = check.Reopen(b.Context(), c, report); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("scratch", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := check.Open(b.Context(), os.DirFS(dir), nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
