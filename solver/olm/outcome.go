package olm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver"
)

// serving returns the candidate that serves a subscription, or nil if its
// installed operator does.
func (a *answer) serving(s *subscription) *entry {
	for _, e := range s.candidates {
		if a.has[e] {
			return e
		}
	}
	return nil
}

// outcome returns how a subscription is served, and why not by the head of its
// channel.
func (a *answer) outcome(ctx context.Context, s *subscription) (Outcome, error) {
	o := Outcome{Subscription: s.Name}
	pick, rejected := a.serving(s), s.candidates
	if pick != nil {
		rejected = slices.DeleteFunc(slices.Clone(s.candidates[:slices.Index(s.candidates, pick)]), func(e *entry) bool {
			return e.operator == pick.operator // another channel also offers it
		})
		o.Operator, o.New = pick.name, !a.installed[pick.name]
	} else {
		o.Operator = s.current.name // the checker verified that it is selected
	}
	ch := a.channelOf(s, pick)
	if ch != nil && len(ch.chain) > 0 {
		o.Head = ch.chain[0].name
	}
	pinned := s.current == nil && s.Spec.StartingCSV != ""
	if pinned || o.Operator == o.Head && len(rejected) == 0 {
		return o, nil
	}
	if a.holds(s) {
		o.Why = []string{a.whyHeld(s, pick)}
		return o, nil
	}
	var err error
	o.Why, err = a.whyRejected(ctx, rejected, s)
	switch {
	case s.current == nil || err != nil:
	case pick == nil && len(rejected) == 0:
		o.Why = append(o.Why, whyNoUpdate(s, ch))
	case pick != nil && len(rejected) == 0 && o.Head != o.Operator:
		o.Why = append(o.Why, fmt.Sprintf("%s is not a direct update of %s; of those that are, %s comes first", o.Head, s.current.name, o.Operator))
	}
	return o, err
}

// whyHeld returns how a subscription that should not move is served.
func (q *query) whyHeld(s *subscription, pick *entry) string {
	only := "only " + listNames(sortedKeys(q.named, strings.Compare)) + " should move"
	if pick == nil {
		return s.current.name + " stays: " + only
	}
	return fmt.Sprintf("%s, and %s cannot stay beside what that takes", only, s.current.name)
}

// lint returns what is unusual about an update, although the rules allow it, or
// "".
func (s *subscription) lint(e *entry) string {
	if s.current == nil || e == nil {
		return ""
	}
	was, is := s.current.facts().version, e.facts().version
	switch {
	case e.name == s.current.name:
		return fmt.Sprintf("%s is its own update: its skipRange %s contains its own version; nothing to do", e.name, e.skipRange)
	case !was.IsZero() && !is.IsZero() && is.Compare(was) < 0:
		return fmt.Sprintf("%s, version %s, is an update of %s, version %s: the channel goes back", e.name, is, s.current.name, was)
	case e.rank > 0 && e.replaces != s.current.name && !slices.Contains(e.skips, s.current.name):
		return fmt.Sprintf("%s is not the head of its channel, and an update of %s only by its skipRange %s; the documents guarantee that for heads only",
			e.name, s.current.name, e.skipRange)
	}
	return ""
}

// channelOf returns the channel that serves a subscription: that of the pick or
// else, of the channels that it may use, the first that lists the installed
// operator, or the first of all.
func (q *query) channelOf(s *subscription, pick *entry) *channel {
	if pick != nil {
		return pick.channel
	}
	var first *channel
	named, _ := q.sourcesOf(s)
	for _, src := range named {
		p := src.pkg(s.Spec.Package)
		if p == nil {
			continue
		}
		for _, ch := range p.channels {
			if s.Spec.Channel != "" && ch.name != s.Spec.Channel {
				continue
			}
			if ch.named(s.current.name) != nil {
				return ch
			}
			if first == nil {
				first = ch
			}
		}
	}
	return first
}

