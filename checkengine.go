package fairlead

import (
	"context"
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
	// otherwise an error that says what is missing. It changes nothing: see Healer.
	Settled(name string) error
}

// Healer is a Trial in which others than the engine must act before an object is settled:
// an outage ends, a person approves. Heal lets them do that. It is called before each
// pass at the end, when there are no more faults.
type Healer interface{ Heal(name string) }

// TrialOptions are options of [CheckEngine]. The zero value is useful.
type TrialOptions struct {
	// Seed is the seed of the first run with random faults; zero means 1.
	Seed uint64

	// Runs is how many runs are made. Zero means 100, a negative number none. At most a
	// third of them are those that Faults asks for; the others have random faults.
	Runs int

	// Faults makes every possible run with at most so many faults, in addition to
	// Runs, as long as the world is small: each fault at each point. Zero means those
	// with one fault, within Runs. In a visit, it is how often each kind of fault may
	// occur on a path; zero means once.
	Faults int

	// Moves is how many events a run has before the faults end. Zero means 100.
	Moves int

	// Names are the objects of the world. Nil means one, "a".
	Names []string

	// Late is how long after its request an action may take effect, without a wait of
	// more than an hour in which nothing was left to do, and how old an observed world
	// may be. Zero means a minute.
	Late time.Duration

	// Visit says how a [SmallTrial] is visited, in place of the runs with chosen faults.
	Visit VisitOptions

	// MaxState is the size that a State may have in the Store, in bytes. Zero means a
	// quarter of what a Store takes. Large ones are stored compressed.
	MaxState int
}

// CheckEngine runs an engine in simulated worlds with faults. It returns nil, or an
// error that says what went wrong and what led to it, with as few faults as were found
// to lead to it. It is to engines what [CheckStore] is to stores. Open creates the
// world of a run; the engine's Backend is not used. Equal arguments give equal runs.
//
// Faults are: calls of store and backend that fail before or after they take effect; a
// process that dies during any of them, or is suspended before it acts; actions that take
// effect twice, or late, when the process that requested them has given up; a second
// process on the same store, and passes over other objects, between any two calls of a
// pass; worlds that are observed as they were before, and that change after they were
// observed; clocks that jump forward and back. In every other run with random faults some
// kinds of them are frequent, and some absent. What was requested before a long wait for a
// deadline may arrive when things go on after it. What must hold:
//
//  1. Step is pure: equal arguments give equal decisions, and it leaves them as
//     they are.
//  2. States and decisions survive encoding/json. A State has at most MaxState bytes,
//     and does not grow with each pass, or each change of the world.
//  3. Trial.Check, at any time.
//  4. When there are no more faults, every object is settled after some passes,
//     or a Block says why not. One that waits for longer than Late has a Block
//     meanwhile, unless it waits for a time that the clock has shown before, as it
//     would without a State. An engine that sleeps until an event (Decision.Wake is
//     zero) would not act if it was woken later.
func CheckEngine[S, W any, A Action](ctx context.Context, engine Engine[S, W, A], open func(r *rand.Rand, clock *ManualClock) Trial[W, A], options *TrialOptions) error {
	var o TrialOptions
	if options != nil {
		o = *options
	}
	o.Seed = max(o.Seed, 1)
	if o.Runs == 0 {
		o.Runs = 100
	}
	o.Moves = positive(o.Moves, 100)
	o.Late = positive(o.Late, time.Minute)
	o.MaxState = positive(o.MaxState, MaxValueSize/4)
	if o.Names == nil {
		o.Names = []string{"a"}
	}
	var made int
	var failed *play[S, W, A]
	play := func(t tape) *play[S, W, A] {
		p := newPlay(engine, open, &o, t)
		p.run(ctx)
		return p
	}
	small, err := visitSmall(ctx, &engine, func(clock *ManualClock) Trial[W, A] { return open(rand.New(rand.NewPCG(o.Seed, 2)), clock) }, &o)
	if err != nil || o.Runs < 0 {
		return err
	}
	if !small {
		made, failed = everyFault(ctx, play, &o)
	}
	try := func(t tape) {
		if p := play(t); p.broken != nil {
			failed = p
		}
	}
	const soon = 20
	for i, n := 0, max(1, o.Runs-made); failed == nil && i < n && ctx.Err() == nil; i++ {
		try(tape{seed: o.Seed + uint64(i), random: true})
		if failed == nil && i == min(soon, n)-1 {
			try(tape{seed: o.Seed, long: true})
		}
	}
	if failed == nil {
		return ctx.Err()
	}
	seed := failed.tape.seed
	if !failed.tape.long { // which has no faults
		failed = shorten(ctx, failed, play)
	}
	return fmt.Errorf("fairlead.CheckEngine: engine %s, seed %d: %w\nwhat happened:\n\t%s", engine.Name, seed, failed.broken, strings.Join(failed.history(), "\n\t"))
}
