package olm

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/internal/semverx"
)

// deadEnd reports the goals of a group that none of its states meets, and why. If
// the first state meets them, no later one does.
func (p *pathfinder) deadEnd(ctx context.Context, g goalGroup, all []*state) error {
	dead := slices.DeleteFunc(slices.Clone(g.goals), func(goal goal) bool {
		return slices.ContainsFunc(all, func(s *state) bool { return s.meets(goal) })
	})
	together := len(dead) == 0
	if together {
		dead = g.goals
	}
	out := &PathError{}
	for i, goal := range dead {
		at, reached := p.nearest(g.query, goal, all)
		if i == 0 {
			out.Nearest = merge(ctx, []track{trackTo(at)})
		}
		d := DeadEnd{Target: goal.Target}
		if reached != nil && !together {
			d.Reached, d.Version = reached.name, reached.facts().version.String()
		}
		var err error
		switch {
		case all[0].meets(g.goals...):
			d.Why = "it is reached, but cannot stay while the other targets are not"
		case together:
			d.Why = "it can be reached, but never at the same time as the other targets"
		default:
			d.Why, err = p.why(ctx, g.query, goal, all)
		}
		if err != nil {
			return err
		}
		out.Dead = append(out.Dead, d)
	}
	return out
}

// nearest returns the state whose operator of the goal's package is nearest to
// it: the highest version that is not above it, or else the lowest; the first
// of equal ones. If there is no such operator, it is the start.
func (p *pathfinder) nearest(g *query, goal goal, all []*state) (at *state, reached *entry) {
	at, want := all[0], goal.version
	if e := g.offered(goal); want.IsZero() && e != nil {
		want = e.facts().version
	}
	for _, s := range all {
		for _, e := range s.installed {
			if e.pkg == goal.Package && (reached == nil || nearer(e.facts().version, reached.facts().version, want)) {
				at, reached = s, e
			}
		}
	}
	return at, reached
}

// nearer reports whether a is nearer to want than b. An unknown want counts as
// the highest version.
func nearer(a, b, want semverx.Version) bool {
	above := func(v semverx.Version) bool { return !want.IsZero() && v.Compare(want) > 0 }
	switch {
	case above(a) != above(b):
		return above(b)
	case above(a):
		return a.Compare(b) < 0
	}
	return a.Compare(b) > 0
}

// offered returns an entry that meets a goal in the channels that its
// subscriptions may be served from, or nil.
func (q *query) offered(goal goal) *entry {
	for _, s := range q.subs {
		if s.Spec.Package != goal.Package {
			continue
		}
		for _, ch := range q.channelsOf(s) {
			if at := slices.IndexFunc(ch.chain, goal.metBy); at >= 0 {
				return ch.chain[at]
			}
		}
	}
	return nil
}

// why finds what keeps a goal from being reached: nothing offers it, no edge
// leads to it, or the first unreachable operator on the way is blocked by what
// it requires or excludes.
func (p *pathfinder) why(ctx context.Context, g *query, goal goal, all []*state) (string, error) {
	if g.offered(goal) == nil {
		return g.whyNotOffered(goal), nil
	}
	ahead := g.leadingTo(goal)
	reached := make(map[string]bool)
	for _, s := range all {
		for _, e := range s.installed {
			reached[e.name] = true
		}
	}
	for _, s := range all {
		q, err := p.at(g, s)
		if err != nil {
			return "", err
		}
		for _, sub := range q.subs {
			if sub.Spec.Package != goal.Package {
				continue
			}
			for _, e := range sub.candidates {
				if ahead[e] && !reached[e.name] {
					return q.whyBlocked(ctx, sub, e)
				}
			}
		}
	}
	for _, sub := range g.subs {
		if sub.Spec.Package == goal.Package && sub.current != nil {
			return fmt.Sprintf("no chain of replaces, skips and skipRange leads there from %s", sub.current.name), nil
		}
	}
	return "nothing can be installed to begin with", nil
}

// whyBlocked returns why the next operator on the way cannot be chosen.
func (q *query) whyBlocked(ctx context.Context, sub *subscription, e *entry) (string, error) {
	after := "to begin with, "
	if sub.current != nil {
		after = "after " + sub.current.name + ", "
	}
	text, err := q.obstacle(ctx, e)
	if text == "" && err == nil {
		text, err = q.whyNot(ctx, e, nil)
	}
	return after + e.name + " " + text, err
}

// leadingTo returns the entries that meet a goal, and those from which edges
// lead to it, requirements aside.
func (q *query) leadingTo(goal goal) map[*entry]bool {
	ahead := make(map[*entry]bool)
	for _, s := range q.subs {
		if s.Spec.Package != goal.Package {
			continue
		}
		var chain []*entry
		for _, ch := range q.channelsOf(s) {
			chain = append(chain, ch.chain...)
		}
		for grown := true; grown; {
			grown = false
			for _, e := range chain {
				if !ahead[e] && (goal.metBy(e) || slices.ContainsFunc(chain, func(to *entry) bool {
					return ahead[to] && to.updates(e.name, e.facts().version)
				})) {
					ahead[e], grown = true, true
				}
			}
		}
	}
	return ahead
}

// whyNotOffered returns where a goal is, if it is anywhere.
func (q *query) whyNotOffered(goal goal) string {
	for _, s := range q.subs {
		if s.Spec.Package == goal.Package && s.invalid != "" {
			return s.invalid
		}
	}
	what := "bundle " + goal.Name
	if goal.Name == "" {
		what = "version " + goal.Version
	}
	for _, src := range q.sources {
		p := src.pkg(goal.Package)
		if p == nil {
			continue
		}
		for _, ch := range p.channels {
			at := slices.IndexFunc(ch.entries, goal.metBy)
			switch {
			case at < 0:
				continue
			case ch.err != nil:
				return fmt.Sprintf("it is in channel %s of catalog %s, which cannot be used: %v", ch.name, src.SourceKey, ch.err)
			case ch.entries[at].rank < 0:
				return fmt.Sprintf("channel %s of catalog %s has it, but skips it, or its chain of replaces does not lead to it", ch.name, src.SourceKey)
			}
			return fmt.Sprintf("it is in channel %s of catalog %s, and the subscription is for another", ch.name, src.SourceKey)
		}
	}
	return fmt.Sprintf("no catalog visible in the namespace has %s of it", what)
}
