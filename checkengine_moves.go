package fairlead

import (
	"bytes"
	"encoding/json"
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

// place is one state of a visit: the trial, what is saved, and the processes at work.
type place[S, W any, A Action] struct {
	trial   SmallTrial[W, A] // shared with other places until own is called
	mine    bool             // the trial is this place's own
	shown   *form            // of the trial's JSON; nil if unknown
	saved   []byte           // the engine's state; nil when there is none
	kept    *form            // of the saved state; nil if unknown
	known   [2][]Outcome     // to each process; shared, and not changed
	heard   *form            // of known; nil if unknown
	now     time.Time
	offset  time.Duration // of the processes' clock
	wake    time.Time     // by that clock; zero without one
	dirty   bool          // something has happened that the process has not observed
	blocked bool          // the last decision excuses the wait
	flights [2]*flight[S, A]
	quiet   time.Duration   // how long only observations have happened, up to Patience and a second
	last    *Decision[S, A] // nil before the first
	left    budget
	spoiled error // the rule that a move broke
}

// flight is a decision that is being carried out. No time passes meanwhile.
type flight[S any, A Action] struct {
	saved    bool
	read     []byte // the saved state that it was decided on
	decision *Decision[S, A]
	done     int     // actions that were sent
	state    []byte  // the decision's state as JSON
	kept     *form   // of state
	sums     []sum   // of the decision with its remaining actions, by done
	old      []int64 // the old times in all of it
}

// edge is a move that is possible in a state.
type edge[S, W any, A Action] struct {
	name string
	kind kind
	do   func(*place[S, W, A])
}

// edges returns what may happen next, in a fixed order.
func (v *visitor[S, W, A]) edges(c *place[S, W, A]) (all []edge[S, W, A]) {
	add := func(name string, k kind, do func(*place[S, W, A])) { all = append(all, edge[S, W, A]{name, k, do}) }
	v.flightEdges(c, 0, "", add)
	v.flightEdges(c, 1, "second ", add)
	if c.flights[0] == nil && c.dirty {
		add("step", sure, func(c *place[S, W, A]) { v.look(c, 0); v.save(c, 0) })
		if c.left.Late > 0 {
			add("look", fault, func(c *place[S, W, A]) { c.left.Late--; v.look(c, 0) })
		}
	}
	if c.flights[1] == nil && c.left.Second > 0 {
		add("second look", fault, func(c *place[S, W, A]) { c.left.Second--; v.look(c, 1) })
	}
	for i, e := range c.trial.Events() {
		k := fault
		if e.Sure {
			k = sure
		}
		add(e.Name, k, func(c *place[S, W, A]) { v.own(c).Events()[i].Do(); c.dirty, c.quiet = true, 0 })
	}
	if c.idle() && !c.dirty {
		if next := v.next(c); !next.IsZero() {
			add("wait", pass, func(c *place[S, W, A]) { v.wait(c, next) })
		}
	}
	if c.left.Back > 0 && c.flights[0] == nil {
		add("clock back", fault, func(c *place[S, W, A]) {
			c.left.Back--
			c.offset -= back
			c.dirty, c.shown, c.kept, c.heard = true, nil, nil, nil
		})
	}
	return all
}

// wait lets time pass.
func (v *visitor[S, W, A]) wait(c *place[S, W, A], until time.Time) {
	c.quiet = min(c.quiet+until.Sub(c.now), v.options.Patience+time.Second)
	c.now, c.shown, c.kept, c.heard = until, nil, nil, nil
	c.dirty = true
	v.clock.Set(until)
	if t, is := v.own(c).(Passing); is {
		t.Pass()
	}
}

// next returns when the passing of time changes something, or the zero time.
func (v *visitor[S, W, A]) next(c *place[S, W, A]) (next time.Time) {
	if !c.wake.IsZero() {
		next = c.wake.Add(-c.offset)
	}
	if p, is := c.trial.(Passing); is {
		if t := p.Next(); !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	if !next.IsZero() && !next.After(c.now) {
		next = c.now.Add(time.Second)
	}
	return next
}

// flightEdges adds the moves of a decision that is being carried out.
func (v *visitor[S, W, A]) flightEdges(c *place[S, W, A], i int, who string, add func(string, kind, func(*place[S, W, A]))) {
	f := c.flights[i]
	if f == nil {
		return
	}
	if !f.saved {
		add(who+"save", sure, func(c *place[S, W, A]) { v.save(c, i) })
	} else {
		add(who+"apply", sure, func(c *place[S, W, A]) { v.apply(c, i, nil) })
		if c.left.Lost > 0 {
			add(who+"lost", fault, func(c *place[S, W, A]) { c.left.Lost--; v.apply(c, i, errLost) })
		}
		if c.left.Fail > 0 {
			add(who+"fail", fault, func(c *place[S, W, A]) { c.left.Fail--; v.apply(c, i, errInjected) })
		}
	}
	if c.left.Crash > 0 {
		add(who+"crash", fault, func(c *place[S, W, A]) {
			c.left.Crash--
			c.flights[i], c.known[i], c.heard = nil, nil, nil
			c.dirty = true
		})
	}
}

// asked is everything that a decision depends on.
type asked struct {
	world       instant
	kept, heard sum
	process     int
	offset      time.Duration // of the clock
}

// look makes a process load the state, observe the world, and decide. Decisions are
// remembered, because an engine is a pure function.
func (v *visitor[S, W, A]) look(c *place[S, W, A], i int) {
	k, again := asked{process: i, offset: c.offset}, c.shown != nil && c.kept != nil && c.heard != nil
	if again {
		k.world, k.kept, k.heard = instant{c.shown.exact, c.now.UnixNano()}, c.kept.exact, c.heard.exact
		if f := v.looks[k]; f != nil {
			g := *f
			g.read, c.flights[i] = c.saved, &g
			c.dirty = c.dirty && i > 0
			return
		}
	}
	d, err := v.decide(c, i)
	if err == nil {
		c.flights[i], err = v.newFlight(c, d)
	}
	if err != nil {
		c.spoiled = err
		return
	}
	if again {
		f := *c.flights[i]
		v.looks[k] = &f
	}
	c.dirty = c.dirty && i > 0
}

// decide returns a decision, held to the rules of the trial.
func (v *visitor[S, W, A]) decide(c *place[S, W, A], i int) (*Decision[S, A], error) {
	s, err := v.state(c)
	if err != nil {
		return nil, fmt.Errorf("the saved state cannot be read: %w", err)
	}
	world, err := c.trial.Observe(v.ctx, v.name)
	if err != nil {
		return nil, fmt.Errorf("the world cannot be observed: %w", err)
	}
	if v.engine.Outcomes != nil {
		world = v.engine.Outcomes(world, c.known[i])
	}
	now := c.now.Add(c.offset)
	var d Decision[S, A]
	if err := protect("step", func() error { d = v.engine.Step(s, world, now); return nil }); err != nil {
		return nil, err
	}
	if j, is := c.trial.(Judge[S, W, A]); is {
		if err := j.Judge(s, world, now, d); err != nil {
			c.last = &d
			return nil, err
		}
	}
	return &d, nil
}

// save writes the state of a decision. If another state was written since, it drops
// the decision.
func (v *visitor[S, W, A]) save(c *place[S, W, A], i int) {
	f := c.flights[i]
	if c.spoiled != nil || f == nil {
		return
	}
	if !bytes.Equal(f.read, c.saved) {
		c.flights[i] = nil
		c.dirty = true
		return
	}
	c.saved, c.kept, f.saved, c.last = f.state, f.kept, true, f.decision
	c.blocked = excuses(c.trial, f.decision.Blocks())
	if i == 0 {
		c.wake = f.decision.Wake
	}
	v.land(c, i)
}

// excuses reports whether Blocks excuse a wait.
func excuses(trial any, blocked []Block) bool {
	if e, is := trial.(Excuser); is {
		return e.Excuses(blocked)
	}
	for i := range blocked {
		if blocked[i].Unblock != "" {
			return true
		}
	}
	return false
}

// land ends a flight with no actions left.
func (v *visitor[S, W, A]) land(c *place[S, W, A], i int) {
	if f := c.flights[i]; f != nil && f.done == len(f.decision.Actions) {
		c.flights[i] = nil
	}
}

// apply sends the next action of a decision, to the given fault.
func (v *visitor[S, W, A]) apply(c *place[S, W, A], i int, err error) {
	f := c.flights[i]
	a := f.decision.Actions[f.done]
	f.done++
	if err != errInjected {
		if refused := v.own(c).Apply(v.ctx, v.name, a); err == nil {
			err = refused
		}
	}
	if v.engine.Outcomes != nil {
		known := outcomes{list: c.known[i], shared: true}
		o := OutcomeOf(a.Key(), err, c.now.Add(c.offset))
		known.add(o, o.Failed || v.engine.Successes, positive(v.engine.MaxOutcomes, 500))
		c.known[i], c.heard = known.share(), nil
	}
	c.dirty, c.quiet = true, 0
	v.land(c, i)
}

// own returns the trial of a place, as a copy that may be changed.
func (v *visitor[S, W, A]) own(c *place[S, W, A]) SmallTrial[W, A] {
	if !c.mine {
		c.trial, c.mine = c.trial.Clone(), true
	}
	c.shown = nil
	return c.trial
}

// clone returns a copy, which shares the trial.
func (v *visitor[S, W, A]) clone(c *place[S, W, A]) *place[S, W, A] {
	n := *c
	n.mine = false
	for i, f := range c.flights {
		if f != nil {
			g := *f
			n.flights[i] = &g
		}
	}
	return &n
}

// idle reports whether no decision is being carried out.
func (c *place[S, W, A]) idle() bool { return c.flights[0] == nil && c.flights[1] == nil }

// state returns the engine's saved state, which is decoded once and shared, and must not
// be changed.
func (v *visitor[S, W, A]) state(c *place[S, W, A]) (s S, err error) {
	if c.saved == nil {
		return s, nil
	}
	if s, ok := v.reads[&c.saved[0]]; ok {
		return s, nil
	}
	if err := json.Unmarshal(c.saved, &s); err != nil {
		return s, err
	}
	v.reads[&c.saved[0]] = s
	return s, nil
}
