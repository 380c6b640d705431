package taints

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// Timer is what the reference keeps of a pod; Policy.Reference keeps the same,
// in State. The rules, which are those of Kubernetes 1.36:
//
//  1. When a pod must leave is decided when the pod, its tolerations, or the
//     NoExecute taints of its node are seen to have changed: at once if a taint is
//     not tolerated, never if no toleration has seconds, else after the least of
//     the seconds. The first toleration that matches a taint counts.
//  2. A timer that runs already is left as it is when another taint comes or
//     goes, or when seconds change. Only a move to at once or never, or the end of
//     all taints, counts.
//  3. It runs from when it was decided. TimeAdded does not count, and when State
//     is lost all timers begin anew.
//  4. It belongs to the name: a pod of the same name inherits it.
//  5. When it ends the pod is deleted, whatever its phase, also if the node is
//     gone: by name, five times at most, 10 ms apart. After that it is forgotten.
//  6. It is not set a second time for a name whose pod was deleted, until the pod
//     is seen to be gone, or to be tolerated for good.
type Timer struct {
	Namespace string    `json:"namespace"`          // the pod's
	Name      string    `json:"name"`               // the pod's
	Created   time.Time `json:"created"`            // when it began
	Fire      time.Time `json:"fire"`               // when it ends
	Attempts  int       `json:"attempts,omitempty"` // to delete the pod
	Next      time.Time `json:"next,omitzero"`      // no other attempt before that
	Seen      string    `json:"seen"`               // a digest of the taints and tolerations that it was decided on
	Fired     bool      `json:"fired,omitempty"`    // the pod was deleted
	Lost      bool      `json:"lost,omitempty"`     // the pod could not be deleted
}

// What the reference does without a setting for it.
const (
	referenceAttempts = 5
	referencePause    = 10 * time.Millisecond
	referenceTimers   = 1400 // ours: what State has room for
)

