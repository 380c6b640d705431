package plan

import (
	"slices"

	"github.com/fairlead/fairlead/solver"
)

// Operators that require something of each other. While the cluster is at a minor
// version, each operator passes some versions. Let t(a,k) be when the operator a is at
// version k or a later one for the first time, in install plans; never, for versions
// that it does not come to. For two operators a and b:
//
//	le(a,k,b,j)   t(a,k) is not after t(b,j), and is not never
//
//	le(a,k+1,y) -> le(a,k,y);  le(y,a,k) -> le(y,a,k+1)
//	not has(a,k), le(a,k,y)    ->  le(a,k+1,y)                for it comes to the next version then
//	has(a,k)                   ->  not (le(a,k+1,y), le(y,a,k))    an install plan takes it one hop
//	has(x), has(y)             ->  le(x,y) or le(y,x)
//	le(x,y), le(y,z)           ->  le(x,z)                    of three operators
//	a comes to the minor version at k  ->  le(a,k,y)
//
// Equal times are one install plan that moves both: the resolver takes operators
// together where none can go alone.
//
// It goes on from each version by one hop, and leaves at the last one. What version k
// of a requires can end at two moments only: when a comes to k, and when an operator
// that provided it moves on while a is there.
//
//	in(b,g,e)     b is at g when the event e, a move of another operator, is over
//
//	has(a,k)                            ->  in(b,g,(a,k)), of some b and g that provide it
//	has(a,k), has(b,j) that does not    ->  le(a,k+1,b,j), or not le(a,k,b,j), or in(c,g,(b,j)) of another c
//
// What the installed version lacks now it may continue to lack until it is provided: the
// first rule does not apply to it, and in the second a hop to j from a version that
// provides it replaces has(b,j). So a plan that is made again on the way is the rest of
// the first one.

// clocks are the variables le of a part and stage.
type clocks struct {
	m     *model
	group []int
	has   []solver.Var
	base  [][]solver.Var // by operator and operator
	in    map[[4]int]solver.Var
	hops  [][]choice // by operator
}

// event is an operator of the group, by its place there, that comes to a version, by
// its place in their order.
type event struct{ who, rank int }

func (c *clocks) size(who int) int { return len(c.operator(who).byVersion) }

func (c *clocks) operator(who int) *operator { return &c.m.operators[c.group[who]] }

// le is the variable that x is not after y.
func (c *clocks) le(x, y event) solver.Var {
	return c.base[x.who][y.who] + solver.Var(x.rank*c.size(y.who)+y.rank)
}

// at is the variable has of an event.
func (c *clocks) at(e event) solver.Var {
	return c.has[e.who] + solver.Var(c.operator(e.who).byVersion[e.rank])
}

// together encodes what operators of a group require of each other while the cluster
// is at a minor version. It leaves the one before, and this one, at versions.
func (m *model) together(x *part, group []int, stage int, has []solver.Var, before, leaves [][]solver.Var) {
	c := &clocks{m: m, group: group, has: has, in: map[[4]int]solver.Var{}, hops: make([][]choice, len(group))}
	for _, h := range x.choices {
		if h.stage == stage {
			a := slices.Index(group, h.index)
			c.hops[a] = append(c.hops[a], h)
		}
	}
	if len(group) > 1 {
		x.clocks = append(x.clocks, c)
		for a := range group {
			c.base = append(c.base, make([]solver.Var, len(group)))
			for b := range group {
				if a != b {
					c.base[a][b] = x.p.NewVars(c.size(a) * c.size(b))
				}
			}
		}
		c.way(x, leaves)
		c.order(x, before)
	}
	for a := range group {
		o := c.operator(a)
		for rank, k := range o.byVersion {
			for _, q := range o.requires[k] {
				c.require(x, event{a, rank}, &q)
			}
		}
	}
}

// pairs yields each operator with the versions of each other one.
func (c *clocks) pairs(yield func(a int, y event)) {
	for a := range c.group {
		for b := range c.group {
			for j := range c.size(b) {
				if a != b {
					yield(a, event{b, j})
				}
			}
		}
	}
}

// way has each operator take one way, to its end: it goes on from each version by one
// hop, and leaves the minor version at the last one.
func (c *clocks) way(x *part, leaves [][]solver.Var) {
	for a := range c.group {
		o := c.operator(a)
		out := map[string][]solver.Var{}
		for _, h := range c.hops[a] {
			out[h.from] = append(out[h.from], h.v)
		}
		for j, from := range o.byVersion {
			x.p.Limit(1, out[o.Versions[from].Name], nil)
			for _, to := range o.byVersion[j+1:] {
				x.p.Any([]solver.Lit{leaves[a][from].No(), (c.has[a] + solver.Var(to)).No()}, nil)
			}
		}
	}
}

