package solver

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/fairlead/fairlead/internal/words"
)

// A Var identifies one thing that can be selected: a bundle, a package version,
// a time slot. Vars are returned by [Problem.Var], counted from 1 in the order
// of their creation, and are meaningful only in the Problem they come from. The
// zero Var is invalid.
type Var int32

// Yes returns the literal "v is selected".
func (v Var) Yes() Lit { return Lit(v) }

// No returns the literal "v is not selected".
func (v Var) No() Lit { return -Lit(v) }

// A Lit is a Var or its denial, see [Var.Yes] and [Var.No]. The zero Lit is
// invalid.
type Lit int32

// Var returns the variable of l.
func (l Lit) Var() Var {
	if l < 0 {
		return Var(-l)
	}
	return Var(l)
}

// Selects reports whether l is of the form "v is selected".
func (l Lit) Selects() bool { return l > 0 }

// Text returns s as a reason, for reasons that are known beforehand: a fact, which no
// fix drops. If the reader can change it, use [Advised]. Pass a fmt.Stringer of your own
// if rendering costs something, or to get a structured reason back from an explanation.
func Text(s string) fmt.Stringer { return text(s) }

type text string

func (t text) String() string { return string(t) }

// A Problem is a set of variables and of constraints on which of them may be
// selected together. The zero Problem is empty and ready to use.
//
// Every constraint takes a reason, which may be nil: it is kept, rendered only
// when an explanation is written, and returned in [Constraint.Why].
//
// Slices passed to a method are copied. A malformed call (an unknown Var, a
// negative limit) is recorded and reported by [Solve] as a [*ProblemError].
//
// Memory: a constraint takes 20 bytes, and each literal 4. If many constraints
// name the same variables, store those once with [Problem.Set]. If the caller
// already identifies variables by number, [Problem.NewVar] and
// [Problem.NewVars] create them without hashing a name. [Problem.Grow] makes
// room in advance.
//
// A Problem may be read and solved by several goroutines at once as long as
// none of them adds to it. The data structures that solving needs are built the
// first time, and again after constraints were added.
type Problem struct {
	vars  int
	names nameTable
	cons  []con
	whys  []fmt.Stringer // by constraint; shorter if the rest has no reasons
	lits  []Lit          // the literals of all constraints and sets
	seen  []int32        // by variable: the last list that it was seen in
	lists int32          // how many lists were scanned for repetitions
	sets  []span
	flaws []Flaw

	building bool // a constraint is open
	stated   bool // and its literals are those of a set

	index   atomic.Pointer[index]
	answers atomic.Int32 // how many answers were checked
	judged  atomic.Pointer[judge]
}

// con is a constraint in compact form. All kinds except Limitation are clauses:
// at least one of the literals holds.
type con struct {
	start   int32 // where its literals begin in those of the problem
	end     int32
	n       int32 // for a Limitation, how many are allowed
	subject Var   // for a Dependency whose candidates are a Set: denied, before them
	kind    Kind
}

// Grow makes room for that many more variables, constraints and literals, so that adding
// them copies nothing. Calling it is optional.
func (p *Problem) Grow(vars, constraints, literals int) {
	p.names.grow(max(0, vars))
	p.cons = slices.Grow(p.cons, max(0, constraints))
	p.lits = slices.Grow(p.lits, max(0, literals))
}

// Var returns the variable with the given name, and creates it if there is
// none.
func (p *Problem) Var(name string) Var {
	known, hash := p.names.lookup(name)
	if known != 0 {
		return known
	}
	v := p.NewVar(name)
	p.names.put(name, hash, v)
	return v
}

// NewVar creates a variable with the given name, even if there already is one:
// if several variables have a name, [Problem.Lookup] and [Problem.Var] return
// the first. It costs less than Var.
func (p *Problem) NewVar(name string) Var {
	v := p.NewVars(1)
	p.names.set(v, name)
	return v
}

