package fairlead

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Trial is a small world in which [CheckEngine] runs an engine. It is the
// engine's Backend, and is used by one goroutine at a time.
type Trial[W any, A Action] interface {
	Backend[W, A]

	// Change makes a random change that the engine did not request, or none,
	// using the random source that the trial was created with.
	Change()

	// Check returns an error if the world is in a forbidden state. It is called
	// after every event.
	Check() error

	// Settled returns nil if nothing is left to do for the named object,
	// otherwise an error that says what is missing. It is called at the end,
	// when there are no more faults.
	Settled(name string) error
}

// TrialOptions are options of [CheckEngine]. The zero value is useful.
type TrialOptions struct {
	// Seed is the seed of the first run; zero means 1. Failures name their
	// seed.
	Seed uint64

	// Runs is how many seeds are tried, one after the other. Zero means 100.
	Runs int

	// Moves is how many events a run has before the faults end. Zero means 100.
	Moves int

	// Names are the objects of the world. Nil means one, "a".
	Names []string
}

// CheckEngine runs an engine in simulated worlds with faults. It returns nil,
// or an error that names the seed, what went wrong and the last events. It is
// to engines what [CheckStore] is to stores. Open creates the world of a run;
// the engine's Backend is not used.
//
// Faults are: calls of store and backend that fail before or after they take
// effect, a process that dies during any of them, a second process on the same
// store, clocks that jump forward and back. What must hold:
//
//  1. Step is pure: equal arguments give equal decisions, and it leaves them as
//     they are.
//  2. States and decisions survive encoding/json.
//  3. Trial.Check, at any time.
//  4. When there are no more faults, every object is settled after some passes,
//     or a Block says why not.
func CheckEngine[S, W any, A Action](ctx context.Context, engine Engine[S, W, A], open func(r *rand.Rand, clock *ManualClock) Trial[W, A], options *TrialOptions) error {
	var o TrialOptions
	if options != nil {
		o = *options
	}
	o.Seed = max(o.Seed, 1)
	o.Runs = positive(o.Runs, 100)
	o.Moves = positive(o.Moves, 100)
	if o.Names == nil {
		o.Names = []string{"a"}
	}
	for i := range o.Runs {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := newPlay(engine, open, &o, o.Seed+uint64(i))
		if err := p.run(ctx); err != nil {
			return fmt.Errorf("fairlead.CheckEngine: engine %s, seed %d: %w\nwhat happened last:\n\t%s", engine.Name, p.seed, err, strings.Join(p.notes, "\n\t"))
		}
	}
	return nil
}

// errInjected is the error of calls that fail on purpose.
var errInjected = errors.New("simulated fault")

// play is one run of CheckEngine.
type play[S, W any, A Action] struct {
	*rand.Rand
	engine  Engine[S, W, A]
	options *TrialOptions
	seed    uint64
	clock   ManualClock
	store   MemStore
	trial   Trial[W, A]
	healed  bool
	dead    bool  // the process has died: all its calls fail
	broken  error // the first rule that was broken
	notes   []string
}

func newPlay[S, W any, A Action](engine Engine[S, W, A], open func(*rand.Rand, *ManualClock) Trial[W, A], o *TrialOptions, seed uint64) *play[S, W, A] {
	p := &play[S, W, A]{Rand: rand.New(rand.NewPCG(seed, 1)), engine: engine, options: o, seed: seed}
	p.clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	p.trial = open(rand.New(rand.NewPCG(seed, 2)), &p.clock)
	step := engine.Step
	p.engine.Backend = playBackend[W, A]{
		Trial: p.trial, fault: p.fault,
		changes: func() bool { return !p.healed && p.IntN(20) == 0 },
		after:   func(a A) { p.look("after " + a.String()) },
	}
	p.engine.Step = func(state S, world W, now time.Time) Decision[S, A] { return p.judge(step, state, world, now) }
	return p
}

