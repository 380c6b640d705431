package solver

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// A Var names one thing that can be selected: a bundle, a package version, a
// time slot. Vars are handed out by [Problem.Var], counted from 1 in the order
// of their creation, and mean something only in the Problem they come from.
// The zero Var is invalid.
type Var int32

// Yes returns the literal "v is selected".
func (v Var) Yes() Lit { return Lit(v) }

// No returns the literal "v is not selected".
func (v Var) No() Lit { return -Lit(v) }

// A Lit is a Var or its denial, see [Var.Yes] and [Var.No]. The zero Lit is
// invalid.
type Lit int32

// Var returns the variable that l speaks of.
func (l Lit) Var() Var {
	if l < 0 {
		return Var(-l)
	}
	return Var(l)
}

// Selects reports whether l is of the kind "v is selected".
func (l Lit) Selects() bool { return l > 0 }

// Text returns s as a reason. Use it where a reason is known beforehand; pass a
// fmt.Stringer of your own where rendering it costs something or where you want
// to get a structured reason back from an explanation.
func Text(s string) fmt.Stringer { return text(s) }

type text string

func (t text) String() string { return string(t) }

// A Problem is a set of variables and of constraints on which of them may be
// selected together. The zero Problem is empty and ready to use.
//
// Every constraint takes a reason, which may be nil: it is kept, rendered only
// when an explanation is written, and given back in [Constraint.Why].
//
// Slices passed to a method are copied. A malformed call (an unknown Var, a
// negative limit) is remembered and reported by [Solve] as a [*ProblemError].
//
// A Problem may be read, and solved, by several goroutines at once as long as
// none of them adds to it.
type Problem struct {
	names  []string
	byName map[string]Var
	cons   []con
	lits   []Lit   // the literals of all constraints, one after the other
	seen   []int32 // by variable: 1 + the last Limitation that lists it
	flaws  []Flaw
	shared bool // names and byName belong to another problem, too
}

// con is a constraint in its compact form. All kinds but Limitation are
// clauses: at least one of the literals holds.
type con struct {
	why   fmt.Stringer
	start int32
	end   int32
	n     int32 // of Limitation
	kind  Kind
}

// Var returns the variable of that name, which is made if there is none.
func (p *Problem) Var(name string) Var {
	if v, ok := p.byName[name]; ok {
		return v
	}
	switch {
	case p.byName == nil:
		p.byName = make(map[string]Var)
	case p.shared:
		p.byName, p.names, p.shared = maps.Clone(p.byName), slices.Clone(p.names), false
	}
	p.names = append(p.names, name)
	v := Var(len(p.names))
	p.byName[name] = v
	return v
}

// Lookup returns the variable of that name, if there is one.
func (p *Problem) Lookup(name string) (v Var, ok bool) {
	v, ok = p.byName[name]
	return v, ok
}

// Name returns the name that v was made with. It is "" when v is not a
// variable of p.
func (p *Problem) Name(v Var) string {
	if !p.has(v) {
		return ""
	}
	return p.names[v-1]
}

// NumVars returns how many variables p has: the Vars from 1 to that number.
func (p *Problem) NumVars() int { return len(p.names) }

// NumConstraints returns how many constraints were added to p.
func (p *Problem) NumConstraints() int { return len(p.cons) }

func (p *Problem) has(v Var) bool { return v >= 1 && int(v) <= len(p.names) }

// Require demands that v is selected.
func (p *Problem) Require(v Var, why fmt.Stringer) {
	p.open(Requirement, 0, why)
	p.put(v.Yes())
	p.close()
}

// Forbid demands that v is not selected.
func (p *Problem) Forbid(v Var, why fmt.Stringer) {
	p.open(Prohibition, 0, why)
	p.put(v.No())
	p.close()
}

// Depend demands that, if v is selected, at least one of the candidates is. The
// candidates are tried in the order given: the first is the most wanted one.
// Without candidates v cannot be selected.
func (p *Problem) Depend(v Var, candidates []Var, why fmt.Stringer) {
	p.open(Dependency, 0, why)
	p.put(v.No())
	for _, c := range candidates {
		p.put(c.Yes())
	}
	p.close()
}