// NewVars creates n consecutive variables without names, and returns the first.
func (p *Problem) NewVars(n int) Var {
	v := Var(p.vars + 1)
	p.vars += max(0, n)
	if p.vars > maxVars {
		p.vars = maxVars
		p.flaw("the problem has more than %d variables", maxVars)
	}
	return v
}

// Lookup returns the variable with the given name, if there is one.
func (p *Problem) Lookup(name string) (v Var, ok bool) {
	p.names.mu.Lock()
	defer p.names.mu.Unlock()
	v, _ = p.names.lookup(name)
	return v, v != 0
}

// Name returns the name that v was created with, or "variable 7" if it is the
// seventh variable and was created without one. It is "" if v is not a variable
// of p.
func (p *Problem) Name(v Var) string {
	if !p.has(v) {
		return ""
	}
	return p.names.of(v)
}

// NumVars returns how many variables p has: the Vars from 1 to that number.
func (p *Problem) NumVars() int { return p.vars }

// NumConstraints returns how many constraints were added to p.
func (p *Problem) NumConstraints() int { return len(p.cons) }

func (p *Problem) has(v Var) bool { return v >= 1 && int(v) <= p.vars }

// A Set is a list of variables that a Problem has stored, see [Problem.Set]. It
// is meaningful only in that Problem. The zero Set is empty.
type Set int32

// A span is a range of the literals of a problem.
type span struct{ start, end int32 }

// Set stores a list of variables for several constraints to name, in that
// order. A variable that is listed twice counts once.
func (p *Problem) Set(vars []Var) Set {
	start := int32(len(p.lits))
	p.distinct(vars)
	p.fits()
	p.sets = append(p.sets, span{start, int32(len(p.lits))})
	return Set(len(p.sets))
}

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
// candidates are tried in the order given: the first is the most preferred one.
// Without candidates v cannot be selected.
func (p *Problem) Depend(v Var, candidates []Var, why fmt.Stringer) {
	p.open(Dependency, 0, why)
	p.put(v.No())
	for _, c := range candidates {
		p.put(c.Yes())
	}
	p.close()
}

