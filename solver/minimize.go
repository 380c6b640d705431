package solver

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// A Criterion is a sum to keep as small as possible: that of the weights of its
// terms that hold.
type Criterion struct {
	// Name says what is counted, for the reader of an [Optimum].
	Name string
	// Terms are what is counted. A term that is listed twice counts twice.
	Terms []Term
}

// A Term adds its weight if its literal holds: v.Yes() if v is selected, v.No()
// if it is not.
type Term struct {
	// Lit is the literal.
	Lit Lit
	// Weight is what it adds, at least 0. The weights of a criterion add up to
	// math.MaxInt64 at most.
	Weight int64
}

// An Optimum is a selection and what it costs.
type Optimum struct {
	// Solution is the selection. Its steps, and reasons why something is not
	// selected, may rest on what the criteria want.
	Solution *Solution
	// Costs are its costs, by criterion.
	Costs []int64
	// Bounds are the proven lower bounds, by criterion: with the earlier
	// criteria at their bounds, no selection costs less. They are equal to
	// Costs unless the search was ended early.
	Bounds []int64

	given    *Problem
	criteria []Criterion
}

// Minimize returns the best selection that meets all constraints of p and costs
// the least: by the first criterion; among those of equal cost by that, by the
// second; and so on; and among those that are equal by all criteria, the best
// one by the rule of [Solve]. For that rule, what the criteria want to be
// selected (v.No() in a term) is demanded as if the last constraints were "v,
// or else not", in the order of the terms.
//
// The errors are those of [Solve]; a criterion that names a variable that is
// not in p, has a negative weight, or has weights that add up to more than
// math.MaxInt64, is a [*ProblemError]. With an
// [*IncompleteError], Minimize also returns the optimum so far, unless there is
// no selection yet.
//
// Cost: a search for each reason why a lower cost is impossible (core-guided
// search: Andres, Kaufmann, Matheis and Schaub 2012). The worst case is
// exponential, and much worse than that of Solve: bound it by ctx or opts.
func Minimize(ctx context.Context, p *Problem, criteria []Criterion, opts *Options) (*Optimum, error) {
	if opts == nil {
		opts = &Options{}
	}
	if err := p.malformed(); err != nil {
		return nil, err
	}
	ctx, cancel := bounded(ctx, opts)
	defer cancel()
	if ctx.Err() != nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	budget, done := opts.budget()
	defer done()
	return newMinimization(ctx, criteria, budget).run(p)
}

func newMinimization(ctx context.Context, criteria []Criterion, b *budget) *minimization {
	return &minimization{ctx: ctx, criteria: criteria, budget: b}
}

// A minimization looks for an optimum. It counts variables: for a term that
// denies a variable, it counts another one that is selected if that is not.
type minimization struct {
	ctx      context.Context
	p        *Problem // with the additional variables
	before   extent   // without them
	criteria []Criterion
	absent   map[Var]Var
	budget   *budget

	x    *index
	c    *cdcl
	o    *ordered
	hard []Lit  // the literals that hold in every selection that is optimal so far
	out  []bool // by variable: it holds in none of them; shorter if the rest can
	// proof collects what is claimed, if a certificate is requested.
	proof *OptimumCertificate

	// The fields below are those of the current criterion.
	soft    []Var        // what is counted, in order of appearance
	weight  []int64      // by variable: what it still counts; -1 if it is not in soft
	sums    map[Var]*sum // by the variable that counts that the sum is exceeded
	bound   int64
	optimum Optimum
}

// A sum counts how many of its variables hold, beyond those that must.
type sum struct {
	vars []Lit
	n    int32 // its variable says that more than n hold
	next Var   // says that more than n+1 hold, once needed
	paid int   // the payment of the proof that it comes from
}

// stateCriteria returns the problem with additional variables for what the
// criteria want to be selected: absent maps a variable to the one that is
// selected if that is not. The error is *ProblemError, or that of ctx.
func stateCriteria(ctx context.Context, p *Problem, criteria []Criterion) (q *Problem, absent map[Var]Var, err error) {
	poll := poll{ctx: ctx}
	denials := 0
	for _, k := range criteria {
		for _, t := range k.Terms {
			if poll.spend(1); !t.Lit.Selects() {
				denials++
			}
		}
	}
	if q, absent = p.copied(&poll, denials, 2*denials, denials), make(map[Var]Var); q == nil {
		return nil, nil, ctx.Err()
	}
	var flaws []Flaw
	for i, k := range criteria {
		left := int64(math.MaxInt64)
		for _, t := range k.Terms {
			if poll.over() {
				return nil, nil, ctx.Err()
			}
			if t.Weight > left {
				flaws = append(flaws, Flaw{Constraint: -1, What: fmt.Sprintf("criterion %d (%s): the weights add up to more than %d", i, k.Name, int64(math.MaxInt64))})
				break
			}
			left -= max(0, t.Weight)
			v := t.Lit.Var()
			switch {
			case !p.has(v) || t.Lit == -t.Lit:
				flaws = append(flaws, Flaw{Constraint: -1, What: fmt.Sprintf("criterion %d (%s): variable %d is not one of the problem's %d", i, k.Name, v, p.vars)})
			case t.Weight < 0:
				flaws = append(flaws, Flaw{Constraint: -1, What: fmt.Sprintf("criterion %d (%s): weight %d of %s: the least weight is 0", i, k.Name, t.Weight, p.Name(v))})
			case !t.Lit.Selects() && absent[v] == 0:
				absent[v] = q.NewVars(1)
				q.Any([]Lit{v.Yes(), absent[v].Yes()}, wish(k.Name))
			}
		}
	}
	if flaws != nil {
		return nil, nil, &ProblemError{Flaws: flaws}
	}
	return q, absent, q.malformed()
}

