package machine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/internal/golden"
)

// program is the verb.
var program = Command().Program("fairlead machine")

// TestScripts runs commands: the words of a line are the arguments, the input
// is the standard input; the exit status is printed if it is not 0.
func TestScripts(t *testing.T) {
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			words := []string{c.Name}
			for _, a := range c.Args {
				words = append(words, a.Key)
			}
			var out, errs strings.Builder
			status := program(t.Context(), words, strings.NewReader(c.Input), &out, &errs)
			if status != args.StatusFine {
				errs.WriteString("exit status " + string(rune('0'+status)) + "\n")
			}
			for line := range strings.Lines(out.String()) {
				if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > page.Width && !strings.Contains(line, "<") && !strings.Contains(line, `"`) {
					t.Errorf("%s: wider than %d columns: %s", c.Pos, page.Width, line)
				}
			}
			return out.String() + errs.String()
		}
	})
}

// Every scenario that is shipped comes to its end, and is in a script.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("scenarios/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	var scripts strings.Builder
	texts, _ := filepath.Glob("testdata/*.txt")
	for _, name := range texts {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		scripts.Write(text)
	}
	for _, file := range files {
		if !strings.Contains(scripts.String(), "simulate "+filepath.ToSlash(file)+"\n") {
			t.Errorf("no script runs %s", file)
		}
		for _, form := range []string{"text", "json", "svg", "mermaid"} {
			var out, errs strings.Builder
			if status := program(t.Context(), []string{"simulate", file, "-o", form}, nil, &out, &errs); status != args.StatusFine || out.Len() == 0 {
				t.Errorf("%s as %s: status %d, %s", file, form, status, errs.String())
			}
		}
	}
}
