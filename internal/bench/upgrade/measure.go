package upgrade

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/bench/cudf"
)

// Measure returns the values of an upgrade by the criteria, all of which are to be
// minimized. It shares nothing with the code that finds it.
func Measure(d *cudf.Document, criteria string, installed []int) []int64 {
	in := make([]bool, len(d.Packages))
	for _, i := range installed {
		in[i] = true
	}
	type versions struct {
		had, has int // the installed version, before and after
		newest   int
	}
	byName := make(map[string]versions)
	offered := make(map[string]bool) // by name of a feature
	for i, p := range d.Packages {
		v := byName[p.Name]
		if p.Installed {
			v.had = p.Version
		}
		if in[i] {
			v.has = p.Version
			for _, f := range p.Provides {
				offered[f.Name] = true
			}
		}
		v.newest = max(v.newest, p.Version)
		byName[p.Name] = v
	}
	measured := make(map[string]int64)
	for _, v := range byName {
		if v.had != 0 && v.has == 0 {
			measured["removed"]++
		}
		if v.had == 0 && v.has != 0 {
			measured["new"]++
		}
		if v.had != v.has {
			measured["changed"]++
		}
		if v.has != 0 && v.has != v.newest {
			measured["notuptodate"]++
		}
	}
	for _, i := range installed {
		for _, clause := range d.Packages[i].Recommends {
			if !slices.ContainsFunc(clause, func(r cudf.Relation) bool {
				has := byName[r.Name].has
				return has != 0 && (r.Op == "" || has == r.Version) || r.Op == "" && offered[r.Name]
			}) {
				measured["unsat_recommends"]++
			}
		}
	}
	switch criteria {
	case "paranoid":
		criteria = "-removed,-changed"
	case "trendy":
		criteria = "-removed,-notuptodate,-unsat_recommends,-new"
	}
	var values []int64
	for word := range strings.SplitSeq(criteria, ",") {
		values = append(values, measured[strings.TrimPrefix(word, "-")])
	}
	return values
}
