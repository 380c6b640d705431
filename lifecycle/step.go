package lifecycle

import (
	"time"

	"github.com/fairlead/fairlead"
)

// Step decides what to do next about a machine.
//
//  1. A machine that is not being deleted only gets conditions about its hooks.
//     An update in place is reported, but a deletion does not wait for it.
//  2. A deletion goes through its [Stage]s in order; one Step may complete
//     several. A completed stage comes back in one case: the machine has a node
//     that was not drained, because it joined late, was registered again, or
//     was uncordoned. While the instance may exist, that node is drained.
//  3. The conditions that announce it must be observed on the machine before
//     its node or instance is touched: whoever waits for a condition sees it in
//     time.
//  4. Actions without visible effect are retried with exponential backoff.
//  5. A machine whose spec would not be admitted is deleted like any other.
//  6. A machine that is paused, or whose cluster is, is left alone.
//
// It is a pure function; a nil policy means the defaults. World must not be nil. If
// nothing has changed since the state was made, it allocates nothing.
func Step(state State, world *World, now time.Time, policy *Policy) Decision {
	if world.Machine == nil {
		return Decision{}
	}
	if state.Done() && world.Machine.rests() {
		return Decision{}
	}
	if policy == nil {
		policy = &defaults
	}
	if state.UID != world.Machine.UID {
		state = State{UID: world.Machine.UID}
	} else if state.Stage != "" && !world.Machine.Deleting() {
		// The observation is from before the deletion.
		return Decision{State: state, Wake: now.Add(policy.backoff().Min)}
	}
	var s stepper // filled in place, and one after another: it is large
	s.World, s.policy, s.now = world, policy, now
	s.State = state
	s.State.Began = state.began(now)
	s.ledger = fairlead.NewLedger(state.Pending, world.Outcomes, now, policy.backoff())
	s.hookStates.Old = state.Hooks
	if what := s.paused(); what != "" {
		s.pause(what)
	} else {
		s.decide()
	}
	s.end()
	return s.Decision
}

// rests reports whether Step has nothing to do for the machine while nothing is
// remembered about it, paused or not: the rest of the world matters only to
// deletions. Most machines rest, most of the time.
func (m *Machine) rests() bool {
	return !m.Deleting() && !m.UpdatingInPlace() && m.tells(false)
}

// decide advances a machine that is not paused as far as possible now.
func (s *stepper) decide() {
	if s.Machine.Deleting() {
		s.delete()
	} else {
		s.inPlace()
	}
	if s.State.Stage != StageDone {
		s.status()
	}
}

// defaults is the policy that nil means. Nothing changes it.
var defaults Policy

// stepper is one call of Step.
type stepper struct {
	*World
	policy     *Policy
	now        time.Time
	Decision   // what is decided so far
	ledger     fairlead.Ledger
	name       string // of the subject, once it is built
	hookStates fairlead.Unchanged[HookState]
	failure    string // of the drain
	failed     string // the hook that has failed the deletion, as POINT/NAME
	node       standing
	fresh      bool // the deletion is new to the state
}

// paused says what pauses the machine; empty if nothing does.
func (s *stepper) paused() string {
	if _, is := s.Machine.Annotations[PausedAnnotation]; is {
		return "annotation " + PausedAnnotation + " of the machine"
	}
	if s.Cluster != nil && s.Cluster.Paused {
		return "spec.paused of the cluster"
	}
	return ""
}

// pause keeps the state, and does nothing. The time of the stage does not pass.
func (s *stepper) pause(what string) {
	s.ledger.KeepAll()
	for i := range s.State.Hooks {
		s.hookStates.Add(s.State.Hooks[i])
	}
	if s.Machine.Deleting() {
		s.hold()
		s.wait(fairlead.Block{Reason: ReasonPaused, Name: what})
	}
}

// end completes the decision: what to remember, why nothing more happens, and when to
// look again.
func (s *stepper) end() {
	s.State.Pending, s.Blocked = s.ledger.Pending(), s.ledger.Blocked()
	s.State.Hooks = s.hookStates.All()
	if len(s.Blocked) > 0 {
		s.ledger.At(s.now.Add(s.policy.resync()))
	}
	s.Wake = s.ledger.Wake()
	if s.State.Done() {
		s.State = State{}
	}
}

// refused reports whether the last attempt at an action failed.
func (s *stepper) refused(key fairlead.Key) bool {
	o := s.ledger.Outcome(key)
	return o != nil && o.Failed
}

func (s *stepper) do(a Action) { s.Actions = append(s.Actions, a) }

// attempted adds a wait for an action, with the error of its last attempt.
func (s *stepper) attempted(w fairlead.Block, key fairlead.Key) {
	if o := s.ledger.Outcome(key); o != nil && o.Failed {
		w.Detail = o.Message
	}
	s.wait(w)
}

// event tells people that something has happened.
func (s *stepper) event(kind, reason, message string) {
	s.do(RecordEvent{Type: kind, Reason: reason, Message: message})
}

// maxNotes is how many Notes are kept, the latest.
const maxNotes = 20

// note reports an exception to people, and remembers it.
func (s *stepper) note(reason, text string) {
	s.event("Warning", reason, text)
	first := max(0, len(s.State.Notes)+1-maxNotes)
	notes := append([]Note(nil), s.State.Notes[first:]...)
	s.State.Notes = append(notes, Note{s.now, reason, text})
}
