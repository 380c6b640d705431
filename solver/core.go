package solver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// An UnsatError reports that no selection meets all constraints. Creating one
// is cheap: its methods work out the details when they are called.
type UnsatError struct {
	base   *Problem
	change *change
	// suspect reports whether a variable is in a part that may have no answer.
	suspect func(Var) bool
	text    func() string

	mu      sync.Mutex
	problem *Problem
	parts   []part // those without an answer, and maybe others
}

func newUnsatError(p *Problem, w *change, suspect func(Var) bool) *UnsatError {
	e := &UnsatError{base: p, change: w, suspect: suspect}
	e.text = sync.OnceValue(e.render)
	return e
}

// Problem returns the problem that was solved. If a [Session] returned the
// error, that is the problem with the change made. Do not add to it.
func (e *UnsatError) Problem() *Problem {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changed(context.Background())
}

// changed returns the problem with the change made, or nil if ctx ended.
func (e *UnsatError) changed(ctx context.Context) *Problem {
	if e.problem == nil {
		if e.problem = e.base; e.change != nil {
			e.problem = e.base.changed(&poll{ctx: ctx}, e.change)
		}
	}
	return e.problem
}

// pieces returns the problem, and the parts of it that may have no answer.
func (e *UnsatError) pieces(ctx context.Context) (*Problem, []part, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.changed(ctx)
	if p == nil {
		return nil, nil, &IncompleteError{Err: ctx.Err()}
	}
	if e.parts != nil {
		return p, e.parts, nil
	}
	var own []part
	x := indexOf(ctx, p)
	if x != nil {
		for _, q := range parts(ctx, x) {
			if len(q.vars) == 0 || e.suspect(q.vars[0]) {
				own = append(own, q)
			}
		}
	}
	if ctx.Err() != nil {
		return nil, nil, &IncompleteError{Err: ctx.Err()}
	}
	e.parts = own
	return p, own, nil
}

// Bounds on the work of Error, and on the constraints that it lists.
const (
	errorConflicts = 10_000
	errorLines     = 12
)

// Error lists the first constraints of a core (see [UnsatError.Core]), unless a
// core is too hard to find. The text is computed once.
func (e *UnsatError) Error() string { return e.text() }

func (e *UnsatError) render() string {
	const what = "solver: no selection meets all constraints"
	core, err := e.core(context.Background(), &budget{limit: errorConflicts})
	if err != nil {
		return what + "; call Core to learn why: it takes long"
	}
	var all []string
	for i, c := range core {
		if i == errorLines && len(core) > errorLines+1 {
			all = append(all, fmt.Sprintf("and %d more constraints: call Core or Explain", len(core)-errorLines))
			break
		}
		all = append(all, c.String())
	}
	return what + ": " + strings.Join(all, "; ")
}

// Core returns a minimal set of constraints that cannot be met together:
// without any one of them, the others can be met. They are in the order of
// addition.
//
// If there are several such sets, the result is from the first independent part
// of the problem that has one: it is what remains when every constraint that
// the contradiction does not need is dropped, from the last added to the first,
// or from the first to the last if that leaves fewer. So it depends on the
// problem alone.
//
// The error is [*IncompleteError] if ctx ended first.
func (e *UnsatError) Core(ctx context.Context) ([]Constraint, error) {
	return e.core(ctx, &budget{})
}

func (e *UnsatError) core(ctx context.Context, b *budget) ([]Constraint, error) {
	p, parts, err := e.pieces(ctx)
	if err != nil {
		return nil, err
	}
	lits := make([]elit, p.vars+1)
	for i := range parts {
		m, err := newMinimizer(ctx, p, &parts[i], lits, b)
		if err != nil {
			return nil, err
		}
		core, err := m.smaller(ctx, m.all())
		if err != nil {
			return nil, err
		}
		if core == nil {
			continue
		}
		ids := make([]int32, len(core))
		for i, at := range core {
			ids[i] = m.cons[at]
		}
		return p.constraints(ids), nil
	}
	return nil, errors.New("solver: internal error: the core is gone")
}

