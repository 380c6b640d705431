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
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead/fairlead/internal/bench/cost"
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

// broken returns those of the versions that cannot be installed.
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

// TestBroken compares which packages can be installed in their newest version with
// what dose-distcheck says: of all that cannot, and of every twentieth or, long, all.
func TestBroken(t *testing.T) {
	r := load(t)
	path, err := exec.LookPath("dose-distcheck")
	if err != nil {
		t.Skipf("%v: apt-get install dose-distcheck", err)
	}
	p := r.State()
	start := cost.CPU()
	own := broken(t, p, r.Newest())
	t.Logf("%d files, %d available versions; of the newest of %d packages %d cannot be installed: %v of the processors",
		r.Files, len(r.Packages), len(r.Newest()), len(own), cost.CPU()-start)
	d := r.Document(func(int) bool { return true })
	var text bytes.Buffer
	if err := d.Write(&text); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "all.cudf")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var ask []string
	asked := make(map[solver.Var]bool)
	for i, v := range r.Newest() {
		if i%long.N(20, 1) == 0 || slices.Contains(own, v) {
			pkg := d.Packages[v-1]
			ask = append(ask, fmt.Sprintf("%s (= %d)", pkg.Name, pkg.Version))
			asked[v] = true
		}
	}
	command := exec.Command(path, "-t", "cudf", "--failures", "--checkonly="+strings.Join(ask, ","), file)
	out, err := command.Output() // fails where something is broken
	if !strings.Contains(string(out), "broken-packages") {
		t.Fatalf("dose-distcheck says nothing: %v", err)
	}
	at := make(map[string]solver.Var)
	for i, pkg := range d.Packages {
		at[fmt.Sprint(pkg.Name, " ", pkg.Version)] = solver.Var(i + 1)
	}
	var theirs []solver.Var
	name := ""
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "package":
			name = value
		case "version":
			if _, err := strconv.Atoi(value); err != nil || at[name+" "+value] == 0 {
				t.Fatalf("dose-distcheck names %s %s", name, value)
			}
			theirs = append(theirs, at[name+" "+value])
		}
	}
	slices.Sort(theirs)
	theirs = slices.Compact(theirs)
	t.Logf("dose-distcheck was asked about %d: %d cannot be installed, %v of its time", len(asked), len(theirs), command.ProcessState.UserTime())
	for _, v := range own {
		if asked[v] && !slices.Contains(theirs, v) {
			t.Errorf("dose-distcheck can install %s", p.Name(v))
		}
	}
	for _, v := range theirs {
		if !slices.Contains(own, v) {
			t.Errorf("dose-distcheck cannot install %s", p.Name(v))
		}
	}
}
