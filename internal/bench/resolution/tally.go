package resolution

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// Tally sums up many tasks.
type Tally struct {
	// Tasks is how many were judged; the others are how many of these had no answer,
	// were hard, and had an answer that was proven best.
	Tasks, Unsatisfiable, Hard, Proven int
	Unstable                           int                // tasks with runs that differ
	Runs                               int                // of OLM's resolver
	Verdicts                           map[Verdict]int    // by run
	Touched                            map[Verdict]int    // tasks with such a run
	Examples                           map[Verdict]string // one task for each
}

func newTally() *Tally {
	return &Tally{Verdicts: make(map[Verdict]int), Touched: make(map[Verdict]int), Examples: make(map[Verdict]string)}
}

// Run judges the tasks of the first n seeds, on all processors. An error is a mistake
// of ours, or says that the tasks were too easy to be meaningful.
func Run(ctx context.Context, n, runs int) (*Tally, error) {
	judgements := make([]*Judgement, n)
	faults := make([]error, n)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := next.Add(1) - 1; seed < int64(n) && ctx.Err() == nil; seed = next.Add(1) - 1 {
				t, err := Draw(ctx, uint64(seed))
				if err == nil {
					judgements[seed], err = Judge(ctx, t, runs)
				}
				if err != nil {
					faults[seed] = fmt.Errorf("seed %d: %w", seed, err)
				}
			}
		})
	}
	workers.Wait()
	if err := errors.Join(append(faults, ctx.Err())...); err != nil {
		return nil, err
	}
	a := newTally()
	for seed, j := range judgements {
		a.add(fmt.Sprint("seed ", seed), j)
	}
	if a.Hard*10 < 3*n || a.Unsatisfiable*10 < 3*n {
		return a, fmt.Errorf("of %d tasks %d need a better-looking candidate rejected and %d have no answer: want three of ten each", n, a.Hard, a.Unsatisfiable)
	}
	return a, nil
}

func (a *Tally) add(name string, j *Judgement) {
	a.Tasks++
	a.Runs += len(j.Peer)
	for _, c := range []struct {
		holds bool
		count *int
	}{{!j.Satisfiable, &a.Unsatisfiable}, {j.Hard, &a.Hard}, {j.Proven, &a.Proven}, {j.Unstable, &a.Unstable}} {
		if c.holds {
			*c.count++
		}
	}
	seen := make(map[Verdict]bool)
	for _, v := range j.Peer {
		a.Verdicts[v]++
		if !seen[v] {
			seen[v] = true
			a.Touched[v]++
		}
		if v != Same && a.Examples[v] == "" {
			a.Examples[v] = name + ": " + j.Details[v]
		}
	}
}
