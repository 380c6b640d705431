package debian

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/solver"
)

// A Package is one paragraph of a Packages file, with its relations not yet parsed.
type Package struct {
	Name         string   // of the binary package
	Version      string   // as in deb-version(7)
	Architecture string   // "amd64", "all"
	Depends      []string // the fields Pre-Depends and Depends, in the order of the paragraph
	Conflicts    []string // the fields Conflicts and Breaks, likewise
	Provides     string   // the field of that name
	Recommends   string   // the field of that name
}

// Read reads a Packages file.
func Read(r io.Reader) ([]Package, error) {
	var all []Package
	var p Package
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 1<<20), 1<<24)
	end := func() {
		if p.Name != "" {
			all = append(all, p)
		}
		p = Package{}
	}
	for lines.Scan() {
		line := lines.Text()
		if line == "" {
			end()
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok || line[0] == ' ' {
			continue
		}
		value = strings.TrimSpace(value)
		switch key {
		case "Package":
			p.Name = value
		case "Version":
			p.Version = value
		case "Architecture":
			p.Architecture = value
		case "Depends", "Pre-Depends":
			p.Depends = append(p.Depends, value)
		case "Conflicts", "Breaks":
			p.Conflicts = append(p.Conflicts, value)
		case "Provides":
			p.Provides = value
		case "Recommends":
			p.Recommends = value
		}
	}
	end()
	return all, lines.Err()
}

// A Relation is a name, and a condition on its version.
type Relation struct {
	Name    string // of a package, or of what packages provide
	Op      string // "<<", "<=", "=", ">=", ">>"; empty if any version will do
	Version string // empty if Op is
}

func relation(text string) Relation {
	text = strings.TrimSpace(text)
	var r Relation
	name, rest, ok := strings.Cut(text, "(")
	if ok {
		rest = strings.TrimSuffix(strings.TrimSpace(rest), ")")
		at := strings.IndexFunc(rest, func(c rune) bool { return !strings.ContainsRune("<>=", c) })
		r.Op, r.Version = rest[:at], strings.TrimSpace(rest[at:])
	}
	name, arch, ok := strings.Cut(strings.TrimSpace(name), ":")
	if r.Name = name; ok && arch != "any" && arch != "native" && arch != "amd64" {
		r.Name += ":" + arch // of another architecture: there are none
	}
	return r
}

// met reports whether a version meets the relation.
func (r *Relation) met(version string) bool {
	if r.Op == "" {
		return true
	}
	switch c := compare(version, r.Version); r.Op {
	case "<<":
		return c < 0
	case "<=", "<":
		return c <= 0
	case "=":
		return c == 0
	case ">=", ">":
		return c >= 0
	case ">>":
		return c > 0
	}
	return false
}

// Fields is a parsed list: names and relations are numbers, so that stating the
// problem hashes nothing.
type Fields struct {
	Packages  []Package   // in the order of the list
	Names     int         // how many there are
	Name      []int32     // by package
	Relations []Relation  // by number
	Of        []int32     // by relation: its name
	Needs     [][][]int32 // by package: clauses, all of which must be met, each by one of its relations
	Bars      [][]int32   // by package: relations
	Offers    [][]int32   // by package: relations
}

// Parse parses the relations.
func Parse(all []Package) *Fields {
	f := &Fields{Packages: all}
	names := make(map[string]int32)
	name := func(s string) int32 {
		n, ok := names[s]
		if !ok {
			n = int32(len(names))
			names[s] = n
		}
		return n
	}
	numbers := make(map[string]int32) // by text
	number := func(text string) int32 {
		text = strings.TrimSpace(text)
		n, ok := numbers[text]
		if !ok {
			n = int32(len(f.Relations))
			numbers[text] = n
			r := relation(text)
			f.Relations = append(f.Relations, r)
			f.Of = append(f.Of, name(r.Name))
		}
		return n
	}
	list := func(fields ...string) []int32 {
		var all []int32
		for _, field := range fields {
			for item := range strings.SplitSeq(field, ",") {
				if item != "" {
					all = append(all, number(item))
				}
			}
		}
		return all
	}
	for _, p := range all {
		f.Name = append(f.Name, name(p.Name))
		var needs [][]int32
		for _, field := range p.Depends {
			for clause := range strings.SplitSeq(field, ",") {
				var any []int32
				for alternative := range strings.SplitSeq(clause, "|") {
					any = append(any, number(alternative))
				}
				needs = append(needs, any)
			}
		}
		f.Needs = append(f.Needs, needs)
		f.Bars = append(f.Bars, list(p.Conflicts...))
		f.Offers = append(f.Offers, list(p.Provides))
	}
	f.Names = len(names)
	return f
}

