package extension

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead"
)

// Step decides what to do next about an extension, given what is remembered and
// observed. It is a pure function: it changes nothing of its arguments, and equal
// arguments give equal decisions. A nil policy means the zero one.
//
// If there is no extension it does nothing, whatever objects exist: the extension
// may not have been observed yet.
func Step(state State, world *World, now time.Time, policy *Policy) Decision {
	x := world.Extension
	if x == nil {
		return Decision{}
	}
	if state.UID != x.UID {
		state = State{UID: x.UID}
	}
	own := policy.complete()
	s := &stepper{
		World:  world,
		Ledger: fairlead.NewLedger(state.Pending, world.Outcomes, now, fairlead.Backoff{Min: own.MinBackoff, Max: own.MaxBackoff}),
		x:      x, policy: own,
		state: State{UID: state.UID, Revision: state.Revision, Digest: state.Digest, Rollout: state.Rollout},
	}
	s.installed, s.rolling = Current(world.Revisions)
	for _, r := range byNumber(world.Revisions) {
		if r.Spec.Revision >= s.state.Revision {
			s.state.Revision, s.state.Digest = r.Spec.Revision, ""
		}
		if r.Spec.Lifecycle != Archived {
			s.latest = r
		}
	}
	switch has := slices.Contains(x.Finalizers, Finalizer); {
	case x.DeletionTimestamp != nil:
		if has {
			s.remove()
		}
	case !has:
		s.wait(s.subject(), ReasonPending, s.doing(SetFinalizer{Present: true, ResourceVersion: x.ResourceVersion}, "nothing is created before its finalizer exists"), theBackend, "wait until the finalizer is observed")
	default:
		s.install()
	}
	s.state.Pending = s.Pending()
	// Unpacking may take minutes: statuses first say that it is being waited for.
	return Decision{State: s.state, Actions: append(s.actions, s.unpacks...), Blocked: s.Blocked(), Wake: s.Wake()}
}

// stepper is one call of Step.
type stepper struct {
	*World
	fairlead.Ledger
	x         *ClusterExtension
	policy    Policy
	state     State
	actions   []Action
	unpacks   []Action    // come after them
	installed *Revision   // see Current
	rolling   []*Revision // see Current
	latest    *Revision   // the newest that is active, nil for none
	trouble   *trouble    // why the requested target is not started, nil for no reason
}

// trouble is why what an extension asks for is not started.
type trouble struct {
	message string
	final   bool // only people can fix it
	reason  string
}

func (s *stepper) subject() string { return "clusterextension " + s.x.Name }

// wait adds a block.
func (s *stepper) wait(subject, reason, message, owner, unblock string) {
	s.Block(fairlead.Block{Subject: subject, Reason: reason, Message: message, Owner: owner, Unblock: unblock})
}

// doing decides on an action, unless it was decided on recently, and adds the
// error of the last attempt to a message.
func (s *stepper) doing(a Action, message string) string {
	if s.Due(a.Key()) {
		s.actions = append(s.actions, a)
	}
	return s.Because(message, a.Key())
}

// install moves the extension to what it asks for.
func (s *stepper) install() {
	if t := s.target(); t != nil {
		s.begin(t)
	}
	if s.latest != nil {
		s.rollout(s.latest)
		s.cleanup()
	}
	s.report()
}
