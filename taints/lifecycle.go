package taints

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
)

// conditional reports whether a taint stands for a node that is not ready.
func conditional(t *Taint) bool {
	return t.Effect == NoExecute && (t.Key == KeyNotReady || t.Key == KeyUnreachable)
}

// readyTaint returns the key of the NoExecute taint that a condition Ready calls
// for: none without a condition.
func readyTaint(ready *NodeCondition) string {
	switch {
	case ready == nil:
		return ""
	case ready.Status == object.ConditionFalse:
		return KeyNotReady
	case ready.Status == object.ConditionUnknown:
		return KeyUnreachable
	}
	return ""
}

// opposite returns the key that excludes the other one.
func opposite(key string) string {
	if key == KeyNotReady {
		return KeyUnreachable
	}
	return KeyNotReady
}

// hasTaint reports whether a node has the NoExecute taint of a key.
func hasTaint(n *Node, key string) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(t Taint) bool { return t.Key == key && t.Effect == NoExecute })
}

// manage keeps the conditions and taints of the node, if that is our affair.
func (s *stepper) manage() {
	if s.policy.Lifecycle == nil {
		return
	}
	s.listen()
	s.follow()
	if c := s.ready(); c != nil && c.Status == object.ConditionUnknown {
		s.podsUnready()
	}
}

// silenced are the conditions that a silent node has no word on.
var silenced = [...]string{nodeReady, "MemoryPressure", "DiskPressure", "PIDPressure"}

// listen sets conditions to Unknown when the node has been silent for too long.
func (s *stepper) listen() {
	l := s.policy.Lifecycle
	heartbeat, grace := s.Heartbeat(), l.GracePeriod
	never := heartbeat.IsZero()
	if never {
		grace = l.StartupGracePeriod
	}
	heard := s.heard(heartbeat, grace)
	if heard.Before(s.now.Add(-grace / 2)) {
		s.state.Silence = &Silence{Heartbeat: heartbeat, Since: heard}
	}
	end := heard.Add(grace)
	if s.now.Before(end) {
		if s.unknown() == nil {
			return // it is known to be silent, and each report is seen
		}
		if half := heard.Add(grace/2 + 1); half.After(s.now) {
			s.at(half)
		} else {
			s.at(end)
		}
		return
	}
	if conditions := s.unknown(); conditions != nil {
		s.do(SetConditions{Node: s.Name, UID: s.Node.UID, Heartbeat: heartbeat, Conditions: conditions},
			fmt.Sprintf("it has been silent since %s, and its conditions are being set to Unknown", heard.Format(time.RFC3339)))
	}
}

// heard returns when the last report was seen first, by our clock.
func (s *stepper) heard(heartbeat time.Time, grace time.Duration) time.Time {
	heard := s.Heard
	if heartbeat.IsZero() && (heard.IsZero() || s.Node.CreationTimestamp.Before(heard)) {
		heard = s.Node.CreationTimestamp
	}
	if old := s.old.Silence; old != nil && old.Heartbeat.Equal(heartbeat) && (heard.IsZero() || old.Since.Before(heard)) {
		heard = old.Since
	}
	if heard.IsZero() || heard.After(s.now) {
		heard = s.now
	}
	if since := s.Zones.Since; !s.Zones.Disrupted && since.After(heard) && !since.After(s.now) {
		heard = since // nobody could be heard before
	}
	return heard
}

// unknown returns the conditions that must be set, nil if all are.
func (s *stepper) unknown() []NodeCondition {
	var set []NodeCondition
	for _, kind := range silenced {
		c := NodeCondition{
			Type: kind, Status: object.ConditionUnknown, LastTransitionTime: s.now,
			Reason: "NodeStatusUnknown", Message: "the node has stopped to report",
		}
		if old := nodeCondition(s.Node, kind); old == nil {
			c.Reason, c.Message = "NodeStatusNeverUpdated", "the node has never reported"
		} else if old.Status == object.ConditionUnknown {
			continue
		} else {
			c.LastHeartbeatTime = old.LastHeartbeatTime
		}
		set = append(set, c)
	}
	return set
}

// follow makes the taints follow the conditions, but for the first NoExecute
// taint of a node that is not ready: for that it waits until it is its zone's
// turn.
func (s *stepper) follow() {
	a := EditTaints{Node: s.Name, UID: s.Node.UID}
	want := ConditionTaints(s.Node)
	for _, t := range want {
		if !slices.ContainsFunc(s.Node.Spec.Taints, func(o Taint) bool { return o.Key == t.Key && o.Effect == t.Effect }) {
			now := s.now
			t.TimeAdded = &now
			a.Add = append(a.Add, t)
		}
	}
	for _, t := range s.Node.Spec.Taints {
		stays := slices.ContainsFunc(want, func(o Taint) bool { return o.Key == t.Key && o.Effect == t.Effect })
		if t.Effect == NoSchedule && conditionKey(t.Key) && !stays {
			a.Remove = append(a.Remove, Taint{Key: t.Key, Effect: t.Effect})
		}
	}
	s.swap(&a)
	if a.Add != nil || a.Remove != nil {
		s.do(a, "its taints are being made to follow its conditions")
	}
}

// swap takes off the NoExecute taints that the condition Ready does not call
// for; it puts the other one there if the node had one.
func (s *stepper) swap(a *EditTaints) {
	ready := s.ready()
	want := readyTaint(ready)
	had := false
	for _, key := range []string{KeyNotReady, KeyUnreachable} {
		if hasTaint(s.Node, key) && key != want && ready != nil {
			a.Remove = append(a.Remove, Taint{Key: key, Effect: NoExecute})
			if want == "" {
				s.leaving = append(s.leaving, key)
			}
			had = true
		}
	}
	if had && want != "" && !hasTaint(s.Node, want) {
		now := s.now
		a.Add = append(a.Add, Taint{Key: want, Effect: NoExecute, TimeAdded: &now})
	}
}

// podsUnready says of the pods on a node that nothing is known of that they do
// not serve.
func (s *stepper) podsUnready() {
	for i := range s.Pods {
		p := &s.Pods[i]
		if len(s.state.Writes) >= maxWrites {
			s.at(s.now.Add(s.policy.MinBackoff))
			s.block(fairlead.Block{
				Subject: "node " + s.Name, Reason: ReasonWrite, Since: s.now,
				Message: fmt.Sprintf("some of its pods are to be marked as not ready after the %d that are being marked", maxWrites),
				Unblock: "the changes are seen",
			})
			return
		}
		if p.Spec.NodeName == s.Name && p.Ready() && refOf(p).problem() == "" {
			s.do(MarkNotReady{Pod: refOf(p)}, "pod "+p.ObjectMeta.String()+" is being marked as not ready")
		}
	}
}

// maxWrites bounds what State holds of other actions than evictions.
const maxWrites = 200
