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

// run runs drain, or a command of machine.
func run(t *testing.T, words []string, stdin string) (stdout, stderr string, status int) {
	program := Command().Program("fairlead machine")
	if words[0] == "drain" {
		program, words = Drain().Program("fairlead drain"), words[1:]
	}
	var out, errs strings.Builder
	status = program(t.Context(), words, strings.NewReader(stdin), &out, &errs)
	return out.String(), errs.String(), status
}

// TestScripts runs commands of machine, and drain: the words of a line are the arguments, and the
// input is standard input; the exit status is printed if it is not 0.
func TestScripts(t *testing.T) {
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			words := []string{c.Name}
			for _, a := range c.Args {
				words = append(words, a.Key)
			}
			out, errs, status := run(t, words, c.Input)
			if status != args.StatusFine {
				errs += "exit status " + string(rune('0'+status)) + "\n"
			}
			for line := range strings.Lines(out) {
				if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > page.Width && !strings.Contains(line, "<") && !strings.Contains(line, `"`) {
					t.Errorf("%s: wider than %d columns: %s", c.Pos, page.Width, line)
				}
			}
			return out + errs
		}
	})
}

// Every shipped scenario completes, and is used in a script.
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
			if out, errs, status := run(t, []string{"simulate", file, "-o", form}, ""); status != args.StatusFine || out == "" {
				t.Errorf("%s as %s: status %d, %s", file, form, status, errs)
			}
		}
	}
}

// A simulation that does not end looks like one: an alarm below the title, and an open bar in trouble; one
// that ends has neither.
func TestNeverEnds(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("scenarios", "stuck.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text   string
		status int
	}{"ends": {string(text), args.StatusFine}, "never": {strings.Replace(string(text), "  - {at: 2h, skip: {machine: worker-1, hook: preTerminate/Forgotten}}\n", "", 1), args.StatusFindings}} {
		out, errs, status := run(t, []string{"simulate", "-", "-o", "svg"}, c.text)
		if status != c.status {
			t.Errorf("%s: exit status %d: %s", name, status, errs)
		}
		for _, part := range []string{"✕ does not end: the deletion of worker-1 has not finished", "it has not ended</title>"} {
			if strings.Contains(out, part) != (c.status != args.StatusFine) {
				t.Errorf("%s: the picture says %q: %v", name, part, strings.Contains(out, part))
			}
		}
	}
}
