package eviction

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
)

// conditional reports whether a taint stands for a node that is not ready.
func conditional(t *fairlead.Taint) bool {
	return t.Effect == fairlead.NoExecute && (t.Key == taints.KeyNotReady || t.Key == taints.KeyUnreachable)
}

// readyTaint returns the key of the NoExecute taint that the condition Ready of a
// node requires, or "".
func readyTaint(n *fairlead.Node) string {
	t, _ := taints.ReadinessTaint(n)
	return t.Key
}

// opposite returns the key that excludes the other one.
func opposite(key string) string {
	if key == taints.KeyNotReady {
		return taints.KeyUnreachable
	}
	return taints.KeyNotReady
}

// hasTaint reports whether a node has the NoExecute taint of a key.
func hasTaint(n *fairlead.Node, key string) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(t fairlead.Taint) bool { return t.Key == key && t.Effect == fairlead.NoExecute })
}

// manage keeps the conditions and taints of the node.
func (s *stepper) manage() {
	s.listen()
	s.follow()
	if c := s.ready(); c != nil && c.Status == fairlead.ConditionUnknown {
		s.podsUnready()
	}
}

// silenced are the conditions that become Unknown when a node is silent.
var silenced = [...]string{nodeReady, "MemoryPressure", "DiskPressure", "PIDPressure"}

// listen sets conditions to Unknown when the node has been silent for too long.
func (s *stepper) listen() {
	l := s.policy.NodeLifecycle
	heartbeat, grace := s.Heartbeat(), l.GracePeriod
	never := heartbeat.IsZero()
	if never {
		grace = l.StartupGracePeriod
	}
	heard := s.heard(heartbeat, grace)
	if heard.Before(s.Now().Add(-grace / 2)) {
		s.state.Silence = &Silence{Heartbeat: heartbeat, Since: heard}
	}
	end := heard.Add(grace)
	if s.Now().Before(end) {
		if s.unknown() == nil {
			return // it is known to be silent, and each report triggers a Step
		}
		if half := heard.Add(grace/2 + 1); half.After(s.Now()) {
			s.wakeAt(half)
		} else {
			s.wakeAt(end)
		}
		return
	}
	if conditions := s.unknown(); conditions != nil {
		s.do(SetConditions{Node: s.Name, UID: s.Node.UID, Heartbeat: heartbeat, Conditions: conditions},
			fmt.Sprintf("it has been silent since %s, and its conditions are being set to Unknown", heard.Format(time.RFC3339)))
	}
}

// heard returns when the last report was first seen, by our clock.
func (s *stepper) heard(heartbeat time.Time, grace time.Duration) time.Time {
	heard := s.Heard
	if heartbeat.IsZero() && (heard.IsZero() || s.Node.CreationTimestamp.Before(heard)) {
		heard = s.Node.CreationTimestamp
	}
	if old := s.old.Silence; old != nil && old.Heartbeat.Equal(heartbeat) && (heard.IsZero() || old.Since.Before(heard)) {
		heard = old.Since
	}
	if heard.IsZero() || heard.After(s.Now()) {
		heard = s.Now()
	}
	if since := s.Zones.Since; !s.Zones.Disrupted && since.After(heard) && !since.After(s.Now()) {
		heard = since // no node could be heard before
	}
	return heard
}

// unknown returns the conditions that must be set, nil if all are.
func (s *stepper) unknown() []fairlead.NodeCondition {
	var set []fairlead.NodeCondition
	for _, kind := range silenced {
		c := fairlead.NodeCondition{
			Type: kind, Status: fairlead.ConditionUnknown, LastTransitionTime: s.Now(),
			Reason: "NodeStatusUnknown", Message: "the node has stopped reporting",
		}
		if old := s.Node.Condition(kind); old == nil {
			c.Reason, c.Message = "NodeStatusNeverUpdated", "the node has never reported"
		} else if old.Status == fairlead.ConditionUnknown {
			continue
		} else {
			c.LastHeartbeatTime = old.LastHeartbeatTime
		}
		set = append(set, c)
	}
	return set
}

// follow makes the taints match the conditions, except the first NoExecute taint
// of a node that is not ready, which waits for the turn of its zone.
func (s *stepper) follow() {
	a := EditTaints{Node: s.Name, UID: s.Node.UID}
	if want, changed := taints.SyncConditionTaints(s.Node); changed {
		now := s.Now()
		added, removed, _ := taints.Diff(s.Node.Spec.Taints, want)
		for _, t := range added {
			t.TimeAdded = &now
			a.Add = append(a.Add, t)
		}
		for _, t := range removed {
			a.Remove = append(a.Remove, fairlead.Taint{Key: t.Key, Effect: t.Effect})
		}
	}
	s.swap(&a)
	if a.Add != nil || a.Remove != nil {
		s.do(a, "its taints are being adjusted to its conditions")
	}
}

// swap removes the NoExecute taints that the condition Ready does not require,
// and adds the other one if the node had one.
func (s *stepper) swap(a *EditTaints) {
	ready := s.ready()
	want := readyTaint(s.Node)
	had := false
	for _, key := range []string{taints.KeyNotReady, taints.KeyUnreachable} {
		if hasTaint(s.Node, key) && key != want && ready != nil {
			a.Remove = append(a.Remove, fairlead.Taint{Key: key, Effect: fairlead.NoExecute})
			if want == "" {
				s.leaving = append(s.leaving, key)
			}
			had = true
		}
	}
	if had && want != "" && !hasTaint(s.Node, want) {
		now := s.Now()
		a.Add = append(a.Add, fairlead.Taint{Key: want, Effect: fairlead.NoExecute, TimeAdded: &now})
	}
}

// podsUnready marks the pods on a node whose state is unknown as not ready.
func (s *stepper) podsUnready() {
	marked := make(map[string]bool) // by UID: some may be listed twice
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Spec.NodeName != s.Name || !p.Ready() || RefOf(p).problem() != "" || marked[p.UID] {
			continue
		}
		if len(marked) == maxMarks {
			s.wakeAt(s.Now().Add(s.policy.MinBackoff))
			s.block(fairlead.Block{
				Subject: "node " + s.Name, Reason: ReasonThrottled,
				Message: fmt.Sprintf("more of its pods will be marked as not ready once the current %d are", maxMarks),
				Unblock: "wait until the changes are observed",
			})
			return
		}
		marked[p.UID] = true
		s.do(MarkNotReady{Pod: RefOf(p)}, "pod "+p.ObjectMeta.String()+" is being marked as not ready")
	}
}
