package opam

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead/fairlead/internal/bench/cost"
	"github.com/fairlead/fairlead/internal/bench/cudf"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver"
)

var repository = sync.OnceValues(func() (*Repository, error) {
	dir := os.Getenv("FAIRLEAD_OPAM")
	if dir == "" {
		return nil, errors.New("FAIRLEAD_OPAM names no clone of github.com/ocaml/opam-repository")
	}
	return Read(dir)
})

func load(t testing.TB) *Repository {
	t.Helper()
	if os.Getenv("FAIRLEAD_OPAM") == "" {
		_, err := repository()
		t.Skip(err)
	}
	r, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// broken returns the versions in ask that cannot be installed.
func broken(t testing.TB, p *solver.Problem, ask []solver.Var) []solver.Var {
	session, err := solver.NewSession(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	var bad []solver.Var
	for _, v := range ask {
		_, err := session.Solve(context.Background(), &solver.WhatIf{Require: []solver.Var{v}})
		switch {
		case errors.As(err, new(*solver.UnsatError)):
			bad = append(bad, v)
		case err != nil:
			t.Fatal(err)
		}
	}
	return bad
}

// paragraphs writes a document as two Debian Packages files: one with the packages in
// question, and one with the others.
func paragraphs(d *cudf.Document, asked func(i int) bool) [2][]byte {
	var files [2]bytes.Buffer
	list := func(relations []cudf.Relation, between string) string {
		var all []string
		for _, r := range relations {
			text := r.Name
			if r.Op != "" {
				text += fmt.Sprintf(" (%s %d)", r.Op, r.Version)
			}
			all = append(all, text)
		}
		return strings.Join(all, between)
	}
	for i, p := range d.Packages {
		out := &files[1]
		if asked(i) {
			out = &files[0]
		}
		fmt.Fprintf(out, "Package: %s\nVersion: %d\nArchitecture: amd64\n", p.Name, p.Version)
		var needs []string
		for _, clause := range p.Depends {
			if len(clause) == 0 {
				clause = cudf.Clause{{Name: "what-nothing-offers"}}
			}
			needs = append(needs, list(clause, " | "))
		}
		if needs != nil {
			fmt.Fprintf(out, "Depends: %s\n", strings.Join(needs, ", "))
		}
		if own := slices.DeleteFunc(slices.Clone(p.Conflicts), func(r cudf.Relation) bool { return r.Name == p.Name }); len(own) > 0 {
			fmt.Fprintf(out, "Conflicts: %s\n", list(own, ", "))
		}
		if len(p.Provides) > 0 {
			fmt.Fprintf(out, "Provides: %s\n", list(p.Provides, ", "))
		}
		out.WriteString("\n")
	}
	return [2][]byte{files[0].Bytes(), files[1].Bytes()}
}

// TestBroken compares which packages can be installed with what libsolv's installcheck
// says: in their newest version or, in long runs, in all versions.
func TestBroken(t *testing.T) {
	r := load(t)
	p := r.State()
	ask := r.Newest()
	if long.Enabled() {
		ask = nil
		for i := range r.Packages {
			ask = append(ask, solver.Var(i+1))
		}
	}
	start := cost.CPU()
	own := broken(t, p, ask)
	t.Logf("%d files, %d available versions; of %d that were asked about %d cannot be installed: %v of processor time",
		r.Files, len(r.Packages), len(ask), len(own), cost.CPU()-start)
	path, err := exec.LookPath("installcheck")
	if err != nil {
		t.Skipf("%v: apt-get install libsolv-tools", err)
	}
	d := r.Document(func(int) bool { return true })
	dir := t.TempDir()
	args := []string{"amd64"}
	for i, text := range paragraphs(d, func(i int) bool { return slices.Contains(ask, solver.Var(i+1)) }) {
		file := filepath.Join(dir, fmt.Sprint(i, ".Packages"))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			args = append(args, "--nocheck")
		}
		args = append(args, file)
	}
	command := exec.Command(path, args...)
	out, _ := command.Output() // fails if something is broken
	at := make(map[string]solver.Var)
	for i, pkg := range d.Packages {
		at[fmt.Sprintf("%s-%d.amd64", pkg.Name, pkg.Version)] = solver.Var(i + 1)
	}
	theirs := make(map[solver.Var]bool)
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "can't install "); ok {
			v := at[strings.TrimSuffix(name, ":")]
			if v == 0 {
				t.Fatalf("installcheck names %s", name)
			}
			theirs[v] = true
		}
	}
	t.Logf("installcheck: %d cannot be installed, %v of its time", len(theirs), command.ProcessState.UserTime())
	for _, v := range ask {
		if bad := slices.Contains(own, v); bad != theirs[v] {
			t.Errorf("%s: cannot be installed: %t, installcheck %t", p.Name(v), bad, theirs[v])
		}
	}
}

// TestExplanations explains why packages cannot be installed in their newest version
// or, in long runs, in every third version, up to a hundred hard cases: in a few lines
// that name the package.
func TestExplanations(t *testing.T) {
	r := load(t)
	p := r.State()
	session, err := solver.NewSession(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := make(map[int]int)
	hard := 0 // more than a chain of needs, the last of which nothing meets
	ask := r.Newest()
	if long.Enabled() {
		ask = nil
		for v := 1; v <= len(r.Packages); v += 3 {
			ask = append(ask, solver.Var(v))
		}
	}
	for _, v := range broken(t, p, ask) {
		if hard == 100 {
			break
		}
		_, err := session.Solve(context.Background(), &solver.WhatIf{Require: []solver.Var{v}})
		var unsat *solver.UnsatError
		if !errors.As(err, &unsat) {
			t.Fatal(err)
		}
		e, err := unsat.Explain(context.Background(), &solver.ExplainOptions{MaxConflicts: 1, MaxFixes: -1, MaxLines: explanationLines})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSpace(e.String())
		n := strings.Count(text, "\n") + 1
		if lines[n]++; n > explanationLines {
			t.Errorf("%s: %d lines:\n%s", p.Name(v), n, text)
		}
		if !strings.Contains(text, p.Name(v)) || !ends(e.Conflicts[0].Tree, text) {
			t.Errorf("%s or the cause is not named:\n%s", p.Name(v), text)
		}
		if !strings.Contains(text, "which nothing offers") {
			hard++
			t.Log(text)
		}
	}
	t.Logf("explanations by their lines: %v; %d hard cases", lines, hard)
}

// explanationLines is the maximum number of lines that explain why a package cannot be
// installed.
const explanationLines = 12

// ends reports whether the text has a statement from which nothing else follows.
func ends(all []*solver.Statement, text string) bool {
	return slices.ContainsFunc(all, func(s *solver.Statement) bool {
		if len(s.Children) == 0 {
			return strings.Contains(text, s.Text)
		}
		return ends(s.Children, text)
	})
}