func (p *play[S, W, A]) note(format string, args ...any) {
	p.notes = append(p.notes, p.clock.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
	p.notes = p.notes[max(0, len(p.notes)-30):]
}

// fault decides whether a call fails, and notes it.
func (p *play[S, W, A]) fault(call string) bool {
	switch {
	case p.dead:
		return true
	case p.healed || p.IntN(12) > 0:
		return false
	}
	p.dead = p.IntN(3) == 0
	p.note("fault: %s fails, the process dies: %v", call, p.dead)
	return true
}

func (p *play[S, W, A]) breaks(format string, args ...any) {
	if p.broken == nil {
		p.broken = fmt.Errorf(format, args...)
	}
}

func (p *play[S, W, A]) run(ctx context.Context) error {
	runners := []*Runner[S, W, A]{p.process(), p.process()}
	for range p.options.Moves {
		switch name := p.options.Names[p.IntN(len(p.options.Names))]; p.IntN(10) {
		case 0, 1, 2:
			p.trial.Change()
		case 3:
			p.pass(ctx, runners[1], name)
		case 4, 5:
			p.jump()
		default:
			p.pass(ctx, runners[0], name)
		}
		if p.dead {
			runners[p.IntN(2)], p.dead = p.process(), false
		}
		if err := p.look("between passes"); err != nil {
			return err
		}
	}
	p.healed = true
	p.note("no more faults")
	for _, name := range p.options.Names {
		if err := p.settle(ctx, runners[0], name); err != nil {
			return err
		}
	}
	return nil
}

// process returns a runner that knows nothing but the store.
func (p *play[S, W, A]) process() *Runner[S, W, A] {
	r, err := NewRunner(p.engine, &RunnerOptions{Store: playStore{&p.store, p.fault}, Clock: &p.clock})
	if err != nil {
		p.breaks("%w", err)
	}
	return r
}

// look checks that the trial is not in a forbidden state.
func (p *play[S, W, A]) look(when string) error {
	if err := p.trial.Check(); err != nil {
		p.breaks("%s: %w", when, err)
	}
	return p.broken
}

func (p *play[S, W, A]) pass(ctx context.Context, r *Runner[S, W, A], name string) (d Decision[S, A]) {
	if p.broken != nil {
		return d
	}
	d, err := r.Reconcile(ctx, name)
	var panicked *PanicError
	if errors.As(err, &panicked) {
		p.breaks("%w\n%s", err, panicked.Stack)
	}
	for _, a := range d.Actions {
		p.note("%s: %s", name, a)
	}
	if err != nil {
		p.note("%s: %v", name, err)
	}
	return d
}

// jump moves the clock: mostly by seconds, sometimes by an hour, and as a fault
// up to a day back.
func (p *play[S, W, A]) jump() {
	d := time.Duration(p.IntN(5000)) * time.Millisecond
	switch p.IntN(10) {
	case 0:
		d = time.Duration(p.IntN(3600)) * time.Second
	case 1:
		d = -time.Duration(p.IntN(24*3600)) * time.Second
	}
	p.clock.Advance(d)
}

// settle makes passes, each at the time that the one before asked for, until
// nothing is left to do.
func (p *play[S, W, A]) settle(ctx context.Context, r *Runner[S, W, A], name string) error {
	const most = 1000
	var d Decision[S, A]
	for range most {
		d = p.pass(ctx, r, name)
		if err := p.look("when there are no more faults"); err != nil {
			return err
		}
		if p.trial.Settled(name) == nil {
			return nil
		}
		if d.Wake.IsZero() {
			break
		}
		if d.Wake.After(p.clock.Now()) {
			p.clock.Set(d.Wake)
		}
	}
	if len(d.Blocked) > 0 && len(d.Actions) == 0 {
		return nil // a Block says why not
	}
	return fmt.Errorf("%s does not settle: %w; the last decision has %d actions, %d blocks, and wakes at %s", name, p.trial.Settled(name), len(d.Actions), len(d.Blocked), d.Wake.Format(time.RFC3339))
}

// judge makes a decision twice, and checks the rules of Step.
func (p *play[S, W, A]) judge(step func(S, W, time.Time) Decision[S, A], state S, world W, now time.Time) Decision[S, A] {
	before := p.encode("the arguments of Step", []any{state, world})
	d := step(state, world, now)
	first := p.encode("a decision", d)
	if after := p.encode("the arguments of Step", []any{state, world}); after != before {
		p.breaks("Step changes its arguments:\n%s\nbecame\n%s", before, after)
	}
	if second := p.encode("a decision", step(state, world, now)); second != first {
		p.breaks("Step is not pure: equal arguments gave\n%s\nand\n%s", first, second)
	}
	var back Decision[S, A]
	if _, ok := any(state).(interface{ Kinds() []A }); !ok {
		var saved S
		p.decode(p.encode("a state", d.State), &saved, "a state")
		return d
	}
	p.decode(first, &back, "a decision")
	return d
}

func (p *play[S, W, A]) encode(what string, v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		p.breaks("%s cannot be written as JSON: %w", what, err)
	}
	return string(data)
}

func (p *play[S, W, A]) decode(text string, into any, what string) {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		p.breaks("%s cannot be read from its JSON: %w\n%s", what, err, text)
	} else if again := p.encode(what, into); again != text {
		p.breaks("%s does not survive JSON:\n%s\ncame back as\n%s", what, text, again)
	}
}

// playBackend is the trial with faults.
type playBackend[W any, A Action] struct {
	Trial[W, A]
	fault   func(call string) bool
	changes func() bool // whether the world has changed since it was observed
	after   func(A)
}

// Observe implements Backend.
func (b playBackend[W, A]) Observe(ctx context.Context, name string) (w W, err error) {
	if b.fault("observe") {
		return w, errInjected
	}
	w, err = b.Trial.Observe(ctx, name)
	if b.changes() {
		b.Trial.Change()
	}
	return w, err
}

// Apply implements Backend.
func (b playBackend[W, A]) Apply(ctx context.Context, name string, action A) error {
	if b.fault("apply") {
		return errInjected
	}
	err := b.Trial.Apply(ctx, name, action)
	b.after(action)
	if b.fault("the answer to apply") {
		return errInjected
	}
	return err
}

// playStore is a store with faults.
type playStore struct {
	Store
	fault func(call string) bool
}

// Get implements Store.
func (s playStore) Get(ctx context.Context, key string) (Record, error) {
	if s.fault("get") {
		return Record{}, errInjected
	}
	return s.Store.Get(ctx, key)
}

// Put implements Store.
func (s playStore) Put(ctx context.Context, key string, value []byte, prev Revision) (Revision, error) {
	if s.fault("put") {
		return "", errInjected
	}
	rev, err := s.Store.Put(ctx, key, value, prev)
	if s.fault("the answer to put") {
		return "", errInjected
	}
	return rev, err
}

// Delete implements Store.
func (s playStore) Delete(ctx context.Context, key string, prev Revision) error {
	if s.fault("delete") {
		return errInjected
	}
	err := s.Store.Delete(ctx, key, prev)
	if s.fault("the answer to delete") {
		return errInjected
	}
	return err
}
