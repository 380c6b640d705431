package eviction

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
)

// Decision is what [Step] returns. Blocked is in the order: the node, its taints,
// then pods in the order in which they are due.
type Decision = fairlead.Decision[State, Action]

// Step decides what to do next on a node:
//
//  1. With Policy.NodeLifecycle, the node's conditions count as unknown when it has
//     been silent for too long, and its taints follow its conditions. Missing
//     NoExecute taints are added by [ZoneStep].
//  2. It records when each NoExecute taint began.
//  3. Pods whose deadline has passed, see [EvictAt], are evicted, the longest
//     overdue first. Pods that have finished or are being deleted are left alone,
//     and so are all pods of a deleted node.
//  4. Evictions and other actions without visible effect are retried with
//     exponential backoff.
//
// It is a pure function; a nil policy means the defaults. World must not be nil.
// Its run time is proportional to the number of pods, about 100 ns for each that
// waits.
func Step(state State, world *World, now time.Time, policy *Policy) Decision {
	if world.Node == nil {
		return Decision{}
	}
	if state.UID != world.Node.UID {
		state = State{}
	}
	p := policy.complete()
	s := &stepper{
		World: world, old: state, policy: p, state: State{UID: world.Node.UID},
		Ledger: fairlead.NewLedger(state.Pending, world.Outcomes, now, p.backoff()),
	}
	if p.NodeLifecycle != nil {
		s.manage()
	}
	s.begin()
	if len(s.taints) > 0 {
		s.pods()
	}
	s.state.Pending = s.Pending()
	if s.state.IsZero() {
		s.state = State{}
	}
	return Decision{State: s.state, Actions: s.actions, Blocked: s.blocked, Wake: s.Wake()}
}

// Limits of what is tracked, so that State stays small whatever the world holds.
const (
	maxStarts = 200 // taints of a node
	maxBefore = 40  // taints that they replaced, in total
	maxKey    = 317 // bytes of a key, with prefix; names and UIDs have 253 at most
	maxValue  = 63  // bytes of a value
	maxMarks  = 200 // pods that are being marked as not ready
)

// stepper is one call of Step.
type stepper struct {
	*World
	fairlead.Ledger
	old     State
	policy  Policy
	taints  []Started // that count for evictions, in the node's order
	leaving []string  // keys of NoExecute taints that are being removed, because the node is ready
	before  int       // how many replaced taints are remembered
	ahead   time.Time // since when pods with times in the future have been seen; zero for none
	state   State
	actions []Action
	blocked []fairlead.Block
}

// block says why something does not happen. A Block that lasts as long as something
// else in the state sets Since itself; the ledger remembers it for others.
func (s *stepper) block(b fairlead.Block) {
	if b.Since.IsZero() {
		b.Since = s.Since(b.Subject, b.Reason)
	}
	s.blocked = append(s.blocked, b)
}

// wakeAt requests a Step at a time.
func (s *stepper) wakeAt(t time.Time) { s.At(writable(t)) }

// writable returns t, limited to the latest time that JSON can express.
func writable(t time.Time) time.Time {
	if t.Unix() > lastInstant {
		return time.Unix(lastInstant, 0).UTC()
	}
	return t
}

// due is a pod whose deadline has come.
type due struct {
	pod *fairlead.Pod
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
		d := evictAt(p, s.bound(p), s.taints, &s.policy)
		switch {
		case !d.Evict():
		case !d.At.After(s.Now()), d.Toleration == nil:
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

// bound returns since when a pod has been bound. If that is in the future, because
// the clock was set back, the time when such a pod was first seen counts, so that
// no pod stays longer than its toleration lasts.
func (s *stepper) bound(p *fairlead.Pod) time.Time {
	t := BoundSince(p)
	if !t.After(s.Now()) {
		return t
	}
	if s.ahead.IsZero() {
		s.ahead = s.Since("node "+s.Name, ReasonClock)
	}
	return s.ahead
}

func compareDue(a, b *due) int {
	return cmp.Or(a.At.Compare(b.At), strings.Compare(a.pod.Namespace, b.pod.Namespace),
		strings.Compare(a.pod.Name, b.pod.Name), strings.Compare(a.pod.UID, b.pod.UID))
}

// wait reports the pods that are not due.
func (s *stepper) wait(n int, next *due) {
	s.wakeAt(next.At)
	since := s.bound(next.pod)
	for i := range s.taints {
		if &s.taints[i].Taint == next.Taint && s.taints[i].Since.After(since) {
			since = s.taints[i].Since
		}
	}
	b := fairlead.Block{
		Subject: "node " + s.Name, Reason: ReasonTolerating, Since: since,
		Message: fmt.Sprintf("%s while tolerated; the next to leave is %s/%s at %s, for taint %s",
			words.Count(n, "pod stays", "pods stay"), next.pod.Namespace, next.pod.Name, next.At.Format(time.RFC3339), next.Taint.Key),
		Unblock: "wait, or remove the taint",
	}
	if !s.ahead.IsZero() {
		b.Reason = ReasonClock
		b.Message += fmt.Sprintf("; some were bound at times later than now, %s, and count as bound at %s", s.Now().Format(time.RFC3339), s.ahead.Format(time.RFC3339))
		b.Unblock += ", or correct the clock"
	}
	s.block(b)
}

// do decides on an action other than an eviction, unless it was decided on a short
// time ago and its effect is awaited.
func (s *stepper) do(a Action, why string) {
	key := a.Key()
	if s.Due(key) {
		s.actions = append(s.actions, a)
	}
	s.block(fairlead.Block{
		Subject: "node " + s.Name, Reason: ReasonWrite, Since: began(&s.Ledger, key), Message: s.Because(why, key),
		Unblock: "wait until the change is observed",
	})
}

// began returns when an action was first decided on. It is called right after Due.
func began(l *fairlead.Ledger, key fairlead.Key) time.Time {
	retries := l.Pending().Retries
	for i := len(retries) - 1; i >= 0; i-- {
		if retries[i].Key == key {
			return retries[i].Since
		}
	}
	return l.Now()
}
