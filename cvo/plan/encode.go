package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver"
)

// The encoding. A plan is a set of choices, each a step or something that steps depend on, and the order of steps
// follows from them (see order.go): everything is done once, and a cluster never goes back. So no times are needed,
// only at which release, and for operators at which minor version, a thing is done.
//
// The problem splits into parts that share no choice, so that each is minimised and proven on its own and the costs add
// up: the path of the cluster with its pools, and each operator, or a group of operators that require something of each
// other. What they have in common is the list of minor versions that the cluster passes, which follows from the goal:
// none is left out and none is passed twice.
//
// The path of the cluster. For each release v on a path to the target, for each update e that is offered between two of
// them, for each pool p:
//
//	at(v)        the cluster passes v: the target, the first, and what an update that is chosen leads to or from
//	move(e)      the cluster takes e; at most one into and out of each release
//	roll(p,v)    the nodes of p restart into v while the cluster is there
//	paused(p,v)  p is paused when the cluster leaves v; never at the target, never the control plane
//	pause(p,v)   p is paused while the cluster is at v;  unpause(p,v) likewise
//
//	at(v), not the target   ->  roll(p,v) or paused(p,v), unless its nodes run v already
//	at(target)              ->  roll(p,target), likewise
//	roll(p,v)               ->  at(v), and what its drains need: budgets, room, members of etcd
//	roll(p,v) or not paused(p,v), having come paused     ->  unpause(p,v)
//	paused(p,v), having come otherwise or having rolled  ->  pause(p,v)
//	at(v), more than the skew beyond where p is    ->  a roll of p at most the skew behind v, before it
//
// An operator. For each minor version s that the cluster passes, each version k:
//
//	has(s,k)    it is at k for a time while the cluster is at s
//	leaves(s,k) it is at k when the cluster leaves s, or at the end: exactly one
//	hop(s,h)    it takes the hop h there, which the catalog of s has, to a version that runs there
//
//	has(s,k)          ->  leaves(s-1,k), or a hop(s,h) into k; at first it is at what is installed
//	leaves(s,k)       ->  has(s,k), and k supports the next minor version
//	hop(s,h)          ->  has(s,from)
//
// Operators that require something of each other: see together.go.

// choice is a step that a plan may have.
type choice struct {
	kind     Kind
	subject  string
	index    int // in the model: of the pool, the operator, the budget, ...
	from, to string
	release  int    // where the cluster is; -1 if that does not matter
	name     string // of that release, or of the minor version; empty if it does not matter
	stage    int
	restarts int
	v        solver.Var
	turn     int      // of a hop: how many of its part and stage come before it
	with     []string // of a hop: what goes with it
}

// part is an independent part of the problem.
type part struct {
	name    string
	p       *solver.Problem
	choices []choice
	unknown []solver.Var // each holds if a risk is taken that was not evaluated
	chosen  []choice
	best    *solver.Optimum
	clocks  []*clocks // of each stage, where operators wait for each other
}

func newPart(name string) *part { return &part{name: name, p: new(solver.Problem)} }

// is reports whether a step of a plan is the choice.
func (c *choice) is(s *PlanStep) bool {
	if c.kind != s.Kind || c.subject != s.Subject || c.from != s.From || c.to != s.To {
		return false
	}
	switch c.kind {
	case Roll, Pause, Unpause:
		return c.name == s.Release
	case MoveOperator:
		x, _ := parseMinor(s.Release)
		return c.name == x.String()
	default:
		return true
	}
}

func (x *part) step(c choice) solver.Var {
	c.v = x.p.NewVars(1)
	x.choices = append(x.choices, c)
	return c.v
}

func (x *part) imply(a, b solver.Var) { x.p.Any([]solver.Lit{a.No(), b.Yes()}, nil) }

// forbid adds the facts that prevent a variable from holding.
func (x *part) forbid(v solver.Var, facts []*fact) {
	for _, f := range facts {
		x.p.Forbid(v, f)
	}
}

// parts encodes the model.
func (m *model) parts() []*part {
	list := []*part{m.way()}
	for _, group := range m.groups {
		list = append(list, m.operatorsPart(group))
	}
	return list
}

