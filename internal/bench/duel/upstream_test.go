package duel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/bench/cost"
	"github.com/fairlead/fairlead/internal/bench/duel"
)

// A workload is a list of problems that are solved one after the other.
type workload struct {
	name     string
	problems []*duel.Problem
}

func workloads() []workload {
	one := func(name string, p *duel.Problem) workload { return workload{name, []*duel.Problem{p}} }
	all := []workload{
		one("n=256", duel.Upstream(256, 9)),
		one("n=1024,seed=10", duel.Upstream(1024, 10)),
		one("n=1024,seed=9", duel.Upstream(1024, 9)),
		one("n=2048,seed=17", duel.Upstream(2048, 17)),
	}
	for _, n := range []int{30, 100, 300, 1000} {
		all = append(all, one(fmt.Sprintf("versions=%d", n), duel.Versions(n)))
	}
	for _, g := range []duel.Graph{
		{Packages: 20, Versions: 4, Needs: 2, Subscriptions: 4, Window: 2, Seeds: 200},
		{Packages: 30, Versions: 5, Needs: 2, Subscriptions: 10, Window: 3, Seeds: 200},
		{Packages: 60, Versions: 8, Needs: 2, Subscriptions: 10, Window: 3, Seeds: 40},
		{Packages: 60, Versions: 8, Needs: 2, Subscriptions: 10, Window: 4, Seeds: 40},
		{Packages: 100, Versions: 10, Needs: 2, Subscriptions: 20, Window: 4, Seeds: 4},
		{Packages: 100, Versions: 10, Needs: 2, Subscriptions: 20, Window: 6, Seeds: 20},
		{Packages: 300, Versions: 20, Needs: 2, Subscriptions: 40, Window: 15, Seeds: 4},
	} {
		w := workload{name: fmt.Sprintf("graphs=%s,%d", g, g.Seeds)}
		for seed := range g.Seeds {
			w.problems = append(w.problems, g.Problem(int64(seed)))
		}
		all = append(all, w)
	}
	return all
}

// BenchmarkUpstream solves the problems of the benchmark that both peers ship, one
// subscription with many versions, and random package graphs. Stating the problem is
// timed for ours but not for the peers. Answers are judged before anything is timed:
// "broken" counts those that break a constraint, "worse" those that are not the best.
func BenchmarkUpstream(b *testing.B) {
	ours := duel.Solvers()[0]
	for i, s := range duel.Solvers() {
		b.Run(strings.ToLower(s.Name), func(b *testing.B) {
			for _, w := range workloads() {
				b.Run(w.name, func(b *testing.B) { benchmark(b, i > 0, ours, s, w.problems) })
			}
		})
	}
}

func benchmark(b *testing.B, peer bool, ours, s duel.Solver, problems []*duel.Problem) {
	var count [duel.Disagree + 1]int
	runs := make([]func(context.Context) (duel.Answer, error), len(problems))
	for i, p := range problems {
		runs[i] = s.Prepare(p)
		if !peer {
			runs[i] = func(ctx context.Context) (duel.Answer, error) { return s.Prepare(p)(ctx) }
		}
		verdict, err := duel.Judge(p, solve(b, ours, p), solve(b, s, p))
		if err != nil {
			b.Fatal(err)
		}
		count[verdict]++
	}
	if count[duel.Disagree] > 0 {
		b.Fatalf("%d verdicts differ", count[duel.Disagree])
	}
	b.ReportAllocs()
	start := cost.CPU()
	for b.Loop() {
		for _, run := range runs {
			if _, err := run(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(cost.CPU()-start)/float64(b.N), "cpu-ns/op")
	if peer {
		b.ReportMetric(float64(count[duel.Violates]), "broken")
		b.ReportMetric(float64(count[duel.Worse]), "worse")
	}
}
