package cvo

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead"
)

// Decision is what Step decides. Actions are releases to retrieve, then tasks in
// the order of the graph, then the status; Blocked begins with what matters most.
type Decision = fairlead.Decision[State, Action]

// Step decides what happens next to a cluster's version. It is a pure function: it
// changes none of its arguments, and equal ones give equal decisions. A nil policy
// means the defaults.
//
//  1. The request is validated (Validate) and resolved to a release (Desire).
//     Without state, the engine first adopts what the cluster runs according to its
//     history, or World.Own.
//  2. A release that is not applied yet is retrieved, verified, loaded, and checked
//     against the requested version and the preconditions. Each of these steps can
//     reject it; the release that is applied then stays. While a cluster is being
//     installed no other release is accepted.
//  3. An accepted release is applied, in the order of payload.Graph: while
//     installing and reconciling without regard to runlevels, while updating
//     runlevel by runlevel. A task is done when its manifest was applied and its
//     resource is ready; a ClusterOperator when Gate lets it pass. A failed task is
//     retried, and does not hold up tasks that do not depend on it; it counts as a
//     failure after Policy.Attempts.
//  4. A task that is done stays done until the pass is over, even if the engine
//     restarts. Another selection of tasks (overrides, capabilities) begins a new
//     pass.
//  5. A release that was applied completely is marked as completed in the history,
//     and is reconciled from then on.
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

// decide makes a decision; nil if there is no cluster.
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
		s.Work.Release = described(s.Work.Release, w.Updates) // kept for steps without updates
	}
	s.report()
	return s
}

// forget drops the errors of tasks that were applied: each step computes them
// again, and storing them would cause a write whenever a pod becomes ready.
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

// clone returns a state that shares nothing that a step changes.
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

// step is one decision that is being made.
type step struct {
	State
	fairlead.Ledger
	w      *World
	now    time.Time
	policy *Policy

	actions []Action
	invalid fairlead.FieldErrors
	prep    *Prepared            // of the work; nil while its payload is not available
	started map[string]time.Time // since when each ClusterOperator is waited for, by name
	errors  []*TaskError         // why tasks are not done, in their order
	keeps   []int                // the task that each of them is about
	passed  bool                 // a pass ended well in this step
}

// current is the release that the cluster should run if the request names none, or
// is invalid: the one that it has reached. During an update it is the one that was
// reached before, so that withdrawing a request goes back, as documented, unless
// the engine itself is already from the new release. An engine from a release that
// the cluster never had updates the cluster to its own. All of these are changes of
// the release like any other, with all checks.
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
// runs or is being updated to by its history; without a history, the release of the
// engine; without that, what the status says.
func (s *step) base() Release {
	switch {
	case s.w.Own.Image != "" && (len(s.History) == 0 || s.underWay(s.w.Own)):
		return s.w.Own
	case len(s.History) > 0:
		return Release{Version: s.History[0].Version, Image: s.History[0].Image}
	}
	return s.w.Cluster.Status.Desired
}
