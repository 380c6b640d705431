package olm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver"
)

// Resolve decides what to install or update in a namespace.
//
// The answer is the best of all that satisfy every rule, in this order of
// preference:
//
//  1. Installed operators that no subscription refers to stay, in any case.
//  2. Subscriptions are served in order (see Options.KeepOrder), each by the
//     first of its candidates that is compatible with the earlier choices: the
//     default channel before the others, which are taken by name; within a
//     channel from the head down its replacement chain. The installed operator
//     is the last resort.
//  3. Then the requirements of what was picked are met, breadth first, in
//     property order. A requirement that a picked operator meets is done.
//     Otherwise, the candidates are installed operators by name, the requiring
//     bundle's own catalog, catalogs of higher priority, those of the request's
//     namespace, the others by name; within a catalog default channels first,
//     then by package and channel, each from its head.
//
// Options.Objectives take precedence over this order.
//
// The rules: every requirement of what is chosen or stays is met, no two
// operators are of one package, no two provide one API, nothing deprecated,
// malformed or forbidden is chosen, and an update replaces the operator that it
// updates. Before an answer is returned, it is checked against the catalogs by
// code that has no part in finding it.
//
// The errors are *UnsatError if nothing satisfies the rules, *ChannelError and
// *SourceError if a catalog that matters cannot be used, *rule.BudgetError if
// rules cost too much, *solver.IncompleteError if the context or a limit ended
// the search, and others for a malformed request.
func (r *Resolver) Resolve(ctx context.Context, req *Request) (*Resolution, error) {
	ctx, end := r.budgeted(ctx)
	q, err := r.begin(ctx, req)
	if err != nil {
		return nil, end(err)
	}
	res, err := q.resolve(ctx)
	return res, end(err)
}

func (q *query) resolve(ctx context.Context) (*Resolution, error) {
	selected, err := q.solve(ctx)
	var unsat *UnsatError
	switch {
	case errors.As(err, &unsat) && q.opts.PartialOK:
		p, err := q.solveParts(ctx, unsat.problem)
		if err != nil {
			return nil, err
		}
		return q.resultOf(ctx, p)
	case err != nil:
		return nil, err
	}
	return q.result(ctx, selected)
}

// solve returns the chosen entries and the installed ones that stay.
func (q *query) solve(ctx context.Context) ([]*entry, error) {
	n, err := q.encode(ctx)
	if err != nil {
		return nil, err
	}
	return q.decide(ctx, n)
}

// decide solves the query's problem and checks the answer.
func (q *query) decide(ctx context.Context, n *encoding) ([]*entry, error) {
	solution, err := q.best(ctx, n)
	var unsat *solver.UnsatError
	if errors.As(err, &unsat) {
		return nil, &UnsatError{Namespace: q.req.Namespace, problem: n, conflict: unsat}
	}
	if err != nil {
		return nil, err
	}
	selected := n.selection(solution)
	if err := q.check(ctx, selected); err != nil {
		return nil, fmt.Errorf("the answer found is wrong, and was not returned: %w", err)
	}
	return selected, nil
}

// selection returns the entries that a solution selects.
func (n *encoding) selection(solution *solver.Solution) []*entry {
	var selected []*entry
	for _, e := range n.reached {
		if solution.Has(n.vars[e]) {
			selected = append(selected, e)
		}
	}
	return selected
}

// answer is a selection with the data that describes it.
type answer struct {
	*query
	selected  []*entry
	has       map[*entry]bool
	installed map[string]bool            // names of CSVs
	subsOf    map[string][]*subscription // by package
	requires  map[*entry][]Requirement   // requirements of others, by the entry that meets them
	trials    int                        // trial resolutions to find reasons
}

func (q *query) newAnswer(ctx context.Context, selected []*entry) *answer {
	a := &answer{query: q, selected: selected, has: make(map[*entry]bool), installed: make(map[string]bool),
		subsOf: make(map[string][]*subscription), requires: make(map[*entry][]Requirement)}
	for _, e := range q.installed {
		a.installed[e.name] = true
	}
	for _, s := range q.subs {
		a.subsOf[s.Spec.Package] = append(a.subsOf[s.Spec.Package], s)
	}
	a.relate(ctx)
	return a
}

// chosen describes what is new, in order.
func (a *answer) chosen() []Choice {
	var all []Choice
	for _, e := range a.selected {
		if !e.isInstalled() && !a.installed[e.name] {
			all = append(all, a.choice(e))
		}
	}
	slices.SortFunc(all, Choice.compare)
	return all
}

