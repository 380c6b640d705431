package solver

import (
	"cmp"
	"context"
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
		return nil, nil, stopped(ctx, knownRefuted)
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
		return nil, nil, stopped(ctx, knownRefuted)
	}
	e.parts = own
	return p, own, nil
}

// Bounds on the work of Error, and on the constraints that it lists.
const (
	errorConflicts = 2_000
	errorLines     = 12
)

// Error lists the first constraints of a core (see [UnsatError.Core]), unless
// only a large one was found. The text is computed once.
func (e *UnsatError) Error() string { return e.text() }

func (e *UnsatError) render() string {
	const what = "solver: " + knownRefuted
	core, minimal, err := e.Core(context.Background(), NewBudget(errorConflicts))
	if err != nil || !minimal && len(core) > 4*errorLines {
		return what + "; call Explain to learn why"
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

// Core returns constraints that cannot be met together, in the order of
// addition, and whether the set is minimal: without any one of them, the others
// can be met.
//
// There is a core as soon as there is a refutation: what that rests on. The
// core is made smaller until it is minimal or the budget is used up; nil stands
// for one of 12,000 conflicts, which is enough unless hundreds of constraints
// are needed or the refutation is hard.
//
// If there are several minimal sets, and the first eighth of the budget
// suffices, the result is from the first independent part of the problem that
// has one: it is what remains when every constraint that the contradiction does
// not need is dropped, from the last added to the first, or from the first to
// the last if that leaves fewer. In any case it depends on the problem and the
// budget alone.
//
// If ctx ends first, the error is [*IncompleteError], and the core is what was
// found until then, or nil.
func (e *UnsatError) Core(ctx context.Context, b *Budget) (core []Constraint, minimal bool, err error) {
	cores, err := e.cores(ctx, b.or(coreConflicts), 1)
	if len(cores) == 0 {
		return nil, false, cmp.Or(err, errNoCore)
	}
	return e.Problem().constraints(ctx, cores[0].ids), cores[0].minimal, err
}

// A core is a set of constraints that cannot be met together.
type core struct {
	ids     []int32 // ascending
	minimal bool
}

// cores returns up to limit cores that share no constraint, all if that is less
// than 0: the first ones of the parts, in order. If ctx ends, they are those
// found until then.
func (e *UnsatError) cores(ctx context.Context, b *Budget, limit int) (cores []core, err error) {
	p, parts, err := e.pieces(ctx)
	if err != nil {
		return nil, err
	}
	exact := b.most(max(1, b.Left()/8))
	defer b.pay(exact)
	lits := make([]elit, p.vars+1)
	for i := 0; i < len(parts) && (limit < 0 || len(cores) < limit); i++ {
		s := &shrinker{p: p, part: &parts[i], lits: lits, exact: exact, budget: b}
		for limit < 0 || len(cores) < limit {
			found, err := s.next(ctx)
			if found.ids != nil {
				cores = append(cores, found)
			}
			if err != nil {
				return cores, err
			}
			if found.ids == nil {
				break
			}
		}
	}
	if len(cores) == 0 { // hard to refute, but that was done before
		if ctx.Err() != nil {
			return nil, stopped(ctx, knownRefuted)
		}
		for i := range parts {
			cores = append(cores, core{ids: parts[i].cons})
		}
		cores = []core{merged(cores)}
	}
	return cores, nil
}

// merged returns the union of cores.
func merged(cores []core) core {
	var all []int32
	for _, c := range cores {
		all = append(all, c.ids...)
	}
	slices.Sort(all)
	return core{ids: slices.Compact(all)}
}

// constraints returns the constraints with the IDs, or nil if there are many and
// ctx has ended.
func (p *Problem) constraints(ctx context.Context, ids []int32) []Constraint {
	poll := poll{ctx: ctx}
	if poll.ended = len(ids) > toldMax && ctx.Err() != nil; poll.ended {
		return nil
	}
	all := make([]Constraint, len(ids))
	for i, id := range ids {
		if poll.spend(16) && len(ids) > toldMax {
			return nil
		}
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
		return nil, err
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
		return nil, err
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
// to the last. See core for the other results.
func (m *minimizer) smaller(ctx context.Context, on []bool) (kept []int, minimal bool, err error) {
	m.poll.spend(2 * len(on))
	down := make([]int, 0, len(on))
	for i := len(on) - 1; i >= 0; i-- {
		down = append(down, i)
	}
	kept, minimal, err = m.core(ctx, slices.Clone(on), down)
	if !minimal || len(kept) < 3 { // there is no smaller core than one of two
		return kept, minimal, err
	}
	slices.Reverse(down)
	other, better, err := m.core(ctx, slices.Clone(on), down)
	if better && len(other) < len(kept) {
		kept = other
	}
	return kept, true, err
}

// core drops constraints from those that are on, in the given order, as long as
// the rest cannot be met. A constraint that the last refutation did not use is
// dropped without another run. It owns on.
//
// It returns which of the given ones remain, ascending. They are minimal unless
// ctx, with an error, or the budget ended before; then they may be nil. If all
// can be met, they are nil and minimal.
func (m *minimizer) core(ctx context.Context, on []bool, order []int) (kept []int, minimal bool, err error) {
	v, used := m.refute(ctx, on)
	if v != unsat {
		return nil, v == sat, m.stop(ctx, v)
	}
	given := make([]bool, len(on))
	for _, i := range order {
		m.poll.spend(1)
		given[i] = true
	}
	remain := func() []int {
		all := []int{}
		for i, is := range used {
			if m.poll.spend(1); is && given[i] {
				all = append(all, i)
			}
		}
		return all
	}
	for _, i := range order {
		if m.poll.spend(1); !on[i] {
			continue
		}
		on[i] = false
		if !used[i] {
			continue
		}
		switch v, again := m.refute(ctx, on); v {
		case unsat:
			used = again
		case sat:
			on[i] = true
		default:
			return remain(), false, m.stop(ctx, v)
		}
	}
	return remain(), true, nil
}

// stop returns the error of ctx if that ended a run.
func (m *minimizer) stop(ctx context.Context, v verdict) error {
	if v == unknown && ctx.Err() != nil {
		return stopped(ctx, knownRefuted)
	}
	return nil
}

// refute asks whether the constraints that are on can be met and, if not, which
// of them a refutation used. It is unknown if ctx or the budget ended.
func (m *minimizer) refute(ctx context.Context, on []bool) (v verdict, used []bool) {
	assumptions := make([]elit, 0, len(m.switches))
	for i, s := range m.switches {
		if m.poll.spend(1) {
			return unknown, nil
		}
		if on[i] {
			assumptions = append(assumptions, s)
		}
	}
	if v = m.engine.solve(ctx, assumptions...); v != unsat {
		return v, nil
	}
	used = make([]bool, len(on))
	for _, s := range m.engine.failed() {
		m.poll.spend(1)
		used[m.at[s]] = true
	}
	return unsat, used
}
