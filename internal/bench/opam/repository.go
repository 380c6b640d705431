package opam

import (
	"archive/tar"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/bench/cudf"
	"github.com/fairlead/fairlead/internal/bench/debian"
	"github.com/fairlead/fairlead/solver"
)

// A Package is one version of a package that is available.
type Package struct {
	Name    string   // of the package
	Version string   // in opam's order
	Needs   []clause // all of these, in the order of the file
	Wants   []clause // what it uses if that is installed
	Bars    []atom   // what must not be installed with it
	Classes []string // at most one package of each may be installed
}

// A Repository contains packages by name, the newest version of each first.
type Repository struct {
	Packages []Package // by name, the newest version first
	Files    int       // how many there were, available or not
	named    map[string][]int
}

// Read reads the packages of the last commit of a clone.
func Read(dir string) (*Repository, error) {
	raw, err := exec.Command("git", "-C", dir, "archive", "HEAD", "packages").Output()
	if err != nil {
		return nil, fmt.Errorf("opam: the packages of %s: %w", dir, err)
	}
	r := &Repository{named: make(map[string][]int)}
	files := tar.NewReader(bytes.NewReader(raw))
	for {
		head, err := files.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		full, ok := strings.CutSuffix(head.Name, "/opam")
		if !ok {
			continue
		}
		name, version, _ := strings.Cut(full[strings.LastIndexByte(full, '/')+1:], ".")
		text, err := io.ReadAll(files)
		if err != nil {
			return nil, err
		}
		r.Files++
		fields, err := parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", head.Name, err)
		}
		if p, available := read(name, version, fields); available {
			r.Packages = append(r.Packages, p)
		}
	}
	slices.SortStableFunc(r.Packages, func(a, b Package) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), debian.CompareRuns(b.Version, a.Version))
	})
	for i, p := range r.Packages {
		r.named[p.Name] = append(r.named[p.Name], i)
	}
	return r, nil
}

func read(name, version string, fields map[string]*node) (p Package, available bool) {
	p = Package{Name: name, Version: version}
	in := reading{version}
	if f := fields["available"]; f != nil {
		if f.kind == "list" && len(f.parts) == 1 {
			f = f.parts[0]
		}
		if in.filter(f) != yes {
			return p, false
		}
	}
	if f := fields["depends"]; f != nil {
		p.Needs = in.clauses(f)
	}
	if f := fields["depopts"]; f != nil {
		p.Wants = in.clauses(f)
	}
	if f := fields["conflicts"]; f != nil {
		p.Bars = in.atoms(f)
	}
	if f := fields["conflict-class"]; f != nil {
		for _, a := range in.atoms(f) {
			p.Classes = append(p.Classes, a.name)
		}
	}
	return p, true
}

// meeting returns the packages that meet an atom, the newest first.
func (r *Repository) meeting(a atom) []int {
	var all []int
	for _, i := range r.named[a.name] {
		if a.met == nil || a.met(r.Packages[i].Version) {
			all = append(all, i)
		}
	}
	return all
}

// candidates returns the packages that meet a clause.
func (r *Repository) candidates(c clause) []int {
	var all []int
	for _, a := range c {
		all = append(all, r.meeting(a)...)
	}
	return all
}

// String returns what is needed, in the words of the file except for versions.
func (c clause) String() string {
	var names []string
	for _, a := range c {
		text := a.name
		if a.met != nil {
			text += " in some versions"
		}
		names = append(names, text)
	}
	return strings.Join(names, " or ")
}

// groups returns the groups of which at most one may be installed: the versions of
// each package, and the packages of each class.
func (r *Repository) groups() [][]int {
	var all [][]int
	classes := make(map[string][]int)
	var names []string
	for i, p := range r.Packages {
		if own := r.named[p.Name]; len(own) > 1 && own[0] == i {
			all = append(all, own)
		}
		for _, c := range p.Classes {
			if classes[c] == nil {
				names = append(names, c)
			}
			classes[c] = append(classes[c], i)
		}
	}
	for _, c := range names {
		all = append(all, classes[c])
	}
	return all
}