// way encodes the path of the cluster with its pools.
func (m *model) way() *part {
	x := newPart("cluster")
	w := &wayPart{part: x, m: m, at: make([]solver.Var, len(m.releases)), into: make([][]solver.Var, len(m.releases)), out: make([][]solver.Var, len(m.releases))}
	for i := range m.releases {
		w.at[i] = x.p.NewVars(1)
	}
	start := slices.IndexFunc(m.releases, func(r release) bool { return r.name == m.start })
	target := slices.IndexFunc(m.releases, func(r release) bool { return r.name == m.target })
	w.start, w.target = start, target
	x.p.Require(w.at[target], m.goal)
	w.crossings()
	w.moves()
	w.budgets = make([]solver.Var, len(m.budgets))
	for i, b := range m.budgets {
		w.budgets[i] = x.step(choice{kind: FixBudget, subject: b.name, index: i, release: -1})
		if m.Policy.KeepBudgets {
			x.p.Forbid(w.budgets[i], b.fact)
		}
	}
	for i := range m.pools {
		w.pool(i)
	}
	for i := range m.drains {
		d := &m.drains[i]
		v := x.step(choice{kind: OutOfService, subject: d.node, index: i, release: -1, restarts: 1})
		x.p.Require(v, &fact{reason: FactNodeOut, subject: d.node, text: "the goal takes the node " + d.node + " out of service", fixes: []fix{{"LeaveNode", d.node, "leave the node " + d.node + " in service", func(in *input) {
			in.Goal.Nodes = slices.DeleteFunc(in.Goal.Nodes, func(s string) bool { return s == d.node })
		}, costLoss}}})
		x.forbid(v, d.broken)
		w.need(v, d.need, "node "+d.node, fmt.Sprint("node ", i))
	}
	return x
}

// wayPart is the part of the cluster that is being built.
type wayPart struct {
	*part
	m             *model
	start, target int
	at            []solver.Var
	into, out     [][]solver.Var
	edges         []solver.Var // by move
	budgets       []solver.Var
	members       []solver.Var
	rooms         map[string]solver.Var
	leaves        solver.Var // the cluster leaves its minor version; 0 if it does not, or is on its way
}

