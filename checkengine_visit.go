package fairlead

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// visitor visits the states of a small trial, breadth first.
type visitor[S, W any, A Action] struct {
	ctx      context.Context
	engine   *Engine[S, W, A]
	options  *VisitOptions
	maxState int
	clock    *ManualClock
	name     string // of the object

	seen     map[sum]int32
	nodes    []node
	arcs     [][]arc
	queue    []*place[S, W, A]
	begin    *place[S, W, A]
	complete bool
	rest     int // settled states
	moves    int

	once  map[instant]SmallTrial[W, A] // trials that places share
	looks map[asked]*flight[S, A]      // earlier decisions
	reads map[*byte]S                  // decoded states, by the address of their text
	space []byte                       // buffer for hashing
	old   []int64                      // the old times in what is being hashed
	times []int64                      // buffer for their order

	broken error    // the first rule that was broken
	told   []string // what led to it
}

// node is the part of a visited state that is kept.
type node struct {
	parent int32 // -1 for where the visit begins
	move   uint8 // the number of the move that led here
	flags  flags
}

type flags uint8

const (
	settled flags = 1 << iota // nothing is missing
	excused                   // a Block says what would end the wait
	still                     // no decision is being carried out, and the process has observed everything
	asleep                    // still, and nothing wakes the process
)

// arc is a move from one state to another.
type arc struct {
	to   int32
	kind kind
}

// instant is a world at a point in time.
type instant struct {
	shown sum
	now   int64
}

// run visits states until a rule is broken or there are as many as the options allow. If
// not all states were visited, liveness is checked for those from which all moves were
// followed.
func (v *visitor[S, W, A]) run(small SmallTrial[W, A], faults budget) {
	v.seen = map[sum]int32{}
	v.forget()
	v.begin = &place[S, W, A]{trial: small, now: trialBegin, dirty: true, left: faults}
	for _, name := range v.options.Path {
		if !v.follow(name) || v.broken != nil {
			return
		}
	}
	v.visit(v.clone(v.begin), -1, 0)
	v.complete = true
	level := 0 // how many states are as many moves from the beginning as the one at hand, or fewer
	for at := 0; at < len(v.nodes) && v.broken == nil && v.ctx.Err() == nil; at++ {
		if at == level {
			level = len(v.nodes)
			v.forget()
		}
		c := v.queue[at]
		v.queue[at] = nil
		if v.options.Ends && v.nodes[at].flags&settled != 0 {
			continue
		}
		if len(v.nodes) >= v.options.States {
			v.complete = false
			break
		}
		v.expand(c, int32(at))
	}
	v.queue, v.once = nil, nil
	if v.broken == nil && v.ctx.Err() == nil {
		v.live()
	}
}

// follow makes the move of the path with a name, and reports whether it is possible.
func (v *visitor[S, W, A]) follow(name string) bool {
	v.clock.Set(v.begin.now)
	for _, e := range v.edges(v.begin) {
		if e.name != name {
			continue
		}
		c := v.clone(v.begin)
		e.do(c)
		v.told = append(v.told, v.line(name, v.begin, c)...)
		v.begin = c
		if v.broken = v.rule(c); v.broken == nil {
			v.broken = v.judge(c)
		}
		return true
	}
	v.broken = fmt.Errorf("%s cannot happen here, which is in the Path", name)
	return false
}

// forget lets go of what is remembered only to save time. States that are near in the
// visit share most of it.
func (v *visitor[S, W, A]) forget() {
	v.once, v.looks, v.reads = map[instant]SmallTrial[W, A]{}, map[asked]*flight[S, A]{}, map[*byte]S{}
}

func (v *visitor[S, W, A]) counts() string {
	all := "all"
	if !v.complete {
		all = "not all"
	}
	return fmt.Sprintf("%d states (%s), %d settled, %d moves", len(v.nodes), all, v.rest, v.moves)
}

// expand follows all moves from a state.
func (v *visitor[S, W, A]) expand(c *place[S, W, A], at int32) {
	v.clock.Set(c.now)
	edges := v.edges(c)
	const most = 255
	if len(edges) > most {
		v.breaks(fmt.Errorf("%d events are possible in one state, more than %d", len(edges), most), at)
	}
	for i, e := range edges {
		n := v.clone(c)
		v.clock.Set(c.now)
		e.do(n)
		to := v.visit(n, at, uint8(i))
		v.moves++
		v.arcs[at] = append(v.arcs[at], arc{to, e.kind})
		if v.broken != nil {
			return
		}
	}
}