// result describes the answer.
func (q *query) result(ctx context.Context, selected []*entry) (*Resolution, error) {
	a := q.newAnswer(ctx, selected)
	res := &Resolution{Chosen: a.chosen(), Warnings: slices.Clip(q.warnings)}
	for i := range res.Chosen {
		if c := &res.Chosen[i]; len(c.Subscriptions) == 0 {
			res.Generated = append(res.Generated, generate(c, q.req.Namespace))
		}
	}
	for _, s := range q.subs {
		o, err := a.outcome(ctx, s)
		if err != nil {
			return nil, err
		}
		res.Subscriptions = append(res.Subscriptions, o)
		if text := s.lint(a.serving(s)); text != "" {
			res.Warnings = append(res.Warnings, Warning{Subject: "subscription " + s.Name, Text: text})
		}
	}
	for i := range res.Chosen {
		res.Warnings = append(res.Warnings, res.Chosen[i].deprecated()...)
	}
	res.Warnings = append(res.Warnings, q.leftOut()...)
	return res, nil
}

// leftOut returns warnings about the channels that could not be used and were
// not needed.
func (q *query) leftOut() []Warning {
	var all []Warning
	for broken := range q.left {
		all = append(all, Warning{Subject: "channel " + broken.Channel + " of package " + broken.Package, Text: broken.Error() + "; what it offers was left out"})
	}
	slices.SortFunc(all, func(a, b Warning) int {
		return cmp.Or(strings.Compare(a.Subject, b.Subject), strings.Compare(a.Text, b.Text))
	})
	return all
}

// relate finds which selected operator meets which requirements of others.
func (a *answer) relate(ctx context.Context) {
	byAPI := make(map[catalog.GVK]*entry)
	byPackage := make(map[string]*entry)
	for _, e := range a.selected {
		a.has[e] = true
		for _, g := range e.facts().gvks {
			byAPI[g] = e
		}
		for _, p := range e.facts().packages {
			byPackage[p.name] = e
		}
	}
	for _, by := range a.selected {
		for _, n := range by.facts().needs {
			among := a.selected
			switch {
			case n.banned != nil:
				among = nil
			case n.gvk != nil:
				among = []*entry{byAPI[*n.gvk]}
			case n.pkg != "" && byPackage[n.pkg] != nil:
				among = []*entry{byPackage[n.pkg]}
			}
			for _, e := range among {
				if ok, _ := n.metBy(ctx, e.pkg, e.facts()); ok && by != e {
					a.requires[e] = append(a.requires[e], Requirement{Operator: by.name, Text: n.String()})
				}
			}
		}
	}
}

// choice describes a chosen entry.
func (a *answer) choice(e *entry) Choice {
	c := newChoice(e, a.subsOf[e.pkg])
	c.RequiredBy = a.requires[e]
	slices.SortStableFunc(c.RequiredBy, func(a, b Requirement) int { return strings.Compare(a.Operator, b.Operator) })
	return c
}

// newChoice describes a chosen entry, except for what requires it.
func newChoice(e *entry, subs []*subscription) Choice {
	c := Choice{Candidate: candidateOf(e), Replaces: e.replaces}
	for _, s := range subs {
		if s.Spec.Package != e.pkg {
			continue
		}
		update := s.current != nil && slices.Contains(s.candidates, e)
		if update {
			c.Replaces, c.Updates = s.current.name, s.current.name
		}
		if s.current == nil && s.Spec.StartingCSV == e.name {
			c.StartingCSV = e.name
		}
		if update || s.refersTo(e) {
			c.Subscriptions = append(c.Subscriptions, s.Name)
		}
	}
	return c
}

// refersTo reports whether a subscription is for a bundle: it names its package
// and, if it names them, its channel and its catalog.
func (s *subscription) refersTo(e *entry) bool {
	return s.Spec.Package == e.pkg &&
		(s.Spec.Channel == "" || s.Spec.Channel == e.channel.name) &&
		(s.Source() == SourceKey{} || s.Source() == e.source.SourceKey)
}

// generate returns the subscription that keeps a dependency up to date.
func generate(c *Choice, namespace string) Subscription {
	name := strings.Join([]string{c.Package, c.Channel, c.Source.Name, c.Source.Namespace}, "-")
	return Subscription{
		ObjectMeta: ObjectMeta{Name: strings.TrimSuffix(name, "-"), Namespace: namespace},
		Spec: SubscriptionSpec{
			Package:             c.Package,
			Channel:             c.Channel,
			Source:              c.Source.Name,
			SourceNamespace:     c.Source.Namespace,
			StartingCSV:         c.Name,
			InstallPlanApproval: ApprovalAutomatic,
		},
	}
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[K comparable, V any](m map[K]V, compare func(a, b K) int) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compare)
	return keys
}

func compareGVK(a, b catalog.GVK) int {
	return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Version, b.Version), strings.Compare(a.Kind, b.Kind))
}
