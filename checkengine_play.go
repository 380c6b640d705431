package fairlead

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// play is one run of CheckEngine.
type play[S, W any, A Action] struct {
	chooser
	engine  Engine[S, W, A]
	options *TrialOptions
	clock   ManualClock
	store   MemStore
	trial   Trial[W, A]
	two     [2]*process[S, W, A]
	due     map[string]time.Time // when each object is reconciled next; absent for an event only
	worlds  map[string][]seen[W] // as they were observed
	sent    []request[A]         // actions that took effect
	late    []request[A]         // actions that will
	leap    leap                 // the last one
	latest  time.Time            // that the clock has shown
	healed  bool
	nested  bool  // a pass is made within another
	broken  error // the first rule that was broken
	notes   []string
	last    step[S, W] // that was decided last
}

// process is a process that runs the engine.
type process[S, W any, A Action] struct {
	name   string
	runner *Runner[S, W, A]
	dead   bool           // all its calls fail
	seen   map[string]int // the latest world that it has observed, by object
}

// seen is a world, and when it was so.
type seen[W any] struct {
	world W
	at    time.Time
}

// request is an action for an object.
type request[A Action] struct {
	name   string
	action A
	at     time.Time // when it was requested
}

// leap is a long wait for a deadline while nothing was left to do; the one before ended
// when it began.
type leap struct{ began, from, to time.Time }

// step is a decision that can be made again.
type step[S, W any] struct {
	state S
	world W
}

func newPlay[S, W any, A Action](engine Engine[S, W, A], open func(*rand.Rand, *ManualClock) Trial[W, A], o *TrialOptions, t tape) *play[S, W, A] {
	p := &play[S, W, A]{chooser: newChooser(t), engine: engine, options: o, due: map[string]time.Time{}, worlds: map[string][]seen[W]{}}
	p.latest = trialBegin
	p.clock.Set(p.latest)
	p.trial = open(rand.New(rand.NewPCG(t.seed, 2)), &p.clock)
	decide := engine.Step
	p.engine.Step = func(state S, world W, now time.Time) Decision[S, A] { return p.judge(decide, state, world, now) }
	p.happened()
	return p
}

func (p *play[S, W, A]) note(format string, args ...any) {
	p.notes = append(p.notes, p.clock.Now().Format("Jan _2 15:04:05 ")+fmt.Sprintf(format, args...))
}

// history returns the notes, the last twenty at most; equal ones in a row are one.
func (p *play[S, W, A]) history() []string {
	const most = 20
	var all []string
	for i := 0; i < len(p.notes); {
		n := 1
		for i+n < len(p.notes) && p.notes[i+n] == p.notes[i] {
			n++
		}
		if all = append(all, p.notes[i]); n > 1 {
			all[len(all)-1] += fmt.Sprintf(" (%d times)", n)
		}
		i += n
	}
	if n := len(all); n > most {
		return append([]string{fmt.Sprintf("(%d lines before)", n-most+1)}, all[n-most+1:]...)
	}
	return all
}

func (p *play[S, W, A]) breaks(format string, args ...any) {
	if p.broken == nil {
		p.broken = fmt.Errorf(format, args...)
	}
}

// run makes the run, up to the first rule that is broken.
func (p *play[S, W, A]) run(ctx context.Context) {
	p.start(0)
	p.start(1)
	if p.tape.long {
		p.endure(ctx)
		return
	}
	moves := p.options.Moves
	if !p.tape.random {
		moves = min(moves, max(fewMoves, p.lastPick().move+1))
	}
	for i := 0; i < moves && p.broken == nil; i++ {
		p.at = point{i, 0}
		p.move(ctx)
		for k, one := range p.two {
			if one.dead {
				p.start(k)
			}
		}
		p.look("between passes")
	}
	p.healed = true
	for len(p.late) > 0 {
		p.deliver(ctx)
	}
	for _, name := range p.options.Names {
		p.settle(ctx, name)
	}
}

