package solver

import (
	"context"
	"math"
	"reflect"

	"github.com/go-air/gini"
	"github.com/go-air/gini/z"
)

// giniEngine is the only code that knows gini. What it avoids, and why:
//
//   - Test and Untest: a Solve after a failed Test silently drops the
//     assumptions.
//   - Try: it leaves a stale deadline for all later calls.
//   - Activate and Deactivate: they panic on legitimate clauses.
//   - Copy: it loses the constants of the decision heuristic.
//   - Solve directly after a refutation: gini first learns from the old
//     conflict, and if that shows that there is no model at all, it continues
//     as if nothing were wrong, until it finds a model that breaks clauses and
//     exits the process. Adding any clause clears the old conflict, so one that
//     always holds is added.
//   - Solve once there is no model without assumptions: see dead.
//   - Growth beyond the capacity given at the start: it is slow, and it makes
//     gini decide variables that were never requested.
type giniEngine struct {
	g             *gini.Gini    // nil until the first solve
	vars, clauses int           // the capacity that it is created with
	waiting       [][]elit      // pages of clauses not passed to g yet, each followed by a 0
	counter       reflect.Value // conflicts of g so far
	counted       int64
	n             elit
	budget        *budget
	dead          bool // refuted without assumptions
	refuted       bool // the last solve was unsat
	whyFailed     []z.Lit
}

// newEngine returns an engine with room for about the given number of variables
// and clauses.
func newEngine(vars, clauses int, b *budget) engine {
	e := &giniEngine{vars: vars, clauses: clauses, budget: b}
	e.add(e.fresh())
	return e
}

// truth is a literal that is always true.
const truth elit = 1

func (e *giniEngine) fresh() elit {
	e.n++
	return e.n
}

// add keeps a clause for feed, which a context can stop, because gini's own
// lists can take long to grow. It keeps clauses in pages, because a single list
// would also take long to grow.
func (e *giniEngine) add(lits ...elit) {
	if e.dead {
		return
	}
	if len(lits) == 0 {
		e.dead = true
		return
	}
	const first, most = 64, 1 << 14
	last := len(e.waiting) - 1
	if last < 0 || cap(e.waiting[last])-len(e.waiting[last]) <= len(lits) {
		size := first
		if last >= 0 {
			size = min(2*cap(e.waiting[last]), most)
		}
		e.waiting = append(e.waiting, make([]elit, 0, max(size, len(lits)+1)))
		last++
	}
	e.waiting[last] = append(append(e.waiting[last], lits...), 0)
	e.refuted = false
}

// feed passes the waiting clauses and the assumptions to gini. It reports false
// if ctx ends.
func (e *giniEngine) feed(ctx context.Context, assumptions []elit) bool {
	if e.g == nil {
		e.g = gini.NewVc(e.vars+2, e.clauses+2)
		e.counter = reflect.ValueOf(e.g).Elem().FieldByName("xo").Elem().FieldByName("Driver").Elem().FieldByName("Conflicts")
	}
	for i, page := range e.waiting {
		if ctx.Err() != nil {
			return false
		}
		for _, l := range page {
			if l == 0 {
				e.g.Add(z.LitNull)
			} else {
				e.g.Add(z.Dimacs2Lit(int(l)))
			}
		}
		e.waiting[i] = nil
	}
	e.waiting = nil
	for _, l := range assumptions {
		e.g.Assume(z.Dimacs2Lit(int(l)))
	}
	return true
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
		e.add(truth)
	}
	result, ok := e.run(ctx, assumptions)
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

// run calls gini. If the run may have to stop early, run also waits for the
// context, and a watcher checks the budget at each of gini's ticks (20,000
// propagations): gini halts there for a caller that waits in Pause.
func (e *giniEngine) run(ctx context.Context, assumptions []elit) (result int, ok bool) {
	if ctx.Done() == nil && e.budget.limit == 0 {
		e.feed(ctx, assumptions)
		result = e.g.Solve()
		e.budget.spent += e.conflicts()
		return result, true
	}
	left := int64(math.MaxInt64)
	if e.budget.limit != 0 {
		left = e.budget.limit - e.budget.spent
	}
	done := make(chan outcome, 1)
	go e.watch(ctx, assumptions, left, done)
	select {
	case o := <-done:
		if o.conflicts >= left { // whether gini was stopped or not: so the result is the same each time
			e.budget.spent += left
			return 0, false
		}
		e.budget.spent += o.conflicts
		return o.result, o.result != 0
	case <-ctx.Done():
		// gini runs on until its next tick, or the next page of clauses, and
		// nothing waits for it: an engine that was stopped is not used again.
		return 0, false
	}
}

// An outcome is the result of a run; a result of 0 means that it was stopped.
type outcome struct {
	result    int
	conflicts int64
}

// watch runs gini and stops it when the context ends, or after about left
// conflicts.
func (e *giniEngine) watch(ctx context.Context, assumptions []elit, left int64, done chan<- outcome) {
	if !e.feed(ctx, assumptions) {
		done <- outcome{}
		return
	}
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

// conflicts returns how many conflicts there were since the last call. gini
// counts them but has no method that returns the count.
func (e *giniEngine) conflicts() int64 {
	before := e.counted
	e.counted = e.counter.Int()
	return e.counted - before
}

func (e *giniEngine) charge(b *budget) { e.budget = b }

func (e *giniEngine) value(l elit) bool {
	m := z.Dimacs2Lit(int(l))
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
