package debian

import (
	"bufio"
	"io"
	"strings"

	"github.com/fairlead/fairlead/solver"
)

// A Package is one paragraph of a Packages file, its relations not yet read.
type Package struct {
	Name, Version, Architecture string
	Depends, Conflicts          []string // the fields that say so
	Provides                    string
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
		}
	}
	end()
	return all, lines.Err()
}

// A Relation is a name, and a condition on its version.
type Relation struct{ Name, Op, Version string }

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

// met reports whether a version is such.
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

// A Fields is what a list says, read: what can be stated at once.
type Fields struct {
	Packages []Package
	Needs    [][][]Relation // by package: all of these, each one of which
	Bars     [][]Relation   // by package
	Offers   [][]Relation   // by package
}

// Parse reads the relations.
func Parse(all []Package) *Fields {
	f := &Fields{Packages: all}
	for _, p := range all {
		var needs [][]Relation
		for _, field := range p.Depends {
			for clause := range strings.SplitSeq(field, ",") {
				var any []Relation
				for alternative := range strings.SplitSeq(clause, "|") {
					any = append(any, relation(alternative))
				}
				needs = append(needs, any)
			}
		}
		f.Needs = append(f.Needs, needs)
		f.Bars = append(f.Bars, list(p.Conflicts...))
		f.Offers = append(f.Offers, list(p.Provides))
	}
	return f
}

func list(fields ...string) []Relation {
	var all []Relation
	for _, field := range fields {
		if field == "" {
			continue
		}
		for item := range strings.SplitSeq(field, ",") {
			all = append(all, relation(item))
		}
	}
	return all
}

// State states the problem: package i is the variable i+1. A dependency prefers
// its alternatives in the order given, of each the packages of that name, then
// those that provide it, in the order of the list.
func (f *Fields) State() *solver.Problem {
	s := &statement{Fields: f, p: &solver.Problem{}, named: make(map[string][]int32, len(f.Packages)), provided: make(map[string][]offer), sets: make(map[Relation][]solver.Var)}
	for i := range f.Packages {
		name := f.Packages[i].Name
		s.p.NewVar(name)
		s.named[name] = append(s.named[name], int32(i))
		for _, o := range f.Offers[i] {
			s.provided[o.Name] = append(s.provided[o.Name], offer{int32(i), o.Version})
		}
	}
	stored := make(map[Relation]solver.Set)
	for i := range f.Packages {
		self := solver.Var(i + 1)
		for _, clause := range f.Needs[i] {
			if len(clause) == 1 {
				set, ok := stored[clause[0]]
				if !ok {
					set = s.p.Set(s.meeting(clause[0]))
					stored[clause[0]] = set
				}
				s.p.DependOn(self, set, nil)
				continue
			}
			var candidates []solver.Var
			for _, r := range clause {
				candidates = append(candidates, s.meeting(r)...)
			}
			s.p.Depend(self, candidates, nil)
		}
		for _, r := range f.Bars[i] {
			for _, other := range s.meeting(r) {
				if other != self {
					s.p.Exclude(self, other, nil)
				}
			}
		}
		if own := s.named[f.Packages[i].Name]; len(own) > 1 && own[0] == int32(i) {
			var vars []solver.Var
			for _, at := range own {
				vars = append(vars, solver.Var(at+1))
			}
			s.p.Limit(1, vars, nil)
		}
	}
	return s.p
}

type statement struct {
	*Fields
	p        *solver.Problem
	named    map[string][]int32
	provided map[string][]offer
	sets     map[Relation][]solver.Var
}

type offer struct {
	pkg     int32
	version string
}

// meeting returns the packages that meet a relation.
func (s *statement) meeting(r Relation) []solver.Var {
	vars, known := s.sets[r]
	if known {
		return vars
	}
	for _, i := range s.named[r.Name] {
		if r.met(s.Packages[i].Version) {
			vars = append(vars, solver.Var(i+1))
		}
	}
	for _, o := range s.provided[r.Name] {
		if r.Op == "" || o.version != "" && r.met(o.version) {
			vars = append(vars, solver.Var(o.pkg+1))
		}
	}
	s.sets[r] = vars
	return vars
}