// fewMoves is how many moves a run has in which what goes wrong is picked, if that is
// enough for all of it.
const fewMoves = 15

// start starts a process that knows nothing but the store.
func (p *play[S, W, A]) start(k int) {
	one := &process[S, W, A]{name: fmt.Sprint("process ", k+1), seen: map[string]int{}}
	engine := p.engine
	engine.Backend = &playBackend[S, W, A]{p, one}
	r, err := NewRunner(engine, &RunnerOptions{Store: &playStore[S, W, A]{&p.store, p, one}, Clock: &p.clock})
	if err != nil {
		p.breaks("%w", err)
	}
	one.runner = r
	p.two[k] = one
}

// happened says that every object is to be looked at.
func (p *play[S, W, A]) happened() {
	for _, name := range p.options.Names {
		p.due[name] = p.clock.Now()
	}
}

// next returns the object that is due first.
func (p *play[S, W, A]) next() (first string, known bool) {
	for _, name := range p.options.Names {
		at, is := p.due[name]
		if is && (!known || at.Before(p.due[first])) {
			first, known = name, true
		}
	}
	return first, known
}

// any returns an object.
func (p *play[S, W, A]) any() string {
	if len(p.options.Names) == 1 {
		return p.options.Names[0]
	}
	weights := make([]int, len(p.options.Names))
	for i := range weights {
		weights[i] = 1
	}
	return p.options.Names[p.choose(inAny, weights...)]
}

// move makes the next pass that is due, or something else.
func (p *play[S, W, A]) move(ctx context.Context) {
	weights := []int{8, 9, 3, 4, 4, 1, 1, 3}
	if p.tape.seed%4 == 3 { // in some runs most of what goes wrong goes wrong within a pass
		weights = []int{30, 2, 1, 1, 2, 0, 0, 1}
	}
	switch p.choose(inMove, weights...) {
	case 1:
		p.change()
	case 2:
		p.pass(ctx, p.two[1], p.any())
	case 3:
		p.pass(ctx, p.two[0], p.any())
	case 4:
		p.sleep(ctx, p.clock.Now().Add(time.Duration(p.amount(5000))*time.Millisecond))
	case 5:
		p.sleep(ctx, p.clock.Now().Add(time.Duration(p.amount(3600))*time.Second))
	case 6:
		back := time.Duration(1+p.amount(24*3600)) * time.Second
		p.note("the clock is set back by %v", back)
		p.sleep(ctx, p.clock.Now().Add(-back))
		p.happened() // a sleeper notices
	case 7:
		p.deliver(ctx)
	default:
		p.turn(ctx)
	}
}

// turn makes the pass that is due next. A deadline that is far away comes only while
// nothing is left to do: nobody leaves a world as it is for so long.
func (p *play[S, W, A]) turn(ctx context.Context) {
	name, known := p.next()
	if !known {
		return
	}
	if at := p.due[name]; at.After(p.clock.Now()) {
		if at.Sub(p.clock.Now()) > time.Hour {
			for _, any := range p.options.Names {
				if p.trial.Settled(any) != nil {
					return
				}
			}
			p.leap = leap{p.leap.to, p.clock.Now(), at}
		}
		p.sleep(ctx, at)
	}
	p.pass(ctx, p.two[0], name)
}

// sleep sets the clock. What takes effect late has done so by then.
func (p *play[S, W, A]) sleep(ctx context.Context, until time.Time) {
	for len(p.late) > 0 && (until.Sub(p.late[0].at) > p.options.Late || until.Before(p.clock.Now())) {
		p.deliver(ctx)
	}
	p.clock.Set(until)
	if until.After(p.latest) {
		p.latest = until
	}
}

// tooLate reports whether an action can no longer take effect. What was requested before
// the last leap, and after the one before, may arrive while things go on after it.
func (p *play[S, W, A]) tooLate(r request[A]) bool {
	late := p.clock.Now().Sub(r.at)
	if late.Abs() > p.options.Late && !r.at.Before(p.leap.began) && !r.at.After(p.leap.from) && p.trial.Settled(r.name) != nil {
		late = p.clock.Now().Sub(p.leap.to)
	}
	return late.Abs() > p.options.Late
}

