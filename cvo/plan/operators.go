package plan

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver"
)

// operatorsPart encodes operators: one, or those that require something of each
// other.
func (m *model) operatorsPart(group []int) *part {
	var names []string
	for _, i := range group {
		names = append(names, m.operators[i].Package)
	}
	name := "operator "
	if len(names) > 1 {
		name = "operators "
	}
	x := newPart(name + strings.Join(names, ", "))
	leaves := make([][]solver.Var, len(group)) // by operator and version, of the stage before
	for s := range m.stages {
		has, now := make([]solver.Var, len(group)), make([][]solver.Var, len(group))
		for j, i := range group {
			has[j], now[j] = m.operatorStage(x, i, s, leaves[j])
		}
		m.together(x, group, s, has, leaves, now)
		leaves = now
	}
	return x
}

// operatorStage encodes where an operator is while the cluster is at a minor version.
// It returns the first of its variables has, and its variables leaves.
func (m *model) operatorStage(x *part, i, s int, before []solver.Var) (solver.Var, []solver.Var) {
	o, at := &m.operators[i], m.stages[s]
	has, into := x.p.NewVars(len(o.max)), make([][]solver.Var, len(o.max))
	first := x.p.NewVars(len(o.max))
	crossed := x.p.NewVars(1)
	x.p.Require(crossed, m.goal)
	var leaves []solver.Var
	for k := range o.max {
		h, l := has+solver.Var(k), first+solver.Var(k)
		leaves = append(leaves, l)
		x.imply(l, h)
		if s+1 < len(m.stages) {
			for _, f := range m.limits(o, k, s+1) {
				x.p.Exclude(crossed, l, f)
			}
		}
		if before != nil {
			into[k] = append(into[k], before[k])
		}
	}
	for _, h := range o.hops {
		if !m.offered(i, h, at) || !m.runsAt(o, h.to, s) {
			continue
		}
		v := x.step(choice{kind: MoveOperator, subject: o.Package, index: i, from: o.Versions[h.from].Name, to: o.Versions[h.to].Name, stage: s, name: at.String(), release: -1})
		x.imply(v, has+solver.Var(h.from))
		into[h.to] = append(into[h.to], v)
		if o.kept {
			x.p.Forbid(v, m.keptOperator(o))
		}
		if o.Held != "" && h.from == o.installed {
			x.p.Forbid(v, m.heldOperator(o))
		}
		if o.Trouble != "" {
			x.p.Forbid(v, m.trouble(o))
		}
	}
	for k := range o.max {
		if s == 0 && k == o.installed {
			continue
		}
		x.p.Depend(has+solver.Var(k), into[k], m.offers(o))
	}
	x.p.Limit(1, leaves, nil)
	if s == len(m.stages)-1 && o.want != nil {
		var wanted []solver.Var
		for k := range o.max {
			if o.want[k] {
				wanted = append(wanted, leaves[k])
			}
		}
		x.p.Any(yes(wanted), m.wanted(o))
	}
	// If nothing forbids it, it stays where it is.
	x.p.Any(yes(leaves), m.runs(o))
	return has, leaves
}

// offered reports whether there is an install plan for a hop while the cluster is at a
// minor version. The resolver takes the newest version that the catalog leads to in one
// hop, and nobody can approve another. For operators that require something of each other
// it may take an older one, with which all of them can be updated.
func (m *model) offered(i int, h hop, at minor) bool {
	o := &m.operators[i]
	there := func(h hop) bool { return h.minors == nil || slices.Contains(h.minors, at) }
	if !there(h) || m.entangled(i) {
		return there(h)
	}
	return !slices.ContainsFunc(o.hops, func(x hop) bool {
		return x.from == h.from && there(x) && slices.Index(o.byVersion, x.to) > slices.Index(o.byVersion, h.to)
	})
}

// entangled reports whether an operator requires something, or others something of it.
func (m *model) entangled(i int) bool {
	own := slices.ContainsFunc(m.operators[i].requires, func(list []requirement) bool { return len(list) > 0 })
	return own || slices.ContainsFunc(m.groups, func(g []int) bool { return len(g) > 1 && slices.Contains(g, i) })
}

// runsAt reports whether a version of an operator runs at a stage.
func (m *model) runsAt(o *operator, k, stage int) bool {
	kube := m.stages[stage].kube()
	return (kube == minor{} || o.kube[k].compare(kube) <= 0) && !m.isLimited(o, k, stage)
}

// isLimited reports whether there are limits.
func (m *model) isLimited(o *operator, k, stage int) bool {
	return o.max[k] != (minor{}) && o.max[k].compare(m.stages[stage]) < 0 ||
		slices.ContainsFunc(o.Versions[k].Uses, func(name string) bool { return m.removed[name] != nil && m.removed[name].stage <= stage })
}

// limits says why a version of an operator must not be installed when the cluster reaches
// a stage.
func (m *model) limits(o *operator, k, stage int) (facts []*fact) {
	if !m.isLimited(o, k, stage) {
		return nil
	}
	if o.max[k] != (minor{}) && o.max[k].compare(m.stages[stage]) < 0 {
		facts = append(facts, m.supports(o, k, stage))
	}
	for _, name := range o.Versions[k].Uses {
		if a := m.removed[name]; a != nil && a.stage <= stage {
			facts = append(facts, m.uses(o, k, a))
		}
	}
	return facts
}
