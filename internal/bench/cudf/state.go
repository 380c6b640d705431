package cudf

import (
	"cmp"
	"slices"

	"github.com/fairlead/fairlead/solver"
)

// A universe is a document stated as a problem: package i is the variable i+1.
type universe struct {
	doc      *Document
	p        *solver.Problem
	named    map[string][]int // packages by name, the newest first
	provided map[string][]offer
	names    []string // in the order of their first package
	memory   map[Relation][]solver.Var
}

// An offer is a feature that a package provides.
type offer struct {
	pkg     int
	all     bool // all versions of it
	version int
}

// reason is the reason for a constraint.
type reason string

func (r reason) String() string { return string(r) }

// state states the document, without criteria.
func (d *Document) state() *universe {
	u := &universe{doc: d, p: &solver.Problem{}, named: make(map[string][]int), provided: make(map[string][]offer), memory: make(map[Relation][]solver.Var)}
	for i := range d.Packages {
		pkg := &d.Packages[i]
		u.p.NewVar(Relation{pkg.Name, "=", pkg.Version}.String())
		if u.named[pkg.Name] == nil {
			u.names = append(u.names, pkg.Name)
		}
		u.named[pkg.Name] = append(u.named[pkg.Name], i)
		for _, f := range pkg.Provides {
			u.provided[f.Name] = append(u.provided[f.Name], offer{i, f.Op == "", f.Version})
		}
	}
	for _, own := range u.named {
		slices.SortFunc(own, func(i, j int) int { return cmp.Compare(d.Packages[j].Version, d.Packages[i].Version) })
	}
	u.request()
	for i := range d.Packages {
		u.demands(i)
	}
	return u
}

// meeting returns the packages that meet a relation: those with its name, the
// newest first, and then those that provide it, in the order of the document.
func (u *universe) meeting(r Relation) []solver.Var {
	if vars, ok := u.memory[r]; ok {
		return vars
	}
	var vars []solver.Var
	for _, i := range u.named[r.Name] {
		if r.met(u.doc.Packages[i].Version) {
			vars = append(vars, solver.Var(i+1))
		}
	}
	for _, o := range u.provided[r.Name] {
		if v := solver.Var(o.pkg + 1); (o.all && r.some() || !o.all && r.met(o.version)) && !slices.Contains(vars, v) {
			vars = append(vars, v)
		}
	}
	u.memory[r] = vars
	return vars
}

func (u *universe) anyOf(c Clause) []solver.Var {
	if len(c) == 1 {
		return u.meeting(c[0])
	}
	var vars []solver.Var
	for _, r := range c {
		vars = append(vars, u.meeting(r)...)
	}
	return vars
}

func yes(vars []solver.Var) []solver.Lit {
	lits := make([]solver.Lit, len(vars))
	for i, v := range vars {
		lits[i] = v.Yes()
	}
	return lits
}

// demands adds what a package demands.
func (u *universe) demands(i int) {
	pkg, self := &u.doc.Packages[i], solver.Var(i+1)
	for _, c := range pkg.Depends {
		u.p.Depend(self, u.anyOf(c), nil)
	}
	for _, r := range pkg.Conflicts {
		for _, other := range u.meeting(r) {
			if other != self {
				u.p.Exclude(self, other, nil)
			}
		}
	}
	if !pkg.Installed {
		return
	}
	switch pkg.Keep {
	case KeepVersion:
		u.p.Require(self, reason(pkg.Name+" is to be kept in its version"))
	case KeepPackage:
		u.p.Any(yes(u.meetingName(pkg.Name)), reason(pkg.Name+" is to be kept"))
	case KeepFeature:
		for _, f := range pkg.Provides {
			u.p.Any(yes(u.providing(f)), reason(f.String()+" is to be kept"))
		}
	}
}

// meetingName returns the packages with the given name, the newest first.
func (u *universe) meetingName(name string) []solver.Var {
	var vars []solver.Var
	for _, i := range u.named[name] {
		vars = append(vars, solver.Var(i+1))
	}
	return vars
}

// providing returns the packages that provide a feature: all versions of it if
// f has no version.
func (u *universe) providing(f Relation) []solver.Var {
	var vars []solver.Var
	for _, o := range u.provided[f.Name] {
		if o.all || f.Op != "" && o.version == f.Version {
			vars = append(vars, solver.Var(o.pkg+1))
		}
	}
	if f.Op != "" {
		for _, i := range u.named[f.Name] {
			if u.doc.Packages[i].Version == f.Version {
				vars = append(vars, solver.Var(i+1))
			}
		}
	}
	return vars
}

// request adds what is requested.
func (u *universe) request() {
	for _, r := range u.doc.Request.Install {
		u.p.Any(yes(u.meeting(r)), reason("install "+r.String()))
	}
	for _, r := range u.doc.Request.Remove {
		for _, v := range u.meeting(r) {
			u.p.Forbid(v, reason("remove "+r.String()))
		}
	}
	for _, r := range u.doc.Request.Upgrade {
		u.upgrade(r)
	}
}

// upgrade adds that exactly one version is installed, and none older than
// before, of the package and the feature with that name.
func (u *universe) upgrade(r Relation) {
	why := reason("upgrade " + r.String())
	newest := 0
	for _, i := range u.named[r.Name] {
		if p := &u.doc.Packages[i]; p.Installed {
			newest = max(newest, p.Version)
		}
	}
	for _, o := range u.provided[r.Name] {
		if u.doc.Packages[o.pkg].Installed && o.all { // no version is as new as all of them
			u.p.Any(nil, why+": all versions of it were installed")
			return
		}
		if u.doc.Packages[o.pkg].Installed {
			newest = max(newest, o.version)
		}
	}
	u.p.Any(yes(u.meeting(r)), why)
	byVersion := make(map[int][]solver.Var)
	var versions []int
	add := func(version int, v solver.Var) {
		if version < newest {
			u.p.Forbid(v, why)
		}
		if byVersion[version] == nil {
			versions = append(versions, version)
		}
		byVersion[version] = append(byVersion[version], v)
	}
	for _, i := range u.named[r.Name] {
		add(u.doc.Packages[i].Version, solver.Var(i+1))
	}
	for _, o := range u.provided[r.Name] {
		if o.all {
			u.p.Forbid(solver.Var(o.pkg+1), why) // all versions are more than one
			continue
		}
		add(o.version, solver.Var(o.pkg+1))
	}
	for i, a := range versions {
		for _, b := range versions[:i] {
			for _, v := range byVersion[a] {
				for _, w := range byVersion[b] {
					u.p.Exclude(v, w, why)
				}
			}
		}
	}
}