// Exclude demands that a and b are not selected together.
func (p *Problem) Exclude(a, b Var, why fmt.Stringer) {
	p.open(Exclusion, 0, why)
	p.put(a.No())
	p.put(b.No())
	p.close()
}

// Limit demands that at most n of the variables are selected. A variable that
// is listed twice counts once.
func (p *Problem) Limit(n int, vars []Var, why fmt.Stringer) {
	p.open(Limitation, int32(min(max(n, 0), math.MaxInt32)), why)
	if n < 0 {
		p.flaw("a limit of %d: the least limit is 0", n)
	}
	p.seen = append(p.seen, make([]int32, len(p.names)+1-len(p.seen))...)
	id := int32(len(p.cons)) // never 0: the constraint is open
	for _, v := range vars {
		if p.has(v) && p.seen[v] == id {
			continue
		}
		p.put(v.Yes())
		if p.has(v) {
			p.seen[v] = id
		}
	}
	p.close()
}

// Any demands that at least one of the literals holds. It is a choice: once all
// variables that it denies are selected, one of those that it selects is, and
// they are tried in the order given. Any(a.No(), x.Yes(), y.Yes()) therefore is
// Depend(a, {x, y}); Any(x.Yes(), y.Yes()) is a requirement with alternatives.
func (p *Problem) Any(lits []Lit, why fmt.Stringer) {
	p.open(Clause, 0, why)
	for _, l := range lits {
		p.put(l)
	}
	p.close()
}

func (p *Problem) open(kind Kind, n int32, why fmt.Stringer) {
	at := int32(len(p.lits))
	p.cons = append(p.cons, con{why: why, start: at, end: at, n: n, kind: kind})
}

func (p *Problem) put(l Lit) {
	if l == math.MinInt32 || !p.has(l.Var()) {
		p.flaw("variable %d is not one of the problem's %d", l.Var(), len(p.names))
		return
	}
	p.lits = append(p.lits, l)
}

// close ends the constraint that is open. A malformed one is emptied.
func (p *Problem) close() {
	c := &p.cons[len(p.cons)-1]
	if len(p.lits) > maxLits {
		p.flaw("the problem has more than %d literals", maxLits)
	}
	if n := len(p.flaws); n > 0 && p.flaws[n-1].Constraint == len(p.cons)-1 {
		p.lits = p.lits[:c.start]
		c.kind = Clause
	}
	c.end = int32(len(p.lits))
}

// maxLits keeps the problem within what 32-bit positions can address, in this
// package and in the SAT engine.
const maxLits = 1 << 27

// flaw notes a mistake in the constraint that is open.
func (p *Problem) flaw(format string, args ...any) {
	p.flaws = append(p.flaws, Flaw{Constraint: len(p.cons) - 1, What: fmt.Sprintf(format, args...)})
}

func (p *Problem) litsOf(c *con) []Lit { return p.lits[c.start:c.end] }

// malformed returns the *ProblemError that p deserves, or nil.
func (p *Problem) malformed() error {
	switch {
	case p == nil:
		return &ProblemError{Flaws: []Flaw{{Constraint: -1, What: "there is no problem"}}}
	case len(p.flaws) > 0:
		return &ProblemError{Flaws: slices.Clone(p.flaws)}
	}
	return nil
}

// A ProblemError reports that a problem is malformed: a mistake of the program
// that built it, to be fixed there.
type ProblemError struct {
	Flaws []Flaw // at least one, in the order of the calls
}

// A Flaw is one malformed call.
type Flaw struct {
	Constraint int    // the constraint's position in the order of adding, from 0; or -1
	What       string // what is wrong with it
}

// Error lists the flaws, one to a line.
func (e *ProblemError) Error() string {
	var out strings.Builder
	out.WriteString("solver: malformed problem")
	for _, f := range e.Flaws {
		fmt.Fprintf(&out, "\n\tconstraint %d: %s", f.Constraint, f.What)
	}
	return out.String()
}
