package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver"
)

// set is a set of packages as the solver sees it.
type set struct {
	solver.Problem
	versions map[string][]solver.Var // by package, best first: in the order of the file
}

// fact is a line of the file: what it says is the reason of a constraint.
type fact struct {
	line  int
	words []string
}

// read reads packages, a line a fact:
//
//	want app
//	app-1 needs web db-5
//	db-5
//
// A name with a hyphen is a version of a package. What is wanted or needed is
// a version, or a package, of which any version will do, earlier ones rather
// than later ones. Of each package at most one version is picked. Empty lines
// and what follows a # are skipped.
func read(r io.Reader) (*set, error) {
	s := &set{versions: map[string][]solver.Var{}}
	var facts []fact
	var packages []string
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		facts = append(facts, fact{n, words})
		name, _, isVersion := strings.Cut(words[0], "-")
		if !isVersion {
			continue
		}
		if _, known := s.Lookup(words[0]); known {
			return nil, fmt.Errorf("line %d: %s is there already", n, words[0])
		}
		if len(s.versions[name]) == 0 {
			packages = append(packages, name)
		}
		s.versions[name] = append(s.versions[name], s.Var(words[0]))
	}
	for _, f := range facts {
		if err := s.add(f); err != nil {
			return nil, fmt.Errorf("line %d: %w", f.line, err)
		}
	}
	for _, name := range packages {
		s.Limit(1, s.versions[name], solver.Text("there can be but one "+name))
	}
	return s, lines.Err()
}

func (s *set) add(f fact) error {
	words := f.words
	switch {
	case words[0] == "want" && len(words) > 1:
		for _, name := range words[1:] {
			vs, err := s.find(name)
			if err != nil {
				return err
			}
			s.Any(lits(vs), solver.Text(name+" is wanted"))
		}
	case strings.Contains(words[0], "-") && (len(words) == 1 || len(words) > 2 && words[1] == "needs"):
		v, _ := s.Lookup(words[0])
		for _, name := range words[min(2, len(words)):] {
			vs, err := s.find(name)
			if err != nil {
				return err
			}
			s.Depend(v, vs, solver.Text(words[0]+" needs "+name))
		}
	default:
		return fmt.Errorf("%q is neither want PACKAGE ... nor PACKAGE-VERSION [needs PACKAGE ...]", strings.Join(words, " "))
	}
	return nil
}

// find returns the versions that a name stands for, best first.
func (s *set) find(name string) ([]solver.Var, error) {
	if v, ok := s.Lookup(name); ok {
		return []solver.Var{v}, nil
	}
	if vs := s.versions[name]; len(vs) > 0 {
		return vs, nil
	}
	return nil, fmt.Errorf("there is no %s", name)
}

func lits(vs []solver.Var) []solver.Lit {
	all := make([]solver.Lit, len(vs))
	for i, v := range vs {
		all[i] = v.Yes()
	}
	return all
}

// names returns what is selected, by name, in the order of the file.
func (s *set) names(solution *solver.Solution) []string {
	var all []string
	for v := range solution.Selected() {
		all = append(all, s.Name(v))
	}
	return all
}

// change says how one selection differs from another: first what is lost.
func change(from, to []string) string {
	lost := without(from, to)
	gained := without(to, from)
	switch {
	case len(lost) == 0 && len(gained) == 0:
		return "no change"
	case len(gained) == 0:
		return "no more " + strings.Join(lost, ", ")
	case len(lost) == 0:
		return "also " + strings.Join(gained, ", ")
	}
	return strings.Join(gained, ", ") + " instead of " + strings.Join(lost, ", ")
}

func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}
