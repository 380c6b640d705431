package solver

import (
	"fmt"
	"strings"
)

// Kind says what a [Constraint] demands.
type Kind uint8

// The kinds of constraints, each with the method that adds it.
const (
	Requirement Kind = iota + 1 // Require
	Prohibition                 // Forbid
	Dependency                  // Depend
	Exclusion                   // Exclude
	Limitation                  // Limit
	Clause                      // Any
)

var kindNames = [...]string{"none", "requirement", "prohibition", "dependency", "exclusion", "limitation", "clause"}

// String returns the kind's name in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// A Constraint is one demand of a [Problem], as it was added.
type Constraint struct {
	// ID is the constraint's position in the order of addition, from 0.
	ID int
	// Kind tells which of the Problem's methods added it.
	Kind Kind
	// Lits are the literals of the constraint, in the order given:
	//   - Requirement: the variable
	//   - Prohibition: the denied variable
	//   - Dependency: the denied subject, then the candidates
	//   - Exclusion: the two denied variables
	//   - Limitation: the variables
	//   - Clause: the literals
	// The slice belongs to the problem: do not write to it.
	Lits []Lit
	// N is how many variables a Limitation allows.
	N int
	// Why is the reason given when it was added, or nil.
	Why fmt.Stringer

	problem *Problem
}

// Constraint returns the constraint with the given ID, which must be at least 0
// and less than NumConstraints.
func (p *Problem) Constraint(id int) Constraint {
	c := &p.cons[id]
	return Constraint{ID: id, Kind: c.kind, Lits: p.litsOf(c), N: int(c.n), Why: p.why(id), problem: p}
}

// String returns the reason or, if none was given, the demand in words.
func (c Constraint) String() string {
	if c.Why != nil {
		return c.Why.String()
	}
	return c.Demand()
}

// Demand returns what c demands in words, using the names of the variables.
func (c Constraint) Demand() string {
	switch c.Kind {
	case Requirement:
		return c.name(0) + " is required"
	case Prohibition:
		return c.name(0) + " is not allowed"
	case Dependency:
		if len(c.Lits) == 1 {
			return c.name(0) + " needs something that does not exist"
		}
		return c.name(0) + " needs " + c.names(c.Lits[1:], "or")
	case Exclusion:
		return c.name(0) + " excludes " + c.name(1)
	case Limitation:
		return fmt.Sprintf("at most %d of %s", c.N, c.names(c.Lits, "and"))
	case Clause:
		return c.clause()
	}
	return "no constraint"
}

func (c Constraint) clause() string {
	var denied, selected []Lit
	for _, l := range c.Lits {
		if l.Selects() {
			selected = append(selected, l)
		} else {
			denied = append(denied, l)
		}
	}
	switch {
	case len(c.Lits) == 0:
		return "something is required that does not exist"
	case len(denied) == 0:
		return c.names(selected, "or") + " is required"
	case len(selected) == 0:
		if len(denied) == 1 {
			return c.names(denied, "and") + " is not allowed"
		}
		return c.names(denied, "and") + " exclude each other"
	case len(denied) == 1:
		return c.names(denied, "and") + " needs " + c.names(selected, "or")
	}
	return c.names(denied, "and") + " together need " + c.names(selected, "or")
}

func (c Constraint) name(i int) string { return c.problem.Name(c.Lits[i].Var()) }

func (c Constraint) names(lits []Lit, last string) string {
	var out strings.Builder
	for i, l := range lits {
		switch {
		case i > 0 && i == len(lits)-1:
			out.WriteString(" " + last + " ")
		case i > 0:
			out.WriteString(", ")
		}
		out.WriteString(c.problem.Name(l.Var()))
	}
	return out.String()
}
