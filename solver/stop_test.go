package solver_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/solver"
)

// TestEndedContext checks that every entry point notices that the context has
// ended.
func TestEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	wants := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	easy := parse(t, "require a\na needs b c\nforbid b")
	_, err := solver.Solve(ctx, easy, nil)
	wants("Solve", err)
	session, err := solver.NewSession(easy, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = session.Solve(ctx, nil)
	wants("Session.Solve", err)
	s, err := session.Solve(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Certificate(ctx)
	wants("Certificate", err)
	_, err = s.WhyNot(ctx, 2, nil)
	wants("WhyNot", err)
	cert, err := s.Certificate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	wants("Check", solver.Check(ctx, easy, cert))
	_, err = solver.Solve(context.Background(), pigeons(4, 3), nil)
	var unsat *solver.UnsatError
	if !errors.As(err, &unsat) {
		t.Fatal(err)
	}
	_, _, err = unsat.Core(ctx, nil)
	wants("Core", err)
	_, err = unsat.Explain(ctx, nil)
	wants("Explain", err)
}

// TestEndsAtLists ends the context whenever a large list is about to be made:
// there is no list then, and nothing may access it.
func TestEndsAtLists(t *testing.T) {
	const n = 12_000
	every := func(required int) func() *solver.Problem {
		return func() *solver.Problem {
			p := distribution(n)()
			for v := range required {
				p.Require(solver.Var(v+1), nil)
			}
			return p
		}
	}
	all := slices.Concat(worksOn("everything", every(n)), worksOn("a thousand", every(n/12)))
	lists := 0
	for _, w := range all {
		do := w.begin()
		if do == nil {
			continue
		}
		ctx, cancel := context.WithCancel(context.Background())
		seen := &listener{Context: ctx, cancel: cancel, end: 5_000}
		do(seen)
		for _, at := range seen.lists {
			lists++
			ctx, cancel := context.WithCancel(context.Background())
			own := &listener{Context: ctx, cancel: cancel, end: at}
			if err := w.begin()(own); own.looks >= at && !errors.Is(err, context.Canceled) {
				t.Errorf("%s, ended at look %d: got %v", w.name, at, err)
			}
			cancel()
		}
	}
	if lists < 30 {
		t.Errorf("%d lists", lists)
	}
}

// A listener records at which checks of it a list is about to be made. It ends
// at check number end, or never if that is 0.
type listener struct {
	context.Context
	cancel     context.CancelFunc
	looks, end int
	lists      []int
}

func (l *listener) Err() error {
	if l.looks++; l.looks == l.end {
		l.cancel()
	}
	var callers [4]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	for f, more := frames.Next(); more; f, more = frames.Next() {
		if strings.Contains(f.Function, "solver.list[") {
			l.lists = append(l.lists, l.looks)
		}
	}
	return l.Context.Err()
}

// TestStops stops the search and the explanation in the middle of what takes
// minutes: that the test ends shows that they stop. TestStretch bounds how soon
// they do, and BenchmarkCancel reports it.
func TestStops(t *testing.T) {
	soon := func(what string, f func(ctx context.Context) error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
		defer cancel()
		if err := f(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	hard := crowd(11, 10)
	soon("Solve", func(ctx context.Context) error {
		_, err := solver.Solve(ctx, hard, nil)
		return err
	})
	session, err := solver.NewSession(hard, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time with a new engine
		soon("Session.Solve", func(ctx context.Context) error {
			_, err := session.Solve(ctx, nil)
			return err
		})
	}
	_, err = solver.Solve(context.Background(), hard, &solver.Options{Timeout: 20 * time.Millisecond})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Timeout: got %v", err)
	}
	_, err = solver.Solve(context.Background(), crowd(8, 7), nil)
	var unsat *solver.UnsatError
	if !errors.As(err, &unsat) {
		t.Fatal(err)
	}
	soon("Explain", func(ctx context.Context) error {
		for ctx.Err() == nil { // it may finish in time
			if _, err := unsat.Explain(ctx, nil); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}

// TestBudget allows more and more conflicts, and checks that the answers get
// better: each one is allowed, and has as many first choices right as it
// claims, up to the best one.
func TestBudget(t *testing.T) {
	partial, proven := 0, 0
	for seed := range int64(6) {
		n, k := withBudgets(t, graphs[4].problem(seed))
		partial, proven = partial+n, proven+k
	}
	if partial < 3 || proven == 0 {
		t.Errorf("%d partial answers, %d choices proven", partial, proven)
	}
}

// withBudgets returns how many partial answers there were, and how many choices
// the last one proved.
func withBudgets(t *testing.T, p *solver.Problem) (partial, proven int) {
	s, err := solver.Solve(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	best := s.Steps()
	for conflicts := int64(1); ; conflicts += 1 + conflicts/4 {
		s, err := solver.Solve(context.Background(), p, &solver.Options{MaxConflicts: conflicts})
		if err == nil {
			if got := s.Steps(); fmt.Sprint(got) != fmt.Sprint(best) {
				t.Errorf("with %d conflicts: another answer", conflicts)
			}
			break
		}
		var incomplete *solver.IncompleteError
		if !errors.As(err, &incomplete) {
			t.Fatal(err)
		}
		if incomplete.Best == nil {
			continue
		}
		partial++
		steps := incomplete.Best.Steps()
		if incomplete.Choices != len(steps) || incomplete.Proven > len(steps) || incomplete.Proven < proven {
			t.Errorf("with %d conflicts: %v, %d choices, %d proven before", conflicts, err, len(steps), proven)
		}
		_, err = incomplete.Best.Certificate(context.Background())
		if is := fmt.Sprint(steps) == fmt.Sprint(best); is != (err == nil) || err != nil && !strings.Contains(err.Error(), "has no certificate: ") {
			t.Errorf("with %d conflicts: best is %v, certificate: %v", conflicts, is, err)
		}
		proven = incomplete.Proven
		if fmt.Sprint(steps[:proven]) != fmt.Sprint(best[:proven]) {
			t.Errorf("with %d conflicts: %d choices said to be proven, but they are not the best", conflicts, proven)
		}
		for id := range p.NumConstraints() {
			if c := p.Constraint(id); !kept(c, incomplete.Best) {
				t.Errorf("with %d conflicts: %v is broken", conflicts, c)
			}
		}
	}
	return partial, proven
}

func kept(c solver.Constraint, s *solver.Solution) bool {
	n := 0
	for _, l := range c.Lits {
		if s.Has(l.Var()) == l.Selects() {
			n++
		}
	}
	if c.Kind == solver.Limitation {
		return n <= c.N
	}
	return n > 0
}