// order has the variables le be times. Before is where operators come from.
func (c *clocks) order(x *part, before [][]solver.Var) {
	c.pairs(func(a int, y event) {
		n := c.size(a)
		for k := range n {
			e, next := event{a, k}, event{a, k + 1}
			x.p.Any([]solver.Lit{c.at(e).No(), c.at(y).No(), c.le(e, y).Yes(), c.le(y, e).Yes()}, nil)
			if at := c.operator(a).byVersion[k]; before[a] != nil {
				x.imply(before[a][at], c.le(e, y))
			} else if at == c.operator(a).installed {
				x.p.Require(c.le(e, y), nil)
			}
			if k+1 == n {
				x.p.Any([]solver.Lit{c.at(e).Yes(), c.le(e, y).No()}, nil)
				continue
			}
			x.imply(c.le(next, y), c.le(e, y))
			x.imply(c.le(y, e), c.le(y, next))
			x.p.Any([]solver.Lit{c.at(e).Yes(), c.le(e, y).No(), c.le(next, y).Yes()}, nil)
			x.p.Any([]solver.Lit{c.at(e).No(), c.le(next, y).No(), c.le(y, e).No()}, nil)
		}
	})
	c.pairs(func(a int, y event) {
		for z := range c.group {
			if z == a || z == y.who {
				continue
			}
			for k := range c.size(a) {
				for l := range c.size(z) {
					x.p.Any([]solver.Lit{c.le(event{a, k}, y).No(), c.le(y, event{z, l}).No(), c.le(event{a, k}, event{z, l}).Yes()}, nil)
				}
			}
		}
	})
}

// require has something be provided while an operator is at a version.
func (c *clocks) require(x *part, e event, q *requirement) {
	why := c.m.requires(c.operator(e.who), c.operator(e.who).byVersion[e.rank], q)
	if !q.lacking {
		x.p.Any(append(c.provided(x, e, q, e.who), c.at(e).No()), why)
	}
	for b, i := range c.group {
		good := q.by[i]
		if good == nil {
			continue
		}
		for rank, j := range c.operator(b).byVersion {
			if good[j] {
				continue
			}
			y := event{b, rank}
			for _, comes := range c.comes(y, q) {
				lits := append(c.provided(x, y, q, e.who), c.at(e).No(), comes.No(), c.le(e, y).No())
				if e.rank+1 < c.size(e.who) {
					lits = append(lits, c.le(event{e.who, e.rank + 1}, y).Yes())
				}
				x.p.Any(lits, why)
			}
		}
	}
}

// comes returns variables of which one holds where an operator comes to a version that
// does not provide something. Of what is lacking, only hops from one that does count.
func (c *clocks) comes(e event, q *requirement) (list []solver.Var) {
	if !q.lacking {
		return []solver.Var{c.at(e)}
	}
	for _, h := range c.hops[e.who] {
		from := c.place(e.who, h.from)
		if good := q.by[c.group[e.who]]; good[c.operator(e.who).byVersion[from.rank]] && c.place(e.who, h.to) == e {
			list = append(list, h.v)
		}
	}
	return list
}

// place is the event that an operator comes to a version, by the name of it.
func (c *clocks) place(who int, name string) event {
	o := c.operator(who)
	return event{who, slices.Index(o.byVersion, o.version(name))}
}

// provided returns literals of which one holds where operators but one, and but that
// of the event, provide something when the event is over.
func (c *clocks) provided(x *part, e event, q *requirement, but int) (lits []solver.Lit) {
	for b, i := range c.group {
		good := q.by[i]
		if good == nil || b == but || b == e.who {
			continue
		}
		for rank, j := range c.operator(b).byVersion {
			if !good[j] {
				continue
			}
			key := [4]int{b, rank, e.who, e.rank}
			if c.in[key] == 0 {
				g, v := event{b, rank}, x.p.NewVars(1)
				c.in[key] = v
				x.imply(v, c.at(g))
				x.imply(v, c.le(g, e))
				if rank+1 < c.size(b) {
					x.p.Any([]solver.Lit{v.No(), c.le(event{b, rank + 1}, e).No()}, nil)
				}
			}
			lits = append(lits, c.in[key].Yes())
		}
	}
	return lits
}

// turns says which of the chosen hops of a part come before which. Hops of one turn
// are of one install plan.
func (x *part) turns(sol *solver.Solution) {
	for i := range x.chosen {
		for k := range x.chosen {
			if a, b := &x.chosen[k], &x.chosen[i]; a.kind == MoveOperator && b.kind == MoveOperator && a.stage == b.stage && x.sooner(sol, a, b) {
				b.turn++
			}
		}
	}
}

// sooner reports whether one hop comes before another one of the stage.
func (x *part) sooner(sol *solver.Solution, a, b *choice) bool {
	if len(x.clocks) == 0 {
		return false
	}
	c := x.clocks[a.stage]
	x1, x2 := c.place(slices.Index(c.group, a.index), a.to), c.place(slices.Index(c.group, b.index), b.to)
	if x1.who == x2.who {
		return x1.rank < x2.rank
	}
	return sol.Has(c.le(x1, x2)) && !sol.Has(c.le(x2, x1))
}
