package olm

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver"
)

// An Objective is a quantity that a resolution minimizes, see
// Options.Objectives.
type Objective string

// The objectives. An operator that replaces an installed one is an update; any
// other chosen operator is an addition.
const (
	FewestChanges   Objective = "fewest-changes"   // updates and additions
	FewestUpdates   Objective = "fewest-updates"   // updates of installed operators
	FewestAdditions Objective = "fewest-additions" // additions
)

var objectives = []string{string(FewestChanges), string(FewestUpdates), string(FewestAdditions)}

// check rejects unknown objectives.
func (o *Options) check() error {
	for _, x := range o.Objectives {
		if !slices.Contains(objectives, string(x)) {
			return fmt.Errorf("objective %q: there is none of that name; there are %s", x, words.List(objectives, "and", len(objectives)))
		}
	}
	return nil
}

// best returns the best solution, by the objectives first if they apply.
func (q *query) best(ctx context.Context, n *encoding) (*solver.Solution, error) {
	if len(q.opts.Objectives) == 0 || q.named != nil || q.spare {
		return solver.Solve(ctx, &n.problem, q.opts.Solver)
	}
	var criteria []solver.Criterion
	for _, o := range q.opts.Objectives {
		k := solver.Criterion{Name: string(o)}
		for _, e := range n.reached {
			current := q.installedOf(e.pkg)
			switch {
			case e.isInstalled() || current != nil && current.name == e.name:
			case o == FewestChanges || (o == FewestUpdates) == (current != nil):
				k.Terms = append(k.Terms, solver.Term{Lit: n.vars[e].Yes(), Weight: 1})
			}
		}
		criteria = append(criteria, k)
	}
	optimum, err := solver.Minimize(ctx, &n.problem, criteria, q.opts.Solver)
	if err != nil {
		return nil, err
	}
	return optimum.Solution, nil
}

// installedOf returns the installed operator of a package, or nil.
func (q *query) installedOf(pkg string) *entry {
	at := slices.IndexFunc(q.installed, func(e *entry) bool { return e.pkg == pkg })
	if at < 0 {
		return nil
	}
	return q.installed[at]
}

// holdsBack returns why NoDowngrades or StayOnChannel keeps a bundle from
// replacing the installed operator, as text to follow its name, or "".
func (q *query) holdsBack(e *entry) string {
	current := q.installedOf(e.pkg)
	if current == nil {
		return ""
	}
	if q.opts.NoDowngrades {
		now, then := current.facts().version, e.facts().version
		if !now.IsZero() && !then.IsZero() && then.Compare(now) < 0 {
			return fmt.Sprintf("may not be chosen: its version %s is below %s, that of %s, which is installed", then, now, current.name)
		}
	}
	if q.opts.StayOnChannel && q.leaves(e, current) {
		return fmt.Sprintf("may not be chosen: channel %s does not list %s, which is installed", e.channel.name, current.name)
	}
	return ""
}

// leaves reports whether a bundle is of another channel than the installed
// operator, and no subscription names that channel. It is false if no channel
// of the catalog lists the installed operator, because its channel is then
// unknown.
func (q *query) leaves(e, current *entry) bool {
	lists := func(c *channel) bool { return c.named(current.name) != nil }
	return !lists(e.channel) && slices.ContainsFunc(e.source.pkg(e.pkg).channels, lists) &&
		!slices.ContainsFunc(q.subs, func(s *subscription) bool { return s.Spec.Package == e.pkg && s.Spec.Channel == e.channel.name })
}
