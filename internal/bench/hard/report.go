package hard

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/bench/cost"
	"github.com/fairlead/fairlead/solver"
)

// Bounds: how many problems there are, and how long each solver may take for one.
const (
	number   = 300
	patience = 60 * time.Second
)

// A tally adds up what the solvers took for some problems.
type tally struct {
	name    string
	count   int
	took    []time.Duration // by solver
	unknown []int           // by solver
	ratio   float64         // the sum of the logarithms of ours beside the fastest
}

// Report compares the solvers, and writes what they took.
func Report(ctx context.Context, w io.Writer) error { return report(ctx, w, number) }

func report(ctx context.Context, w io.Writer, count int) error {
	all := peers()
	var kinds, sums []*tally
	of := func(tallies *[]*tally, name string) *tally {
		i := slices.IndexFunc(*tallies, func(t *tally) bool { return t.name == name })
		if i < 0 {
			i = len(*tallies)
			*tallies = append(*tallies, &tally{name: name, took: make([]time.Duration, len(all)), unknown: make([]int, len(all))})
		}
		return (*tallies)[i]
	}
	for _, p := range problems(count) {
		took, verdicts, err := compare(ctx, all, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		what := ", with an answer"
		if slices.Contains(verdicts, no) {
			what = ", without an answer"
		}
		of(&kinds, p.kind+what).add(took, verdicts)
		of(&sums, "all"+what).add(took, verdicts)
	}
	head := []string{"hard problems", "number"}
	for _, s := range all {
		head = append(head, s.name)
	}
	cost.Head(w, append(head, "fairlead beside the fastest, mean of ratios")...)
	for _, t := range slices.Concat(kinds, sums) {
		t.row(w)
	}
	return nil
}

func (t *tally) add(took []time.Duration, verdicts []verdict) {
	t.count++
	t.ratio += math.Log(float64(took[0]) / float64(slices.Min(took[1:])))
	for i := range took {
		t.took[i] += took[i]
		if verdicts[i] == unknown {
			t.unknown[i]++
		}
	}
}

func (t *tally) row(w io.Writer) {
	cells := []string{t.name, fmt.Sprint(t.count)}
	for i, d := range t.took {
		cell := cost.Duration(d)
		if t.unknown[i] > 0 {
			cell += fmt.Sprintf(", %d not decided", t.unknown[i])
		}
		cells = append(cells, cell)
	}
	cost.Row(w, append(cells, fmt.Sprintf("%.2f", math.Exp(t.ratio/float64(t.count))))...)
}

// compare asks all solvers about a problem, and checks the verdicts.
func compare(ctx context.Context, all []peer, p problem) (took []time.Duration, verdicts []verdict, err error) {
	known := unknown
	for _, s := range all {
		own, cancel := context.WithTimeout(ctx, patience)
		runtime.GC()
		v, d, err := s.decide(own, p.Problem)
		cancel()
		if err != nil {
			return nil, nil, err
		}
		if v != unknown && known != unknown && v != known {
			return nil, nil, fmt.Errorf("%s disagrees with the others", s.name)
		}
		known = max(known, v)
		took, verdicts = append(took, max(d, time.Microsecond)), append(verdicts, v)
	}
	if verdicts[0] == no {
		return took, verdicts, prove(ctx, p.Problem)
	}
	return took, verdicts, ctx.Err() // an answer was checked before it was returned
}

// prove checks a proof that a problem has no answer.
func prove(ctx context.Context, p *solver.Problem) error {
	r, err := p.Refute(ctx)
	if err != nil {
		return err
	}
	return solver.CheckRefutation(ctx, p, r)
}
