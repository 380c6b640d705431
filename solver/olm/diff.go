package olm

import (
	"slices"
	"strings"
)

// Diff is the difference between two answers.
type Diff struct {
	// Added are the bundles that only the second answer chooses, by package.
	Added []Choice `json:"added,omitempty"`
	// Removed are the bundles that only the first answer chooses, by package.
	Removed []Choice `json:"removed,omitempty"`
	// Changed are the packages for which another bundle is chosen, or the same
	// one from another channel or catalog, or in place of another one, by
	// package.
	Changed []ChoiceChange `json:"changed,omitempty"`
	// Subscriptions are those that another operator serves, by name.
	Subscriptions []OutcomeChange `json:"subscriptions,omitempty"`
}

// ChoiceChange is a package for which the choice differs.
type ChoiceChange struct {
	Before Choice `json:"before"` // by the first answer
	After  Choice `json:"after"`  // by the second
}

// OutcomeChange is a subscription that another operator serves. Before or After
// is "" if that answer does not serve it.
type OutcomeChange struct {
	Subscription string `json:"subscription"`     // its name
	Before       string `json:"before,omitempty"` // the CSV that serves it in the first answer
	After        string `json:"after,omitempty"`  // and in the second
}

// Empty reports whether the answers are the same.
func (d *Diff) Empty() bool {
	return len(d.Added) == 0 && len(d.Removed) == 0 && len(d.Changed) == 0 && len(d.Subscriptions) == 0
}

// Diff returns how another answer differs from res. A nil answer chooses
// nothing and serves no subscription.
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

// same reports whether two candidates are the same bundle from the same place,
// regardless of the copy of the catalog they were read from.
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

// outcomes adds the subscriptions that another operator serves.
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

// chosenOf returns the choice for a package, or nil. Chosen is sorted by
// package and has one choice for each.
func (res *Resolution) chosenOf(pkg string) *Choice {
	at, ok := slices.BinarySearchFunc(res.Chosen, pkg, func(c Choice, pkg string) int { return strings.Compare(c.Package, pkg) })
	if !ok {
		return nil
	}
	return &res.Chosen[at]
}
