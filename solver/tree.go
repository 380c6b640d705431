package solver

import "strings"

// A grower builds the tree of a core. It follows the demands down from what is
// required, expands every variable where it is first mentioned, and states a
// constraint where the last of its variables is: there the reader knows
// everything that it is about.
type grower struct {
	p         *Problem
	name      namer
	core      []Constraint
	of        map[Var][]int // the constraints of the core that v's selection touches
	left      []int         // by position in core: variables not mentioned yet
	mentioned map[Var]bool
}

func newGrower(p *Problem, name namer, core []Constraint) *grower {
	g := &grower{p: p, name: name, core: core, of: make(map[Var][]int), left: make([]int, len(core)), mentioned: make(map[Var]bool)}
	reachable := make(map[Var]bool)
	for _, c := range core {
		for _, v := range candidates(c) {
			reachable[v] = true
		}
	}
	for i, c := range core {
		for _, l := range c.Lits {
			if l.Selects() == (c.Kind == Limitation) && reachable[l.Var()] {
				g.of[l.Var()] = append(g.of[l.Var()], i)
				g.left[i]++
			}
		}
	}
	return g
}

// grow returns the tree: what is required, in the order of addition, each with
// what follows from it.
func (g *grower) grow() []*Statement {
	var roots []*Statement
	for i, c := range g.core {
		if g.left[i] > 0 || c.Kind == Limitation {
			continue
		}
		s := &Statement{Constraints: []Constraint{c}}
		if c.Kind == Requirement {
			s.Subjects = candidates(c)
		}
		s.Text = g.name.sentence(s.Subjects, g.name.phrase(c, first(s.Subjects)))
		roots = append(roots, s)
	}
	for _, s := range roots {
		s.Children = g.expand(s.Constraints)
	}
	return roots
}

func first(vars []Var) Var {
	if len(vars) == 0 {
		return 0
	}
	return vars[0]
}

// expand states what is known about the candidates of the constraints, as far
// as they have not been mentioned.
func (g *grower) expand(demands []Constraint) []*Statement {
	var fresh []Var
	for _, c := range demands {
		for _, v := range candidates(c) {
			if !g.mentioned[v] {
				g.mentioned[v] = true
				fresh = append(fresh, v)
			}
		}
	}
	var all []*Statement
	for _, v := range fresh {
		for _, i := range g.of[v] {
			if g.left[i]--; g.left[i] == 0 {
				all = append(all, g.state(g.core[i], v))
			}
		}
	}
	all = g.mergeObjects(g.mergeSubjects(all))
	for _, s := range all {
		s.Children = g.expand(s.Constraints)
	}
	return all
}

func (g *grower) state(c Constraint, subject Var) *Statement {
	s := &Statement{Constraints: []Constraint{c}, Subjects: []Var{subject}, say: g.name.phrase(c, subject)}
	if c.Kind == Limitation {
		s.Subjects = nil
	}
	if c.Kind == Exclusion {
		s.objects = []Var{c.Lits[0].Var() + c.Lits[1].Var() - subject}
	}
	return s
}

// mergeSubjects merges the statements that say the same about different
// variables.
func (g *grower) mergeSubjects(all []*Statement) []*Statement {
	at := make(map[string]*Statement)
	var merged []*Statement
	for _, s := range all {
		key := s.Constraints[0].Kind.String() + " " + s.say.one
		if same, ok := at[key]; ok && s.Subjects != nil {
			same.Subjects = append(same.Subjects, s.Subjects...)
			same.Constraints = append(same.Constraints, s.Constraints...)
			continue
		}
		at[key] = s
		merged = append(merged, s)
	}
	for _, s := range merged {
		s.Text = g.name.sentence(s.Subjects, s.say)
	}
	return merged
}

// mergeObjects merges the exclusions of different variables by the same ones.
func (g *grower) mergeObjects(all []*Statement) []*Statement {
	at := make(map[string]*Statement)
	var merged []*Statement
	for _, s := range all {
		if len(s.objects) == 0 || s.Constraints[0].Why != nil || s.objects[0] == s.Subjects[0] {
			merged = append(merged, s)
			continue
		}
		key := g.key(s.Subjects)
		same, ok := at[key]
		if !ok {
			at[key] = s
			merged = append(merged, s)
			continue
		}
		same.objects = append(same.objects, s.objects...)
		same.Constraints = append(same.Constraints, s.Constraints...)
		names := g.name.list(same.objects, "and")
		same.Text = g.name.sentence(same.Subjects, phrase{"excludes " + names, "exclude " + names})
	}
	return merged
}

func (g *grower) key(vars []Var) string {
	var key strings.Builder
	for _, v := range vars {
		key.WriteString(g.p.Name(v))
		key.WriteByte(0)
	}
	return key.String()
}