// DependOn is [Problem.Depend] on a stored set.
func (p *Problem) DependOn(v Var, candidates Set, why fmt.Stringer) {
	p.open(Dependency, 0, why)
	if p.refer(candidates).subject = v; !p.has(v) {
		p.unknown(v)
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
	p.limit(n, why)
	p.distinct(vars)
	p.close()
}

// LimitOf is [Problem.Limit] on a stored set.
func (p *Problem) LimitOf(n int, vars Set, why fmt.Stringer) {
	p.limit(n, why)
	p.refer(vars)
	p.close()
}

func (p *Problem) limit(n int, why fmt.Stringer) {
	p.open(Limitation, int32(min(max(n, 0), math.MaxInt32)), why)
	if n < 0 {
		p.flaw("a limit of %d: the least limit is 0", n)
	}
}

// Any demands that at least one of the literals holds. It is a choice: once all
// variables that it denies are selected, one of those that it selects must be,
// and they are tried in the order given. So Any(a.No(), x.Yes(), y.Yes()) is
// Depend(a, {x, y}), and Any(x.Yes(), y.Yes()) is a requirement with
// alternatives.
func (p *Problem) Any(lits []Lit, why fmt.Stringer) {
	p.open(Clause, 0, why)
	for _, l := range lits {
		p.put(l)
	}
	p.close()
}

func (p *Problem) open(kind Kind, n int32, why fmt.Stringer) {
	at := int32(len(p.lits))
	p.building, p.stated = true, false
	p.cons = append(p.cons, con{start: at, end: at, n: n, kind: kind})
	if why != nil {
		if missing := len(p.cons) - 1 - len(p.whys); missing > 0 {
			p.whys = append(p.whys, make([]fmt.Stringer, missing)...)
		}
		p.whys = append(p.whys, why)
	}
}

func (p *Problem) put(l Lit) {
	if l == math.MinInt32 || !p.has(l.Var()) {
		p.unknown(l.Var())
		return
	}
	p.lits = append(p.lits, l)
}

func (p *Problem) unknown(v Var) {
	p.flaw("variable %d is not one of the problem's %d", v, p.vars)
}

// distinct appends the variables, each once.
func (p *Problem) distinct(vars []Var) {
	const few = 16
	if len(vars) > few {
		p.seen = append(p.seen, make([]int32, p.vars+1-len(p.seen))...)
		p.lists++
	}
	start := len(p.lits)
	for _, v := range vars {
		switch {
		case !p.has(v):
			p.unknown(v)
		case len(vars) > few:
			if p.seen[v] != p.lists {
				p.seen[v] = p.lists
				p.lits = append(p.lits, v.Yes())
			}
		case !slices.Contains(p.lits[start:], v.Yes()):
			p.lits = append(p.lits, v.Yes())
		}
	}
}

// refer makes the open constraint refer to a set.
func (p *Problem) refer(s Set) *con {
	c := &p.cons[len(p.cons)-1]
	p.stated = true
	switch {
	case s == 0:
	case s < 0 || int(s) > len(p.sets):
		p.flaw("set %d is not one of the problem's %d", s, len(p.sets))
	default:
		c.start, c.end = p.sets[s-1].start, p.sets[s-1].end
	}
	return c
}

// close ends the open constraint. A malformed one is emptied.
func (p *Problem) close() {
	c := &p.cons[len(p.cons)-1]
	if !p.stated {
		c.end = int32(len(p.lits))
	}
	p.fits()
	if n := len(p.flaws); n > 0 && p.flaws[n-1].Constraint == len(p.cons)-1 {
		*c = con{kind: Clause}
	}
	p.building = false
}

func (p *Problem) fits() {
	if len(p.lits) > maxLits {
		p.flaw("the problem has more than %d literals", maxLits)
		p.lits = p.lits[:maxLits]
	}
}

// maxLits and maxVars keep the problem within what 32-bit positions can
// address, in this package and in the SAT engine.
const (
	maxLits = 1 << 27
	maxVars = 1 << 27
)

// flaw records a mistake, in the open constraint if there is one.
func (p *Problem) flaw(format string, args ...any) {
	at := -1
	if p.building {
		at = len(p.cons) - 1
	}
	p.flaws = append(p.flaws, Flaw{Constraint: at, What: fmt.Sprintf(format, args...)})
}

// litsOf returns the literals of c: for a Dependency on a set, a copy.
func (p *Problem) litsOf(c *con) []Lit {
	body := p.lits[c.start:c.end:c.end]
	if c.subject == 0 {
		return body
	}
	return append([]Lit{c.subject.No()}, body...)
}

// why returns the reason of the constraint.
func (p *Problem) why(id int) fmt.Stringer {
	if id < len(p.whys) {
		return p.whys[id]
	}
	return nil
}

// malformed returns a *ProblemError if p is malformed, or nil.
func (p *Problem) malformed() error {
	switch {
	case p == nil:
		return &ProblemError{Flaws: []Flaw{{Constraint: -1, What: "there is no problem"}}}
	case len(p.flaws) > 0:
		return &ProblemError{Flaws: slices.Clone(p.flaws)}
	}
	return nil
}

// A ProblemError reports that a problem is malformed, which is a mistake in the
// program that built it.
type ProblemError struct {
	Flaws []Flaw // at least one, in the order of the calls
}

// A Flaw is one malformed call.
type Flaw struct {
	Constraint int    // the constraint's position in the order of addition, from 0; or -1
	What       string // what is wrong with it
}

// Error lists the flaws, one per line.
func (e *ProblemError) Error() string {
	var out strings.Builder
	out.WriteString("solver: malformed problem")
	for _, f := range e.Flaws {
		if out.WriteString("\n\t"); f.Constraint >= 0 {
			fmt.Fprintf(&out, "constraint %d: ", f.Constraint)
		}
		words.Fprintf(&out, "%s", f.What)
	}
	return out.String()
}
