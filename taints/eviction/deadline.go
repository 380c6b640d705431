package eviction

import (
	"time"

	"github.com/fairlead/fairlead"
)

// Started is a taint of a node, and when it began.
type Started struct {
	Taint fairlead.Taint `json:"taint"` // as it stands on the node
	Since time.Time      `json:"since"` // when the time of its tolerations began to run
	// Before are the taints that it replaced without a gap: those of its key with
	// other values, and not-ready before unreachable or the reverse, because a node
	// that is not ready has one of the two at a time. The order does not matter.
	Before []fairlead.Taint `json:"before,omitempty"`
	// First is when the first of Before began. It is ignored if Before is empty.
	First time.Time `json:"first,omitzero"`
}

// Match says which toleration counts if several of a pod match one taint.
type Match string

// The ways to choose. With the last two, the order of tolerations does not
// matter.
const (
	MatchFirst    Match = ""         // the first in the pod's order, as Kubernetes does
	MatchLongest  Match = "Longest"  // the one that lets the pod stay longest
	MatchShortest Match = "Shortest" // the one that lets it stay for the shortest time
)

// Deadline is when a pod must leave its node. The zero Deadline means that it
// may stay forever.
type Deadline struct {
	// At is when it must leave; zero if it need not.
	At time.Time
	// Taint is the taint whose deadline comes first; if several come at the same
	// time, the first on the node. It points into the argument of EvictAt.
	Taint *fairlead.Taint
	// Toleration is what lets the pod stay until At; nil if it does not tolerate
	// Taint. It points into the pod.
	Toleration *fairlead.Toleration
}

// Evict reports whether the pod must leave at all.
func (d Deadline) Evict() bool { return d.Taint != nil }

// EvictAt returns when a pod must leave the node that it is bound to. It is a pure
// function of when each taint began and of what the pod tolerates, so every change
// takes effect with the next call, and neither a restart nor the order of events
// matters.
//
//  1. Only taints of effect NoExecute count.
//  2. The time of a taint runs from when it began, or from when the pod was bound
//     if that was later ([BoundSince]).
//  3. A taint that the pod does not tolerate is due at that time. One that it
//     tolerates is due TolerationSeconds later; zero or less means at once, and nil
//     means never. Policy.Match decides which toleration counts.
//  4. A taint that replaced others (Started.Before) is due at the latest when the
//     longest time that the pod tolerates it or one of those others has passed since
//     the first of them began. Hence a node that alternates between not ready and
//     unreachable does not keep its pods forever, and no taint is due before its own
//     deadline or theirs.
//  5. The earliest time counts. One after the year 9999 counts as never.
//
// Whether the pod has finished, or is being deleted, does not matter here. EvictAt
// allocates nothing. A nil policy means the defaults.
func EvictAt(pod *fairlead.Pod, on []Started, policy *Policy) Deadline {
	return evictAt(pod, BoundSince(pod), on, policy)
}

// evictAt is EvictAt for a pod bound at the given time.
func evictAt(pod *fairlead.Pod, bound time.Time, on []Started, policy *Policy) Deadline {
	var first Deadline
	for i := range on {
		t := &on[i]
		if t.Taint.Effect != fairlead.NoExecute {
			continue
		}
		at := t.Since
		if bound.After(at) {
			at = bound
		}
		by := policy.toleration(pod.Spec.Tolerations, &t.Taint)
		if by != nil {
			if by.TolerationSeconds == nil {
				continue
			}
			var ok bool
			if at, ok = policy.due(pod, t, at, bound, *by.TolerationSeconds); !ok {
				continue
			}
		}
		if first.Taint == nil || at.Before(first.At) {
			first = Deadline{At: at, Taint: &t.Taint, Toleration: by}
		}
	}
	return first
}

// due returns when a taint is due that a pod tolerates for some seconds from since
// on, and false if it never is.
func (p *Policy) due(pod *fairlead.Pod, t *Started, since, bound time.Time, seconds int64) (time.Time, bool) {
	at, ok := later(since, seconds)
	if len(t.Before) == 0 {
		return at, ok
	}
	longest := seconds
	for i := range t.Before {
		by := p.toleration(pod.Spec.Tolerations, &t.Before[i])
		switch {
		case by == nil:
		case by.TolerationSeconds == nil:
			return at, ok
		default:
			longest = max(longest, *by.TolerationSeconds)
		}
	}
	first := t.First
	if bound.After(first) {
		first = bound
	}
	if all, ends := later(first, longest); ends && (!ok || all.Before(at)) {
		return all, true
	}
	return at, ok
}

// BoundSince returns when a pod was bound to its node: when its condition
// PodScheduled became true, otherwise when the node accepted it, otherwise when it
// was created. It is zero if none of these is known.
func BoundSince(pod *fairlead.Pod) time.Time {
	if c := fairlead.FindCondition(pod.Status.Conditions, "PodScheduled"); c != nil && c.Status == fairlead.ConditionTrue && !c.LastTransitionTime.IsZero() {
		return c.LastTransitionTime
	}
	if pod.Status.StartTime != nil {
		return *pod.Status.StartTime
	}
	return pod.CreationTimestamp
}

// toleration returns the toleration that counts for a taint, nil if none
// matches.
func (p *Policy) toleration(tolerations []fairlead.Toleration, taint *fairlead.Taint) *fairlead.Toleration {
	var chosen *fairlead.Toleration
	numbers, match := false, MatchFirst
	if p != nil {
		numbers, match = p.Options != nil && p.Options.ComparisonOperators, p.Match
	}
	for i := range tolerations {
		t := &tolerations[i]
		if !t.Matches(taint, numbers) {
			continue
		}
		switch {
		case match == MatchFirst:
			return t
		case chosen == nil, match == MatchLongest && lasts(t, chosen), match == MatchShortest && lasts(chosen, t):
			chosen = t
		}
	}
	return chosen
}

// lasts reports whether t lets a pod stay longer than u does.
func lasts(t, u *fairlead.Toleration) bool {
	switch {
	case u.TolerationSeconds == nil: // nothing lasts longer
		return false
	case t.TolerationSeconds == nil:
		return true
	}
	return max(*t.TolerationSeconds, 0) > max(*u.TolerationSeconds, 0)
}

// lastInstant is the latest time that JSON can express.
var lastInstant = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()

// later returns the time that many seconds after t, and false if it never comes.
// Negative seconds count as zero.
func later(t time.Time, seconds int64) (time.Time, bool) {
	if seconds <= 0 {
		return t, true
	}
	if seconds > lastInstant-t.Unix() {
		return time.Time{}, false
	}
	if seconds < 1<<31 {
		return t.Add(time.Duration(seconds) * time.Second), true
	}
	return time.Unix(t.Unix()+seconds, int64(t.Nanosecond())).UTC(), true
}
