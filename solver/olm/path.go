package olm

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// Target is the goal for a package: a bundle, a version or, with neither, the
// head of the channel that its subscription names (the default channel if it
// names none).
type Target struct {
	Package string `json:"package"`           // the package; the request must have a subscription to it
	Name    string `json:"name,omitempty"`    // the name of a bundle
	Version string `json:"version,omitempty"` // or a version, read tolerantly
}

// String returns, for example, "package a at version 1.2.3".
func (t Target) String() string {
	switch {
	case t.Name != "":
		return "package " + t.Package + " at " + t.Name
	case t.Version != "":
		return "package " + t.Package + " at version " + t.Version
	}
	return "package " + t.Package + " at the head of its channel"
}

// PathOptions limit the search for a path. The zero value, like nil, suits most
// uses.
type PathOptions struct {
	// MaxStates is the maximum number of states of the namespace that are looked
	// at. 0 means 20,000, less than 0 no limit.
	MaxStates int
}

// Path leads to its targets in the fewest hops. It has no hops if they are
// already reached.
type Path struct {
	Hops []Hop `json:"hops"` // in order
}

// Hop is one step of a path: what one install plan does.
type Hop struct {
	// Chosen is what is installed, newly or as an update, by package.
	Chosen []Choice `json:"chosen"`
	// Installed are the names of all CSVs installed after it, sorted.
	Installed []string `json:"installed"`
}

// UpgradePath finds how to take packages to their targets. Each hop is an
// answer that the rules of Resolve allow: an operator moves along at most one
// edge of its channel, and after every hop all requirements are met, no two
// operators are of one package, and no two provide one API. The path is the
// best by this order:
//
//  1. It has as few hops as possible. Independent operators move at the same
//     time, each in as few hops as possible.
//  2. In each hop, from the first: the subscriptions of the targets are served
//     in order, with the preferences of Resolve; the others stay if they can,
//     and otherwise move with the preferences of Resolve.
//
// A target that is already reached is kept; its operators move only if they cannot
// stay as they are.
//
// Dependencies that a hop adds are updated along the channel that they were
// taken from, like the subscriptions that Resolve generates for them.
//
// Cost: it looks at all states that can be reached in fewer hops, but only of
// operators that are related to a target. That is fast for chains and for a few
// operators that depend on each other, and exponential in their number; see
// PathOptions.
//
// The errors are *PathError if there is no path, *PathLimitError if the limit
// was reached, *UnsatError if operators that are unrelated to the targets
// conflict, and otherwise those of Resolve. A target without a subscription, or
// with both a bundle and a version, is an error; targets that contradict each
// other have no path.
func (r *Resolver) UpgradePath(ctx context.Context, req *Request, targets []Target, opts *PathOptions) (*Path, error) {
	ctx, end := r.budgeted(ctx)
	p, err := r.upgradePath(ctx, req, targets, opts)
	return p, end(err)
}

func (r *Resolver) upgradePath(ctx context.Context, req *Request, targets []Target, opts *PathOptions) (*Path, error) {
	q, err := r.begin(ctx, req)
	if err != nil {
		return nil, err
	}
	p := &pathfinder{query: q, budget: 20_000}
	if opts != nil && opts.MaxStates != 0 {
		p.budget = opts.MaxStates
	}
	p.limit = p.budget
	p.stands, p.from = make(map[*entry]*entry), make(map[*entry]string)
	var packages []string
	for _, t := range targets {
		packages = append(packages, t.Package)
	}
	if err := q.name(packages); err != nil {
		return nil, err
	}
	for _, t := range targets {
		g, err := q.goal(t)
		if err != nil {
			return nil, err
		}
		p.goals = append(p.goals, g)
	}
	return p.find(ctx)
}

// goal is a target as it is understood.
type goal struct {
	Target
	version semverx.Version // zero if the name counts
	head    bool            // the target is the head of a channel; Name is its name
}

