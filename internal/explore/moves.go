package explore

import (
	"bytes"
	"errors"
	"fmt"
	"time"
)

// kind is what a move means for liveness.
type kind uint8

const (
	fault kind = iota // may or may not happen
	sure              // happens sooner or later
	pass              // time passes, which is also sure
)

// edge is a move that is possible in a state.
type edge[W, S, A any] struct {
	name string
	kind kind
	do   func(*config[W, S, A])
}

// errAnswer is the error that a runner gets if the answer to an action is lost.
var errAnswer = errors.New("the answer is lost")

// edges returns what may happen next, in a fixed order.
func (m *Model[W, S, A]) edges(c *config[W, S, A]) []edge[W, S, A] {
	var all []edge[W, S, A]
	add := func(name string, k kind, do func(*config[W, S, A])) { all = append(all, edge[W, S, A]{name, k, do}) }
	m.flightEdges(c, 0, "", add)
	m.flightEdges(c, 1, "second ", add)
	if c.flights[0] == nil && c.dirty {
		add("step", sure, func(c *config[W, S, A]) { m.look(c, 0); m.save(c, 0) })
		if c.left.Late > 0 {
			add("look", fault, func(c *config[W, S, A]) { c.left.Late--; m.look(c, 0) })
		}
	}
	if c.flights[1] == nil && c.left.Second > 0 {
		add("second look", fault, func(c *config[W, S, A]) { c.left.Second--; m.look(c, 1) })
	}
	if m.Moves != nil {
		for _, mv := range m.Moves(c.world, c.now) {
			k := fault
			if mv.Sure {
				k = sure
			}
			add(mv.Name, k, func(c *config[W, S, A]) { mv.Do(m.own(c)); c.dirty, c.quiet = true, 0 })
		}
	}
	if c.idle() && !c.dirty {
		if next := m.next(c); !next.IsZero() {
			add("wait", pass, func(c *config[W, S, A]) {
				c.quiet = min(c.quiet+next.Sub(c.now), m.patience()+time.Second)
				c.now, c.shown, c.kept = next, nil, nil
				c.dirty = true
				if m.Tick != nil {
					m.Tick(m.own(c), c.now)
				}
			})
		}
	}
	if c.left.Back > 0 && c.flights[0] == nil {
		add("clock back", fault, func(c *config[W, S, A]) { c.left.Back--; c.offset -= back; c.dirty, c.shown, c.kept = true, nil, nil })
	}
	return all
}

// next returns when the passing of time changes something, or the zero time.
func (m *Model[W, S, A]) next(c *config[W, S, A]) time.Time {
	var next time.Time
	if !c.wake.IsZero() {
		next = c.wake.Add(-c.offset)
	}
	if m.Next != nil {
		if t := m.Next(c.world, c.now); !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	if !next.IsZero() && !next.After(c.now) {
		next = c.now.Add(time.Second)
	}
	return next
}

// flightEdges adds the moves of a decision that is being carried out.
func (m *Model[W, S, A]) flightEdges(c *config[W, S, A], i int, who string, add func(string, kind, func(*config[W, S, A]))) {
	f := c.flights[i]
	if f == nil {
		return
	}
	if !f.Saved {
		add(who+"save", sure, func(c *config[W, S, A]) { m.save(c, i) })
	} else {
		add(who+"apply", sure, func(c *config[W, S, A]) { m.apply(c, i, nil, true) })
		if c.left.Lost > 0 {
			add(who+"lost", fault, func(c *config[W, S, A]) { c.left.Lost--; m.apply(c, i, errAnswer, true) })
		}
		if c.left.Fail > 0 {
			add(who+"fail", fault, func(c *config[W, S, A]) { c.left.Fail--; m.apply(c, i, nil, false) })
		}
	}
	if c.left.Crash > 0 {
		add(who+"crash", fault, func(c *config[W, S, A]) {
			c.left.Crash--
			c.flights[i] = nil
			c.dirty = true
			if m.Forget != nil {
				m.Forget(m.own(c))
			}
		})
	}
}

// asked is everything that a decision depends on.
type asked struct {
	world  instant
	kept   sum
	offset time.Duration // of the runner's clock
}

// look makes a runner load the state, observe the world, and decide. Decisions are
// remembered, because an engine is a pure function.
func (m *Model[W, S, A]) look(c *config[W, S, A], i int) {
	var k asked
	again := m.looks != nil && c.shown != nil && c.kept != nil
	if again {
		k = asked{instant{c.shown.exact, c.now.UnixNano()}, c.kept.exact, c.offset}
		if f := m.looks[k]; f != nil {
			g := *f
			g.Read, c.flights[i] = c.saved, &g
			c.dirty = c.dirty && i > 0
			return
		}
	}
	s, err := m.state(c)
	if err != nil {
		c.spoiled = fmt.Errorf("the saved state cannot be read: %w", err)
		return
	}
	d := m.Step(s, m.Clone(c.world), c.now.Add(c.offset))
	if d.Broken != "" {
		c.spoiled, c.last = &Broken{d.Broken}, &d
		return
	}
	if c.flights[i], err = m.newFlight(c, &d); err != nil {
		c.spoiled = err
		return
	}
	if again {
		f := *c.flights[i]
		m.looks[k] = &f
	}
	c.dirty = c.dirty && i > 0
}

// save writes the state of a decision. If another state was written since, it drops
// the decision.
func (m *Model[W, S, A]) save(c *config[W, S, A], i int) {
	f := c.flights[i]
	if c.spoiled != nil || f == nil {
		return
	}
	if !bytes.Equal(f.Read, c.saved) {
		c.flights[i] = nil
		c.dirty = true
		return
	}
	c.saved, c.kept, f.Saved, c.last = f.State, f.Kept, true, f.Decision
	c.blocked = m.told(c.world, f.Decision.Blocked)
	if i == 0 {
		c.wake = f.Decision.Wake
	}
	m.land(c, i)
}

// land ends a flight with no actions left.
func (m *Model[W, S, A]) land(c *config[W, S, A], i int) {
	if f := c.flights[i]; f != nil && f.Done == len(f.Decision.Actions) {
		c.flights[i] = nil
	}
}

// apply sends the next action of a decision.
func (m *Model[W, S, A]) apply(c *config[W, S, A], i int, answer error, effect bool) {
	f := c.flights[i]
	a := f.Decision.Actions[f.Done]
	f.Done++
	err := errors.New("it failed")
	if effect {
		err = m.Apply(m.own(c), a, c.now)
		var broken *Broken
		if errors.As(err, &broken) {
			c.spoiled = broken
			return
		}
		if answer != nil {
			err = answer
		}
	}
	if m.Answer != nil {
		m.Answer(m.own(c), a, err, c.now.Add(c.offset))
	}
	c.dirty, c.quiet = true, 0
	m.land(c, i)
}

// Broken is what a world's Apply returns for an action that must never be sent.
type Broken struct {
	Rule string // the rule that is broken, in words
}

// Error implements error.
func (b *Broken) Error() string { return b.Rule }
