package solver

import (
	"context"
	"sync"
)

// An index is a problem as the search reads it. It is made once for a problem
// and shared by all who solve it at the same time: it is never written to.
//
// Constraints are sorted by what the selection of a variable can do to them: it
// can complete a demand (a clause with candidates, all of whose denials are
// selected then), break a bar (a clause of denials alone), or use up a
// limitation.
type index struct {
	p    *Problem
	cons []indexed // by constraint
	lits []Lit     // those of the problem, and after them clauses put into order
	// roots are the demands that nothing triggers, ascending, with the clauses
	// of no literals.
	roots []int32
	// bans are the clauses of one denial, ascending; banned counts them by
	// variable.
	bans   []int32
	banned []int32

	demands table[int32] // by variable: the demands that deny it, ascending
	pairs   table[pair]  // by variable: what excludes it
	bars    table[int32] // by variable: the bars of more denials, ascending
	limits  table[int32] // by variable: the limitations that can bind, ascending

	idle sync.Pool // of *partial: those not in use
}

// indexed is a constraint of an index.
type indexed struct {
	role role
	head Var   // denied besides the others, or 0
	lits int32 // where its literals begin
	cand int32 // where the candidates, or the variables of a limitation, begin
	end  int32
	n    int32 // of a limitation: how many are allowed; of a clause: how many denials there are
}

// A role is what a constraint is to the search.
type role uint8

const (
	idle   role = iota // it cannot be broken, nor ask for anything
	root               // a demand that nothing triggers
	ban                // one denial
	exact              // two denials: a pair
	demand             // denials, and candidates
	bar                // three denials or more
	limit              // a limitation
)

// A pair is the other variable of an exclusion.
type pair struct {
	other Var
	con   int32
}

// A table holds lists, one after the other.
type table[T any] struct {
	start []int32
	items []T
}

func (t *table[T]) of(v Var) []T { return t.items[t.start[v]:t.start[v+1]] }

// count makes room for one more item of the list.
func (t *table[T]) count(v Var) { t.start[v+2]++ }

// begin makes the lists, all empty, with room for what was counted.
func (t *table[T]) begin(poll *poll) {
	total := int32(0)
	for i := range t.start {
		if i%pollSteps == pollSteps-1 && poll.spend(pollSteps) {
			return
		}
		total += t.start[i]
		t.start[i] = total
	}
	t.items = list[T](poll, int(total))
}

// add appends to a list.
func (t *table[T]) add(v Var, item T) {
	at := &t.start[v+1]
	t.items[*at] = item
	*at++
}

// indexOf returns the index of p, made before if nothing was added since. It is
// nil when ctx ended.
func indexOf(ctx context.Context, p *Problem) *index {
	if x := p.index.Load(); x != nil && len(x.cons) == len(p.cons) && len(x.banned) == p.vars+1 {
		return x
	}
	x := newIndex(ctx, p)
	if x != nil {
		p.index.Store(x)
	}
	return x
}

func newIndex(ctx context.Context, p *Problem) *index {
	poll := poll{ctx: ctx}
	n := p.vars + 3
	ints := list[int32](&poll, 4*n+p.vars+1)
	cut := func(n int) []int32 {
		own := ints[:n:n]
		ints = ints[n:]
		return own
	}
	x := &index{p: p, cons: list[indexed](&poll, len(p.cons)), lits: p.lits[:len(p.lits):len(p.lits)]}
	x.demands.start, x.pairs.start, x.bars.start, x.limits.start, x.banned = cut(n), cut(n), cut(n), cut(n), cut(p.vars+1)
	for i := range p.cons {
		if poll.spend(4 + 2*int(p.cons[i].end-p.cons[i].start)) {
			return nil
		}
		x.read(int32(i))
		x.each(int32(i), func(v Var, t *table[int32]) { t.count(v) }, func(v, _ Var) { x.pairs.count(v) })
	}
	x.demands.begin(&poll)
	x.pairs.begin(&poll)
	x.bars.begin(&poll)
	x.limits.begin(&poll)
	for i := range p.cons {
		if poll.ended || poll.spend(4+2*int(p.cons[i].end-p.cons[i].start)) {
			return nil
		}
		id := int32(i)
		x.each(id, func(v Var, t *table[int32]) { t.add(v, id) }, func(v, other Var) { x.pairs.add(v, pair{other, id}) })
	}
	return x
}

