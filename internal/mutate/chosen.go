package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// mutant is a file with a change in it.
type mutant struct {
	rule  string   // what the change breaks
	where string   // for output
	file  string   // the path of the file that is changed
	text  []byte   // the whole file with the change
	tests []string // that are likely to notice it, nil if not known
}

// rowsFile is the file that lists the chosen mutants of a package.
const rowsFile = "testdata/mutants/rows.txt"

// chosen returns the mutants that the rowsFile of a package lists, in order;
// none if there is no such file.
func chosen(dir string) ([]mutant, error) {
	text, err := os.ReadFile(filepath.Join(dir, rowsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rows, err := parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, rowsFile), err)
	}
	var all []mutant
	for _, r := range rows {
		file := filepath.Join(dir, r.file)
		old, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", rowsFile, r.line, err)
		}
		text, err := replace(string(old), r.old, r.new)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %s: %w", filepath.Join(dir, rowsFile), r.line, r.file, err)
		}
		all = append(all, mutant{rule: r.rule, where: r.file, file: file, text: []byte(text), tests: r.tests})
	}
	return all, nil
}

// row is one block of a file of mutants.
type row struct {
	rule, file string
	tests      []string
	old, new   []string // lines without indentation
	line       int      // of the block
}

// parse reads a file of mutants.
func parse(text string) ([]row, error) {
	var all []row
	var r row
	end := func() error {
		if r.line == 0 {
			return nil
		}
		if r.rule == "" || r.file == "" || len(r.old) == 0 {
			return fmt.Errorf("line %d: a mutant needs a rule after #, a file, and lines after -", r.line)
		}
		all = append(all, r)
		r = row{}
		return nil
	}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if line == "" {
			if err := end(); err != nil {
				return nil, err
			}
			continue
		}
		if r.line == 0 {
			r.line = i + 1
		}
		kind, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		switch kind {
		case "#":
			r.rule = strings.TrimSpace(r.rule + " " + rest)
		case "file":
			r.file = rest
		case "test":
			r.tests = append(r.tests, rest)
		case "-":
			r.old = append(r.old, rest)
		case "+":
			r.new = append(r.new, rest)
		default:
			return nil, fmt.Errorf("line %d: %q begins with none of #, file, test, - and +", i+1, line)
		}
	}
	return all, end()
}

// replace returns a text with old lines replaced, which must occur in it
// exactly once.
func replace(text string, old, replacement []string) (string, error) {
	lines := strings.Split(text, "\n")
	at := -1
	for i := range lines {
		if !begins(lines[i:], old) {
			continue
		}
		if at >= 0 {
			return "", fmt.Errorf("%q is at line %d and at line %d; add a line that distinguishes them", old[0], at+1, i+1)
		}
		at = i
	}
	if at < 0 {
		return "", fmt.Errorf("%q was not found; update the row to match the code", strings.Join(old, " / "))
	}
	out := append([]string{}, lines[:at]...)
	out = append(out, replacement...)
	return strings.Join(append(out, lines[at+len(old):]...), "\n"), nil
}

// begins reports whether lines begin with others, ignoring indentation.
func begins(lines, with []string) bool {
	if len(lines) < len(with) {
		return false
	}
	for i := range with {
		if strings.TrimSpace(lines[i]) != with[i] {
			return false
		}
	}
	return true
}
