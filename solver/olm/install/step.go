package install

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/group"
)

// Step decides what to do next in a namespace:
//
//  1. A removal that is asked for is carried out, and nothing else is planned
//     meanwhile.
//  2. It is decided what operator groups select; then CSVs go through their
//     phases, see the package documentation, and each is judged by its group.
//  3. The groups' status and lists of APIs follow, and what operators tell of
//     themselves is taken note of.
//  4. If no plan is under way, and the resolver has chosen something or an
//     operator has lost something, that is unpacked and planned.
//  5. A plan that has not begun is dropped for a better one when the resolver
//     now answers otherwise. It begins when it is approved, its subscriptions
//     name what it brings, the group's service account may make all its steps,
//     and no CRD in use would break.
//  6. The steps of a plan are applied stage by stage, each until the object is
//     seen as it shall be, or the plan has failed.
//  7. Roles, copies, the status of subscriptions and of catalogs, and what
//     updates of the cluster are told, follow from all that.
//
// Whatever shows no effect is repeated, after times that double. It is a pure
// function; nil policy means the zero one. World must not be nil.
func Step(state State, world *World, now time.Time, policy *Policy) Decision {
	s := &stepper{
		World: world, index: newIndex(world), old: state, now: now, policy: policy.complete(),
		state: State{Generation: state.Generation, Plan: state.Plan.clone(), Removal: state.Removal.clone()},
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
	s.catalogs()
	s.reportUpgradeable()
	s.prune()
	return s.end()
}

// stepper is one call of Step.
type stepper struct {
	*World
	*index
	old     State
	now     time.Time
	policy  Policy
	groups  []group.OperatorGroup // as they shall be, in the order of World.Groups
	own     *group.OperatorGroup  // the one of the namespace among groups, nil if there is not exactly one
	state   State
	actions []Action
	blocked []fairlead.Block
	wake    time.Time
}

func (s *stepper) end() Decision {
	for _, b := range s.blocked {
		s.state.Waits = append(s.state.Waits, Wait{b.Subject, b.Reason, b.Since})
	}
	slices.SortFunc(s.state.Retries, func(a, b Retry) int { return strings.Compare(a.Key, b.Key) })
	return Decision{State: s.state, Actions: s.actions, Blocked: s.blocked, Wake: s.wake}
}

// block adds a block and returns since when it stands.
func (s *stepper) block(subject, reason, message, owner, unblock string) time.Time {
	since := s.now
	for _, w := range s.old.Waits {
		if w.Subject == subject && w.Reason == reason && !w.Since.After(s.now) {
			since = w.Since
		}
	}
	s.blocked = append(s.blocked, fairlead.Block{
		Subject: subject, Reason: reason, Message: message, Owner: owner, Since: since, Unblock: unblock,
	})
	return since
}

// at asks for another look at an instant.
func (s *stepper) at(t time.Time) {
	if s.wake.IsZero() || t.Before(s.wake) {
		s.wake = t
	}
}

// do decides on an action, unless it was decided on a short time ago: then its
// effect is waited for. It returns how often it was decided on, this time
// included, and what the last attempt failed with.
func (s *stepper) do(a Action) (attempts int, failure string) {
	r := s.retry(Key(a))
	if !r.Next.After(s.now) {
		s.actions = append(s.actions, a)
		r.Attempts++
		r.Next = s.now.Add(s.backoff(r.Attempts))
	}
	s.keep(r)
	s.at(r.Next)
	return r.Attempts, s.failure(r.Key)
}

// failure returns what the last attempt of an action failed with, or "".
func (s *stepper) failure(key string) string {
	for _, f := range s.Failures {
		if f.Key == key {
			return f.Message
		}
	}
	return ""
}

// retry returns what is remembered under a key. A time too far ahead stems
// from a clock that was set back since, and does not count.
func (s *stepper) retry(key string) Retry {
	for _, r := range s.old.Retries {
		if r.Key == key {
			if r.Next.After(s.now.Add(s.policy.MaxBackoff)) {
				r.Next = s.now
			}
			return r
		}
	}
	return Retry{Key: key}
}

func (s *stepper) keep(r Retry) { s.state.Retries = append(s.state.Retries, r) }

// backoff returns the time to wait after this many attempts.
func (s *stepper) backoff(attempts int) time.Duration {
	d := s.policy.MinBackoff
	for ; attempts > 1 && d < s.policy.MaxBackoff; attempts-- {
		d *= 2
	}
	return min(d, s.policy.MaxBackoff)
}

// because adds to a message what an attempt failed with.
func because(message, failure string) string {
	if failure == "" {
		return message
	}
	return message + ": the last attempt failed: " + failure
}

// detailed adds to a message what is known of how it came about.
func detailed(message, detail string) string {
	if detail == "" {
		return message
	}
	return message + ": " + detail
}
