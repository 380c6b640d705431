package taints

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// Step decides what to do next on a node:
//
//  1. With Policy.Lifecycle the node's conditions count as unknown when it has
//     been silent for too long, and its taints follow its conditions. A NoExecute
//     taint that it has not got yet is the affair of [ZoneStep].
//  2. It is noted when each taint of effect NoExecute began.
//  3. Pods whose deadline has come, see [EvictAt], are evicted: those that are
//     due longest first. Pods that have finished or are being deleted are left
//     alone, and so are all of a node that is gone.
//  4. An eviction that shows no effect is repeated, after times that double, as
//     is every other action.
//
// It is a pure function; nil policy means the zero one. World must not be nil.
// It takes time in proportion to the pods, and about 100 ns for each that waits.
func Step(state State, world *World, now time.Time, policy *Policy) Decision {
	s := &stepper{World: world, old: state, now: now, policy: policy.complete()}
	if world.Node == nil {
		return Decision{}
	}
	if state.UID != world.Node.UID {
		s.old = State{}
	}
	s.state.UID = world.Node.UID
	s.manage()
	s.begin()
	s.pods()
	slices.SortFunc(s.state.Writes, func(a, b Retry) int { return strings.Compare(a.Key, b.Key) })
	if s.state.isZero() {
		s.state = State{} // nothing that another pass would not find out
	}
	return Decision{State: s.state, Actions: s.actions, Blocked: s.blocked, Wake: s.wake}
}

// Limits of what is kept account of, so that State stays small whatever the
// world holds.
const (
	maxStarts = 200 // taints of a node
	maxBefore = 40  // taints in whose place they came, in all
	maxKey    = 317 // bytes of a key, with prefix; names and UIDs have 253 at most
)

// stepper is one call of Step.
type stepper struct {
	*World
	old     State
	now     time.Time
	policy  Policy
	taints  []Started // that count for evictions, in the node's order
	leaving []string  // keys of NoExecute taints that are being taken off, since the node is ready
	before  int       // how many others are remembered in whose place they came
	ahead   bool      // one of them began ahead of the clock, which was set back
	state   State
	actions []Action
	blocked []fairlead.Block
	wake    time.Time
}

func (s *stepper) block(b fairlead.Block) { s.blocked = append(s.blocked, b) }

// at asks for another look at an instant.
func (s *stepper) at(t time.Time) {
	if t.Unix() > lastInstant {
		t = time.Unix(lastInstant, 0).UTC()
	}
	if s.wake.IsZero() || t.Before(s.wake) {
		s.wake = t
	}
}

// due is a pod whose deadline has come.
type due struct {
	pod *Pod
	Deadline
}

// pods evicts those that are due, and waits for the others.
func (s *stepper) pods() {
	var now []due
	var next due // the first that is not due
	waiting := 0
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Spec.NodeName != s.Name || p.DeletionTimestamp != nil || p.Finished() && !s.policy.EvictFinished {
			continue
		}
		d := EvictAt(p, s.taints, &s.policy)
		switch {
		case !d.Evict():
		case !d.At.After(s.now), s.atOnce(p):
			now = append(now, due{p, d})
		default:
			waiting++
			if next.pod == nil || !d.At.After(next.At) && compareDue(&due{p, d}, &next) < 0 {
				next = due{p, d}
			}
		}
	}
	slices.SortFunc(now, func(a, b due) int { return compareDue(&a, &b) })
	now = slices.CompactFunc(now, func(a, b due) bool { return a.pod.UID == b.pod.UID && a.pod.UID != "" })
	s.evictAll(now)
	if waiting > 0 {
		s.wait(waiting, &next)
	}
}

// atOnce reports whether a pod is due although its time lies ahead of the clock,
// for there is a taint that it does not tolerate at all.
func (s *stepper) atOnce(p *Pod) bool {
	if !s.ahead && !BoundSince(p).After(s.now) {
		return false
	}
	return slices.ContainsFunc(s.taints, func(t Started) bool { return s.policy.toleration(p.Spec.Tolerations, &t.Taint) == nil })
}

func compareDue(a, b *due) int {
	return cmp.Or(a.At.Compare(b.At), strings.Compare(a.pod.Namespace, b.pod.Namespace),
		strings.Compare(a.pod.Name, b.pod.Name), strings.Compare(a.pod.UID, b.pod.UID))
}

// wait reports the pods that are not due.
func (s *stepper) wait(n int, next *due) {
	s.at(next.At)
	since := BoundSince(next.pod)
	for i := range s.taints {
		if &s.taints[i].Taint == next.Taint && s.taints[i].Since.After(since) {
			since = s.taints[i].Since
		}
	}
	b := fairlead.Block{
		Subject: "node " + s.Name, Reason: ReasonTolerating, Since: since,
		Message: fmt.Sprintf("%s while tolerated; the next to leave is %s/%s at %s, for taint %s",
			plural(n, "pod stays", "pods stay"), next.pod.Namespace, next.pod.Name, next.At.Format(time.RFC3339), next.Taint.Key),
		Unblock: "time passes, or the taint is removed",
	}
	if since.After(s.now) {
		b.Reason = ReasonClock
		b.Message += fmt.Sprintf("; their time begins at %s, which lies ahead of the clock: %s", since.Format(time.RFC3339), s.now.Format(time.RFC3339))
		b.Unblock = "the clock is put right, or the taint is removed and put there again"
	}
	s.block(b)
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// do decides on an action other than an eviction, unless it was decided on a
// short time ago: then its effect is waited for.
func (s *stepper) do(a Action, why string) {
	r := Retry{Key: a.key(), Since: s.now}
	if slices.ContainsFunc(s.state.Writes, func(o Retry) bool { return o.Key == r.Key }) {
		return // for a pod that is listed twice
	}
	for _, old := range s.old.Writes {
		if old.Key == r.Key {
			r = old
			r.Next = s.sane(r.Next)
		}
	}
	if !r.Next.After(s.now) {
		s.actions = append(s.actions, a)
		r.Attempts++
		r.Next = s.now.Add(s.policy.backoff(r.Attempts))
	}
	s.state.Writes = append(s.state.Writes, r)
	s.at(r.Next)
	s.block(fairlead.Block{
		Subject: "node " + s.Name, Reason: ReasonWrite, Since: r.Since, Message: s.because(why, r.Key),
		Unblock: "the change is seen",
	})
}

// sane returns the instant of a repetition. One too far ahead stems from a
// clock that was set back since, and does not count.
func (s *stepper) sane(next time.Time) time.Time {
	if next.After(s.now.Add(s.policy.MaxBackoff)) {
		return s.now
	}
	return next
}

// because adds to a message what the last attempt failed with.
func (s *stepper) because(message, key string) string {
	for _, f := range s.Failures {
		if f.Key == key {
			return message + ": the last attempt failed: " + f.Message
		}
	}
	return message
}

// backoff returns the time to wait after this many attempts.
func (p *Policy) backoff(attempts int) time.Duration {
	d := p.MinBackoff
	for ; attempts > 1 && d < p.MaxBackoff; attempts-- {
		d *= 2
	}
	return min(d, p.MaxBackoff)
}
