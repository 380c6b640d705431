package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
)

// TestScripts runs the program: "file NAME" writes a file, "upgrade ARGUMENT..."
// prints what the program prints and its exit status, unless that is 0. DIR
// stands for the directory in which the files are.
func TestScripts(t *testing.T) {
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		dir := t.TempDir()
		return func(c *golden.Command) string {
			var words []string
			for _, a := range c.Args {
				words = append(words, strings.ReplaceAll(strings.Join(append([]string{a.Key}, a.Values...), "="), "DIR", dir))
			}
			switch c.Name {
			case "file":
				path := filepath.Join(dir, filepath.FromSlash(words[0]))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(c.Input), 0o644); err != nil {
					t.Fatal(err)
				}
				return ""
			case "upgrade":
				var stdout, stderr bytes.Buffer
				status := run(context.Background(), words, &stdout, &stderr)
				out := stdout.String() + stderr.String()
				if status != 0 {
					out += "exit status " + strconv.Itoa(status) + "\n"
				}
				return strings.ReplaceAll(out, dir, "DIR")
			}
			t.Fatalf("%s: there is no command %s", c.Pos, c.Name)
			return ""
		}
	})
}
