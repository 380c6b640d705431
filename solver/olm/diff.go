package olm

import (
	"slices"
	"strings"
)

// Diff is how two answers differ.
type Diff struct {
	// Added is chosen only by the second answer, by package.
	Added []Choice `json:"added,omitempty"`
	// Removed is chosen only by the first, by package.
	Removed []Choice `json:"removed,omitempty"`
	// Changed are packages of which another bundle is chosen, or the same from
	// another channel or catalog, or in place of another, by package.
	Changed []ChoiceChange `json:"changed,omitempty"`
	// Subscriptions are those that are served otherwise, by name.
	Subscriptions []OutcomeChange `json:"subscriptions,omitempty"`
}

// ChoiceChange is a package of which another bundle is chosen.
type ChoiceChange struct {
	Before Choice `json:"before"` // by the first answer
	After  Choice `json:"after"`  // by the second
}

// OutcomeChange is a subscription that another operator serves. Before or After
// is "" where the answer does not serve it.
type OutcomeChange struct {
	Subscription string `json:"subscription"`     // its name
	Before       string `json:"before,omitempty"` // the CSV that serves it in the first answer
	After        string `json:"after,omitempty"`  // and in the second
}

// Empty reports whether the answers are the same.
func (d *Diff) Empty() bool {
	return len(d.Added) == 0 && len(d.Removed) == 0 && len(d.Changed) == 0 && len(d.Subscriptions) == 0
}

// Diff tells how another answer differs from res. A nil answer is one that
// chooses nothing and serves nobody.
func (res *Resolution) Diff(other *Resolution) *Diff {
	if res == nil {
		res = &Resolution{}
	}
	if other == nil {
		other = &Resolution{}
	}
	d := &Diff{}
	for _, before := range res.Chosen {
		after := other.chosenOf(before.Package)
		switch {
		case after == nil:
			d.Removed = append(d.Removed, before)
		case !before.same(after.Candidate) || before.Replaces != after.Replaces || before.Updates != after.Updates:
			d.Changed = append(d.Changed, ChoiceChange{before, *after})
		}
	}
	for _, after := range other.Chosen {
		if res.chosenOf(after.Package) == nil {
			d.Added = append(d.Added, after)
		}
	}
	d.outcomes(res.Subscriptions, other.Subscriptions)
	return d
}

// same reports whether two candidates are one bundle from one place, whichever
// copy of the catalog they were read from.
func (c Candidate) same(o Candidate) bool {
	image := func(c Candidate) string {
		if c.Bundle == nil {
			return ""
		}
		return c.Bundle.Image()
	}
	return c.Package == o.Package && c.Channel == o.Channel && c.Name == o.Name && c.Version == o.Version &&
		c.Source == o.Source && image(c) == image(o)
}

// outcomes tells which subscriptions are served otherwise.
func (d *Diff) outcomes(a, b []Outcome) {
	served := make(map[string]*OutcomeChange)
	var all []*OutcomeChange
	of := func(name string) *OutcomeChange {
		if served[name] == nil {
			served[name] = &OutcomeChange{Subscription: name}
			all = append(all, served[name])
		}
		return served[name]
	}
	for _, o := range a {
		of(o.Subscription).Before = o.Operator
	}
	for _, o := range b {
		of(o.Subscription).After = o.Operator
	}
	for _, c := range all {
		if c.Before != c.After {
			d.Subscriptions = append(d.Subscriptions, *c)
		}
	}
	slices.SortFunc(d.Subscriptions, func(a, b OutcomeChange) int { return strings.Compare(a.Subscription, b.Subscription) })
}

// chosenOf returns what is chosen of a package, or nil. Chosen is sorted by
// package, and has one of each.
func (res *Resolution) chosenOf(pkg string) *Choice {
	at, ok := slices.BinarySearchFunc(res.Chosen, pkg, func(c Choice, pkg string) int { return strings.Compare(c.Package, pkg) })
	if !ok {
		return nil
	}
	return &res.Chosen[at]
}
