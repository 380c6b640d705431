package cvo

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead"
)

// Decision is what Step decides. Actions are releases to retrieve, then tasks in
// the order of the graph, then the status; Blocked begins with what matters most.
type Decision = fairlead.Decision[State, Action, fairlead.Block]

// Step decides what happens next to a cluster's version. It is a pure function:
// it changes none of its arguments, and equal ones give equal decisions. A nil
// policy is the zero one.
//
//  1. What is asked for is validated (Validate) and resolved to a release (Desire).
//     Without state, the engine first adopts what the cluster runs according to its
//     history, or World.Own.
//  2. A release that is not applied yet is retrieved, verified, loaded, checked against
//     the version that was asked for and against the preconditions. Each of these steps
//     can reject it; what is applied then stays as it is. While a cluster is being
//     installed no other release is accepted.
//  3. An accepted release is applied, in the order of payload.Graph: installing
//     and reconciling without regard to runlevels, updating runlevel by
//     runlevel. A task is done when its manifest was applied and its resource
//     is where it should be; a ClusterOperator when Gate lets it pass. A failed
//     task is retried, and does not hold up tasks that do not depend on it; it
//     counts as a failure after Policy.Attempts.
//  4. What is done stays done, over restarts of the engine, until the pass is
//     over. Another selection of tasks (overrides, capabilities) begins a new
//     pass.
//  5. A release that was applied whole is completed in the history, and is
//     reconciled from then on.
//
// The cost is linear in the number of tasks, with a small factor.
func Step(state State, w *World, now time.Time, policy *Policy) Decision {
	s := decide(state, w, now, policy)
	if s == nil {
		return Decision{State: state}
	}
	s.State.Pending = s.Ledger.Pending()
	s.forget()
	return Decision{State: s.State, Actions: s.actions, Blocked: s.Blocked(), Wake: s.Wake()}
}

// decide makes a decision; nil when there is no cluster to decide about.
func decide(state State, w *World, now time.Time, policy *Policy) *step {
	if w == nil || w.Cluster == nil {
		return nil
	}
	p := policy.withDefaults()
	s := &step{State: clone(state), Ledger: fairlead.NewLedger(state.Pending, w.Outcomes, now, p.backoff()), w: w.normal(), now: now, policy: &p}
	s.rewind()
	s.invalid = Validate(w.Cluster, p.Capabilities)
	s.keep()
	s.accept()
	if s.Work != nil {
		s.work()
		s.Work.Release = described(s.Work.Release, w.Updates) // kept for steps that know no updates
	}
	s.report()
	return s
}

// forget drops what keeps tasks that were applied: each step looks it up again, and
// it would be written whenever a pod becomes ready.
func (s *step) forget() {
	if s.Work == nil {
		return
	}
	for i := range s.Work.Running {
		if t := &s.Work.Running[i]; t.Sent {
			t.Error = nil
		}
	}
}

// clone returns a state that shares nothing which a step changes.
func clone(s State) State {
	s.History = slices.Clone(s.History)
	if s.Next != nil {
		next := *s.Next
		s.Next = &next
	}
	if s.Work != nil {
		work := *s.Work
		work.Running = slices.Clone(work.Running)
		s.Work = &work
	}
	return s
}

// step is one decision in the making.
type step struct {
	State
	fairlead.Ledger
	w      *World
	now    time.Time
	policy *Policy

	actions []Action
	invalid fairlead.FieldErrors
	prep    *Prepared            // of the work; nil while its payload is not at hand
	started map[string]time.Time // since when ClusterOperators are waited for, by name
	errors  []*TaskError         // what keeps tasks, in their order
	keeps   []int                // the task that each of them keeps
	passed  bool                 // a pass ended well in this step
}

// current is the release that the cluster is to run when nothing is asked for,
// or nothing sensible: the one that it has reached. On the way to one it is the
// one that was reached before, so that taking a request back goes back, as
// documented, unless the engine itself is of the new release already. An engine
// of a release that the cluster was never at brings it there. Each of these is a
// change of the release like any other, with all checks.
func (s *step) current() Release {
	at := s.base()
	reached := len(s.History) > 0 && s.History[0].State == Completed
	if w := s.Work; w != nil {
		at, reached = w.Release, w.Mode == Reconciling
	}
	own := s.w.Own
	if len(s.History) > 0 && own.Image != "" && !slices.ContainsFunc(s.History, func(h History) bool { return SameImage(h.Image, own.Image) }) {
		return own // the engine was replaced by that of another release
	}
	before := newestCompleted(s.History)
	if reached || before < 0 || len(validateUpdate(s.w.Cluster)) > 0 || SameImage(own.Image, at.Image) {
		return at
	}
	return Release{Version: s.History[before].Version, Image: s.History[before].Image}
}

// base is what an engine begins with that applies nothing yet: what the cluster
// is at or on the way to by its history; without one the release of the engine,
// and without that what the status says.
func (s *step) base() Release {
	switch {
	case s.w.Own.Image != "" && (len(s.History) == 0 || s.underWay(s.w.Own)):
		return s.w.Own
	case len(s.History) > 0:
		return Release{Version: s.History[0].Version, Image: s.History[0].Image}
	}
	return s.w.Cluster.Status.Desired
}
