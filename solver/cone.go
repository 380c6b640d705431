package solver

// A cone is what a question can come to select: the candidates of the demands
// that nothing triggers, what those can call for, and so on. Everything else
// stays out of every answer, so a search need not propagate to it. Answers do
// not depend on the cone: if something outside it is selected anyway, its
// constraints are looked at then.
type cone struct {
	round int32
	vars  []int32 // by variable: the last round in which it was reached
	lists []int32 // by literal: the last round in which the candidates that begin there were reached
	found []Var
}

func newCone(x *index) *cone {
	return &cone{vars: make([]int32, x.size), lists: make([]int32, len(x.lits)+1)}
}

// lacks reports whether l denies a variable outside the cone.
func (c *cone) lacks(l Lit) bool {
	return l < 0 && int(-l) < len(c.vars) && c.vars[-l] != c.round
}

// fill computes the cone of a question. Cost: the size of the cone. It may be
// larger than necessary if a clause has several denials. If the poll is over,
// it is unusable.
func (c *cone) fill(poll *poll, x *index, w *change) {
	c.round++
	c.found = c.found[:0]
	for _, id := range x.roots {
		c.meet(poll, x, id)
	}
	if w != nil {
		for _, v := range w.require {
			c.reach(v)
		}
	}
	for at := 0; at < len(c.found) && !poll.spend(4); at++ {
		for _, id := range x.demands.of(c.found[at]) {
			c.meet(poll, x, id)
		}
	}
}

// meet reaches the candidates of a demand.
func (c *cone) meet(poll *poll, x *index, id int32) {
	k := &x.cons[id]
	if k.cand == k.end || c.lists[k.cand] == c.round {
		return
	}
	c.lists[k.cand] = c.round
	poll.spend(int(k.end - k.cand))
	for _, l := range x.candidates(k) {
		c.reach(l.Var())
	}
}

func (c *cone) reach(v Var) {
	if c.vars[v] != c.round {
		c.vars[v] = c.round
		c.found = append(c.found, v)
	}
}
