package solver

import (
	"context"
	"slices"
)

// An index is a problem in the form that the search reads. It is built once per
// problem and shared by all concurrent solves: it is never written to.
//
// Constraints are classified by what the selection of a variable can do to
// them: it can complete a demand (a clause with candidates, once all variables
// that it denies are selected), break a bar (a clause of denials alone), or use
// up a limitation.
type index struct {
	p    *Problem
	size int       // the number of variables plus one: they are counted from 1
	cons []indexed // by constraint
	lits []Lit     // those of the problem, followed by those of reordered clauses
	// roots are the demands that nothing triggers, ascending, including the
	// clauses without literals.
	roots []int32
	// bans are the clauses of one denial, ascending; banned counts them by
	// variable, and is nil if there are none.
	bans   []int32
	banned []int32

	demands table[int32] // by variable: the demands that deny it, ascending
	pairs   table[pair]  // by variable: what excludes it
	bars    table[int32] // by variable: the bars of more denials, ascending
	limits  table[int32] // by variable: the limitations that can bind, ascending

	idle spare[partial]
}

// indexed is a constraint of an index.
type indexed struct {
	role role
	head Var   // denied in addition to the others, or 0
	lits int32 // where its literals begin
	cand int32 // where the candidates, or the variables of a limitation, begin
	end  int32
	n    int32 // for a limitation, how many are allowed; for a clause, how many denials there are
}

// A role is what a constraint is to the search.
type role uint8

const (
	idle   role = iota // it cannot be broken and demands nothing
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

// A table stores lists, one after the other.
type table[T any] struct {
	start []int32
	items []T
}

func (t *table[T]) of(v Var) []T {
	if len(t.items) == 0 {
		return nil
	}
	return t.items[t.start[v]:t.start[v+1]]
}

// count makes room for one more item of the list.
func (t *table[T]) count(v Var) { t.start[v+2]++ }

// begin sets where the lists begin, and returns the total number of items.
func (t *table[T]) begin(poll *poll) int {
	total := int32(0)
	for part := range slices.Chunk(t.start, pollSteps) {
		if poll.spend(len(part)) {
			break
		}
		for i := range part {
			total += part[i]
			part[i] = total
		}
	}
	return int(total)
}

// add appends to a list.
func (t *table[T]) add(v Var, item T) {
	at := &t.start[v+1]
	t.items[*at] = item
	*at++
}

// indexOf returns the index of p, which is reused if nothing was added since.
// It returns nil if ctx ended.
func indexOf(ctx context.Context, p *Problem) *index {
	if x := p.index.Load(); x != nil && len(x.cons) == len(p.cons) && x.size == p.vars+1 {
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
	x := &index{p: p, size: p.vars + 1, cons: list[indexed](&poll, len(p.cons)), lits: p.lits[:len(p.lits):len(p.lits)]}
	roots, bans := 0, 0
	for i := range p.cons {
		if poll.spend(4 + 2*int(p.cons[i].end-p.cons[i].start)) {
			return nil
		}
		switch k := x.read(int32(i)); k.role {
		case idle:
		case root:
			roots++
		case ban:
			bans++
		default:
			x.enter(&poll, int32(i), k, false)
		}
	}
	x.makeTables(&poll, roots, bans)
	for i := range x.cons {
		k := &x.cons[i]
		if poll.ended || poll.spend(4+int(k.end-k.lits)) {
			return nil
		}
		switch k.role {
		case idle:
		case root:
			x.roots = append(x.roots, int32(i))
		case ban:
			x.bans = append(x.bans, int32(i))
			x.banned[x.denials(k)[0].Var()]++
		default:
			x.enter(&poll, int32(i), k, true)
		}
	}
	return x
}

// makeTables allocates the lists, with the room that they need. An empty table
// is not allocated: most problems have no bars.
func (x *index) makeTables(poll *poll, roots, bans int) {
	room := roots + bans
	if bans > 0 {
		room += x.size
	}
	tables := [...]*table[int32]{&x.demands, &x.bars, &x.limits}
	var items [len(tables)]int
	for i, t := range tables {
		items[i] = t.begin(poll)
		room += items[i]
	}
	ints := list[int32](poll, room)
	if poll.ended {
		return
	}
	cut := func(n int) []int32 {
		own := ints[:n:n]
		ints = ints[n:]
		return own
	}
	x.roots, x.bans = cut(roots)[:0], cut(bans)[:0]
	if bans > 0 {
		x.banned = cut(x.size)
	}
	for i, t := range tables {
		t.items = cut(items[i])
	}
	x.pairs.items = list[pair](poll, x.pairs.begin(poll))
}

// enter puts a constraint into the tables that list it or, if counted is false,
// only makes room for it there.
func (x *index) enter(poll *poll, id int32, k *indexed, counted bool) {
	t, lits := &x.demands, x.lits[k.lits:k.cand]
	switch k.role {
	case exact:
		x.enterPair(poll, id, lits[0].Var(), lits[1].Var(), counted)
		return
	case bar:
		t = &x.bars
	case limit:
		t, lits = &x.limits, x.lits[k.cand:k.end]
	}
	if t.start == nil {
		t.start = list[int32](poll, x.size+2)
	}
	if t.start == nil {
		return // the context has ended
	}
	switch {
	case k.head != 0 && counted:
		t.add(k.head, id)
	case k.head != 0:
		t.count(k.head)
	case counted:
		for _, l := range lits {
			t.add(l.Var(), id)
		}
	default:
		for _, l := range lits {
			t.count(l.Var())
		}
	}
}

func (x *index) enterPair(poll *poll, id int32, a, b Var, counted bool) {
	if x.pairs.start == nil {
		x.pairs.start = list[int32](poll, x.size+2)
	}
	if x.pairs.start == nil {
		return // the context has ended
	}
	if counted {
		x.pairs.add(a, pair{b, id})
		x.pairs.add(b, pair{a, id})
	} else {
		x.pairs.count(a)
		x.pairs.count(b)
	}
}

// read classifies a constraint.
func (x *index) read(id int32) *indexed {
	c := &x.p.cons[id]
	k := &x.cons[id]
	*k = indexed{lits: c.start, cand: c.start, end: c.end, n: c.n}
	switch c.kind {
	case Limitation:
		if c.n < c.end-c.start {
			k.role = limit
		}
		return k
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
				return k
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
			return k
		}
	}
	switch {
	case k.n == 0:
		k.role = root
	case k.cand < k.end:
		k.role = demand
	case k.n == 1:
		k.role = ban
	case k.n == 2:
		k.role = exact
	default:
		k.role = bar
	}
	return k
}

// order puts the denials of a clause before its candidates, each once. It
// reports false if the clause denies a variable that it selects, and so always
// holds.
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

// denials returns the denials of a clause.
func (x *index) denials(k *indexed) []Lit {
	if k.head != 0 {
		return []Lit{k.head.No()}
	}
	return x.lits[k.lits:k.cand]
}

// candidates returns the variables that a clause selects, as literals, or those
// of a limitation.
func (x *index) candidates(k *indexed) []Lit { return x.lits[k.cand:k.end] }