func (p *Problem) constraints(ids []int32) []Constraint {
	all := make([]Constraint, len(ids))
	for i, id := range ids {
		all[i] = p.Constraint(int(id))
	}
	return all
}

// A minimizer is a part with a switch for every constraint. Constraints are
// identified by their position in cons.
type minimizer struct {
	*encoding
	cons     []int32
	switches []elit
	at       map[elit]int // by switch
}

// newMinimizer encodes the part. lits may be shared by minimizers of different
// parts.
func newMinimizer(ctx context.Context, p *Problem, q *part, lits []elit, b *budget) (*minimizer, error) {
	e, err := newEncoding(ctx, p, q, lits, len(q.cons), b)
	if err != nil {
		return nil, &IncompleteError{Err: err}
	}
	m := &minimizer{encoding: e, cons: q.cons, at: make(map[elit]int)}
	for i, id := range q.cons {
		if m.poll.over() {
			break
		}
		m.guard = m.engine.fresh()
		m.switches = append(m.switches, m.guard)
		m.at[m.guard] = i
		m.constraint(&p.cons[id])
	}
	if err := m.err(); err != nil {
		return nil, &IncompleteError{Err: err}
	}
	m.guard = 0
	return m, nil
}

func (m *minimizer) all() []bool {
	m.poll.spend(len(m.cons))
	on := make([]bool, len(m.cons))
	for i := range on {
		on[i] = true
	}
	return on
}

// smaller returns what remains of the constraints that are on when they are
// dropped from the last to the first or, if that leaves fewer, from the first
// to the last. It returns nil if they can be met.
func (m *minimizer) smaller(ctx context.Context, on []bool) ([]int, error) {
	m.poll.spend(2 * len(on))
	down := make([]int, 0, len(on))
	for i := len(on) - 1; i >= 0; i-- {
		down = append(down, i)
	}
	core, err := m.core(ctx, slices.Clone(on), down)
	if err != nil || len(core) < 3 { // there is no smaller core than one of two
		return core, err
	}
	slices.Reverse(down)
	other, err := m.core(ctx, slices.Clone(on), down)
	if err != nil || len(other) >= len(core) {
		return core, err
	}
	return other, nil
}

// core drops constraints from those that are on, in the given order, as long as
// the rest cannot be met. It returns which of the given ones remain, ascending,
// or nil if all can be met. A constraint that the last refutation did not use
// is dropped without another run. It owns on.
func (m *minimizer) core(ctx context.Context, on []bool, order []int) ([]int, error) {
	used, err := m.refute(ctx, on)
	if err != nil || used == nil {
		return nil, err
	}
	core := []int{}
	for _, i := range order {
		if m.poll.spend(1); !on[i] {
			continue
		}
		on[i] = false
		if !used[i] {
			continue
		}
		again, err := m.refute(ctx, on)
		if err != nil {
			return nil, err
		}
		if again != nil {
			used = again
			continue
		}
		on[i] = true
		core = append(core, i)
	}
	slices.Sort(core)
	return core, nil
}

// refute returns which of the constraints that are on a refutation used, or nil
// if they can be met.
func (m *minimizer) refute(ctx context.Context, on []bool) (used []bool, err error) {
	assumptions := make([]elit, 0, len(m.switches))
	for i, s := range m.switches {
		if m.poll.spend(1) {
			return nil, &IncompleteError{Err: ctx.Err()}
		}
		if on[i] {
			assumptions = append(assumptions, s)
		}
	}
	switch m.engine.solve(ctx, assumptions...) {
	case sat:
		return nil, nil
	case unknown:
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	used = make([]bool, len(on))
	for _, s := range m.engine.failed() {
		m.poll.spend(1)
		used[m.at[s]] = true
	}
	return used, nil
}
