package taints

import (
	"github.com/fairlead/fairlead/internal/object"
)

// Keys of the taints of nodes that are not ready.
const (
	keyNotReady    = "node.kubernetes.io/not-ready"
	keyUnreachable = "node.kubernetes.io/unreachable"
)

// pressures are the conditions that, when True, call for a taint of effect
// NoSchedule.
var pressures = [...]struct{ kind, key string }{
	{"MemoryPressure", "node.kubernetes.io/memory-pressure"}, {"DiskPressure", "node.kubernetes.io/disk-pressure"},
	{"PIDPressure", "node.kubernetes.io/pid-pressure"}, {"NetworkUnavailable", "node.kubernetes.io/network-unavailable"},
}

const keyUnschedulable = "node.kubernetes.io/unschedulable"

// noScheduleTaints returns the taints of effect NoSchedule that a node is to
// have by its conditions.
func noScheduleTaints(n *Node) (want []Taint) {
	if key := readyTaint(nodeCondition(n, nodeReady)); key != "" {
		want = append(want, Taint{Key: key, Effect: NoSchedule})
	}
	for _, p := range pressures {
		if c := nodeCondition(n, p.kind); c != nil && c.Status == object.ConditionTrue {
			want = append(want, Taint{Key: p.key, Effect: NoSchedule})
		}
	}
	if n.Spec.Unschedulable {
		want = append(want, Taint{Key: keyUnschedulable, Effect: NoSchedule})
	}
	return want
}

// followsCondition reports whether a taint is one that noScheduleTaints may
// return.
func followsCondition(t *Taint) bool {
	if t.Effect != NoSchedule {
		return false
	}
	if t.Key == keyNotReady || t.Key == keyUnreachable || t.Key == keyUnschedulable {
		return true
	}
	for _, p := range pressures {
		if p.key == t.Key {
			return true
		}
	}
	return false
}
