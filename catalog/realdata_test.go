package catalog_test

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/internal/samples"
)

// unpack extracts a .tar.gz into a directory of the test. With names, it takes
// only members below them.
func unpack(t testing.TB, archive string, below ...string) string {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		wanted := len(below) == 0 || slices.ContainsFunc(below, func(b string) bool { return strings.HasPrefix(strings.TrimPrefix(h.Name, "./"), b) })
		if h.Typeflag != tar.TypeReg || !wanted {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		out, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(out, r); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func judge(t testing.TB, dir string) *check.Report {
	t.Helper()
	_, report, err := check.Open(context.Background(), os.DirFS(dir), nil)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestInvalidCatalogs compares verdict and messages with those of opm on real
// catalogs that it refuses.
func TestInvalidCatalogs(t *testing.T) {
	dir := unpack(t, samples.Data(t, "catalog", "invalid.tar.gz"))
	f, err := os.Open(filepath.Join(dir, "expected.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := json.NewDecoder(f); ; n++ {
		var row struct{ Dir, OPMError string }
		if err := lines.Decode(&row); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		report := judge(t, filepath.Join(dir, row.Dir))
		if got := report.OPM(); !slices.Equal(treeLines(got), treeLines(row.OPMError)) {
			t.Errorf("%s: got\n%swant\n%s", row.Dir, got, row.OPMError)
		}
		for _, d := range report.Findings() {
			if d.Pos.Line == 0 || d.Code == "" || d.Subject == "" || d.Hint == "" {
				t.Errorf("%s: incomplete finding: %+v", row.Dir, d)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d catalogs compared", n)
	}
}

// treeLines returns the lines of a tree of messages, each with those above it,
// sorted: so the order of siblings does not matter.
func treeLines(tree string) []string {
	var lines, above []string
	for line := range strings.Lines(strings.TrimSpace(tree)) {
		text := strings.TrimLeft(line, "│├└─ ")
		depth := len([]rune(line)) - len([]rune(text))
		above = append(above[:min(depth/4, len(above))], strings.TrimSuffix(strings.TrimSpace(text), ":"))
		lines = append(lines, strings.Join(above, " | "))
	}
	slices.Sort(lines)
	return lines
}

// TestValidCatalogs validates real catalogs that opm takes.
func TestValidCatalogs(t *testing.T) {
	dirs := []string{unpack(t, samples.Data(t, "catalog", "full-sample.tar.gz"))}
	published := unpack(t, samples.Data(t, "catalog", "published.tar.gz"), "v4.17/d", "v4.17/m")
	dirs = append(dirs, filepath.Join(published, "v4.17"))
	for _, dir := range dirs {
		if report := judge(t, dir); !report.Valid() || report.OPM() != "" {
			t.Errorf("%s: %v", dir, report.Err())
		}
	}
}
