package eviction

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// begin notes when each taint of effect NoExecute began.
func (s *stepper) begin() {
	dropped := 0
	for i := range s.Node.Spec.Taints {
		t := &s.Node.Spec.Taints[i]
		if t.Effect != fairlead.NoExecute {
			continue
		}
		began, kept := s.start(t)
		if !kept {
			dropped++
		}
		if conditional(t) && slices.Contains(s.leaving, t.Key) {
			continue // the node is ready, and the taint is being removed
		}
		if s.Zones.Disrupted && s.policy.NodeLifecycle != nil && conditional(t) {
			s.block(fairlead.Block{
				Subject: "node " + s.Name, Reason: ReasonDisrupted, Since: fairlead.Past(s.Zones.Since, s.Now()), Owner: "the nodes of all zones",
				Message: fmt.Sprintf("no pod is evicted for taint %s, because no node in any zone is ready", t.Key),
				Unblock: "make at least one node ready, in any zone",
			})
			continue
		}
		s.taints = append(s.taints, began.started(t))
	}
	slices.SortFunc(s.state.Taints, func(a, b TaintStart) int { return strings.Compare(a.Key, b.Key) })
	if dropped > 0 {
		s.block(fairlead.Block{
			Subject: "node " + s.Name, Reason: ReasonTaints,
			Message: fmt.Sprintf("the start of %d NoExecute taints is not recorded: there are more than %d, or their keys have more than %d bytes or their values more than %d", dropped, maxStarts, maxKey, maxValue),
			Unblock: "remove taints, or give them timeAdded",
		})
	}
}

// start returns when a taint began, and whether that is kept in the state or in
// the taint.
func (s *stepper) start(t *fairlead.Taint) (began TaintStart, kept bool) {
	for _, old := range s.state.Taints {
		if old.Key == t.Key { // listed twice
			return old, true
		}
	}
	began = TaintStart{Key: t.Key, Value: t.Value, TimeAdded: t.TimeAdded, Since: s.Now()}
	told := t.TimeAdded != nil && !t.TimeAdded.After(s.Now())
	if told {
		began.Since = *t.TimeAdded
	}
	if old := s.predecessor(t); old != nil {
		same := sameStart(old.TimeAdded, t.TimeAdded)
		switch {
		case old.Key != t.Key:
			began.replace(old, s.Now())
		case old.Value != t.Value && old.Value != anyValue:
			if same {
				began.Since = s.Now() // TimeAdded was that of the other value
			}
			began.replace(old, s.Now())
		case same:
			began.goOn(old, s.Now())
		}
	}
	if len(s.state.Taints) >= maxStarts || len(t.Key) > maxKey || len(t.Value) > maxValue {
		return began, told
	}
	if s.before += len(began.Before); s.before > maxBefore {
		began.Before = nil
	}
	s.state.Taints = append(s.state.Taints, began)
	return began, true
}

// predecessor returns what is remembered of the taint, or of the one that it
// replaced; nil if there was none.
func (s *stepper) predecessor(t *fairlead.Taint) *TaintStart {
	key := func(key string) *TaintStart {
		i := slices.IndexFunc(s.old.Taints, func(o TaintStart) bool { return o.Key == key })
		if i < 0 {
			return nil
		}
		return &s.old.Taints[i]
	}
	if old := key(t.Key); old != nil || !conditional(t) {
		return old
	}
	return key(opposite(t.Key))
}

// goOn keeps the start of a taint that is still there.
func (b *TaintStart) goOn(old *TaintStart, now time.Time) {
	b.Since, b.Before, b.First = fairlead.Past(old.Since, now), old.Before, fairlead.Past(old.First, now)
	if b.TimeAdded == nil {
		b.TimeAdded = old.TimeAdded
	}
}

// replace notes what the taint replaced.
func (b *TaintStart) replace(old *TaintStart, now time.Time) {
	b.First = fairlead.Past(old.Since, now)
	if len(old.Before) > 0 {
		b.First = fairlead.Past(old.First, now)
	}
	for _, k := range append(slices.Clone(old.Before), KeyValue{old.Key, old.Value}) {
		if k.Value != anyValue && k != (KeyValue{b.Key, b.Value}) {
			b.Before = append(b.Before, k)
		}
	}
	const most = 4
	b.Before = b.Before[max(0, len(b.Before)-most):]
}

// started returns the taint with what EvictAt must know of it.
func (b *TaintStart) started(t *fairlead.Taint) Started {
	on := Started{Taint: *t, Since: b.Since, First: b.First}
	for _, k := range b.Before {
		on.Before = append(on.Before, fairlead.Taint{Key: k.Key, Value: k.Value, Effect: fairlead.NoExecute})
	}
	return on
}

// sameStart reports whether a taint may have been there all along. A missing
// TimeAdded proves nothing, because some writers leave it out.
func sameStart(old, new *time.Time) bool { return new == nil || old != nil && old.Equal(*new) }