// A statement is a problem that is being stated.
type statement struct {
	*Fields
	p        *solver.Problem
	named    [][]solver.Var // by name
	provided [][]offer      // by name
	meeting  [][]solver.Var // by relation
	known    []bool         // by relation: meeting is known
}

type offer struct {
	v       solver.Var
	version string
}

// State states the problem: package i is the variable i+1. A dependency prefers
// its alternatives in the order given, and of each first the packages of that name
// and then those that provide it, in the order of the list.
func (f *Fields) State() *solver.Problem { return f.statement().p }

func (f *Fields) statement() *statement {
	s := &statement{Fields: f, p: &solver.Problem{}, named: make([][]solver.Var, f.Names), provided: make([][]offer, f.Names),
		meeting: make([][]solver.Var, len(f.Relations)), known: make([]bool, len(f.Relations))}
	s.p.Grow(len(f.Packages), 5*len(f.Packages), 6*len(f.Packages))
	for i, name := range f.Name {
		v := s.p.NewVar(f.Packages[i].Name)
		s.named[name] = append(s.named[name], v)
		for _, r := range f.Offers[i] {
			s.provided[f.Of[r]] = append(s.provided[f.Of[r]], offer{v, f.Relations[r].Version})
		}
	}
	stored := make([]solver.Set, len(f.Relations))
	has := make([]bool, len(f.Relations))
	var candidates []solver.Var
	for i, name := range f.Name {
		self := solver.Var(i + 1)
		for _, clause := range f.Needs[i] {
			if r := clause[0]; len(clause) == 1 {
				if !has[r] {
					stored[r], has[r] = s.p.Set(s.meets(r)), true
				}
				s.p.DependOn(self, stored[r], s.missing(i, clause, len(s.meets(r))))
				continue
			}
			candidates = candidates[:0]
			for _, r := range clause {
				candidates = append(candidates, s.meets(r)...)
			}
			s.p.Depend(self, candidates, s.missing(i, clause, len(candidates)))
		}
		for _, r := range f.Bars[i] {
			for _, other := range s.meets(r) {
				if other != self {
					s.p.Exclude(self, other, nil)
				}
			}
		}
		if own := s.named[name]; len(own) > 1 && own[0] == self {
			s.p.Limit(1, own, nil)
		}
	}
	return s
}

// missing returns a reason that names what nothing meets. It returns nil if there are
// candidates, whose names then suffice.
func (s *statement) missing(pkg int, clause []int32, candidates int) fmt.Stringer {
	if candidates > 0 {
		return nil
	}
	var all []string
	for _, number := range clause {
		r := s.Relations[number]
		if all = append(all, r.Name); r.Op != "" {
			all[len(all)-1] += " (" + r.Op + " " + r.Version + ")"
		}
	}
	return solver.Text(s.Packages[pkg].Name + " needs " + strings.Join(all, " or "))
}

// meets returns the packages that meet a relation.
func (s *statement) meets(number int32) []solver.Var {
	if s.known[number] {
		return s.meeting[number]
	}
	r := &s.Relations[number]
	var vars []solver.Var
	for _, v := range s.named[s.Of[number]] {
		if r.met(s.Packages[v-1].Version) {
			vars = append(vars, v)
		}
	}
	for _, o := range s.provided[s.Of[number]] {
		if r.Op == "" || o.version != "" && r.met(o.version) {
			vars = append(vars, o.v)
		}
	}
	s.meeting[number], s.known[number] = vars, true
	return vars
}
