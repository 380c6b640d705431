package explore

import (
	"time"

	"github.com/fairlead/fairlead"
)

// Decision is the result of a step.
type Decision[S, A any] struct {
	State   S                // saved before anything is applied
	Actions []A              // applied then, in this order
	Blocked []fairlead.Block // why nothing more happens
	Wake    time.Time        // when to observe again, by the runner's clock; zero for only after an event
	Broken  string           // the rule that this decision breaks, given what was observed; empty for none
}

// Move is something that the world does by itself.
type Move[W any] struct {
	Name string  // one or several words, unique in the world
	Do   func(W) // changes the world, which is a copy for this move
	// Sure means that the move happens sooner or later. Other moves may or may
	// not happen.
	Sure bool
}

// Faults is how often each fault may occur on one path.
type Faults struct {
	Crash  int // the runner crashes after it has observed, or after it has saved
	Lost   int // an action takes effect, but its answer is lost
	Fail   int // an action has no effect and fails
	Late   int // the world changes between an observation and the save
	Second int // a second runner observes, and acts at any later time
	Back   int // the runner's clock is set back by a day
}

// Model is a small world in which an engine is explored. Worlds are pointers;
// their JSON, and that of states, must contain everything that matters.
type Model[W, S, A any] struct {
	Name   string                                            // for messages
	Worlds []W                                               // the worlds where exploring begins
	Clone  func(W) W                                         // an independent copy
	Step   func(S, W, time.Time) Decision[S, A]              // observes the world and decides
	Apply  func(w W, action A, now time.Time) error          // the world carries out an action
	Moves  func(w W, now time.Time) []Move[W]                // what the world may do now; nil does nothing
	Tick   func(w W, now time.Time)                          // time has passed; nil does nothing
	Next   func(w W, now time.Time) time.Time                // when the world changes by the passing of time alone; nil or zero means never
	Forget func(W)                                           // drops what a runner remembers of failures; nil if it remembers nothing
	Check  func(w W, s S, d *Decision[S, A]) error           // safety; d is the last decision, nil before the first
	Rest   func(W) bool                                      // nothing is owed
	Told   func(w W, blocked []fairlead.Block) bool          // whether the blocks say what would end the wait; nil means any block with an Unblock does
	Owed   func(w W, now time.Time, d *Decision[S, A]) error // checked when the engine has nothing to do; nil checks nothing

	// Answer reports the result of an action to the runner: nil or an error. If
	// the answer was lost, it is an error although the action took effect. Nil
	// reports nothing.
	Answer func(w W, action A, err error, now time.Time)

	Faults   Faults        // on one path
	Ends     bool          // states at rest are not explored further
	Patience time.Duration // the longest sleep while something is owed; 0 means a day
	Horizon  time.Duration // earlier times count as old; 0 means two days
	Max      int           // the maximum number of visited states; 0 means 100,000

	space []byte                  // buffer for hashing
	old   []int64                 // the old times in what is being hashed
	times []int64                 // buffer for their order
	looks map[asked]*flight[S, A] // earlier decisions; nil remembers nothing
	reads map[*byte]S             // decoded states by the address of their text; likewise
}

// singles returns the faults one kind at a time.
func (f Faults) singles() []Faults {
	var all []Faults
	add := func(one Faults) {
		if one != (Faults{}) {
			all = append(all, one)
		}
	}
	add(Faults{Crash: f.Crash})
	add(Faults{Lost: f.Lost})
	add(Faults{Fail: f.Fail})
	add(Faults{Late: f.Late})
	add(Faults{Second: f.Second})
	add(Faults{Fail: f.Fail, Back: f.Back}) // the clock matters for what has failed
	return all
}

// back is how far a runner's clock is set back.
const back = 24 * time.Hour

// begin is when every world begins.
var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Begin returns the time at which every world begins.
func Begin() time.Time { return begin }

func (m *Model[W, S, A]) patience() time.Duration {
	if m.Patience > 0 {
		return m.Patience
	}
	return back
}

func (m *Model[W, S, A]) horizon() time.Duration {
	if m.Horizon > 0 {
		return m.Horizon
	}
	return 2 * back
}

func (m *Model[W, S, A]) told(w W, blocked []fairlead.Block) bool {
	if m.Told != nil {
		return m.Told(w, blocked)
	}
	for i := range blocked {
		if blocked[i].Unblock != "" {
			return true
		}
	}
	return false
}
