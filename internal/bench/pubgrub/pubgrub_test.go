// Package pubgrub asks the questions of the benchmark of pubgrub-rs: for every
// version in a registry, whether it can be installed. FAIRLEAD_PUBGRUB names its
// file, test-examples/large_case_u16_NumberVersion.ron of that repository, and
// FAIRLEAD_PUBGRUB_RS the program built from testdata/fairlead.rs as an example there
// (cargo build --release --features serde --example fairlead). FAIRLEAD_RESOLVO names
// resolvo, built in the same way from testdata/resolvo.rs: it is asked about the same
// registry, as a snapshot.
package pubgrub

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/fairlead/fairlead/internal/bench/cost"
	"github.com/fairlead/fairlead/solver"
)

// A version is one version of a package, with what it needs.
type version struct {
	pkg, number int
	needs       []need
}

// A need is one of the versions of a package in some ranges.
type need struct {
	pkg    int
	ranges [][2]int // from and before
}

const endless = 1 << 30

var tokens = regexp.MustCompile(`[0-9]+|None|[{}\[\]]`)

// read parses a map of packages to maps of versions to needs.
func read(text string) (all []version, err error) {
	depth, open := 0, false // of braces; within brackets
	var path [4]int
	var limits []int
	for _, w := range tokens.FindAllString(text, -1) {
		switch w {
		case "{":
			if depth++; depth == 3 {
				all = append(all, version{pkg: path[1], number: path[2]})
			}
		case "}":
			depth--
		case "[":
			open, limits = true, nil
		case "]":
			n := need{pkg: path[3]}
			for pair := range slices.Chunk(limits, 2) {
				n.ranges = append(n.ranges, [2]int(pair))
			}
			last := &all[len(all)-1]
			last.needs, open = append(last.needs, n), false
		default:
			n := endless
			if w != "None" {
				if n, err = strconv.Atoi(w); err != nil {
					return nil, err
				}
			}
			if open {
				limits = append(limits, n)
			} else if depth < 1 || depth > 3 {
				return nil, fmt.Errorf("%s at depth %d", w, depth)
			} else {
				path[depth] = n
			}
		}
	}
	return all, nil
}

// state makes version i the variable i+1.
func state(all []version) *solver.Problem {
	p := &solver.Problem{}
	p.Grow(0, 8*len(all), 64*len(all))
	p.NewVars(len(all))
	of := make(map[int][]int) // by package, the newest first
	for i := range all {
		of[all[i].pkg] = append(of[all[i].pkg], i)
	}
	for _, own := range of {
		slices.SortFunc(own, func(a, b int) int { return all[b].number - all[a].number })
	}
	var vars []solver.Var
	for i := range all {
		if own := of[all[i].pkg]; own[0] == i {
			vars = vars[:0]
			for _, k := range own {
				vars = append(vars, solver.Var(k+1))
			}
			p.Limit(1, vars, nil)
		}
		for _, n := range all[i].needs {
			vars = vars[:0]
			for _, k := range of[n.pkg] {
				if slices.ContainsFunc(n.ranges, func(r [2]int) bool { return r[0] <= all[k].number && all[k].number < r[1] }) {
					vars = append(vars, solver.Var(k+1))
				}
			}
			p.Depend(solver.Var(i+1), vars, nil)
		}
	}
	return p
}

// possible asks all questions, and counts those answered with yes.
func possible(t testing.TB, p *solver.Problem) (yes int) {
	session, err := solver.NewSession(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for v := solver.Var(1); int(v) <= p.NumVars(); v++ {
		_, err := session.Solve(context.Background(), &solver.WhatIf{Require: []solver.Var{v}})
		if err == nil {
			yes++
		} else if !errors.As(err, new(*solver.UnsatError)) {
			t.Fatal(err)
		}
	}
	return yes
}

func load(t testing.TB) []version {
	text, err := os.ReadFile(os.Getenv("FAIRLEAD_PUBGRUB"))
	if err != nil {
		t.Skipf("FAIRLEAD_PUBGRUB does not name the file: %v", err)
	}
	all, err := read(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestVerdicts: the counts are those of pubgrub-rs.
func TestVerdicts(t *testing.T) {
	all := load(t)
	if yes := possible(t, state(all)); len(all) != 641 || yes != 593 {
		t.Errorf("%d questions, %d with an answer; want 641, 593", len(all), yes)
	}
}

// TestRead reads a registry of three versions.
func TestRead(t *testing.T) {
	all, err := read("{0: {1: {7: [(1, Some(3)), (5, None)]}, 2: {}}, 7: {2: {},},}")
	if err != nil || fmt.Sprint(all) != "[{0 1 [{7 [[1 3] [5 1073741824]]}]} {0 2 []} {7 2 []}]" {
		t.Fatalf("%v, %v", all, err)
	}
	if yes := possible(t, state(all)); yes != 3 {
		t.Errorf("%d are possible", yes)
	}
}

// BenchmarkPubgrub states the problem and asks all questions, as a solver that starts
// from scratch each time; "asking" uses a new session of a problem that is already
// stated. For pubgrub-rs the registry is already read, and each question starts from
// scratch.
func BenchmarkPubgrub(b *testing.B) {
	all := load(b)
	p := state(all)
	for _, w := range []struct {
		name string
		run  func()
	}{{"check", func() { possible(b, state(all)) }}, {"asking", func() { possible(b, p) }}} {
		b.Run("fairlead/"+w.name, func(b *testing.B) {
			b.ReportAllocs()
			start := cost.CPU()
			for b.Loop() {
				w.run()
			}
			b.ReportMetric(float64(cost.CPU()-start)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(len(all)), "questions")
		})
	}
	b.Run("pubgrub-rs/check", func(b *testing.B) {
		program := os.Getenv("FAIRLEAD_PUBGRUB_RS")
		if program == "" {
			b.Skip("FAIRLEAD_PUBGRUB_RS does not name the program")
		}
		out, err := exec.Command(program, os.Getenv("FAIRLEAD_PUBGRUB"), strconv.Itoa(b.N)).Output()
		if err != nil {
			b.Fatal(err)
		}
		var questions, yes int
		var ns float64
		if _, err := fmt.Sscan(string(out), &questions, &yes, &ns); err != nil || questions != len(all) || yes != possible(b, p) {
			b.Fatalf("%d questions, %d with an answer, %v: %s", questions, yes, err, out)
		}
		b.ReportMetric(ns, "cpu-ns/op")
		b.ReportMetric(float64(questions), "questions")
	})
	b.Run("resolvo/check", func(b *testing.B) {
		yes, ns := askResolvo(b, all, b.N)
		if yes != possible(b, p) {
			b.Fatalf("%d questions, %d with an answer", len(all), yes)
		}
		b.ReportMetric(ns, "cpu-ns/op")
		b.ReportMetric(float64(len(all)), "questions")
	})
}
