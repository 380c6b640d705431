package duel

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/bench/cost"
)

// rounds is how often everything is measured; medians are reported.
const rounds = 7

// Duel is what one problem costs each solver, and what the judge says of the
// peers. Costs and Verdicts are in the order of [Solvers].
type Duel struct {
	Satisfiable bool        // whether there is an answer
	Costs       []cost.Cost // medians
	Stating     cost.Cost   // median of stating the problem in our terms, which Costs leaves out
	Verdicts    []Verdict   // of the peers only
}

// Run solves a problem with all solvers, judges, and then measures.
func Run(ctx context.Context, p *Problem) (Duel, error) {
	var d Duel
	var ours Answer
	var runs []func() error
	for i, s := range Solvers() {
		solve := s.Prepare(p)
		answer, err := solve(ctx)
		if err != nil {
			return Duel{}, fmt.Errorf("%s: %w", s.Name, err)
		}
		if i == 0 {
			ours, d.Satisfiable = answer, answer.Satisfiable
		} else {
			verdict, err := Judge(p, ours, answer)
			if err != nil {
				return Duel{}, err
			}
			d.Verdicts = append(d.Verdicts, verdict)
		}
		runs = append(runs, func() error { _, err := solve(ctx); return err })
	}
	runs = append(runs, func() error { state(p); return nil })
	costs, err := cost.MeasureAll(rounds, runs...)
	if err != nil {
		return Duel{}, err
	}
	last := len(costs) - 1
	d.Costs, d.Stating = costs[:last], costs[last]
	return d, nil
}

// Tally sums up many problems of one kind.
type Tally struct {
	Problems, Satisfiable int               // problems, and those that have an answer
	Sum, Max              []time.Duration   // by solver
	Verdicts              []map[Verdict]int // of the peers only
}

// RunGraphs solves every seed of a kind of graphs once with each solver.
func RunGraphs(ctx context.Context, g Graph) (Tally, error) {
	solvers := Solvers()
	t := Tally{Problems: g.Seeds, Sum: make([]time.Duration, len(solvers)), Max: make([]time.Duration, len(solvers))}
	for range solvers[1:] {
		t.Verdicts = append(t.Verdicts, map[Verdict]int{})
	}
	for seed := range g.Seeds {
		p := g.Problem(int64(seed))
		var ours Answer
		for i, s := range solvers {
			solve := s.Prepare(p)
			start := cost.CPU()
			answer, err := solve(ctx)
			elapsed := cost.CPU() - start
			if err != nil {
				return Tally{}, fmt.Errorf("%s, seed %d: %s: %w", g, seed, s.Name, err)
			}
			t.Sum[i] += elapsed
			t.Max[i] = max(t.Max[i], elapsed)
			if i == 0 {
				ours = answer
				if ours.Satisfiable {
					t.Satisfiable++
				}
				continue
			}
			verdict, err := Judge(p, ours, answer)
			if err != nil {
				return Tally{}, fmt.Errorf("%s, seed %d: %w", g, seed, err)
			}
			t.Verdicts[i-1][verdict]++
		}
	}
	return t, nil
}

// Late is how long after its context's end a solver came back: by the clock,
// and in time of the processors, which is the same on an idle machine.
type Late struct {
	Clock, CPU []time.Duration // ascending
}

// Cancel ends the context of a problem that would take long, at instants that
// go from 1 ms to 50 ms after the start.
func Cancel(ctx context.Context, s Solver, p *Problem, times int) (Late, error) {
	var late Late
	solve := s.Prepare(p)
	for i := range times {
		wait := time.Millisecond + time.Duration(i)*49*time.Millisecond/time.Duration(times)
		ctx, cancel := context.WithCancel(ctx)
		var end time.Time
		var cpu time.Duration
		ended := make(chan struct{})
		time.AfterFunc(wait, func() {
			end, cpu = time.Now(), cost.CPU()
			cancel()
			close(ended)
		})
		_, err := solve(ctx)
		back, cpuBack := time.Now(), cost.CPU()
		<-ended
		if err == nil && back.Before(end) {
			return Late{}, fmt.Errorf("%s was done before the context ended", s.Name)
		}
		late.Clock = append(late.Clock, back.Sub(end))
		late.CPU = append(late.CPU, cpuBack-cpu)
	}
	slices.Sort(late.Clock)
	slices.Sort(late.CPU)
	return late, nil
}
