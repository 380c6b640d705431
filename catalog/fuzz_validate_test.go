package catalog_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/catalog/diff"
	"github.com/fairlead/fairlead/catalog/draw"
	"github.com/fairlead/fairlead/catalog/edit"
)

// FuzzCheck: whatever the text, checking, linting, comparing, writing and
// drawing end without a panic; findings are complete; what is written is read
// again, and says the same.
func FuzzCheck(f *testing.F) {
	scripts, err := filepath.Glob("testdata/*/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			f.Fatal(err)
		}
		for block := range strings.SplitSeq(string(text), "\n\n") {
			if _, input, ok := strings.Cut(block, "\n{"); ok {
				input, _, _ = strings.Cut("{"+input, "\n----")
				f.Add(input)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		ctx := context.Background()
		opts := &catalog.Options{MaxDocumentSize: 1 << 20, MaxYAMLNodes: 10_000, Workers: 1}
		c, report, err := check.Open(ctx, fstest.MapFS{"f": {Data: []byte(text)}}, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range report.Findings() {
			if d.Code == "" || d.Message == "" || d.Pos.File != "f" {
				t.Fatalf("incomplete: %+v", d)
			}
		}
		if report.Valid() != (report.OPM() == "") && report.Valid() {
			t.Fatalf("valid, but opm says %s", report.OPM())
		}
		if _, err := check.Lint(ctx, c); err != nil {
			t.Fatal(err)
		}
		if d, err := diff.Compare(ctx, c, c, nil); err != nil || !d.Empty() {
			t.Fatalf("differs from itself: %v %+v", err, d)
		}
		for p := range c.Packages() {
			if err := draw.SVG(context.Background(), discard{}, p, nil); err != nil {
				var finding *catalog.Diagnostic
				if !errors.As(err, &finding) {
					t.Fatal(err)
				}
			}
			part, _, err := edit.Filter(ctx, c, []edit.Selection{{Package: p.Name(), Versions: "<2.0.0"}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := check.Catalog(ctx, part, nil); report.Valid() && (err != nil || !v.Valid()) {
				t.Fatalf("a part is not valid: %v %v", err, v.Err())
			}
		}
		for _, format := range formats {
			var b strings.Builder
			if err := c.Write(&b, format); err != nil {
				t.Fatal(err)
			}
			again, err := catalog.Open(ctx, fstest.MapFS{"g": {Data: []byte(b.String())}}, opts)
			if err != nil {
				if strings.Contains(text, "e") || strings.Contains(text, "E") {
					continue // a number too large for YAML
				}
				t.Fatalf("%s: %v\n%q", format, err, b.String())
			}
			if d, err := diff.Compare(ctx, c, again, nil); format != catalog.FormatYAML && (err != nil || !d.Empty()) {
				t.Fatalf("%s: %v %+v\n%q", format, err, d, b.String())
			}
		}
	})
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
