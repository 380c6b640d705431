package solver_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/fairlead/fairlead/solver"
)

// upstream reproduces the problem of OLM's and deppy's BenchmarkSolve, draw by
// draw.
func upstream(n int, seed int64) func() *solver.Problem {
	type thing struct {
		mandatory bool
		needs     []int
		excludes  []int
	}
	r := rand.New(rand.NewSource(seed))
	other := func(i int) int {
		y := i
		for y == i {
			y = r.Intn(n)
		}
		return y
	}
	things := make([]thing, n)
	for i := range things {
		t := &things[i]
		t.mandatory = r.Float64() < .1
		if r.Float64() < .15 {
			for range r.Intn(5) + 1 {
				t.needs = append(t.needs, other(i))
			}
		}
		if r.Float64() < .05 {
			for range r.Intn(2) + 1 {
				t.excludes = append(t.excludes, other(i))
			}
		}
	}
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return func() *solver.Problem {
		p := &solver.Problem{}
		for _, name := range names {
			p.Var(name)
		}
		var needs []solver.Var
		for i, t := range things {
			v := solver.Var(i + 1)
			if t.mandatory {
				p.Require(v, nil)
			}
			if t.needs != nil {
				needs = needs[:0]
				for _, y := range t.needs {
					needs = append(needs, solver.Var(y+1))
				}
				p.Depend(v, needs, nil)
			}
			for _, y := range t.excludes {
				p.Exclude(v, solver.Var(y+1), nil)
			}
		}
		return p
	}
}

func BenchmarkUpstream(b *testing.B) {
	for _, n := range []int{256, 1024, 2048} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			build := upstream(n, 9)
			b.ReportAllocs()
			for b.Loop() {
				_, err := solver.Solve(context.Background(), build(), nil)
				var unsat *solver.UnsatError
				if err != nil && !errors.As(err, &unsat) {
					b.Fatal(err)
				}
			}
		})
	}
}

// packages makes a graph of the given number of packages and versions. Each
// version depends on random later packages, on a window of versions of each,
// newest first. There are subscriptions to random packages, and at most one
// version of a package may be selected.
func packages(packages, versions, deps, subscriptions, window int, seed int64) *solver.Problem {
	r := rand.New(rand.NewSource(seed))
	p := &solver.Problem{}
	all := make([][]solver.Var, packages) // newest first
	for i := range all {
		for v := range versions {
			all[i] = append(all[i], p.Var(fmt.Sprintf("p%d.v%d", i, versions-v)))
		}
	}
	for _, i := range r.Perm(packages)[:subscriptions] {
		s := p.Var(fmt.Sprintf("subscription to p%d", i))
		p.Require(s, nil)
		p.Depend(s, all[i], nil)
	}
	for i, own := range all {
		p.Limit(1, own, nil)
		for _, v := range own {
			for range deps {
				if i+1 == packages {
					continue
				}
				on := i + 1 + r.Intn(packages-i-1)
				from := r.Intn(versions - window + 1)
				p.Depend(v, all[on][from:from+window], nil)
			}
		}
	}
	return p
}

type graph struct{ packages, versions, deps, subscriptions, window int }

var graphs = []graph{
	{20, 4, 2, 4, 2}, {30, 5, 2, 10, 3}, {60, 8, 2, 10, 3}, {60, 8, 2, 10, 4},
	{100, 10, 2, 20, 4}, {100, 10, 2, 20, 6}, {300, 20, 2, 40, 15},
}

func (g graph) String() string {
	return fmt.Sprintf("%d,%d,%d,%d,%d", g.packages, g.versions, g.deps, g.subscriptions, g.window)
}

func (g graph) problem(seed int64) *solver.Problem {
	return packages(g.packages, g.versions, g.deps, g.subscriptions, g.window, seed)
}

// BenchmarkPackages solves forty graphs per operation, and reports the time per
// graph.
func BenchmarkPackages(b *testing.B) {
	for _, g := range graphs {
		b.Run(g.String(), func(b *testing.B) {
			var all []*solver.Problem
			for seed := range int64(40) {
				all = append(all, g.problem(seed))
			}
			var worst time.Duration
			solved := 0
			b.ReportAllocs()
			for b.Loop() {
				solved = 0
				for _, p := range all {
					start := time.Now()
					if _, err := solver.Solve(context.Background(), p, nil); err == nil {
						solved++
					}
					worst = max(worst, time.Since(start))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(all)), "ns/graph")
			b.ReportMetric(float64(worst.Nanoseconds()), "ns/worst")
			b.ReportMetric(float64(solved), "solvable")
		})
	}
}

// versions makes a problem of one subscription to a package with many versions,
// of which only one may be installed and whose API may have only one provider.
// clash rules out the first candidate in a way that only a search reveals.
func versions(n int, clash bool) *solver.Problem {
	p := &solver.Problem{}
	var all []solver.Var
	for i := range n {
		all = append(all, p.Var("v"+strconv.Itoa(n-i)))
	}
	s := p.Var("subscription")
	p.Require(s, nil)
	p.Depend(s, all, nil)
	p.Limit(1, all, nil)
	p.Limit(1, all, nil)
	if clash {
		x := p.Var("x")
		p.Depend(all[0], []solver.Var{x}, nil)
		p.Forbid(x, nil)
	}
	return p
}

