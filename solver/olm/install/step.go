package install

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/group"
)

// Step decides what to do next in a namespace:
//
//  1. A requested removal is carried out, and nothing else is planned meanwhile.
//  2. The targets of operator groups are determined; then CSVs go through their
//     phases, see the package documentation, and each is checked against its group.
//  3. The groups' status and lists of APIs follow, and operator conditions are read.
//  4. If no plan is under way, and the resolver has chosen something or an operator
//     has lost something, it is unpacked and planned.
//  5. A plan that has not started is replaced when the resolver's answer changes. It
//     starts when it is approved, its subscriptions name what it installs, the
//     group's service account may perform all its steps, and no CRD in use would
//     break.
//  6. The steps of a plan are applied stage by stage, each until the object is
//     observed as planned, or the plan has failed.
//  7. Roles, copies, the status of subscriptions and of catalogs, and whether the
//     cluster may be updated, follow from all that.
//
// Actions without an observed effect are retried with exponential backoff. [Unpack]
// comes last, since it may take long. It is a pure function; nil policy means the
// zero one. World must not be nil.
func Step(state State, world *World, now time.Time, policy *Policy) Decision {
	complete := policy.complete()
	s := &stepper{
		World: world, index: newIndex(world), old: state, now: now, policy: complete,
		Ledger: fairlead.NewLedger(state.Pending, world.Outcomes, now, complete.backoff()),
		state:  State{Generation: state.Generation, Plan: state.Plan.clone(), Removal: state.Removal.clone()},
	}
	s.finish()
	removing := s.remove()
	s.selectTargets()
	for _, c := range s.operators {
		s.phase(c)
	}
	s.writeGroups()
	s.conditions()
	if removing {
		s.subscriptions()
	} else {
		s.advance()
	}
	s.generate()
	s.convert()
	s.dropCertificates()
	s.catalogs()
	s.reportUpgradeable()
	s.prune()
	return s.end()
}

// stepper is one call of Step.
type stepper struct {
	*World
	*index
	fairlead.Ledger
	old     State
	now     time.Time
	policy  Policy
	groups  []group.OperatorGroup // as they should be, in the order of World.Groups
	own     *group.OperatorGroup  // the one of the namespace among groups, nil if there is not exactly one
	as      string                // the service account that it names
	barred  error                 // why nothing may be written for operators
	state   State
	actions []Action
	unpacks []Action // come after them
}

// end completes the decision. Unpacking may take minutes: everything else is done
// first, and statuses say that it is being waited for.
func (s *stepper) end() Decision {
	s.state.Pending = s.Pending()
	return Decision{State: s.state, Actions: append(s.actions, s.unpacks...), Blocked: s.Blocked(), Wake: s.Wake()}
}

// block adds a block and returns since when it exists.
func (s *stepper) block(subject, reason, message, owner, unblock string) time.Time {
	return s.Block(fairlead.Block{Subject: subject, Reason: reason, Message: message, Owner: owner, Unblock: unblock})
}

// do decides on an action, unless it was decided on recently: then its effect is
// awaited.
func (s *stepper) do(a Action) {
	if s.Due(a.Key()) {
		s.actions = append(s.actions, a)
	}
}

// doing is do with a Block that includes the error of the last attempt.
func (s *stepper) doing(a Action, message string) string {
	s.do(a)
	return s.Because(message, a.Key())
}

// detailed adds known details to a message.
func detailed(message, detail string) string {
	if detail == "" {
		return message
	}
	return message + ": " + detail
}