// change lets the world change.
func (p *play[S, W, A]) change() {
	p.trial.Change()
	p.happened()
	p.note("the world may have changed")
}

// deliver lets an action take effect that was given up, or again one of the last.
func (p *play[S, W, A]) deliver(ctx context.Context) {
	var r request[A]
	switch n := len(p.sent); {
	case len(p.late) > 0 && (n == 0 || p.healed || p.choose(inAny, 1, 1) == 0):
		i := p.amount(len(p.late))
		r, p.late = p.late[i], slices.Delete(slices.Clone(p.late), i, i+1)
		p.note("%s: takes effect late: %s", r.name, r.action)
	case n > 0:
		const last = 5
		if r = p.sent[max(0, n-1-p.amount(last))]; p.tooLate(r) {
			return
		}
		p.note("%s: takes effect again: %s", r.name, r.action)
	default:
		return
	}
	_ = p.trial.Apply(ctx, r.name, r.action) // nobody waits for the answer
	p.happened()
	p.look("after " + r.action.String())
}

// look checks that the trial is not in a forbidden state.
func (p *play[S, W, A]) look(when string) {
	if p.broken == nil {
		if err := p.trial.Check(); err != nil {
			p.breaks("%s: %w", when, err)
		}
	}
}

// pass makes a pass, and says when the object is due again.
func (p *play[S, W, A]) pass(ctx context.Context, one *process[S, W, A], name string) (d Decision[S, A]) {
	if p.broken != nil {
		return d
	}
	delete(p.due, name)
	d, err := one.runner.Reconcile(ctx, name)
	var panicked *PanicError
	if errors.As(err, &panicked) {
		p.breaks("%w\n%s", err, panicked.Stack)
	}
	next := d.Wake
	if err != nil {
		if !errors.Is(err, errInjected) {
			p.note("%s: %s: %v", one.name, name, err)
		}
		next = p.clock.Now().Add(time.Second)
	}
	if at, is := p.due[name]; !next.IsZero() && (!is || next.Before(at)) {
		p.due[name] = next
	}
	return d
}

// within makes a pass of the other process, or over another object, within a pass.
func (p *play[S, W, A]) within(ctx context.Context, one *process[S, W, A], name string) {
	if p.nested || p.healed {
		return
	}
	p.nested = true
	defer func() { p.nested = false }()
	for _, other := range p.two {
		if other != one && !other.dead {
			p.note("meanwhile %s reconciles %s", other.name, name)
			p.pass(ctx, other, name)
		}
	}
	for _, other := range p.options.Names {
		if other != name && !one.dead {
			p.pass(ctx, one, other)
			return
		}
	}
}

// pause stops a process for a while between two calls, and the world goes on.
func (p *play[S, W, A]) pause(ctx context.Context, one *process[S, W, A]) {
	p.note("%s is suspended", one.name)
	for range 24 {
		switch p.choose(inPause, 1, 2, 2) {
		case 1:
			p.change()
		case 2:
			p.deliver(ctx)
		}
	}
}

// settle makes passes, each at the time that the one before asked for, until
// nothing is left to do.
func (p *play[S, W, A]) settle(ctx context.Context, name string) {
	const most = 1000
	var d Decision[S, A]
	others, _ := p.trial.(Healer)
	for i, slept := 0, false; i < most; i++ {
		if others != nil {
			others.Heal(name)
		}
		if d = p.pass(ctx, p.two[0], name); p.broken != nil {
			return
		}
		p.look("when there are no more faults")
		missing := p.trial.Settled(name)
		if missing == nil || slept && d.Wake.IsZero() {
			break
		}
		if slept = d.Wake.IsZero(); slept {
			continue // what others do now is an event
		}
		wait := d.Wake.Sub(p.clock.Now())
		if wait > p.options.Late && len(d.Actions) == 0 && len(d.Blocked) == 0 && !p.again(&d) {
			p.breaks("%s waits silently for %v, without a Block: %w", name, wait, missing)
			return
		}
		if wait > 0 {
			p.sleep(ctx, d.Wake)
		}
	}
	p.asleep(&d)
	switch err := p.trial.Settled(name); {
	case err == nil:
		p.rest(ctx, name)
	case len(d.Blocked) == 0 || len(d.Actions) > 0: // else a Block says why not
		p.breaks("%s does not settle: %w; the last decision has %d actions, %d blocks, and wakes at %s", name, err, len(d.Actions), len(d.Blocked), d.Wake.Format(time.RFC3339))
	}
	p.look("at rest")
}

