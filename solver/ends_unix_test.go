//go:build unix

package solver_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver"
)

// lateMax is how much processor time the process may use after the end of a
// context until the call returns.
const lateMax = 5 * time.Millisecond

// TestEnds ends the context of every entry point in the middle of its work on
// hard problems of each kind, at moments spread over the work, and measures the
// processor time that the whole process uses from then until the call returns.
// A moment counts as late only if it is so several times in a row: the garbage
// collector may happen to run.
func TestEnds(t *testing.T) {
	moments, longest := long.N(4, 40), time.Duration(long.N(40, 400))*time.Millisecond
	ended := make(map[string]int)
	for _, w := range slices.Concat(hardWorks(), lazyWorks()) {
		do := w.begin()
		if do == nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), longest)
		before := processorTime(t)
		_ = do(ctx)
		took := processorTime(t) - before
		cancel()
		for i := range moments {
			after := took * time.Duration(2*i+1) / time.Duration(2*moments)
			late, ok := lateness(t, w, after)
			for range 4 {
				if late > lateMax {
					late, ok = lateness(t, w, after)
				}
			}
			if late > lateMax {
				t.Errorf("%s, ended after %v: another %v", w.name, after, late)
			}
			if ok {
				ended[w.what]++
			}
		}
	}
	for _, what := range []string{"Solve", "Explain", "Minimize", "WhyNot", "Core", "Certificate", "Refute", "Session", "Lazy.Solve", "Lazy.Explain", "Lazy.Everything"} {
		if ended[what] == 0 {
			t.Errorf("no call of %s was ended", what)
		}
	}
	t.Logf("ended in the middle: %v", ended)
}

// lateness ends the context of a work after some processor time, and returns how much
// more was used until it returned; ok is false if it was done before.
func lateness(t *testing.T, w work, after time.Duration) (late time.Duration, ok bool) {
	do := w.begin()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	at := make(chan time.Duration, 1)
	begin := processorTime(t)
	end := func() {
		now := processorTime(t)
		cancel()
		at <- now
	}
	timer := time.AfterFunc(after, func() {
		for processorTime(t)-begin < after { // the machine is busy with other things
			time.Sleep(100 * time.Microsecond)
			select {
			case <-ctx.Done():
				return
			default:
			}
		}
		end()
	})
	err := do(ctx)
	now := processorTime(t)
	timer.Stop()
	if !errors.Is(err, context.Canceled) {
		return 0, false
	}
	return now - <-at, true
}

func processorTime(t *testing.T) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// hardWorks returns every entry point on problems that keep it busy: each is hard,
// or large, in a way of its own.
func hardWorks() []work {
	n := candidates()
	var all []work
	for _, kind := range []struct {
		name string
		make func() *solver.Problem
	}{
		{"a crowd", func() *solver.Problem { return crowd(10, 9) }},
		{"pigeons", func() *solver.Problem { return pigeons(10, 9) }},
		{"clauses", func() *solver.Problem { return threes(170, 7) }},
		{"a web", func() *solver.Problem { return web(60, 20, 3, 5) }},
		{"a wide web", func() *solver.Problem { return web(200, 10, 3, 5) }},
		{"a catalog with an answer", func() *solver.Problem { return graphs[4].problem(4) }},
		{"upstream", upstream(1024, 9)},
		{"the last of many", func() *solver.Problem { return lastOf(n) }},
		{"all fail", func() *solver.Problem { return allFail(n/8, 2) }},
		{"everything", func() *solver.Problem {
			p := distribution(n)()
			for v := range n {
				p.Require(solver.Var(v+1), nil)
			}
			return p
		}},
	} {
		all = append(all, worksOn(kind.name, kind.make)...)
	}
	return all
}

// threes makes a random problem of clauses of three literals near the threshold.
func threes(vars int, seed uint64) *solver.Problem {
	r := rand.New(rand.NewPCG(seed, 3))
	p := &solver.Problem{}
	p.NewVars(vars)
	for range vars * 426 / 100 {
		var lits []solver.Lit
		for _, v := range r.Perm(vars)[:3] {
			l := solver.Var(v + 1).Yes()
			if r.IntN(2) == 0 {
				l = -l
			}
			lits = append(lits, l)
		}
		p.Any(lits, nil)
	}
	return p
}

// A shop is a source of needs "n<i>", each met by candidates that need later ones.
type shop struct {
	needs, candidates int
	hopeless          bool
}

func (s shop) Candidates(ctx context.Context, needs []string) ([][]solver.Candidate, error) {
	all := make([][]solver.Candidate, len(needs))
	for i, need := range needs {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for c := range s.candidates {
			all[i] = append(all[i], solver.Candidate{Name: fmt.Sprintf("%s.%d", need, c), Slot: need})
		}
	}
	return all, nil
}

func (s shop) Requirements(ctx context.Context, candidates []string) ([]solver.Requirements, error) {
	all := make([]solver.Requirements, len(candidates))
	for i, name := range candidates {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var need, c int
		if _, err := fmt.Sscanf(name, "n%d.%d", &need, &c); err != nil {
			return nil, err
		}
		last := s.needs - 1
		if need < last {
			all[i].Needs = []string{fmt.Sprintf("n%d", need+1+(c*7)%(last-need)), fmt.Sprintf("n%d", last)}
		}
		if need%9 == 4 && c < 3 {
			all[i].Excludes = []string{fmt.Sprintf("n%d", need-3)}
		}
		if s.hopeless && need == last {
			all[i].Excludes = []string{"n2"}
		}
	}
	return all, nil
}

// lazyWorks returns the entry points of Lazy.
func lazyWorks() []work {
	var needs []string
	for i := range long.N(300, 1_000) {
		needs = append(needs, fmt.Sprintf("n%d", i))
	}
	var all []work
	add := func(what string, hopeless bool, do func(ctx context.Context, l *solver.Lazy) error) {
		all = append(all, work{"a shop, " + what, what, func() func(context.Context) error {
			l := solver.NewLazy(shop{len(needs), 20, hopeless})
			return func(ctx context.Context) error { return do(ctx, l) }
		}})
	}
	add("Lazy.Solve", false, func(ctx context.Context, l *solver.Lazy) error {
		_, err := l.Solve(ctx, needs, nil)
		return err
	})
	add("Lazy.Explain", true, func(ctx context.Context, l *solver.Lazy) error {
		_, err := l.Explain(ctx, needs, nil)
		return err
	})
	add("Lazy.Everything", false, func(ctx context.Context, l *solver.Lazy) error {
		_, err := l.Everything(ctx, needs)
		return err
	})
	return all
}
