package lifecycle

import (
	"time"

	"github.com/fairlead/fairlead"
)

// Step decides what to do next about a machine.
//
//  1. A machine that nobody has asked to delete gets conditions that tell of its
//     hooks, and nothing else.
//  2. A deletion goes through its [Stage]s in order, as many in one Step as are
//     over. A stage that is over comes back in one case: the machine has a node
//     that was not drained, because it joined late, was registered again, or was
//     uncordoned. As long as the instance may be there, that node is drained.
//  3. Before the node is touched, and before the instance is, the machine must
//     be seen with the conditions that say so: whoever waits for a condition
//     sees it in time.
//  4. What shows no effect is repeated, after times that double.
//  5. A machine whose spec would not be admitted is deleted like any other.
//  6. A machine that is paused, or whose cluster is, is left alone.
//
// It is a pure function; nil policy means the zero one. World must not be nil.
// When nothing has changed since the state was made, it allocates nothing.
func Step(state State, world *World, now time.Time, policy *Policy) Decision {
	if world.Machine == nil {
		return Decision{}
	}
	s := stepper{World: world, policy: policy, now: now, state: state}
	if policy == nil {
		s.policy = &defaults
	}
	if state.UID != world.Machine.UID {
		s.state = State{UID: world.Machine.UID}
	} else if state.Stage != "" && !world.Machine.Deleting() {
		// What is seen is from before the deletion.
		return Decision{State: state, Wake: now.Add(or(s.policy.MinBackoff, time.Second))}
	}
	s.state.Began = s.state.began(now)
	s.waits = waitList{kept: kept[Wait]{old: s.state.Waits}, now: now}
	s.retries.old = s.state.Retries
	s.hookStates.old = s.state.Hooks
	if what := s.paused(); what != "" {
		s.pause(what)
		return s.end()
	}
	if world.Machine.Deleting() {
		s.delete()
	}
	if s.state.Stage != StageDone {
		s.status()
	}
	return s.end()
}

// defaults is the policy that nil means. Nothing changes it.
var defaults Policy

// stepper is one call of Step.
type stepper struct {
	*World
	policy     *Policy
	now        time.Time
	state      State
	waits      waitList
	retries    kept[Retry]
	hookStates kept[HookState]
	actions    []Action
	wake       time.Time
	failure    string // of the drain
	failed     string // the hook that has failed the deletion, as POINT/NAME
	node       standing
	fresh      bool // the deletion is met for the first time, as far as the state knows
}

// paused says what has the machine left alone; empty if nothing has.
func (s *stepper) paused() string {
	if _, is := s.Machine.Annotations[PausedAnnotation]; is {
		return "annotation " + PausedAnnotation + " of the machine"
	}
	if s.Cluster != nil && s.Cluster.Paused {
		return "spec.paused of the cluster"
	}
	return ""
}

// pause keeps all that is known, and does nothing. Time does not pass for the
// stage.
func (s *stepper) pause(what string) {
	for i := range s.state.Retries {
		s.retries.add(s.state.Retries[i])
	}
	for i := range s.state.Hooks {
		s.hookStates.add(s.state.Hooks[i])
	}
	if s.Machine.Deleting() {
		s.hold()
		s.waits.add(Wait{Reason: ReasonPaused, Name: what})
	}
}

func (s *stepper) end() Decision {
	s.state.Waits = s.waits.all()
	s.state.Retries = s.retries.all()
	s.state.Hooks = s.hookStates.all()
	if len(s.state.Waits) > 0 {
		s.at(s.now.Add(or(s.policy.Resync, 5*time.Minute)))
	}
	if s.state.Done() {
		s.state = State{}
	}
	return Decision{State: s.state, Actions: s.actions, Wake: s.wake}
}

// Blocked tells why the machine does not go on: its waits in words, in the
// order in which they were met.
func (d *Decision) Blocked(machine string) []fairlead.Block {
	if len(d.State.Waits) == 0 {
		return nil
	}
	all := make([]fairlead.Block, len(d.State.Waits))
	for i := range all {
		all[i] = d.State.Waits[i].Block(machine)
	}
	return all
}

// at asks for another look at an instant.
func (s *stepper) at(t time.Time) {
	if s.wake.IsZero() || t.Before(s.wake) {
		s.wake = t
	}
}

// due reports whether an action is to be done now: it is unless it was decided
// on a short time ago; then its effect is waited for. A time ahead stems from a
// clock that was set back since, and does not count.
func (s *stepper) due(key Key) bool {
	r := Retry{Key: key}
	for i := range s.state.Retries {
		if s.state.Retries[i].Key == key {
			r = s.state.Retries[i]
			break
		}
	}
	is := r.Attempts == 0 || r.Last.After(s.now) || !s.again(&r).After(s.now)
	if is {
		r.Attempts++
		r.Last = s.now
	}
	s.retries.add(r)
	s.at(s.again(&r))
	return is
}

// keep remembers an action of which nothing new is known.
func (s *stepper) keep(key Key) {
	for i := range s.state.Retries {
		if s.state.Retries[i].Key == key {
			s.retries.add(s.state.Retries[i])
		}
	}
}

// again returns when an action is repeated. A cloud that has taken an order is
// left alone for longer.
func (s *stepper) again(r *Retry) time.Time {
	attempts := r.Attempts
	if r.Key.Verb == verbDeleteInstance && !s.refused(r.Key) {
		attempts = most
	}
	return r.Last.Add(s.policy.backoff(attempts))
}

// most is so many attempts that the longest backoff is reached.
const most = 64

// refused reports whether the last attempt at an action failed.
func (s *stepper) refused(key Key) bool {
	for i := range s.Failures {
		if s.Failures[i].Key == key {
			return true
		}
	}
	return false
}

// tried reports whether an action was decided on already.
func (s *stepper) tried(key Key) bool {
	for i := range s.state.Retries {
		if s.state.Retries[i].Key == key {
			return true
		}
	}
	return false
}

func (s *stepper) do(a Action) { s.actions = append(s.actions, a) }

// attempted adds a wait for an action, with what its last attempt failed with.
func (s *stepper) attempted(w Wait, key Key) {
	for i := range s.Failures {
		if s.Failures[i].Key == key {
			w.Detail = s.Failures[i].Message
		}
	}
	s.waits.add(w)
}

// event tells people that something has happened.
func (s *stepper) event(kind, reason, message string) {
	s.do(RecordEvent{Type: kind, Reason: reason, Message: message})
}

// maxNotes is how many Notes are kept, the latest.
const maxNotes = 20

// note tells people of what is done against the usual, and remembers it.
func (s *stepper) note(reason, text string) {
	s.event("Warning", reason, text)
	first := max(0, len(s.state.Notes)+1-maxNotes)
	notes := append([]Note(nil), s.state.Notes[first:]...)
	s.state.Notes = append(notes, Note{s.now, reason, text})
}
