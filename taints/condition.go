package taints

import (
	"slices"

	"github.com/fairlead/fairlead"
)

// Keys of the taints that the control plane puts on nodes.
const (
	KeyNotReady           = "node.kubernetes.io/not-ready"           // the node reports that it is not ready
	KeyUnreachable        = "node.kubernetes.io/unreachable"         // the node has stopped reporting
	KeyMemoryPressure     = "node.kubernetes.io/memory-pressure"     // it is short of memory
	KeyDiskPressure       = "node.kubernetes.io/disk-pressure"       // it is short of disk
	KeyPIDPressure        = "node.kubernetes.io/pid-pressure"        // it is short of process IDs; OpenShift sets no threshold for it by default
	KeyNetworkUnavailable = "node.kubernetes.io/network-unavailable" // its network is not set up
	KeyUnschedulable      = "node.kubernetes.io/unschedulable"       // it is cordoned
	KeyOutOfService       = "node.kubernetes.io/out-of-service"      // an administrator declared it down: its pods may be force-deleted

	// KeyUninitialized is set by the kubelet if the cloud provider is external,
	// and removed by the cloud's controller when it knows the node.
	KeyUninitialized = "node.cloudprovider.kubernetes.io/uninitialized"
	// KeyShutdown is set by the cloud's controller while the machine is off.
	KeyShutdown = "node.cloudprovider.kubernetes.io/shutdown"
	// KeyMaster and KeyControlPlane are set on the nodes of the control plane.
	KeyMaster       = "node-role.kubernetes.io/master"
	KeyControlPlane = "node-role.kubernetes.io/control-plane" // see KeyMaster
)

// conditionTaints are the conditions that have taints of effect NoSchedule, in
// the order of the taints.
var conditionTaints = [...]struct {
	kind   string
	status fairlead.ConditionStatus
	key    string
}{
	{nodeReady, fairlead.ConditionFalse, KeyNotReady},
	{nodeReady, fairlead.ConditionUnknown, KeyUnreachable},
	{"MemoryPressure", fairlead.ConditionTrue, KeyMemoryPressure},
	{"DiskPressure", fairlead.ConditionTrue, KeyDiskPressure},
	{"PIDPressure", fairlead.ConditionTrue, KeyPIDPressure},
	{"NetworkUnavailable", fairlead.ConditionTrue, KeyNetworkUnavailable},
}

const nodeReady = "Ready"

func unschedulableTaint() fairlead.Taint {
	return fairlead.Taint{Key: KeyUnschedulable, Effect: fairlead.NoSchedule}
}

// ConditionTaints returns the NoSchedule taints that the conditions of a node
// require, and the one for an unschedulable node, in the order of the keys
// above. A missing condition requires none, and neither does a pressure that is
// Unknown.
func ConditionTaints(n *fairlead.Node) []fairlead.Taint {
	var list []fairlead.Taint
	for _, c := range conditionTaints {
		if has := n.Condition(c.kind); has != nil && has.Status == c.status {
			list = append(list, fairlead.Taint{Key: c.key, Effect: fairlead.NoSchedule})
		}
	}
	if n.Spec.Unschedulable {
		list = append(list, unschedulableTaint())
	}
	return list
}

// ReadinessTaint returns the taint of effect NoExecute that the Ready condition of
// a node requires: not-ready if it is False, unreachable if it is Unknown. If it
// is True or absent, ok is false and the taint meaningless. A node has at most one
// of the two. Adding them to nodes is rate-limited; removing or swapping one is
// not.
func ReadinessTaint(n *fairlead.Node) (t fairlead.Taint, ok bool) {
	c := n.Condition(nodeReady)
	switch {
	case c == nil:
		return fairlead.Taint{}, false
	case c.Status == fairlead.ConditionFalse:
		return fairlead.Taint{Key: KeyNotReady, Effect: fairlead.NoExecute}, true
	case c.Status == fairlead.ConditionUnknown:
		return fairlead.Taint{Key: KeyUnreachable, Effect: fairlead.NoExecute}, true
	}
	return fairlead.Taint{}, false
}

// SyncConditionTaints returns the taints that the node should have, given its
// conditions, and whether they differ from those that it has. The taints of
// [ConditionTaints] are added, and those with their keys that are no longer
// required are removed; all others stay unchanged and in place. NoExecute taints
// are not touched.
//
// The result depends on the node alone. After a failed write, call it again: the
// difference is still there. The node is not changed.
func SyncConditionTaints(n *fairlead.Node) (list []fairlead.Taint, changed bool) {
	want := ConditionTaints(n)
	for _, t := range n.Spec.Taints {
		if t.Effect == fairlead.NoSchedule && conditionKey(t.Key) && Find(want, t.Key, t.Effect) == nil {
			changed = true
			continue
		}
		list = append(list, t)
	}
	for _, t := range want {
		if Find(list, t.Key, t.Effect) == nil {
			list, changed = append(list, t), true
		}
	}
	return list, changed
}

// conditionKey reports whether the taints of a key follow the node's state.
func conditionKey(key string) bool {
	if key == KeyUnschedulable {
		return true
	}
	for _, c := range conditionTaints {
		if c.key == key {
			return true
		}
	}
	return false
}

// AdmitNode returns the taints of a node that is about to be created: its own,
// and not-ready of effect NoSchedule, so that no pod is placed there before the
// node has reported that it is ready. The argument is not changed.
func AdmitNode(n *fairlead.Node) []fairlead.Taint {
	list := slices.Clone(n.Spec.Taints)
	if Find(list, KeyNotReady, fairlead.NoSchedule) == nil {
		list = append(list, fairlead.Taint{Key: KeyNotReady, Effect: fairlead.NoSchedule})
	}
	return list
}

// systemKey reports whether the control plane or a machine manager uses a key.
func systemKey(key string) bool { return knownTaintOf(key) != nil || conditionKey(key) }