// wish is the reason for what a criterion wants to be selected.
type wish string

func (w wish) String() string        { return "the criterion " + string(w) + " wants it" }
func (w wish) Advice() (string, int) { return "", 0 }

// counted returns the variable that a term counts.
func (z *minimization) counted(l Lit) Var {
	if l.Selects() {
		return l.Var()
	}
	return z.absent[l.Var()]
}

func (z *minimization) run(given *Problem) (*Optimum, error) {
	var err error
	if z.p, z.absent, err = stateCriteria(z.ctx, given, z.criteria); err != nil {
		if z.ctx.Err() != nil {
			err = &IncompleteError{Err: z.ctx.Err()}
		}
		return nil, err
	}
	z.optimum.given, z.optimum.criteria, z.before = given, z.criteria, extent{given.vars, len(given.cons)}
	if z.x = indexOf(z.ctx, z.p); z.x == nil {
		return nil, &IncompleteError{Err: z.ctx.Err()}
	}
	cons := constraintsOf(z.ctx, z.x, parts(z.ctx, z.x))
	if z.ctx.Err() != nil {
		return nil, &IncompleteError{Err: z.ctx.Err()}
	}
	if z.c = newCDCL(z.ctx, z.x, cons, 0, nil); z.c.poll.ended {
		return nil, &IncompleteError{Err: z.ctx.Err()}
	}
	if z.proof != nil {
		z.c.proof = newProofLog()
	}
	if err := z.settle(); err != nil {
		if err == errUnsat {
			return nil, newUnsatError(given, nil, func(Var) bool { return true })
		}
		return nil, err
	}
	z.optimum.Bounds = make([]int64, len(z.criteria))
	own := z.x.ask(nil)
	defer own.done(nil)
	own.begin()
	z.o = newOrdered(z.c, own, nil, z.budget)
	for i := range z.criteria {
		if z.proof != nil {
			z.proof.Payments = append(z.proof.Payments, nil)
		}
		v := z.minimize(&z.criteria[i])
		z.optimum.Bounds[i] = z.bound
		if v == unknown {
			return &z.optimum, &IncompleteError{Best: z.optimum.Solution, Choices: z.optimum.Solution.Len(), Err: z.ctx.Err()}
		}
		if v == unsat {
			return nil, fmt.Errorf("solver: internal error: the optimum of criterion %d is impossible", i)
		}
	}
	if err := z.settle(); err != nil {
		if err == errUnsat {
			err = fmt.Errorf("solver: internal error: the optimum is impossible")
		}
		return &z.optimum, err
	}
	if !slices.Equal(z.optimum.Costs, z.optimum.Bounds) {
		return nil, fmt.Errorf("solver: internal error: the optimum costs %v, not %v", z.optimum.Costs, z.optimum.Bounds)
	}
	return &z.optimum, nil
}

// settle finds the best selection of those that are optimal so far.
func (z *minimization) settle() error {
	own := z.x.ask(nil)
	defer own.done(nil)
	own.begin()
	switch newOrdered(z.c, own, z.hard, z.budget).run() {
	case unsat:
		return errUnsat
	case unknown:
		return &IncompleteError{Best: z.optimum.Solution, Err: z.ctx.Err()}
	}
	s, err := newSolution(z.ctx, z.p, nil, own.log)
	if err != nil {
		return err
	}
	s.given, s.before = z.optimum.given, z.before
	costs := make([]int64, len(z.criteria))
	for i, k := range z.criteria {
		for _, t := range k.Terms {
			if z.c.poll.spend(1) {
				return &IncompleteError{Best: z.optimum.Solution, Err: z.ctx.Err()}
			}
			if own.picked[t.Lit.Var()] == t.Lit.Selects() {
				costs[i] += t.Weight
			}
		}
	}
	z.optimum.Solution, z.optimum.Costs = s, costs
	return nil
}

