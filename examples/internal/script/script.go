// Package script runs programs from script tests. Only tests import it.
package script

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/golden"
)

// Run runs the scripts of testdata: "file NAME" writes its input to a file,
// and "NAME ARGUMENT...", with the name of the program, runs it with the input as
// standard input, and prints its output, and its exit status unless it is 0. DIR is
// replaced by the directory with the files of the script.
func Run(t *testing.T, name string, program args.Program) {
	t.Helper()
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		dir := t.TempDir()
		return func(c *golden.Command) string {
			var words []string
			for _, a := range c.Args {
				words = append(words, strings.ReplaceAll(strings.Join(append([]string{a.Key}, a.Values...), "="), "DIR", dir))
			}
			switch c.Name {
			case "file":
				write(t, filepath.Join(dir, filepath.FromSlash(words[0])), c.Input)
				return ""
			case name:
				out, status := output(t, program, words, c.Input)
				if status != 0 {
					out += fmt.Sprintf("exit status %d\n", status)
				}
				return strings.ReplaceAll(out, dir, "DIR")
			}
			t.Fatalf("%s: there is no command %s", c.Pos, c.Name)
			return ""
		}
	})
}

// output runs a program and returns what it prints, standard error last.
func output(t *testing.T, program args.Program, words []string, input string) (string, int) {
	var stdout, stderr strings.Builder
	status := program(t.Context(), words, strings.NewReader(input), &stdout, &stderr)
	return stdout.String() + stderr.String(), status
}

func write(t *testing.T, path, text string) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
