package solver

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/internal/words"
)

// An Adviser is a reason that knows what the reader can do about the
// constraint.
type Adviser interface {
	fmt.Stringer
	// Advice says what to do to remove the constraint ("remove subscription
	// kafka"), and how much effort that takes: suggestions with the least total
	// effort come first. An effort of 0 or less means that the constraint
	// cannot be changed, and is not suggested.
	Advice() (text string, effort int)
}

// Advised returns a reason that knows what the reader can do about its
// constraint: see [Adviser].
func Advised(why, advice string, effort int) Adviser { return advised{why, advice, effort} }

type advised struct {
	why, advice string
	effort      int
}

func (a advised) String() string        { return a.why }
func (a advised) Advice() (string, int) { return a.advice, a.effort }

// The efforts of constraints without a reason. Other kinds, and constraints with
// a reason that is no Adviser, are facts that the reader cannot change.
const (
	effortAllow = 10 // a Prohibition
	effortForgo = 20 // a Requirement, a Clause that denies nothing
)

// namer gives the variables the names that the reader knows.
type namer struct {
	p    *Problem
	name func(Var) string
}

func (n namer) of(v Var) string {
	if n.name != nil {
		return n.name(v)
	}
	return n.p.Name(v)
}

// listMax is how many names a list shows before it is cut short.
const listMax = 4

// list joins the names, each once, with the last two separated by the word last.
func (n namer) list(vars []Var, last string) string {
	var names []string
	seen := make(map[string]bool)
	for _, v := range vars {
		if name := n.of(v); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "nothing"
	}
	return words.List(names, last, listMax)
}

// sentence joins subjects and what is said about them.
func (n namer) sentence(subjects []Var, say phrase) string {
	names := n.list(subjects, "and")
	switch {
	case len(subjects) == 0:
		return say.one
	case names == n.of(subjects[0]): // one, or several of one name
		return names + " " + say.one
	case say.many != "":
		return names + " " + say.many
	}
	return names + ": " + say.one
}

// A phrase is what is said about one subject, and about many. If many is empty,
// one is used for them, after a colon.
type phrase struct{ one, many string }

func (s phrase) because(why string) phrase {
	s.one += ": " + why
	if s.many != "" {
		s.many += ": " + why
	}
	return s
}

// phrase returns what c demands of its subject.
func (n namer) phrase(c Constraint, subject Var) phrase {
	say := n.demand(c, subject)
	custom, ok := n.predicate(c, subject)
	switch {
	case ok && c.Kind == Dependency:
		return phrase{one: custom + n.offers(c, custom)}
	case ok:
		return phrase{one: custom}
	case c.Why != nil && c.Kind == Clause && subject == 0 && len(c.Lits) > 0:
		return phrase{one: c.Why.String() + n.offers(c, "")}
	case c.Why != nil:
		return say.because(c.Why.String())
	}
	return say
}

// predicate returns what a reason says about its subject, if it can be said
// about several: a reason whose text begins with the name of the subject is
// split there. Any other text is put after what the constraint demands.
func (n namer) predicate(c Constraint, subject Var) (string, bool) {
	if s, ok := c.Why.(supposed); ok {
		return string(s), true
	}
	if c.Why == nil || subject == 0 {
		return "", false
	}
	text := c.Why.String()
	for _, name := range []string{n.of(subject), n.p.Name(subject)} {
		if rest, ok := strings.CutPrefix(text, name+" "); ok && name != "" && rest != "" {
			return rest, true
		}
	}
	return "", false
}

// offers lists the candidates after a predicate that does not name them.
func (n namer) offers(c Constraint, said string) string {
	cands := candidates(c)
	if len(cands) == 0 {
		return ", which nothing offers"
	}
	if len(cands) == 1 && strings.Contains(said, n.of(cands[0])) {
		return ""
	}
	return " (" + n.list(cands, "or") + ")"
}

// demand returns what c says if it has no reason.
func (n namer) demand(c Constraint, subject Var) phrase {
	cands := candidates(c)
	switch c.Kind {
	case Requirement:
		return phrase{"is required", "are required"}
	case Prohibition:
		return phrase{"is not allowed", "are not allowed"}
	case Dependency:
		if len(cands) == 0 {
			return phrase{"needs something that does not exist", "need something that does not exist"}
		}
		return phrase{"needs " + n.list(cands, "or"), "need " + n.list(cands, "or")}
	case Exclusion:
		if c.Lits[0].Var() == c.Lits[1].Var() {
			return phrase{"excludes itself", "exclude themselves"}
		}
		other := c.Lits[0].Var() + c.Lits[1].Var() - subject
		return phrase{"excludes " + n.of(other), "exclude " + n.of(other)}
	case Limitation:
		vars := make([]Var, len(c.Lits))
		for i, l := range c.Lits {
			vars[i] = l.Var()
		}
		if c.N == 0 {
			return phrase{one: n.list(vars, "and") + " cannot be selected"}
		}
		say := phrase{one: fmt.Sprintf("at most %d of %s", c.N, n.list(vars, "and"))}
		if c.Why == nil {
			say.one += " can be selected"
		}
		return say
	}
	return n.clause(c, subject, cands)
}

func (n namer) clause(c Constraint, subject Var, cands []Var) phrase {
	var others []Var
	for _, l := range c.Lits {
		if !l.Selects() && l.Var() != subject {
			others = append(others, l.Var())
		}
	}
	with := ""
	if len(others) > 0 {
		with = "together with " + n.list(others, "and") + " "
	}
	switch {
	case subject == 0 && len(cands) == 0:
		return phrase{one: "something is required that does not exist"}
	case subject == 0:
		return phrase{one: n.list(cands, "or") + " is required"}
	case len(cands) == 0 && len(others) == 0:
		return phrase{"is not allowed", "are not allowed"}
	case len(cands) == 0:
		return phrase{"cannot be selected together with " + n.list(others, "and"), ""}
	}
	return phrase{with + "needs " + n.list(cands, "or"), ""}
}

// candidates returns the variables that c selects, in order.
func candidates(c Constraint) []Var {
	if c.Kind == Limitation {
		return nil
	}
	var vars []Var
	for _, l := range c.Lits {
		if l.Selects() {
			vars = append(vars, l.Var())
		}
	}
	return vars
}

// advice returns what the reader can do about c, if anything.
func (n namer) advice(c Constraint) (text string, effort int) {
	if a, ok := c.Why.(Adviser); ok {
		return a.Advice()
	}
	switch {
	case c.Why != nil:
		return "", 0
	case c.Kind == Prohibition:
		return "allow " + n.of(c.Lits[0].Var()), effortAllow
	case c.Kind == Requirement:
		return "do not require " + n.of(c.Lits[0].Var()), effortForgo
	case len(c.Lits) == 0:
		return "drop the demand that nothing can meet", effortForgo
	case c.Kind == Clause && len(candidates(c)) == len(c.Lits):
		return "do not require " + n.list(candidates(c), "or"), effortForgo
	}
	return "", 0
}
