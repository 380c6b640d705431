package cudf_test

import (
	"slices"

	"github.com/fairlead/fairlead/internal/bench/cudf"
)

// This file contains the oracle: the specification implemented word for word,
// on sets of packages.

// A judge looks at a document with some of its packages installed.
type judge struct {
	doc *cudf.Document
	in  []bool
}

func meets(r cudf.Relation, version int) bool {
	switch r.Op {
	case "":
		return true
	case "=":
		return version == r.Version
	case "!=":
		return version != r.Version
	case "<":
		return version < r.Version
	case "<=":
		return version <= r.Version
	case ">":
		return version > r.Version
	}
	return version >= r.Version
}

// offers reports whether a package meets a relation, as itself or by what it
// provides.
func offers(p *cudf.Package, r cudf.Relation) bool {
	return p.Name == r.Name && meets(r, p.Version) || slices.ContainsFunc(p.Provides, func(f cudf.Relation) bool {
		if f.Op == "" { // all versions, from 1 on
			return f.Name == r.Name && (meets(r, 1) || meets(r, r.Version) || meets(r, r.Version+1))
		}
		return f.Name == r.Name && meets(r, f.Version)
	})
}

func (j *judge) some(good func(i int, p *cudf.Package) bool) bool {
	for i := range j.doc.Packages {
		if j.in[i] && good(i, &j.doc.Packages[i]) {
			return true
		}
	}
	return false
}

func (j *judge) met(r cudf.Relation) bool {
	return j.some(func(_ int, p *cudf.Package) bool { return offers(p, r) })
}

func (j *judge) metClause(c cudf.Clause) bool { return slices.ContainsFunc(c, j.met) }

// valid reports whether the packages that are in may be installed together, and
// are what was requested.
func (j *judge) valid() bool {
	for i := range j.doc.Packages {
		p := &j.doc.Packages[i]
		if j.in[i] {
			for _, c := range p.Depends {
				if !j.metClause(c) {
					return false
				}
			}
			for _, r := range p.Conflicts {
				if j.some(func(k int, other *cudf.Package) bool { return k != i && offers(other, r) }) {
					return false
				}
			}
		}
		if p.Installed && !j.kept(i, p) {
			return false
		}
	}
	for _, r := range j.doc.Request.Install {
		if !j.met(r) {
			return false
		}
	}
	for _, r := range j.doc.Request.Remove {
		if j.met(r) {
			return false
		}
	}
	return !slices.ContainsFunc(j.doc.Request.Upgrade, func(r cudf.Relation) bool { return !j.upgraded(r) })
}

func (j *judge) kept(i int, p *cudf.Package) bool {
	switch p.Keep {
	case cudf.KeepVersion:
		return j.in[i]
	case cudf.KeepPackage:
		return j.some(func(_ int, other *cudf.Package) bool { return other.Name == p.Name })
	case cudf.KeepFeature:
		for _, f := range p.Provides {
			if !j.some(func(_ int, other *cudf.Package) bool {
				for _, g := range other.Provides {
					if g.Name == f.Name && (g.Op == "" || f.Op != "" && g.Version == f.Version) {
						return true
					}
				}
				return f.Op != "" && other.Name == f.Name && other.Version == f.Version
			}) {
				return false
			}
		}
	}
	return true
}

// versions returns the installed versions of a package or feature; ok is false
// if all versions of it are there.
func versions(doc *cudf.Document, in func(i int) bool, name string) (all []int, ok bool) {
	ok = true
	for i := range doc.Packages {
		p := &doc.Packages[i]
		if !in(i) {
			continue
		}
		if p.Name == name {
			all = append(all, p.Version)
		}
		for _, f := range p.Provides {
			if f.Name == name {
				ok = ok && f.Op != ""
				all = append(all, f.Version)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), ok
}

func (j *judge) upgraded(r cudf.Relation) bool {
	now, one := versions(j.doc, func(i int) bool { return j.in[i] }, r.Name)
	before, some := versions(j.doc, func(i int) bool { return j.doc.Packages[i].Installed }, r.Name)
	return j.met(r) && one && some && len(now) == 1 && (len(before) == 0 || now[0] >= before[len(before)-1])
}

// measure returns the value of a criterion.
func (j *judge) measure(c cudf.Criterion) int64 {
	n := int64(0)
	seen := make(map[string]bool)
	for i := range j.doc.Packages {
		p := &j.doc.Packages[i]
		switch c.Measure {
		case "unsat_recommends":
			for _, clause := range p.Recommends {
				if j.in[i] && !j.metClause(clause) {
					n++
				}
			}
			continue
		case "sum(size)":
			if j.in[i] {
				n += p.Numbers["size"]
			}
			continue
		}
		if seen[p.Name] {
			continue
		}
		seen[p.Name] = true
		if j.counts(c.Measure, p.Name) {
			n++
		}
	}
	return n
}

func (j *judge) counts(measure, name string) bool {
	was, is, changed, newest, latest := false, false, false, 0, false
	for i := range j.doc.Packages {
		if p := &j.doc.Packages[i]; p.Name == name {
			was = was || p.Installed
			is = is || j.in[i]
			changed = changed || p.Installed != j.in[i]
			if p.Version > newest {
				newest, latest = p.Version, j.in[i]
			}
		}
	}
	switch measure {
	case "removed":
		return was && !is
	case "new":
		return !was && is
	case "changed":
		return changed
	}
	return is && !latest // notuptodate
}

// values returns the values of criteria, such that less is better.
func (j *judge) values(all []cudf.Criterion) []int64 {
	var values []int64
	for _, c := range all {
		v := j.measure(c)
		if c.Much {
			v = -v
		}
		values = append(values, v)
	}
	return values
}
