package fairlead

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// SmallTrial is a Trial of a world that is so small that [CheckEngine] visits every
// state that an engine and the world can reach, in every order of events: see
// [VisitOptions]. The exported fields of the trial, or else its JSON, hold everything that
// matters: two states are one if their JSON is equal, with times relative to the present.
type SmallTrial[W any, A Action] interface {
	Trial[W, A]

	// Clone returns an independent copy, on the same clock.
	Clone() SmallTrial[W, A]

	// Events returns what may happen now that the engine did not request, in a fixed
	// order.
	Events() []Event
}

// Event is something that others than the engine may do in a [SmallTrial].
type Event struct {
	Name string // one or several words, unique in the world
	Do   func() // changes the trial that has returned the event
	Sure bool   // it happens sooner or later; others may never happen
}

// Passing is a [SmallTrial] in which something changes only because time passes.
type Passing interface {
	Next() time.Time // when something changes next; zero for never
	Pass()           // the clock shows a later time
}

// Judge is a Trial with rules for decisions: it returns the rule that a decision breaks,
// given what it was made on, or nil.
type Judge[S, W any, A Action] interface {
	Judge(state S, world W, now time.Time, d Decision[S, A]) error
}

// Excuser is a [SmallTrial] that says whether a wait is excused by Blocks, in words.
// Without it, each Block with an Unblock excuses.
type Excuser interface{ Excuses(blocked []Block) bool }

// VisitOptions say how [CheckEngine] visits the states of a [SmallTrial]. There the engine
// steps, an action takes effect, its answer is lost, it fails, the process dies between any
// two of load, save and apply, the world changes between them, a second process acts on
// what it saw before, time passes to the next wake, the clock is set back by a day, and
// each Event happens: first with each kind of fault by itself, as often as
// TrialOptions.Faults says, then with all kinds together. Several Names are visited one by
// one. Each state is held to the rules of CheckEngine, and:
//
//  1. When the process has observed everything, what happens sooner or later leads to a
//     state that is settled, or a Block says what would. Actions, the passing of time and
//     sure events happen sooner or later; faults and other events may never happen.
//  2. There is no circle in which time passes, without a sure event, and which is
//     neither settled nor excused by a Block.
//  3. While something is missing, the process never sleeps for longer than Patience, and
//     no more time passes without an action or an event, unless that is excused.
//  4. If all states were visited, some are settled.
type VisitOptions struct {
	// States is how many states are visited at most, with each set of faults. Zero
	// means 10,000.
	States int

	// Path is where the visit begins: names of events, as the history of a failure
	// has them.
	Path []string

	// Ends does not follow states any further that are settled.
	Ends bool

	// Patience is the longest sleep while something is missing. Zero means a day.
	Patience time.Duration

	// Horizon is beyond every duration that matters to the engine: earlier times
	// are told apart by their order alone. Zero means two days.
	Horizon time.Duration

	// Log, if set, is told how many states there were.
	Log func(args ...any)
}

// budget is how often each fault may occur on one path.
type budget struct {
	Crash  int // the process dies after it has observed, or after it has saved
	Lost   int // an action takes effect, but its answer is lost
	Fail   int // an action has no effect and fails
	Late   int // the world changes between an observation and the save
	Second int // a second process observes, and acts at any later time
	Back   int // the process's clock is set back by a day
}

// budgets returns the faults one kind at a time, and all together.
func (o *VisitOptions) budgets(n int) []budget {
	all := budget{n, n, n, n, n, n}
	if len(o.Path) > 0 {
		return []budget{all}
	}
	return []budget{{}, {Crash: n}, {Lost: n}, {Fail: n}, {Late: n}, {Second: n}, {Fail: n, Back: n}, all} // the clock matters for what has failed
}

// back is how far a process's clock is set back.
const back = 24 * time.Hour

// visitSmall visits the states of a small trial. It reports whether the trial is one.
func visitSmall[S, W any, A Action](ctx context.Context, engine *Engine[S, W, A], open func(*ManualClock) Trial[W, A], o *TrialOptions) (bool, error) {
	var clock ManualClock
	clock.Set(trialBegin)
	small, is := open(&clock).(SmallTrial[W, A])
	if !is {
		return false, nil
	}
	visit := o.Visit
	visit.States = positive(visit.States, 10_000)
	visit.Patience = positive(visit.Patience, back)
	visit.Horizon = positive(visit.Horizon, 2*back)
	for _, name := range o.Names {
		for _, faults := range visit.budgets(max(1, o.Faults)) {
			v := &visitor[S, W, A]{ctx: ctx, engine: engine, options: &visit, maxState: o.MaxState, clock: &clock, name: name}
			v.run(small, faults)
			if ctx.Err() != nil {
				return true, ctx.Err()
			}
			if visit.Log != nil {
				visit.Log(fmt.Sprintf("%s, faults %+v: %s", name, faults, v.counts()))
			}
			if v.broken != nil {
				return true, fmt.Errorf("fairlead.CheckEngine: engine %s, object %s: %w\nwhat happened:\n\t%s", engine.Name, name, v.broken, strings.Join(v.told, "\n\t"))
			}
		}
	}
	return true, nil
}