// again reports whether a decision waits for a time that the clock has shown before, and that the
// world names: without a state, the engine would wait for it as well.
func (p *play[S, W, A]) again(d *Decision[S, A]) bool {
	if d.Wake.After(p.latest) {
		return false
	}
	last := p.last
	defer func() { p.last = last }()
	var none S
	fresh := p.engine.Step(none, last.world, p.clock.Now())
	return fresh.Wake.Equal(d.Wake) && len(fresh.Actions) == 0 && len(fresh.Blocked) == 0
}

// asleep checks that an engine that sleeps until an event would not act before.
func (p *play[S, W, A]) asleep(d *Decision[S, A]) {
	if !d.Wake.IsZero() || len(d.Actions) > 0 || p.broken != nil {
		return
	}
	for _, after := range []time.Duration{time.Second, time.Minute, time.Hour, 24 * time.Hour} {
		later := p.engine.Step(p.last.state, p.last.world, p.clock.Now().Add(after))
		if len(later.Actions) > 0 {
			p.breaks("it sleeps until an event, and after %v would %s: Wake is forgotten", after, later.Actions[0])
			return
		}
	}
}

// rest checks that the state does not grow while nothing happens. What still works on
// something may grow for a while.
func (p *play[S, W, A]) rest(ctx context.Context, name string) {
	const most = 16
	size, grown := 0, 0
	for i := 1; i <= most && (i <= 3 || grown == i-2); i++ {
		for range 8 {
			p.clock.Advance(10 * time.Minute)
			p.pass(ctx, p.two[0], name)
		}
		rec, _ := p.store.Get(ctx, StateKey(p.engine.Name, name)) // a MemStore; no state has no size
		is := sizeOf(rec)
		if i > 1 && is-size >= 8 {
			grown++
		}
		size = is
	}
	if grown == most-1 {
		p.breaks("the state of %s grows with each pass: it has %d bytes after %d", name, size, 8*most)
	}
}

// endure lets the world change for a long time, and checks that states do not grow with
// the changes: of each hundred, what is least kept counts.
func (p *play[S, W, A]) endure(ctx context.Context) {
	const most, changes = 24, 100
	const enough, much = 4, 4096 // what grows fast is told sooner
	p.healed = true
	kept, first := 0, 0
	for i := range most {
		least := math.MaxInt
		for range changes {
			p.trial.Change()
			p.happened()
			for range min(len(p.options.Names), 3) * 3 {
				p.turn(ctx)
			}
			least = min(least, p.stored())
		}
		if p.look("after many changes"); p.broken != nil || least <= kept {
			return
		}
		if i == 1 {
			first = least - kept
		}
		fast := i >= enough && least > much && 2*(least-kept) > first
		if kept = least; fast || i == most-1 {
			p.breaks("states grow with each change of the world: they have at least %d bytes after %d", kept, (i+1)*changes)
			return
		}
	}
}

// stored returns the size of all states.
func (p *play[S, W, A]) stored() (size int) {
	for rec := range p.store.List(context.Background(), "") {
		size += sizeOf(rec)
	}
	return size
}

// sizeOf returns the size of a state; zero if there is none.
func sizeOf(rec Record) int {
	var e envelope
	if json.Unmarshal(rec.Value, &e) != nil || e.unpack() != nil {
		return 0
	}
	return len(e.State)
}
