package solver

import (
	"context"
	"math"
	"reflect"

	"github.com/go-air/gini"
	"github.com/go-air/gini/z"
)

// giniEngine is the one place that knows gini. What it stays away from, and why:
//
//   - Test and Untest: a Solve after a failed Test drops the assumptions
//     silently.
//   - Try: it leaves a stale deadline to all later calls.
//   - Activate and Deactivate: they panic on clauses that are legitimate.
//   - Copy: it loses the constants of the decision heuristic.
//   - Solve after a refutation, directly: gini first learns from the old
//     conflict, and where that shows that there is no model at all it goes on as
//     if nothing were wrong, up to a model that breaks clauses and the exit of
//     the process. Adding any clause forgets the old conflict, so one that says
//     nothing is added (see reset).
//   - Solve once there is no model without assumptions: see dead.
//   - growth beyond the capacity given at the start: it is slow, and it makes
//     gini decide variables that nobody asked for.
type giniEngine struct {
	g         *gini.Gini
	truth     z.Lit // always true
	n         elit
	budget    *budget
	counter   reflect.Value // conflicts of g so far
	counted   int64
	dead      bool // refuted without assumptions
	refuted   bool // the last solve was unsat
	whyFailed []z.Lit
}

// newEngine returns an engine for about that many variables and clauses. The
// error is that of ctx.
func newEngine(ctx context.Context, vars, clauses int, b *budget) (engine, error) {
	g, err := newGini(ctx, vars, clauses)
	if err != nil {
		return nil, err
	}
	e := &giniEngine{g: g, budget: b}
	e.counter = reflect.ValueOf(e.g).Elem().FieldByName("xo").Elem().FieldByName("Driver").Elem().FieldByName("Conflicts")
	e.truth = e.lit(e.fresh())
	e.g.Add(e.truth)
	e.g.Add(z.LitNull)
	return e, nil
}

// newGini makes a gini of that capacity. That takes a while for many variables,
// and cannot be stopped: past the end of the context nobody waits for it.
func newGini(ctx context.Context, vars, clauses int) (*gini.Gini, error) {
	const quick = 10_000
	if vars < quick || ctx.Done() == nil {
		return gini.NewVc(vars+2, clauses+2), nil
	}
	made := make(chan *gini.Gini, 1)
	go func() { made <- gini.NewVc(vars+2, clauses+2) }()
	select {
	case g := <-made:
		return g, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (e *giniEngine) lit(l elit) z.Lit { return z.Dimacs2Lit(int(l)) }

func (e *giniEngine) fresh() elit {
	e.n++
	return e.n
}

func (e *giniEngine) add(lits ...elit) {
	if e.dead {
		return
	}
	if len(lits) == 0 {
		e.dead = true
		return
	}
	for _, l := range lits {
		e.g.Add(e.lit(l))
	}
	e.g.Add(z.LitNull)
	e.refuted = false
}

// reset makes gini forget the conflict of the last solve.
func (e *giniEngine) reset() {
	e.g.Add(e.truth)
	e.g.Add(z.LitNull)
	e.refuted = false
}

func (e *giniEngine) solve(ctx context.Context, assumptions ...elit) verdict {
	e.whyFailed = nil
	if ctx.Err() != nil || e.budget.over() {
		return unknown
	}
	if e.dead {
		return unsat
	}
	if e.refuted {
		e.reset()
	}
	poll := poll{ctx: ctx}
	for _, l := range assumptions {
		if poll.spend(16) {
			return unknown
		}
		e.g.Assume(e.lit(l))
	}
	result, ok := e.run(ctx)
	switch {
	case !ok:
		return unknown
	case result > 0:
		return sat
	}
	e.refuted = true
	e.whyFailed = e.g.Why(nil)
	e.dead = len(e.whyFailed) == 0
	return unsat
}

// run calls gini. Where it may have to stop, it waits for the context too, and a
// watcher looks at the budget at each of gini's ticks (20,000 propagations):
// gini halts there for whoever waits in Pause.
func (e *giniEngine) run(ctx context.Context) (result int, ok bool) {
	if ctx.Done() == nil && e.budget.limit == 0 {
		result = e.g.Solve()
		e.budget.spent += e.conflicts()
		return result, true
	}
	left := int64(math.MaxInt64)
	if e.budget.limit > 0 {
		left = e.budget.limit - e.budget.spent
	}
	done := make(chan outcome, 1)
	go e.watch(ctx, left, done)
	select {
	case o := <-done:
		e.budget.spent += o.conflicts
		return o.result, o.result != 0
	case <-ctx.Done():
		// gini runs on up to its next tick, and nobody waits for it: an
		// engine that was stopped is not used again.
		return 0, false
	}
}

// An outcome is what came of a run; a result of 0 says that it was stopped.
type outcome struct {
	result    int
	conflicts int64
}

// watch runs gini and stops it at the end of the context, or after about that
// many conflicts.
func (e *giniEngine) watch(ctx context.Context, left int64, done chan<- outcome) {
	control := e.g.GoSolve()
	spent := int64(0)
	for {
		result, paused := control.Pause()
		spent += e.conflicts()
		if !paused {
			done <- outcome{result, spent}
			return
		}
		control.Unpause()
		if ctx.Err() != nil || spent >= left {
			control.Stop()
			done <- outcome{0, spent}
			return
		}
	}
}

// conflicts returns how many there were since it was asked last. gini counts
// them but offers no way to ask.
func (e *giniEngine) conflicts() int64 {
	before := e.counted
	e.counted = e.counter.Int()
	return e.counted - before
}

func (e *giniEngine) charge(b *budget) { e.budget = b }

func (e *giniEngine) value(l elit) bool {
	m := e.lit(l)
	if m.Var() > e.g.MaxVar() {
		return l < 0 // in no clause
	}
	return e.g.Value(m)
}

func (e *giniEngine) failed() []elit {
	lits := make([]elit, len(e.whyFailed))
	for i, m := range e.whyFailed {
		lits[i] = elit(m.Dimacs())
	}
	return lits
}