// State states the problem: package i is the variable i+1.
func (r *Repository) State() *solver.Problem {
	p := &solver.Problem{}
	for _, own := range r.Packages {
		p.NewVar(own.Name + "." + own.Version)
	}
	vars := func(list []int) []solver.Var {
		all := make([]solver.Var, len(list))
		for i, at := range list {
			all[i] = solver.Var(at + 1)
		}
		return all
	}
	sets := make(map[string]solver.Set)
	for i := range r.Packages {
		own := &r.Packages[i]
		for _, c := range own.Needs {
			found := vars(r.candidates(c))
			key := fmt.Sprint(found)
			if sets[key] == 0 {
				sets[key] = p.Set(found)
			}
			p.DependOn(solver.Var(i+1), sets[key], solver.Text(p.Name(solver.Var(i+1))+" needs "+c.String()))
		}
		for _, a := range own.Bars {
			for _, other := range r.meeting(a) {
				if r.Packages[other].Name != own.Name {
					p.Exclude(solver.Var(i+1), solver.Var(other+1), nil)
				}
			}
		}
	}
	for _, group := range r.groups() {
		p.Limit(1, vars(group), nil)
	}
	return p
}

// Newest returns the newest version of each package.
func (r *Repository) Newest() []solver.Var {
	var all []solver.Var
	for i, p := range r.Packages {
		if r.named[p.Name][0] == i {
			all = append(all, solver.Var(i+1))
		}
	}
	return all
}

// Document returns the packages for which in returns true as a document: the names
// are numbers, and the versions count from the oldest.
func (r *Repository) Document(in func(i int) bool) *cudf.Document {
	d := &cudf.Document{}
	numbers := make(map[string]int)
	relation := func(i int) cudf.Relation {
		name := r.Packages[i].Name
		if numbers[name] == 0 {
			numbers[name] = len(numbers) + 1
		}
		own := r.named[name]
		return cudf.Relation{Name: fmt.Sprint("p", numbers[name]), Op: "=", Version: own[0] + len(own) - i}
	}
	classes := make(map[string]int)
	for i := range r.Packages {
		if !in(i) {
			continue
		}
		own := &r.Packages[i]
		self := relation(i)
		p := cudf.Package{Name: self.Name, Version: self.Version, Conflicts: []cudf.Relation{{Name: self.Name}}}
		for _, c := range own.Needs {
			var found []int
			for _, at := range r.candidates(c) {
				if in(at) {
					found = append(found, at)
				}
			}
			if n := len(found); n > 1 && len(c) == 1 && found[n-1]-found[0] == n-1 {
				// Versions without a gap: two clauses, since a package has one version.
				first, last := relation(found[n-1]), relation(found[0])
				first.Op, last.Op = ">=", "<="
				p.Depends = append(p.Depends, cudf.Clause{first}, cudf.Clause{last})
				continue
			}
			var clause cudf.Clause
			for _, at := range found {
				clause = append(clause, relation(at))
			}
			p.Depends = append(p.Depends, clause)
		}
		for _, c := range own.Wants {
			var clause cudf.Clause
			for _, at := range r.candidates(c) {
				if in(at) {
					clause = append(clause, relation(at))
				}
			}
			if clause != nil {
				p.Recommends = append(p.Recommends, clause)
			}
		}
		for _, a := range own.Bars {
			for _, at := range r.meeting(a) {
				if in(at) && r.Packages[at].Name != own.Name {
					p.Conflicts = append(p.Conflicts, relation(at))
				}
			}
		}
		for _, c := range own.Classes {
			if classes[c] == 0 {
				classes[c] = len(classes) + 1
			}
			feature := cudf.Relation{Name: fmt.Sprint("c", classes[c])}
			p.Provides, p.Conflicts = append(p.Provides, feature), append(p.Conflicts, feature)
		}
		d.Packages = append(d.Packages, p)
	}
	return d
}
