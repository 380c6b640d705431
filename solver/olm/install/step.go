package install

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
)

// Step decides what to do next in a namespace:
//
//  1. CSVs go through their phases, see the package documentation.
//  2. The status of subscriptions follows what is installed.
//  3. If no plan is under way, and the resolver has chosen something, that is
//     unpacked and planned.
//  4. A plan that has not begun is dropped for a better one when the resolver
//     now answers otherwise. It begins when it is approved, and its
//     subscriptions name what it brings.
//  5. The steps of a plan are applied stage by stage, each until the object is
//     seen as it shall be.
//
// Whatever shows no effect is repeated, after times that double. It is a pure
// function; nil policy means the zero one. World must not be nil.
func Step(state State, world *World, now time.Time, policy *Policy) Decision {
	s := &stepper{
		World: world, index: newIndex(world), old: state, now: now, policy: policy.complete(),
		state: State{Generation: state.Generation, Plan: state.Plan.clone()},
	}
	for _, c := range s.operators {
		s.phase(c)
	}
	s.advance()
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
	for _, f := range s.Failures {
		if f.Key == r.Key {
			failure = f.Message
		}
	}
	return r.Attempts, failure
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

// subscriptions writes the status of those that do not show what is installed
// or planned, and reports whether all that the plan serves show it.
func (s *stepper) subscriptions() (current bool) {
	current = true
	subs := make([]*Subscription, len(s.Subscriptions))
	for i := range s.Subscriptions {
		subs[i] = &s.Subscriptions[i]
	}
	slices.SortFunc(subs, func(a, b *Subscription) int { return strings.Compare(a.Name, b.Name) })
	for _, sub := range subs {
		want := sub.Status
		if csv, ok := s.planned(sub.Name); ok {
			want.CurrentCSV = csv
			want.InstallPlanRef = &olm.PlanReference{Name: s.state.Plan.Name, Namespace: s.Namespace}
		} else if s.csvs[want.CurrentCSV] == nil && s.csvs[want.InstalledCSV] != nil {
			want.CurrentCSV = want.InstalledCSV // of a plan that was dropped
		}
		want = s.installed(&sub.Subscription, want)
		want.State = s.standing(sub.Name, &want)
		if want.Equal(&sub.Status) {
			continue
		}
		if s.state.Plan != nil && want.CurrentCSV != sub.Status.CurrentCSV {
			current = false
		}
		_, failure := s.do(UpdateSubscription{Name: sub.Name, Revision: sub.Revision, Status: want})
		s.block("subscription "+sub.Name, ReasonStatusPending, because("its status is being updated", failure), "", "its status names CSV "+want.CurrentCSV)
	}
	return current
}

// standing is how what is installed for a subscription stands to what is known.
func (s *stepper) standing(name string, status *olm.SubscriptionStatus) olm.State {
	switch {
	case status.CurrentCSV == "":
		return olm.StateNone
	case s.csvs[status.CurrentCSV] == nil:
		return olm.StateUpgradePending
	case s.Resolution != nil && slices.ContainsFunc(s.Resolution.Subscriptions, func(o olm.Outcome) bool { return o.Subscription == name && o.New }):
		return olm.StateUpgradeAvailable
	}
	return olm.StateAtLatestKnown
}

// planned returns the CSV that the plan brings for a subscription.
func (s *stepper) planned(sub string) (csv string, ok bool) {
	if s.state.Plan == nil {
		return "", false
	}
	for _, c := range s.state.Plan.Current {
		if c.Subscription == sub {
			return c.CSV, true
		}
	}
	return "", false
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