// reference decides on evictions as the reference does.
func (s *stepper) reference() {
	timers := make(map[string]Timer, len(s.old.Timers))
	for _, t := range s.old.Timers {
		timers[t.Namespace+"/"+t.Name] = t
	}
	var taints []Started
	if s.Node != nil {
		for _, t := range s.Node.Spec.Taints {
			if t.Effect == NoExecute {
				taints = append(taints, Started{Taint: t})
			}
		}
	}
	pods := slices.Clone(s.Pods)
	slices.SortFunc(pods, func(a, b Pod) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	var next *Timer
	waiting, dropped := 0, 0
	for i := range pods {
		p := &pods[i]
		if p.Spec.NodeName != s.Name || i > 0 && p.Namespace == pods[i-1].Namespace && p.Name == pods[i-1].Name {
			continue
		}
		t, there := timers[p.Namespace+"/"+p.Name]
		if s.Node != nil {
			t, there = s.retime(p, taints, t, there)
		}
		switch {
		case !there:
			continue
		case len(s.state.Timers) >= referenceTimers:
			dropped++
			continue
		}
		s.fire(p, &t, taints)
		s.state.Timers = append(s.state.Timers, t)
		if !t.Fired && !t.Lost && t.Attempts == 0 {
			if waiting++; next == nil || t.Fire.Before(next.Fire) {
				next = &t
			}
		}
	}
	if waiting > 0 {
		s.block(fairlead.Block{
			Subject: "node " + s.Name, Reason: ReasonTolerating, Since: next.Created,
			Message: fmt.Sprintf("%s while a timer runs; the next to leave is %s/%s at %s",
				plural(waiting, "pod stays", "pods stay"), next.Namespace, next.Name, next.Fire.Format(time.RFC3339)),
			Unblock: "time passes, or all NoExecute taints are removed",
		})
	}
	if dropped > 0 {
		s.block(fairlead.Block{
			Subject: "node " + s.Name, Reason: ReasonThrottled, Since: s.now,
			Message: fmt.Sprintf("%s without a timer: there are more than %d", plural(dropped, "pod is", "pods are"), referenceTimers),
			Unblock: "pods terminate, or reference is turned off in the policy",
		})
	}
}

// retime decides when a pod must leave, given the timer that it has.
func (s *stepper) retime(p *Pod, taints []Started, t Timer, there bool) (Timer, bool) {
	if len(taints) == 0 {
		return Timer{}, false
	}
	seen := s.digest(taints, p.Spec.Tolerations)
	if there && t.Seen == seen && (t.Fired || t.Lost || t.Attempts > 0) {
		return t, true // nothing has happened that the reference would look at
	}
	fresh := Timer{Namespace: p.Namespace, Name: p.Name, Created: s.now, Fire: s.now, Seen: seen}
	seconds, tolerated, forGood := s.least(p.Spec.Tolerations, taints)
	switch {
	case !tolerated:
		if there && t.Seen == seen && !t.Fire.After(t.Created) {
			return t, true
		}
		return fresh, true
	case forGood:
		return Timer{}, false
	}
	at, ok := later(s.now, seconds)
	fresh.Fire = at
	switch {
	case !ok:
		return Timer{}, false
	case !there || t.Lost:
		return fresh, true
	case t.Fired || t.Created.Before(s.now):
		t.Seen = seen
		return t, true
	}
	return fresh, true // begun at this very instant
}

// least returns the least seconds of the tolerations that count, one for each
// taint; whether every taint is tolerated; whether none of them has seconds.
func (s *stepper) least(tolerations []Toleration, taints []Started) (seconds int64, tolerated, forGood bool) {
	forGood = true
	first := Policy{Options: s.policy.Options}
	for i := range taints {
		by := first.toleration(tolerations, &taints[i].Taint)
		if by == nil {
			return 0, false, false
		}
		if by.TolerationSeconds != nil {
			if n := max(*by.TolerationSeconds, 0); forGood || n < seconds {
				seconds, forGood = n, false
			}
		}
	}
	return seconds, true, forGood
}

// fire deletes a pod whose timer has ended.
func (s *stepper) fire(p *Pod, t *Timer, taints []Started) {
	switch {
	case t.Fired || t.Lost:
		return
	case t.Fire.After(s.now):
		s.at(t.Fire)
		return
	case t.Attempts > 0 && p.DeletionTimestamp != nil:
		t.Fired = true
		return
	case t.Next.After(s.now.Add(referencePause)): // of a clock that was set back since
	case t.Next.After(s.now):
		s.at(t.Next)
		return
	case t.Attempts >= referenceAttempts:
		t.Lost = true
		return
	}
	a := Evict{Pod: PodRef{Namespace: p.Namespace, Name: p.Name}, Node: s.Name, At: t.Fire}
	if len(taints) > 0 {
		a.Taint = taints[0].Taint
	}
	s.actions = append(s.actions, a)
	t.Attempts++
	t.Next = s.now.Add(referencePause)
	s.at(t.Next)
	s.block(fairlead.Block{
		Subject: "pod " + a.Pod.String(), Reason: ReasonEvicting, Since: t.Fire,
		Message: s.because("it was deleted, and is not seen to terminate", a.key()), Unblock: "the pod terminates",
	})
}

// digest tells lists of taints and tolerations apart, as the reference does: by
// their order, too.
func (s *stepper) digest(taints []Started, tolerations []Toleration) string {
	if s.taintDigest == "" {
		h := fnv.New64a()
		for i := range taints {
			t := &taints[i].Taint
			fmt.Fprintf(h, "%q%q%q", t.Key, t.Value, t.Effect)
			if t.TimeAdded != nil {
				fmt.Fprint(h, t.TimeAdded.UnixNano())
			}
		}
		s.taintDigest = fmt.Sprintf("%016x", h.Sum64())
	}
	if len(tolerations) == 0 {
		return s.taintDigest
	}
	h := fnv.New64a()
	for i := range tolerations {
		t := &tolerations[i]
		fmt.Fprintf(h, "%q%q%q%q", t.Key, t.Operator, t.Value, t.Effect)
		if t.TolerationSeconds != nil {
			fmt.Fprint(h, *t.TolerationSeconds)
		}
	}
	return fmt.Sprintf("%s-%016x", s.taintDigest, h.Sum64())
}