// read classifies a constraint.
func (x *index) read(id int32) {
	c := &x.p.cons[id]
	k := &x.cons[id]
	*k = indexed{lits: c.start, cand: c.start, end: c.end, n: c.n}
	switch c.kind {
	case Limitation:
		if c.n < c.end-c.start {
			k.role = limit
		}
		return
	case Requirement:
		k.n = 0
	case Dependency:
		if k.n, k.head = 1, c.subject; c.subject == 0 {
			k.cand++
		}
		v := c.subject
		if v == 0 {
			v = x.lits[c.start].Var()
		}
		for _, l := range x.lits[k.cand:k.end] {
			if l.Var() == v { // it meets its own need
				return
			}
		}
	case Prohibition:
		k.n, k.cand = 1, c.end
	case Exclusion:
		if k.n, k.cand = 2, c.end; x.lits[c.start] == x.lits[c.start+1] {
			k.n, k.cand, k.end = 1, c.start+1, c.start+1
		}
	default:
		if !x.order(k) {
			return
		}
	}
	switch {
	case k.n == 0:
		k.role = root
		x.roots = append(x.roots, id)
	case k.cand < k.end:
		k.role = demand
	case k.n == 1:
		k.role = ban
		x.bans = append(x.bans, id)
		x.banned[x.denials(k)[0].Var()]++
	case k.n == 2:
		k.role = exact
	default:
		k.role = bar
	}
}

// order puts the denials of a clause before its candidates, each once. It
// reports false when the clause denies what it selects: it always holds then.
func (x *index) order(k *indexed) bool {
	lits := x.lits[k.lits:k.end]
	n, inOrder := 0, true
	for i, l := range lits {
		if !l.Selects() {
			inOrder = inOrder && n == i
			n++
		}
	}
	if !inOrder || n > 1 || n > 0 && n < len(lits) {
		denied := make(map[Var]bool, n)
		for _, l := range lits {
			if !l.Selects() {
				denied[l.Var()] = true
			}
		}
		for _, l := range lits {
			if l.Selects() && denied[l.Var()] {
				return false
			}
		}
		if !inOrder || len(denied) < n {
			x.reorder(k, lits, denied)
			n = int(k.cand - k.lits)
		}
	}
	k.n = int32(n)
	k.cand = k.lits + k.n
	return true
}

// reorder stores the literals of a clause again, in order.
func (x *index) reorder(k *indexed, lits []Lit, denied map[Var]bool) {
	k.lits = int32(len(x.lits))
	for _, l := range lits {
		if !l.Selects() && denied[l.Var()] {
			delete(denied, l.Var())
			x.lits = append(x.lits, l)
		}
	}
	k.cand = int32(len(x.lits))
	for _, l := range lits {
		if l.Selects() {
			x.lits = append(x.lits, l)
		}
	}
	k.end = int32(len(x.lits))
}

// each visits the tables that a constraint is in.
func (x *index) each(id int32, in func(Var, *table[int32]), pair func(v, other Var)) {
	k := &x.cons[id]
	switch k.role {
	case demand, bar:
		t := &x.demands
		if k.role == bar {
			t = &x.bars
		}
		if k.head != 0 {
			in(k.head, t)
			return
		}
		for _, l := range x.lits[k.lits:k.cand] {
			in(l.Var(), t)
		}
	case exact:
		a, b := x.lits[k.lits].Var(), x.lits[k.lits+1].Var()
		pair(a, b)
		pair(b, a)
	case limit:
		for _, l := range x.lits[k.cand:k.end] {
			in(l.Var(), &x.limits)
		}
	}
}

// denials returns the literals of a clause that deny.
func (x *index) denials(k *indexed) []Lit {
	if k.head != 0 {
		return []Lit{k.head.No()}
	}
	return x.lits[k.lits:k.cand]
}

// candidates returns the variables that a clause selects, as literals, or those
// of a limitation.
func (x *index) candidates(k *indexed) []Lit { return x.lits[k.cand:k.end] }