// goal reads a target.
func (q *query) goal(t Target) (goal, error) {
	g := goal{Target: t}
	switch {
	case t.Name != "" && t.Version != "":
		return g, fmt.Errorf("target %s: it names a bundle and the version %s; name one of them", t, t.Version)
	case t.Name != "":
		return g, nil
	case t.Version != "":
		var err error
		if g.version, err = semverx.ParseTolerant(t.Version); err != nil {
			return g, fmt.Errorf("target %s: %q is not a version; write one such as 1.2.3, or the name of a bundle", t, t.Version)
		}
		return g, nil
	}
	g.head = true
	for _, s := range q.subs {
		if s.Spec.Package != t.Package {
			continue
		}
		if s.invalid != "" {
			return g, fmt.Errorf("target %s: subscription %s: %s", t, s.Name, s.invalid)
		}
		for _, ch := range q.channelsOf(s) {
			if ch.err != nil {
				return g, fmt.Errorf("target %s: %w", t, ch.err)
			}
			if len(ch.chain) > 0 {
				g.Name = ch.chain[0].name
				return g, nil
			}
		}
	}
	return g, fmt.Errorf("target %s: its channel offers nothing", t)
}

// channelsOf returns the channels that a subscription may be served from, in
// the order of preference.
func (q *query) channelsOf(s *subscription) []*channel {
	named, others := q.sourcesOf(s)
	if q.opts.CrossCatalogUpdates {
		named = append(named[:len(named):len(named)], others...)
	}
	var all []*channel
	for _, src := range named {
		p := src.pkg(s.Spec.Package)
		if p == nil {
			continue
		}
		for _, ch := range p.channels {
			if s.Spec.Channel == "" || ch.name == s.Spec.Channel {
				all = append(all, ch)
			}
		}
	}
	return all
}

// metBy reports whether an operator meets the goal.
func (g *goal) metBy(e *entry) bool {
	if e.pkg != g.Package {
		return false
	}
	if g.Name != "" {
		return e.name == g.Name
	}
	v := e.facts().version
	return !v.IsZero() && v.Compare(g.version) == 0
}

// A PathLimitError reports that the search for a path reached its limit.
type PathLimitError struct {
	// States is the limit.
	States int
	// Hops is the number of hops that were ruled out: any path is longer.
	Hops int
}

// Error says how far the search got, and what to do.
func (e *PathLimitError) Error() string {
	return fmt.Sprintf("no path of up to %d hop%s, and the search ended after %d states; allow more of them, or ask for a nearer target",
		e.Hops, words.Plural(e.Hops, "", "s"), e.States)
}

// A PathError reports that no path leads to the targets.
type PathError struct {
	// Dead are the targets that cannot be reached, in the order given. If each
	// can be reached alone, it lists all of them.
	Dead []DeadEnd `json:"dead"`
	// Nearest is the path that comes closest to the first of them: by version,
	// then in the fewest hops.
	Nearest *Path `json:"nearest"`
}

// DeadEnd is a target that cannot be reached.
type DeadEnd struct {
	Target Target `json:"target"`
	// Reached is the name of the CSV of the package that is nearest to the
	// target: the highest version below it, or else the lowest. It may be the
	// installed one. It is "" if nothing of the package can be installed, or if
	// the targets cannot be reached together.
	Reached string `json:"reached,omitempty"`
	// Version is the version of Reached, or "".
	Version string `json:"version,omitempty"`
	// Why describes the obstacle, in one line.
	Why string `json:"why"`
}

// Error names the targets that cannot be reached, and says why.
func (e *PathError) Error() string {
	var b strings.Builder
	for i, d := range e.Dead {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "no path leads to %s: %s", d.Target, d.Why)
		if d.Reached != "" {
			fmt.Fprintf(&b, " (the nearest reachable one is %s)", d.Reached)
		}
	}
	return b.String()
}
