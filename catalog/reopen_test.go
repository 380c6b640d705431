package catalog_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
)

// rewriter changes the files of a catalog by chance, each time later than before.
type rewriter struct {
	r     *rand.Rand
	files fstest.MapFS
	lines map[string][]string // documents by file
	gone  []string            // documents that were taken out
	now   time.Time
}

// change makes a change: new documents in several files, a fault in one, one that
// goes, comes back or moves, or a file that goes.
func (w *rewriter) change() {
	names := []string{"a.json", "b/c.yaml", "b/d.json", "e"}
	name := names[w.r.IntN(len(names))]
	list := w.lines[name]
	at := 0
	if len(list) > 0 {
		at = w.r.IntN(len(list))
	}
	switch {
	case len(w.lines) == 0 || w.r.IntN(12) == 0:
		w.lines, w.gone = map[string][]string{}, nil
		name = ""
		for line := range strings.Lines(newSynth(w.r).text()) {
			file := names[w.r.IntN(len(names))]
			w.lines[file] = append(w.lines[file], line)
		}
	case w.r.IntN(3) == 0 && len(w.gone) > 0: // in some file, and mostly not the one that it was in
		w.lines[name] = append(list, w.gone[0])
		w.gone = w.gone[1:]
	case len(list) == 0:
		return
	case w.r.IntN(8) == 0:
		delete(w.lines, name)
	case w.r.IntN(2) == 0:
		w.gone = append(w.gone, list[at])
		w.lines[name] = slices.Delete(list, at, at+1)
	default:
		old, now := []string{"c0", ".v1", "r.io", `"name"`, ",", `"a"`}, []string{"c9", "v", "R io", `"nam"`, ",,", `"b"`}
		i := w.r.IntN(len(old))
		w.gone = append(w.gone, list[at]) // which may come beside it, or once it is gone
		list[at] = strings.Replace(list[at], old[i], now[i], 1)
	}
	w.now = w.now.Add(time.Second)
	for _, file := range names {
		switch text, ok := w.lines[file]; {
		case !ok:
			delete(w.files, file)
		case file == name || name == "":
			w.files[file] = &fstest.MapFile{Data: []byte(strings.Join(text, "")), ModTime: w.now}
		}
	}
}

// TestReopenJudgement: after any changes of files, what is judged again is the
// same as what is judged from scratch.
func TestReopenJudgement(t *testing.T) {
	r := rand.New(rand.NewPCG(91, 92))
	valid := 0
	for range long.N(60, 5_000) {
		w := &rewriter{r: r, files: fstest.MapFS{}, now: time.Unix(1, 0)}
		w.change()
		c, report, err := check.Open(t.Context(), w.files, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 8 {
			w.change()
			if c, report, err = check.Reopen(t.Context(), c, report, nil); err != nil && c == nil {
				t.Fatal(err)
			}
			_, want, err := check.Open(t.Context(), w.files, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := told(t, report), told(t, want); got != want {
				t.Fatalf("got\n%s\nwant\n%s", got, want)
			}
			if report.Valid() {
				valid++
			}
		}
	}
	if valid == 0 {
		t.Error("no catalog was ever valid")
	}
	// A channel that cannot be read, and kept a finding back, goes.
	const shop = `{"schema": "olm.package", "name": "shop", "defaultChannel": "c"}
{"schema": "olm.channel", "package": "shop", "name": "c", "entries": [{"name": "shop.v1"}]}
{"schema": "olm.bundle", "package": "shop", "name": "shop.v1", "image": "r.io/s:1", "properties": [{"type": "olm.package", "value": {"packageName": "shop", "version": "1.0.0"}}]}
{"schema": "olm.bundle", "package": "shop", "name": "shop.v2", "image": "r.io/s:2", "properties": [{"type": "olm.package", "value": {"packageName": "shop", "version": "2.0.0"}}]}
`
	const rest = `{"schema": "olm.channel", "package": "shop", "name": "d", "entries": [{"name": "shop.v2", "replaces": 1}]}`
	files := fstest.MapFS{"shop": {Data: []byte(shop), ModTime: time.Unix(1, 0)}, "rest": {Data: []byte(rest), ModTime: time.Unix(1, 0)}}
	c, report, _ := check.Open(t.Context(), files, nil)
	if n := len(report.Findings()); n != 1 {
		t.Errorf("%d findings: %v", n, report.Findings())
	}
	delete(files, "rest")
	if _, report, err := check.Reopen(t.Context(), c, report, nil); err != nil || len(report.Findings()) != 1 || report.Findings()[0].Code != check.CodeNotInChannel {
		t.Errorf("%v, %v", err, report.Findings())
	}
	a, first := mustCheck(t, newSynth(r).text())
	_, other := mustCheck(t, newSynth(r).text())
	if _, report, err := check.Reopen(t.Context(), a, other, nil); err != nil || told(t, report) != told(t, first) {
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

// BenchmarkReopenJudged is what judging a real catalog costs after one of its files
// changed, and from scratch.
func BenchmarkReopenJudged(b *testing.B) {
	b.Run("v4.20", func(b *testing.B) {
		benchmarkReopen(b, filepath.Join(unpack(b, samples.Data(b, "catalog", "published.tar.gz"), "v4.20"), "v4.20"))
	})
	b.Run("slim", func(b *testing.B) { benchmarkReopen(b, unpack(b, samples.Data(b, "catalog", "slim.tar.gz"))) })
}

// benchmarkReopen changes the file of median size again and again.
func benchmarkReopen(b *testing.B, dir string) {
	list, err := filepath.Glob(filepath.Join(dir, "*", "catalog.*"))
	if err != nil || len(list) == 0 {
		b.Fatal(err)
	}
	texts := map[string][]byte{}
	for _, name := range list {
		if texts[name], err = os.ReadFile(name); err != nil {
			b.Fatal(err)
		}
	}
	slices.SortFunc(list, func(x, y string) int { return len(texts[x]) - len(texts[y]) })
	one := list[len(list)/2]
	c, report, err := check.Open(b.Context(), os.DirFS(dir), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("changed", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if err := os.WriteFile(one, append(texts[one], strings.Repeat("\n", i%2)...), 0o600); err != nil {
				b.Fatal(err)
			}
			if c, report, err = check.Reopen(b.Context(), c, report, nil); err != nil {
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
