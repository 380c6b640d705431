package cudf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver"
)

// A Criterion is something to minimize or maximize.
type Criterion struct {
	// Measure is what is counted:
	//   - "removed": names of which a version was installed, and none is
	//   - "new": names of which no version was installed, and one is
	//   - "changed": names whose installed versions are not the same as before (as
	//     in the competitions of 2010 and later; some programs count versions)
	//   - "notuptodate": names of which a version is installed, but not the newest
	//     one that there is
	//   - "unsat_recommends": clauses that an installed package recommends, and
	//     nothing installed meets
	//   - "sum(p)": the sum of the property p over the installed packages;
	//     packages without it count 0
	Measure string
	// Much says that the largest value is the best, not the smallest.
	Much bool
}

// String returns the criterion as ParseCriteria reads it.
func (c Criterion) String() string {
	if c.Much {
		return "+" + c.Measure
	}
	return "-" + c.Measure
}

var wellKnown = map[string]string{
	"paranoid": "-removed,-changed",
	"trendy":   "-removed,-notuptodate,-unsat_recommends,-new",
}

var measures = []string{"removed", "new", "changed", "notuptodate", "unsat_recommends"}

// ParseCriteria parses a list of criteria, the most important one first, such
// as "-removed,-changed": a minus precedes what to minimize, a plus what to
// maximize. "paranoid" is "-removed,-changed", and "trendy" is
// "-removed,-notuptodate,-unsat_recommends,-new".
func ParseCriteria(text string) ([]Criterion, error) {
	if list, ok := wellKnown[text]; ok {
		text = list
	}
	var all []Criterion
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		c := Criterion{Much: strings.HasPrefix(word, "+")}
		var ok bool
		if c.Measure, ok = strings.CutPrefix(word, "-"); !ok {
			c.Measure, ok = strings.CutPrefix(word, "+")
		}
		if _, _, sum := property(c.Measure); !ok || !sum && !slices.Contains(measures, c.Measure) {
			return nil, fmt.Errorf("cudf: criterion %q: write - or +, and one of %s or sum(PROPERTY)", word, strings.Join(measures, ", "))
		}
		all = append(all, c)
	}
	return all, nil
}

func property(measure string) (name, rest string, ok bool) {
	name, ok = strings.CutPrefix(measure, "sum(")
	name, closed := strings.CutSuffix(name, ")")
	return name, "", ok && closed && name != ""
}

// criterion states a criterion: it counts variables that hold where the measure
// says so, and may hold elsewhere only where that improves nothing.
func (u *universe) criterion(c Criterion) (solver.Criterion, error) {
	k := &measure{universe: u, Criterion: c}
	switch c.Measure {
	case "removed":
		k.removed()
	case "new":
		k.new()
	case "changed":
		k.changed()
	case "notuptodate":
		k.notUpToDate()
	case "unsat_recommends":
		k.unsatRecommends()
	default:
		name, _, ok := property(c.Measure)
		if !ok {
			return solver.Criterion{}, fmt.Errorf("cudf: there is no criterion %q", c.Measure)
		}
		for i := range u.doc.Packages {
			if n := u.doc.Packages[i].Numbers[name]; n < 0 {
				return solver.Criterion{}, fmt.Errorf("cudf: criterion %s: %s of package %s is less than 0", c, name, u.p.Name(solver.Var(i+1)))
			} else if n > 0 {
				k.term(solver.Var(i+1), n)
			}
		}
	}
	return solver.Criterion{Name: c.String(), Terms: k.terms}, nil
}

// A measure is a criterion under construction.
type measure struct {
	*universe
	Criterion
	terms []solver.Term
}

// term counts a variable.
func (k *measure) term(v solver.Var, weight int64) {
	l := v.Yes()
	if k.Much {
		l = v.No()
	}
	k.terms = append(k.terms, solver.Term{Lit: l, Weight: weight})
}

// flag makes a variable that counts, and that holds if one of the clauses
// fails: each clause is what must hold if the variable does not. If the
// criterion is maximized, the variable holds only then.
func (k *measure) flag(clauses ...[]solver.Lit) {
	v := k.p.NewVars(1)
	for _, c := range clauses {
		k.p.Any(append(c[:len(c):len(c)], v.Yes()), nil)
	}
	k.term(v, 1)
	if !k.Much {
		return
	}
	if len(clauses) == 1 {
		for _, l := range clauses[0] {
			k.p.Any([]solver.Lit{v.No(), -l}, nil)
		}
		return
	}
	fails := []solver.Lit{v.No()} // one of the clauses fails
	for _, c := range clauses {
		f := k.p.NewVars(1)
		fails = append(fails, f.Yes())
		for _, l := range c {
			k.p.Any([]solver.Lit{f.No(), -l}, nil)
		}
	}
	k.p.Any(fails, nil)
}

func (k *measure) installed(name string) bool {
	return slices.ContainsFunc(k.named[name], func(i int) bool { return k.doc.Packages[i].Installed })
}

func (k *measure) removed() {
	for _, name := range k.names {
		if k.installed(name) {
			k.flag(yes(k.meetingName(name)))
		}
	}
}

func (k *measure) new() {
	for _, name := range k.names {
		own := k.meetingName(name)
		switch {
		case k.installed(name):
		case len(own) == 1:
			k.term(own[0], 1)
		default:
			k.flag(denied(own)...)
		}
	}
}

// denied returns the clauses that say that none of the variables is selected.
func denied(vars []solver.Var) [][]solver.Lit {
	var clauses [][]solver.Lit
	for _, v := range vars {
		clauses = append(clauses, []solver.Lit{v.No()})
	}
	return clauses
}

func (k *measure) changed() {
	for _, name := range k.names {
		var clauses [][]solver.Lit
		for _, i := range k.named[name] {
			l := solver.Var(i + 1).No()
			if k.doc.Packages[i].Installed {
				l = -l
			}
			clauses = append(clauses, []solver.Lit{l})
		}
		k.flag(clauses...)
	}
}

func (k *measure) notUpToDate() {
	for _, name := range k.names {
		own := k.meetingName(name) // the newest first
		var clauses [][]solver.Lit
		for _, v := range own[1:] {
			clauses = append(clauses, []solver.Lit{v.No(), own[0].Yes()})
		}
		if clauses != nil {
			k.flag(clauses...)
		}
	}
}

func (k *measure) unsatRecommends() {
	for i := range k.doc.Packages {
		for _, c := range k.doc.Packages[i].Recommends {
			k.flag(append([]solver.Lit{solver.Var(i + 1).No()}, yes(k.anyOf(c))...))
		}
	}
}
