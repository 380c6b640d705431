// Package golden runs script tests: text files that state a command, its
// input and the output that is expected of it.
//
// A script is a list of blocks, separated by blank lines:
//
//	# A comment, up to the end of the line.
//	command word key=value key=(a,b)
//	input, any number of lines
//	----
//	expected output, up to the next blank line
//
// Output that contains a blank line is put between doubled separators:
//
//	command
//	----
//	----
//	first paragraph
//
//	second paragraph
//	----
//	----
//
// Run one package's tests with -update to write what the commands print into
// the scripts (go test ./solver -update), then read the diff: the scripts are
// the specification.
//
// Only tests import this package.
package golden

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the output of script tests into their files")

const separator = "----"

// Command is one block of a script.
type Command struct {
	Name  string // first word of the command line
	Args  []Arg  // the other words
	Input string // the lines up to the separator, each ended by a newline
	Pos   string // file:line of the command line, for messages
}

// Arg is one word of a command line: key, key=value or key=(value,value).
type Arg struct {
	Key    string
	Values []string // in order; none for a key alone
}

// Value returns the first value of the argument named key, or "".
func (c *Command) Value(key string) string {
	if v := c.Values(key); len(v) > 0 {
		return v[0]
	}
	return ""
}

// Values returns all values of all arguments named key, in order.
func (c *Command) Values(key string) []string {
	var all []string
	for _, a := range c.Args {
		if a.Key == key {
			all = append(all, a.Values...)
		}
	}
	return all
}

// Has reports whether there is an argument named key, with or without values.
func (c *Command) Has(key string) bool {
	for _, a := range c.Args {
		if a.Key == key {
			return true
		}
	}
	return false
}

// Words returns the keys of the arguments without values, in order.
func (c *Command) Words() []string {
	var words []string
	for _, a := range c.Args {
		if len(a.Values) == 0 {
			words = append(words, a.Key)
		}
	}
	return words
}

// A Handler executes one command and returns its output. A missing newline at
// the end of the output is added.
type Handler func(c *Command) string

// Run executes every script that matches pattern, each as a subtest with its
// own handler, so that scripts share no state. A pattern that matches nothing
// fails the test.
func Run(t *testing.T, pattern string, newHandler func(t *testing.T) Handler) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("golden: no script matches %q (%v)", pattern, err)
	}
	for _, file := range files {
		if filepath.Base(file) == "words.txt" { // see Words
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		t.Run(name, func(t *testing.T) {
			runFile(t, file, newHandler(t))
		})
	}
}

func runFile(t *testing.T, file string, handle Handler) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := parse(file, strings.ReplaceAll(string(text), "\r\n", "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(rewrite(blocks, handle)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, b := range blocks {
		if b.command == nil {
			continue
		}
		if got := terminated(handle(b.command)); got != b.want {
			t.Errorf("%s: %s\n%s\nrun with -update to accept, then read the diff", b.command.Pos, b.line, diff(b.want, got))
		}
	}
}

// rewrite returns the script with each command's output in place of what was
// expected. Everything else stays as it was.
func rewrite(blocks []block, handle Handler) string {
	var out strings.Builder
	for _, b := range blocks {
		out.WriteString(b.lead)
		if b.command == nil {
			continue
		}
		fmt.Fprintf(&out, "%s\n%s", b.line, b.command.Input)
		got := terminated(handle(b.command))
		if strings.Contains("\n"+got, "\n\n") {
			fmt.Fprintf(&out, "%[1]s\n%[1]s\n%[2]s%[1]s\n%[1]s\n", separator, got)
		} else {
			fmt.Fprintf(&out, "%s\n%s", separator, got)
		}
	}
	return out.String()
}

func terminated(s string) string {
	if s != "" && !strings.HasSuffix(s, "\n") {
		return s + "\n"
	}
	return s
}

// diff lists the lines of want and got with the first difference marked.
func diff(want, got string) string {
	w, g := strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n")
	same := 0
	for same < len(w) && same < len(g) && w[same] == g[same] {
		same++
	}
	var out strings.Builder
	side := func(mark string, lines []string) {
		for _, line := range lines {
			if line != "" {
				fmt.Fprintf(&out, "%s %s\n", mark, strings.TrimSuffix(line, "\n"))
			}
		}
	}
	side(" ", w[:same])
	side("-", w[same:])
	side("+", g[same:])
	return out.String()
}