// whyNoUpdate names what keeps the installed operator of a subscription from being updated.
func whyNoUpdate(s *subscription, ch *channel) string {
	if ch == nil {
		return fmt.Sprintf("no channel offers an update of %s", s.current.name)
	}
	why := fmt.Sprintf("no replaces, skips or skipRange in the chain of channel %s leads from %s", ch.name, s.current.name)
	if ch.named(s.current.name) == nil {
		why = fmt.Sprintf("%s is not in channel %s, and no replaces, skips or skipRange there leads from it", s.current.name, ch.name)
	}
	if len(ch.chain) == 0 {
		return why
	}
	installed := catalog.Installed{Name: s.current.name, Version: s.current.facts().version.String()}
	if w := ch.listed.GraphWith(catalog.OLMv0, installed).WhyNot(installed.Name, ch.chain[0].name); w != nil {
		why = strings.Join(append([]string{why}, withoutAccepts(w.Reasons)...), "; ")
	}
	return why
}

// withoutAccepts leaves out that no entry accepts a bundle, where that has been said.
func withoutAccepts(reasons []string) []string {
	return slices.DeleteFunc(reasons, func(r string) bool { return strings.HasPrefix(r, "no entry accepts ") })
}

// whyRejected returns why each rejected candidate cannot be chosen. Consecutive
// ones with the same reason are reported together.
func (a *answer) whyRejected(ctx context.Context, rejected []*entry, s *subscription) ([]string, error) {
	type group struct {
		names  []string
		reason string
	}
	var groups []group
	tried := false
	for _, e := range rejected {
		reason, err := a.obstacle(ctx, e)
		if err == nil && reason == "" {
			reason = "does not go with the rest"
			if !tried && a.trials < maxTrials {
				tried = true
				a.trials++
				reason, err = a.whyNot(ctx, e, choicesBefore(a.subs, s, a.has))
			}
		}
		if err != nil {
			return nil, err
		}
		if n := len(groups); n > 0 && groups[n-1].reason == reason {
			groups[n-1].names = append(groups[n-1].names, e.name)
		} else {
			groups = append(groups, group{[]string{e.name}, reason})
		}
	}
	var out []string
	for _, g := range groups {
		out = append(out, sentence(g.names, g.reason))
	}
	return out, nil
}

// obstacle returns what rules out an operator by itself, or "".
func (q *query) obstacle(ctx context.Context, e *entry) (string, error) {
	if text := q.refusal(e); text != "" {
		return text, nil
	}
	for _, n := range e.facts().needs {
		if n.banned != nil {
			continue
		}
		candidates, err := q.candidatesFor(ctx, e, n)
		if err != nil {
			return "", err
		}
		if len(candidates) > 0 {
			continue
		}
		text := "requires " + n.String() + ", which nothing offers"
		if near := q.nearest(ctx, n); len(near) > 0 {
			text += ": " + near[0].Text
		}
		return text, nil
	}
	return "", nil
}

// whyNot returns why an operator cannot be chosen, by demanding it: first
// alone, then together with the choices that precede it.
func (q *query) whyNot(ctx context.Context, e *entry, before []*entry) (string, error) {
	for _, others := range [][]*entry{nil, before} {
		n, err := q.encode(ctx)
		if err != nil {
			return "", err
		}
		demanded := append(slices.Clone(others), e)
		for _, d := range demanded {
			n.problem.Require(n.reach(d), nil)
		}
		_, err = solver.Solve(ctx, &n.problem, q.opts.Solver)
		var unsat *solver.UnsatError
		if err == nil {
			continue
		}
		if !errors.As(err, &unsat) {
			return "", err
		}
		core, _, err := unsat.Core(ctx, nil)
		if err != nil {
			return "", err
		}
		x := newExplainer(ctx, q, core)
		for _, d := range others {
			x.askers[d] = append(x.askers[d], chosenBefore{})
		}
		x.askers[e] = append(x.askers[e], inQuestion{})
		if findings := x.describe(e, inQuestion{}); len(findings) > 0 {
			return flatten(findings[0]), nil
		}
		return "does not go with what is chosen before it", nil
	}
	return atAPrice, nil
}

// atAPrice is what whyNot returns if nothing rules out the operator itself.
const atAPrice = "is possible only at the cost of a choice that is preferred to it"

// flatten joins a finding, its first cause, the first cause of that, and so on
// in one line.
func flatten(f Finding) string {
	text := f.Text
	for len(f.Because) > 0 {
		f = f.Because[0]
		text += ": " + f.Text
	}
	return text
}