// visit looks up a state, and checks it if it is new.
func (v *visitor[S, W, A]) visit(c *place[S, W, A], parent int32, move uint8) int32 {
	v.clock.Set(c.now)
	key, err := v.key(c)
	if err == nil {
		err = v.rule(c)
	}
	if at, ok := v.seen[key]; ok && err == nil {
		return at
	}
	is := instant{c.shown.exact, c.now.UnixNano()}
	if t, ok := v.once[is]; ok {
		c.trial, c.mine = t, false
	} else {
		v.once[is] = c.trial
	}
	at := int32(len(v.nodes))
	v.seen[key] = at
	v.nodes = append(v.nodes, node{parent, move, v.flagsOf(c)})
	v.arcs = append(v.arcs, nil)
	v.queue = append(v.queue, c)
	if v.nodes[at].flags&settled != 0 {
		v.rest++
	}
	if err == nil {
		err = v.judge(c)
	}
	v.breaks(err, at)
	return at
}

// rule returns the rule that the move to a state broke.
func (v *visitor[S, W, A]) rule(c *place[S, W, A]) error {
	if c.spoiled != nil {
		return c.spoiled
	}
	return c.trial.Check()
}

func (v *visitor[S, W, A]) flagsOf(c *place[S, W, A]) (f flags) {
	if c.trial.Settled(v.name) == nil {
		f |= settled
	}
	if c.blocked {
		f |= excused
	}
	if c.idle() && !c.dirty {
		f |= still
		if v.next(c).IsZero() {
			f |= asleep
		}
	}
	return f
}

// judge returns the rule that a state by itself breaks, or nil.
func (v *visitor[S, W, A]) judge(c *place[S, W, A]) error {
	f := v.flagsOf(c)
	if f&still == 0 || f&settled != 0 {
		return nil
	}
	missing, patience := c.trial.Settled(v.name), v.options.Patience
	moving := slices.ContainsFunc(c.trial.Events(), func(e Event) bool { return e.Sure })
	if f&asleep != 0 && f&excused == 0 && !moving {
		return fmt.Errorf("it sleeps forever, without a Block that says what would end that: %w", missing)
	}
	if wake := c.wake.Sub(c.now.Add(c.offset)); !c.wake.IsZero() && wake > patience {
		return fmt.Errorf("it sleeps for %v, more than %v: %w", wake, patience, missing)
	}
	if f&excused == 0 && c.quiet > patience && !moving {
		return fmt.Errorf("nothing was done for more than %v: %w", patience, missing)
	}
	return nil
}

// breaks notes the first rule that is broken, with the path to a state.
func (v *visitor[S, W, A]) breaks(rule error, at int32) {
	if rule == nil || v.broken != nil {
		return
	}
	v.broken = rule
	v.tell(v.way(at))
}

// way returns the numbers of the moves to a state.
func (v *visitor[S, W, A]) way(at int32) (moves []uint8) {
	for v.nodes[at].parent >= 0 {
		moves = append(moves, v.nodes[at].move)
		at = v.nodes[at].parent
	}
	slices.Reverse(moves)
	return moves
}

// tell makes moves, given by their numbers, once more, and notes what happens.
func (v *visitor[S, W, A]) tell(moves []uint8) {
	c := v.clone(v.begin)
	for _, i := range moves {
		v.clock.Set(c.now)
		edges := v.edges(c)
		if int(i) >= len(edges) {
			v.told = append(v.told, "(what follows cannot be repeated: times beyond the Horizon matter, or the trial is not deterministic)")
			return
		}
		n := v.clone(c)
		edges[i].do(n)
		v.told = append(v.told, v.line(edges[i].name, c, n)...)
		c = n
	}
}

// line returns what a move did, in lines; the first one is its name.
func (v *visitor[S, W, A]) line(name string, was, is *place[S, W, A]) []string {
	all := []string{name}
	if is.last == was.last || is.last == nil {
		return all
	}
	for _, a := range is.last.Actions {
		all = append(all, "  to do: "+a.String())
	}
	for _, b := range is.last.Blocks() {
		all = append(all, "  blocked: "+b.Subject+": "+b.Message)
	}
	if !is.last.Wake.IsZero() {
		all = append(all, fmt.Sprintf("  wake in %v", is.last.Wake.Sub(is.now.Add(is.offset))))
	}
	return all
}

// errLost is the error that a process gets if the answer to an action is lost.
var errLost = errors.New("the answer is lost")

// trialBegin is when every trial begins.
var trialBegin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