func BenchmarkVersions(b *testing.B) {
	for _, n := range []int{30, 100, 300, 1000} {
		for _, clash := range []bool{false, true} {
			b.Run(fmt.Sprintf("n=%d/clash=%t", n, clash), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := solver.Solve(context.Background(), versions(n, clash), nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// pigeons makes the pigeonhole problem, the classic that is out of reach of
// resolution-based solvers once it is large.
func pigeons(pigeons, holes int) *solver.Problem {
	p := &solver.Problem{}
	in := make([][]solver.Var, holes)
	for i := range pigeons {
		pigeon := p.Var(fmt.Sprintf("pigeon %d", i))
		var places []solver.Var
		for h := range holes {
			v := p.Var(fmt.Sprintf("pigeon %d in hole %d", i, h))
			places = append(places, v)
			in[h] = append(in[h], v)
		}
		p.Require(pigeon, nil)
		p.Depend(pigeon, places, nil)
	}
	for _, vars := range in {
		p.Limit(1, vars, nil)
	}
	return p
}

// crowd is like pigeons, but excludes each pair of pigeons in a hole, so that
// there is nothing to count.
func crowd(pigeons, holes int) *solver.Problem {
	p := &solver.Problem{}
	in := make([][]solver.Var, holes)
	for i := range pigeons {
		var places []solver.Lit
		for h := range holes {
			v := p.Var(fmt.Sprintf("pigeon %d in hole %d", i, h))
			for _, other := range in[h] {
				p.Exclude(v, other, nil)
			}
			in[h] = append(in[h], v)
			places = append(places, v.Yes())
		}
		p.Any(places, nil)
	}
	return p
}

// BenchmarkCancel reports how long after the end of its context Solve returns,
// and how often it was ended: in the middle of php(10,9), of the upstream
// problem, and of a problem with 60,000 candidates of which only the last is
// possible.
func BenchmarkCancel(b *testing.B) {
	for _, size := range []struct {
		name  string
		make  func() *solver.Problem
		after time.Duration // at most
	}{
		{"pigeons", func() *solver.Problem { return crowd(10, 9) }, 60 * time.Millisecond},
		{"upstream/n=256", upstream(256, 1), 50 * time.Microsecond},
		{"candidates/n=60000", func() *solver.Problem { return lastOf(60_000) }, 60 * time.Millisecond},
	} {
		b.Run(size.name, func(b *testing.B) {
			late := []time.Duration{0}
			for i := 0; b.Loop(); i++ {
				p := size.make()
				ctx, cancel := context.WithCancel(context.Background())
				ended := make(chan time.Time, 1)
				time.AfterFunc(size.after*time.Duration(i%50)/50, func() {
					ended <- time.Now()
					cancel()
				})
				_, err := solver.Solve(ctx, p, nil)
				if returned := time.Now(); errors.Is(err, context.Canceled) {
					late = append(late, returned.Sub(<-ended))
				}
				cancel()
			}
			slices.Sort(late)
			b.ReportMetric(float64(late[len(late)*99/100].Nanoseconds()), "p99-ns-late")
			b.ReportMetric(float64(late[len(late)/2].Nanoseconds()), "median-ns-late")
			b.ReportMetric(float64(len(late)-1), "ended")
		})
	}
}

// BenchmarkWhatIf asks about hard graphs: what if a pick of the best answer
// were forbidden, or a subscription dropped? It asks with Solve for every
// question, with one new session for all questions about a graph, and with a
// session that has already answered all of them.
func BenchmarkWhatIf(b *testing.B) {
	g := graphs[4]
	var problems []*solver.Problem
	var questions [][]*solver.WhatIf
	var supposed [][]*solver.Problem // for each question, the changed problem
	n := 0
	for seed := range int64(5) {
		p := g.problem(seed)
		s, err := solver.Solve(context.Background(), p, nil)
		if err != nil {
			continue
		}
		ask := []*solver.WhatIf{{}}
		for v := range s.Selected() {
			ask = append(ask, &solver.WhatIf{Forbid: []solver.Var{v}})
		}
		for id := range p.NumConstraints() {
			if p.Constraint(id).Kind == solver.Requirement {
				ask = append(ask, &solver.WhatIf{Drop: []int{id}})
			}
		}
		problems = append(problems, p)
		questions = append(questions, ask)
		var all []*solver.Problem
		for _, w := range ask {
			all = append(all, changed(p, w))
		}
		supposed = append(supposed, all)
		n += len(ask)
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			for _, all := range supposed {
				for _, p := range all {
					solver.Solve(context.Background(), p, nil)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/question")
	})
	ask := func(b *testing.B, again bool) {
		sessions := make([]*solver.Session, len(problems))
		for b.Loop() {
			for i, p := range problems {
				if sessions[i] == nil || !again {
					var err error
					if sessions[i], err = solver.NewSession(p, nil); err != nil {
						b.Fatal(err)
					}
				}
				for _, w := range questions[i] {
					sessions[i].Solve(context.Background(), w)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/question")
	}
	b.Run("session", func(b *testing.B) { ask(b, false) })
	b.Run("again", func(b *testing.B) { ask(b, true) })
}

// BenchmarkPieces solves many independent pieces, in each of which the first
// candidate leads to a dead end.
func BenchmarkPieces(b *testing.B) {
	for _, n := range []int{500, 4000} {
		p := &solver.Problem{}
		for i := range n {
			v := func(name string) solver.Var { return p.Var(name + strconv.Itoa(i)) }
			p.Require(v("a"), nil)
			p.Depend(v("a"), []solver.Var{v("b"), v("c")}, nil)
			p.Depend(v("b"), []solver.Var{v("d")}, nil)
			p.Exclude(v("a"), v("d"), nil)
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := solver.Solve(context.Background(), p, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
