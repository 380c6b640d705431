package catalog_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/internal/samples"
)

// TestLintScripts runs the scripts of lints; each lint is in one of them.
func TestLintScripts(t *testing.T) {
	seen := map[catalog.Code]bool{}
	words := golden.NewWords(t, "testdata/words/lint.txt")
	golden.Run(t, "testdata/lint/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			cat, err := catalog.Open(context.Background(), scriptFiles(c.Input), nil)
			if err != nil {
				t.Fatalf("%s: %v", c.Pos, err)
			}
			lints, err := check.Lint(context.Background(), cat)
			if err != nil {
				return "error: " + err.Error()
			}
			var out strings.Builder
			for _, d := range lints {
				seen[d.Code] = true
				fmt.Fprintln(&out, words.Finding(d))
				if d.Pos.Line == 0 || d.Hint == "" || d.Subject == "" {
					t.Errorf("%s: incomplete: %+v", c.Pos, d)
				}
				if only, err := check.Lint(context.Background(), cat, d.Code); err != nil || !slices.ContainsFunc(only, func(o *catalog.Diagnostic) bool { return o.Error() == d.Error() }) {
					t.Errorf("%s: asked for alone, %s finds %v, %v", c.Pos, d.Code, only, err)
				}
			}
			return out.String()
		}
	})
	for _, code := range check.Lints() {
		if !seen[code] {
			t.Errorf("no script shows the lint %s", code)
		}
	}
}

// TestLintRealCatalog keeps the lints quiet on what real catalogs do all the
// time: beside images by tag there is little to say.
func TestLintRealCatalog(t *testing.T) {
	c := samples.Open(t, samples.Archive(t, "full-sample"))
	codes := slices.DeleteFunc(check.Lints(), func(c catalog.Code) bool {
		return c == check.LintImageTag || c == check.LintDependency
	})
	lints, err := check.Lint(context.Background(), c, codes...)
	if err != nil {
		t.Fatal(err)
	}
	if len(lints) == 0 || len(lints) > 10 {
		t.Errorf("%d lints", len(lints))
	}
}
