package resolution

import (
	"slices"

	"github.com/fairlead/fairlead/solver/olm"
)

// choice is a demand: one of its candidates must be selected.
type choice struct {
	subscription *olm.Subscription // nil for a requirement
	candidates   []*operator       // in order of preference
	invalid      bool              // it names what does not exist
}

// met reports whether o meets the choice. Any channel's entry for a bundle meets a
// requirement.
func (c *choice) met(o *operator) bool {
	if c.subscription != nil {
		return serves(c.subscription, c.candidates, o)
	}
	return has(c.candidates, o)
}

// anchor is where the choices begin: a subscription, or an installed operator that no
// subscription refers to.
type anchor struct {
	subscription *olm.Subscription
	installed    *operator
}

// anchors returns the anchors in the order in which they are served.
func (u *rules) anchors() []anchor {
	var all []anchor
	for _, s := range u.subs {
		all = append(all, anchor{subscription: s})
	}
	for _, o := range u.installed {
		if !slices.ContainsFunc(u.subs, func(s *olm.Subscription) bool { return u.current(s) == o }) {
			all = append(all, anchor{installed: o})
		}
	}
	return all
}

// begin returns the operators that stay in any case, and the first choices.
func (u *rules) begin(anchors []anchor) (picked []*operator, queue []choice) {
	for _, a := range anchors {
		if a.subscription != nil {
			candidates, ok := u.forSubscription(a.subscription)
			queue = append(queue, choice{a.subscription, candidates, !ok})
			continue
		}
		picked = append(picked, a.installed)
		queue = append(queue, u.choices(a.installed)...)
	}
	return picked, queue
}

func (u *rules) choices(by *operator) []choice {
	var all []choice
	for _, n := range by.needs {
		all = append(all, choice{candidates: u.forNeed(by, n)})
	}
	return all
}

// ranks walks the choices in order and returns which candidate of each a selection
// has; a choice that an earlier pick meets has none. Of two selections that keep the
// rules, the one with the lexicographically smaller ranks is preferred.
func (u *rules) ranks(anchors []anchor, selected []*operator) []int {
	var ranks []int
	picked, queue := u.begin(anchors)
	for ; len(queue) > 0; queue = queue[1:] {
		c := &queue[0]
		if slices.ContainsFunc(picked, c.met) {
			continue
		}
		best := -1
		var pick *operator
		for _, o := range selected {
			if !c.met(o) {
				continue
			}
			rank := slices.IndexFunc(c.candidates, func(x *operator) bool { return x.key() == o.key() })
			if best < 0 || rank < best {
				best, pick = rank, o
			}
		}
		ranks = append(ranks, best)
		if pick != nil {
			picked = append(picked, pick)
			queue = append(slices.Clip(queue), u.choices(pick)...)
		}
	}
	return ranks
}

// search tries selections in the order of preference until one keeps all rules.
type search struct {
	*rules
	left     int // selections that may still be rejected
	rejected int // selections that were rejected
}

// brute returns the best selection by trying all better ones first. done is false if
// more than limit had to be rejected.
func (u *rules) brute(anchors []anchor, limit int) (selected []*operator, found, done bool, rejected int) {
	s := &search{rules: u, left: limit}
	picked, queue := u.begin(anchors)
	for i, o := range picked {
		if o.deprecated || slices.ContainsFunc(picked[:i], func(other *operator) bool { return excludes(o, other) }) {
			return nil, false, true, 0
		}
	}
	if slices.ContainsFunc(queue, func(c choice) bool { return c.invalid }) {
		return nil, false, true, 0
	}
	selected, found = s.from(queue, picked)
	return selected, found, s.left > 0, s.rejected
}

func (s *search) from(queue []choice, picked []*operator) ([]*operator, bool) {
	for len(queue) > 0 && slices.ContainsFunc(queue[0].candidates, func(o *operator) bool { return slices.Contains(picked, o) }) {
		queue = queue[1:]
	}
	if len(queue) == 0 {
		return picked, true
	}
	for _, o := range queue[0].candidates {
		if s.left == 0 {
			return nil, false
		}
		if s.fits(o, picked) {
			next := append(slices.Clone(queue[1:]), s.choices(o)...)
			if found, ok := s.from(next, append(slices.Clone(picked), o)); ok {
				return found, true
			}
		}
		s.rejected++
		s.left = max(0, s.left-1)
	}
	return nil, false
}

func (s *search) fits(o *operator, picked []*operator) bool {
	return !o.deprecated && !slices.ContainsFunc(picked, func(other *operator) bool {
		return excludes(o, other) || s.replaces(o, other) || s.replaces(other, o)
	})
}
