// Package upgrade compares the best upgrades that package cudf finds with those of
// aspcud, which comes with "apt-get install aspcud".
package upgrade

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/bench/cost"
	"github.com/fairlead/fairlead/internal/bench/cudf"
	"github.com/fairlead/fairlead/solver"
)

// blockSize is the number of requests in each subtest of Compare.
const blockSize = 10

// Compare finds the best upgrade of each document, by the criteria "paranoid",
// "trendy" and "-removed,-new,-changed": it must measure the same as aspcud's, and a
// certificate must prove it the best. The documents must allow at most one installed
// version of a name, since aspcud counts each if there can be several. Every ten
// requests are a subtest named after the first of them, so that an interrupted run can
// be resumed as with -run Upgrades/120.
func Compare(t *testing.T, count int, document func(i int) *cudf.Document) {
	path, file := Tool(t), filepath.Join(t.TempDir(), "request.cudf")
	all := []*tally{{criteria: "paranoid"}, {criteria: "trendy"}, {criteria: "-removed,-new,-changed"}}
	asked := 0
	for first := 0; first < count; first += blockSize {
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			for i := first; i < min(first+blockSize, count); i++ {
				Save(t, document(i), file)
				for _, y := range all {
					if what := y.compare(t, path, file); what != "" {
						t.Errorf("request %d: %s: %s", i, y.criteria, what)
					}
				}
				asked++
			}
			for _, y := range all {
				t.Logf("%d requests so far, %s: %v", asked, y.criteria, y)
			}
		})
	}
}

// A tally is the outcome of all requests by one list of criteria.
type tally struct {
	criteria               string
	met, better            int
	ours, checking, theirs time.Duration
}

func (y *tally) String() string {
	return fmt.Sprintf("%d met and certified, %d of them better than aspcud's; %v of processor time, aspcud %v; making and checking the certificates %v",
		y.met, y.better, y.ours.Round(time.Millisecond), y.theirs.Round(time.Millisecond), y.checking.Round(time.Millisecond))
}

// compare solves the request in a file, and returns what is wrong, if anything.
func (y *tally) compare(t *testing.T, path, file string) (what string) {
	start := cost.CPU()
	d, own := Solve(t, file, y.criteria)
	y.ours += cost.CPU() - start
	other, took := Aspcud(t, path, file, d, y.criteria)
	y.theirs += took
	if own == nil || other == nil {
		if (own == nil) != (other == nil) {
			return fmt.Sprintf("met %t, by aspcud %t", own != nil, other != nil)
		}
		return ""
	}
	y.met++
	start = cost.CPU()
	certified(t, d, y.criteria, own)
	y.checking += cost.CPU() - start
	values, want := Measure(d, y.criteria, own.Installed), Measure(d, y.criteria, other)
	switch {
	case !slices.Equal(own.Values, values):
		return fmt.Sprintf("%v, but what is installed measures %v", own.Values, values)
	case slices.Compare(values, want) < 0 && accepts(t, path, d, y.criteria, own.Installed):
		// What aspcud considers best is not: it finds ours if asked for it by name.
		// By "trendy" it ignores versions that cannot be installed, and takes an older
		// one for the newest.
		y.better++
	case !slices.Equal(values, want):
		return fmt.Sprintf("%v, aspcud %v", values, want)
	}
	return ""
}

// accepts reports whether aspcud finds what we install if exactly that is requested.
func accepts(t testing.TB, path string, d *cudf.Document, criteria string, installed []int) bool {
	own := *d
	in := make(map[int]bool)
	for _, i := range installed {
		in[i] = true
	}
	own.Request.Install, own.Request.Remove = slices.Clip(own.Request.Install), slices.Clip(own.Request.Remove)
	for i, p := range d.Packages {
		it := cudf.Relation{Name: p.Name, Op: "=", Version: p.Version}
		if in[i] {
			own.Request.Install = append(own.Request.Install, it)
		} else {
			own.Request.Remove = append(own.Request.Remove, it)
		}
	}
	file := filepath.Join(t.TempDir(), "ours.cudf")
	Save(t, &own, file)
	theirs, _ := Aspcud(t, path, file, d, criteria)
	return theirs != nil && slices.Equal(Measure(d, criteria, theirs), Measure(d, criteria, installed))
}

// Installable returns a solution with n of the first variables, which are drawn at
// random until they can be selected together.
func Installable(t testing.TB, session *solver.Session, r *rand.Rand, variables, n int) *solver.Solution {
	for {
		w := &solver.WhatIf{}
		for range n {
			w.Require = append(w.Require, solver.Var(1+r.IntN(variables)))
		}
		solution, err := session.Solve(context.Background(), w)
		if err == nil {
			return solution
		}
		if !errors.As(err, new(*solver.UnsatError)) {
			t.Fatal(err)
		}
	}
}

// Tool returns the path of aspcud.
func Tool(t testing.TB) string {
	path, err := exec.LookPath("aspcud")
	if err != nil {
		t.Skipf("%v: apt-get install aspcud", err)
	}
	return path
}

// Save writes a document to a file.
func Save(t testing.TB, d *cudf.Document, file string) {
	var text bytes.Buffer
	if err := d.Write(&text); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Solve reads a document and solves it; the result is nil if there is no upgrade.
func Solve(t testing.TB, file, criteria string) (*cudf.Document, *cudf.Result) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d, err := cudf.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	result, err := d.Solve(context.Background(), parse(t, criteria), nil)
	if errors.As(err, new(*solver.UnsatError)) {
		return d, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return d, result
}

// Aspcud returns the positions of what aspcud installs, which is not nil if it finds an
// upgrade, and the processor time that it used.
func Aspcud(t testing.TB, path, file string, d *cudf.Document, criteria string) ([]int, time.Duration) {
	command := exec.Command(path, "-c", criteria, file)
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	took := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	if bytes.Contains(out, []byte("FAIL")) {
		return nil, took
	}
	answer, err := cudf.Read(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	type version struct {
		name   string
		number int
	}
	in := make(map[version]bool)
	for _, p := range answer.Packages {
		in[version{p.Name, p.Version}] = p.Installed
	}
	installed := []int{}
	for i, p := range d.Packages {
		if in[version{p.Name, p.Version}] {
			installed = append(installed, i)
		}
	}
	return installed, took
}

// certified verifies the proof that an upgrade is the best.
func certified(t testing.TB, d *cudf.Document, criteria string, r *cudf.Result) {
	cert, err := r.Certificate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	shown, err := d.Check(context.Background(), parse(t, criteria), cert)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(shown.Values, r.Values) || !slices.Equal(shown.Installed, r.Installed) {
		t.Errorf("the certificate is of another upgrade: %v, not %v", shown.Values, r.Values)
	}
}

func parse(t testing.TB, criteria string) []cudf.Criterion {
	all, err := cudf.ParseCriteria(criteria)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
