package resolution

import (
	"context"
	"fmt"
)

// Tally sums up many tasks.
type Tally struct {
	// Tasks is how many were judged; of them so many had no answer, so many were
	// hard, and of so many it was proven.
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

// Run judges the tasks of the first n seeds. An error is a mistake of ours, or
// says that the tasks were too easy to mean something.
func Run(ctx context.Context, n, runs int) (*Tally, error) {
	a := newTally()
	for seed := range uint64(n) {
		t, err := Draw(ctx, seed)
		if err == nil {
			var j *Judgement
			if j, err = Judge(ctx, t, runs); err == nil {
				a.add(fmt.Sprint("seed ", seed), j)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("seed %d: %w", seed, err)
		}
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