// crossings forbid what prevents leaving a minor version. Gates are acknowledged before that. An update in progress has
// passed them.
func (w *wayPart) crossings() {
	first := 0
	if next, moving := onItsWay(w.m.Situation); moving {
		if to, ok := parseMinor(next); ok && to != w.m.stages[0] {
			first = 1
		}
	}
	for s := first; s < len(w.m.stages)-1; s++ {
		v := w.p.NewVars(1)
		w.p.Require(v, w.m.goal)
		w.forbid(v, w.m.crossings[s])
		if s == 0 {
			w.leaves = v
		}
		for i, g := range w.m.gates {
			if g.stage == s {
				w.imply(v, w.step(choice{kind: Acknowledge, subject: g.name, index: i, stage: s, release: -1}))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(w.m.removed)) {
			if a := w.m.removed[name]; a.stage == s+1 && len(a.clients) > 0 {
				w.imply(v, w.step(choice{kind: ChangeClients, subject: name, stage: s, release: -1}))
			}
		}
	}
}

func (w *wayPart) moves() {
	m := w.m
	risks := map[string]solver.Var{}
	for i, e := range m.moves {
		a, b := m.releases[e.from], m.releases[e.to]
		v := w.step(choice{kind: MoveCluster, index: i, from: a.name, to: b.name, release: e.to, stage: a.stage})
		w.edges = append(w.edges, v)
		w.imply(v, w.at[e.from])
		w.into[e.to] = append(w.into[e.to], v)
		w.out[e.from] = append(w.out[e.from], v)
		w.forbid(v, e.risky)
		w.forbid(v, m.broken)
		for _, name := range e.unknown { // each counts at each update that has it
			key := fmt.Sprint(name, " ", i)
			if risks[key] == 0 {
				risks[key] = w.p.NewVars(1)
				w.unknown = append(w.unknown, risks[key])
			}
			w.imply(v, risks[key])
		}
	}
	for i := range m.releases {
		if i != w.start {
			slices.Reverse(w.into[i]) // from the newest release first
			w.p.Depend(w.at[i], w.into[i], nil)
		}
		w.p.Limit(1, w.into[i], nil)
		w.p.Limit(1, w.out[i], nil)
	}
}

// need makes a restart, or a drain, wait for its prerequisites.
func (w *wayPart) need(v solver.Var, n needs, what, key string) {
	for _, i := range n.budgets {
		w.imply(v, w.budgets[i])
	}
	if !n.room {
		return
	}
	if w.rooms == nil {
		w.rooms = map[string]solver.Var{}
	}
	if w.rooms[key] == 0 {
		w.rooms[key] = w.step(choice{kind: FreeRoom, subject: what, release: -1})
		if w.m.Policy.KeepNodes {
			w.p.Forbid(w.rooms[key], w.m.lacksRoom(what))
		}
	}
	w.imply(v, w.rooms[key])
}

// pool encodes a pool.
func (w *wayPart) pool(i int) {
	m, p := w.m, &w.m.pools[i]
	n := len(m.releases)
	roll, paused, pause, unpause := make([]solver.Var, n), make([]solver.Var, n), make([]solver.Var, n), make([]solver.Var, n)
	ok := w.p.NewVars(1) // nothing prevents a restart of its nodes
	w.forbid(ok, p.broken)
	if p.control {
		w.forbid(ok, m.master)
	}
	for v := range n {
		r := m.releases[v]
		roll[v] = w.step(choice{kind: Roll, subject: p.name, index: i, to: r.name, release: v, name: r.name, stage: r.stage, restarts: len(p.nodes)})
		w.imply(roll[v], w.at[v])
		w.imply(roll[v], ok)
		w.need(roll[v], p.need, "pool "+p.name, "pool "+p.name)
		if p.control {
			for k := range w.replaced() {
				w.imply(roll[v], w.members[k])
			}
		}
		paused[v] = w.p.NewVars(1)
		if p.control || v == w.target {
			w.p.Forbid(paused[v], nil)
		} else {
			if m.Policy.NoPause && !p.paused {
				w.p.Forbid(paused[v], m.once(FactNoPause, "", "the policy forbids pausing pools", fix{"AllowPause", "", "allow pools to be paused", func(in *input) { in.Policy.NoPause = false }, costLeave}))
			}
			if m.Goal.PauseWorkers {
				w.p.Depend(w.at[v], []solver.Var{paused[v]}, m.once(FactPauseWorkers, p.name, "the goal keeps the pool "+p.name+" paused until the last release runs", fix{"AllowRestarts", "", "allow the nodes of pools to restart into every release on the way", func(in *input) { in.Goal.PauseWorkers = false }, costLeave}))
			}
		}
		pause[v] = w.step(choice{kind: Pause, subject: p.name, index: i, release: v, name: r.name, stage: r.stage})
		unpause[v] = w.step(choice{kind: Unpause, subject: p.name, index: i, release: v, name: r.name, stage: r.stage})
	}
	for v := range n {
		switch {
		case p.runs(&m.releases[v], v == w.start):
		case v == w.target:
			w.p.Depend(w.at[v], []solver.Var{roll[v]}, m.goal)
		default:
			w.p.Depend(w.at[v], []solver.Var{roll[v], paused[v]}, nil)
		}
		w.p.Any([]solver.Lit{paused[v].No(), roll[v].No(), pause[v].Yes()}, nil)
	}
	w.paused(p, roll, paused, pause, unpause)
	w.skew(p, roll)
	w.rollFirst(p, roll)
}

// paused encodes when a pool must be paused or unpaused: its previous state decides.
func (w *wayPart) paused(p *pool, roll, paused, pause, unpause []solver.Var) {
	arrive := func(v int, given []solver.Lit, was solver.Lit) {
		// was: it came paused
		w.p.Any(append(slices.Clone(given), not(was), paused[v].Yes(), unpause[v].Yes()), nil)
		w.p.Any(append(slices.Clone(given), not(was), roll[v].No(), unpause[v].Yes()), nil)
		w.p.Any(append(slices.Clone(given), was, paused[v].No(), pause[v].Yes()), nil)
	}
	now := w.p.NewVars(1)
	if p.paused {
		w.p.Require(now, nil)
	} else {
		w.p.Forbid(now, nil)
	}
	arrive(w.start, nil, now.Yes())
	for k, e := range w.m.moves {
		arrive(e.to, []solver.Lit{w.edges[k].No()}, paused[e.from].Yes())
	}
}

// rollFirst makes a pool restart before the minor version changes, if an operator asks for that.
func (w *wayPart) rollFirst(p *pool, roll []solver.Var) {
	if !p.first || w.leaves == 0 {
		return
	}
	lits := []solver.Lit{w.leaves.No()}
	for v, r := range w.m.releases {
		if r.stage == 0 {
			lits = append(lits, roll[v].Yes())
		}
	}
	w.p.Any(lits, w.m.once(FactSkew, p.name, fmt.Sprintf("the nodes of pool %s must restart into %s before the minor version changes", p.name, w.m.stages[0])))
}

// skew prevents the nodes of a paused pool from falling too far behind.
func (w *wayPart) skew(p *pool, roll []solver.Var) {
	m := w.m
	for v, r := range m.releases {
		limit := m.stages[r.stage].skew()
		if r.stage == 0 || r.stage-p.stage <= limit { // the cluster is there already
			continue
		}
		lits := []solver.Lit{w.at[v].No()}
		for u, q := range m.releases {
			if q.stage < r.stage && q.stage >= r.stage-limit {
				lits = append(lits, roll[u].Yes())
			}
		}
		w.p.Any(lits, m.once(FactSkew, p.name, fmt.Sprintf("the nodes of pool %s may be at most %s behind the control plane of %s", p.name, words.Count(limit, "minor version", "minor versions"), m.stages[r.stage])))
	}
}

// not is the negation of a literal.
func not(l solver.Lit) solver.Lit {
	if l.Selects() {
		return l.Var().No()
	}
	return l.Var().Yes()
}

// replaced returns the steps that replace members of etcd.
func (w *wayPart) replaced() []solver.Var {
	if w.members == nil {
		for i, name := range w.m.members {
			v := w.step(choice{kind: ReplaceMember, subject: name, index: i, release: -1})
			w.members = append(w.members, v)
			if w.m.Policy.KeepMembers {
				w.p.Forbid(v, w.m.keptMember(name))
			}
		}
	}
	return w.members
}

func yes(list []solver.Var) []solver.Lit {
	out := make([]solver.Lit, len(list))
	for i, v := range list {
		out[i] = v.Yes()
	}
	return out
}