// minimize finds the least cost by one criterion: assuming that nothing that
// counts holds, it learns why that is impossible, core by core. One literal of
// each core must hold and is paid for; that more than one does is counted in
// their place.
func (z *minimization) minimize(k *Criterion) verdict {
	for _, v := range z.soft {
		z.c.poll.spend(1)
		z.weight[v] = -1
	}
	z.soft, z.sums, z.bound = nil, make(map[Var]*sum), 0
	z.room()
	for _, t := range k.Terms {
		if z.c.poll.over() {
			return unknown
		}
		z.count(z.counted(t.Lit), t.Weight)
	}
	if !z.payForced() {
		return unsat
	}
	for level := z.heaviest(math.MaxInt64); level > 0; {
		assumed := z.hard[:len(z.hard):len(z.hard)]
		for _, v := range z.soft {
			if z.c.poll.spend(1) {
				return unknown
			}
			if z.weight[v] >= level {
				assumed = append(assumed, v.No())
			}
		}
		z.o.given = assumed
		v, clash := z.o.probe(0)
		core := z.core(clash)
		z.c.record(clash)
		z.o.undo(0)
		switch {
		case v == unknown:
			return unknown
		case v == sat:
			level = z.heaviest(level - 1)
		case len(core) == 0:
			return unsat
		default:
			z.pay(core, z.owe())
		}
	}
	for _, v := range z.soft {
		if z.c.poll.spend(1) {
			return unknown
		}
		if z.weight[v] > 0 {
			z.hard = append(z.hard, v.No())
			z.out[v] = true
		}
	}
	return sat
}

// count adds to the weight of a variable.
func (z *minimization) count(v Var, weight int64) {
	if weight == 0 || z.out[v] {
		return
	}
	if z.weight[v] < 0 {
		z.soft = append(z.soft, v)
		z.weight[v] = 0
	}
	z.weight[v] += weight
}

// room makes room for all existing variables.
func (z *minimization) room() {
	if more := len(z.c.vars) - len(z.weight); more > 0 {
		z.c.poll.spend(more)
		z.weight = slices.Grow(z.weight, more)
		for range more {
			z.c.poll.spend(1)
			z.weight = append(z.weight, -1)
		}
		z.out = append(z.out, make([]bool, more)...)
	}
}

// payForced pays for what holds in any case. It reports false if what is
// optimal so far is impossible.
func (z *minimization) payForced() bool {
	z.c.back(0)
	clash, ok := z.c.assume(z.hard)
	if !ok {
		z.c.record(clash)
		return false
	}
	for _, v := range z.soft {
		if z.c.poll.spend(1) {
			return true
		}
		if z.c.value(v.Yes()) > 0 {
			z.claim(v)
			z.bound += z.weight[v]
			z.weight[v] = 0
		}
	}
	z.c.back(0)
	return true
}

// heaviest returns the greatest weight that does not exceed most.
func (z *minimization) heaviest(most int64) int64 {
	best := int64(0)
	for _, v := range z.soft {
		z.c.poll.spend(1)
		if w := z.weight[v]; w <= most {
			best = max(best, w)
		}
	}
	return best
}

// core returns the literals of a learned clause that count.
func (z *minimization) core(clash []Lit) []Lit {
	z.c.poll.spend(16 * len(clash))
	var core []Lit
	for _, l := range clash {
		if l.Selects() && z.weight[l.Var()] > 0 {
			core = append(core, l)
		}
	}
	slices.Sort(core)
	return core
}

// owe records that the lemma derived last says that something must be paid for,
// and returns the position of that payment.
func (z *minimization) owe() int {
	if z.proof == nil {
		return 0
	}
	own := &z.proof.Payments[len(z.proof.Payments)-1]
	*own = append(*own, Payment{Lemma: z.c.proof.size - 1})
	return len(*own) - 1
}

// claim records the payment for a variable that holds in any case.
func (z *minimization) claim(v Var) {
	if z.proof == nil {
		return
	}
	clause := z.c.blame(free, v.No())
	z.c.proof.derive(z.c, clause)
	z.c.unmark()
	z.proof.Payments[len(z.proof.Payments)-1][z.owe()].Weight = z.weight[v]
}

// pay pays for one literal of the core.
func (z *minimization) pay(core []Lit, at int) {
	least := z.weight[core[0].Var()]
	for _, l := range core {
		least = min(least, z.weight[l.Var()])
	}
	z.bound += least
	if z.proof != nil {
		z.proof.Payments[len(z.proof.Payments)-1][at].Weight = least
	}
	for _, l := range core {
		z.c.poll.spend(16)
		v := l.Var()
		z.weight[v] -= least
		if s := z.sums[v]; s != nil && int(s.n)+1 < len(s.vars) {
			if s.next == 0 {
				s.next = z.exceeds(s.vars, s.n+1, s.paid)
			}
			z.count(s.next, least)
		}
	}
	if len(core) > 1 {
		z.count(z.exceeds(core, 1, at), least)
	}
}

// exceeds returns a variable that holds if more than n of vars do. It comes
// from the given payment.
func (z *minimization) exceeds(vars []Lit, n int32, paid int) Var {
	v := z.c.addVar()
	z.room()
	z.c.addLimit(vars, n, v.No(), int32(len(z.p.cons)+int(v)-z.p.vars-1))
	z.sums[v] = &sum{vars: vars, n: n, paid: paid}
	if z.proof != nil {
		own := Sum{More: int(n)}
		for _, l := range vars {
			own.Vars = append(own.Vars, l.Var())
		}
		payment := &z.proof.Payments[len(z.proof.Payments)-1][paid]
		payment.Sums = append(payment.Sums, len(z.proof.Sums))
		z.proof.Sums = append(z.proof.Sums, own)
	}
	return v
}
