package taints

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
)

// DefaultTolerationSeconds is how long a pod stays by default on a node that is
// not ready or unreachable.
const DefaultTolerationSeconds = 300

// DefaultTolerations returns the tolerations that a pod gets when it is created
// or updated: its own, and not-ready and unreachable, with effect NoExecute, for
// the given seconds. Each of the two is left out if the pod has a toleration of
// its key or of no key, with effect NoExecute or none; its operator, value and
// seconds do not matter. The argument is not changed.
func DefaultTolerations(tolerations []fairlead.Toleration, notReady, unreachable int64) []fairlead.Toleration {
	list := slices.Clone(tolerations)
	for _, d := range []struct {
		key     string
		seconds int64
	}{{KeyNotReady, notReady}, {KeyUnreachable, unreachable}} {
		speaks := func(t fairlead.Toleration) bool {
			return (t.Key == d.key || t.Key == "") && (t.Effect == fairlead.NoExecute || t.Effect == "")
		}
		if !slices.ContainsFunc(tolerations, speaks) {
			list = append(list, fairlead.Toleration{Key: d.key, Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute, TolerationSeconds: &d.seconds})
		}
	}
	return list
}

// DaemonSetTolerations returns the tolerations of a pod of a daemon set: its own,
// and those that keep daemons running on nodes that are not ready, unreachable,
// under pressure or cordoned, and, if they use the node's network, without a
// network. An existing one with the same key, effect and operator loses its
// seconds. The argument is not changed.
//
// Every list in the documentation lacks some of these; this is what the controller
// adds.
func DaemonSetTolerations(tolerations []fairlead.Toleration, hostNetwork bool) []fairlead.Toleration {
	list := slices.Clone(tolerations)
	for _, t := range []fairlead.Taint{
		{Key: KeyNotReady, Effect: fairlead.NoExecute}, {Key: KeyUnreachable, Effect: fairlead.NoExecute},
		{Key: KeyDiskPressure, Effect: fairlead.NoSchedule}, {Key: KeyMemoryPressure, Effect: fairlead.NoSchedule},
		{Key: KeyPIDPressure, Effect: fairlead.NoSchedule}, {Key: KeyUnschedulable, Effect: fairlead.NoSchedule},
		{Key: KeyNetworkUnavailable, Effect: fairlead.NoSchedule},
	} {
		if t.Key != KeyNetworkUnavailable || hostNetwork {
			list = setToleration(list, fairlead.Toleration{Key: t.Key, Operator: fairlead.TolerationExists, Effect: t.Effect})
		}
	}
	return list
}

// setToleration replaces the toleration that t is the same as, or appends t.
func setToleration(list []fairlead.Toleration, t fairlead.Toleration) []fairlead.Toleration {
	for i := range list {
		if sameToleration(list[i], t) {
			list[i] = t
			return list
		}
	}
	return append(list, t)
}

// ResourceTolerations returns the tolerations of a pod: its own, and one for each
// extended resource that its containers request, by the convention that the taint
// of special hardware has the name of the resource as its key. New ones are in the
// order of the names. Extended resources are those with a domain outside
// kubernetes.io. The pod is not changed.
func ResourceTolerations(p *fairlead.Pod) []fairlead.Toleration {
	var names []string
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		for name := range c.Resources.Requests {
			if extended(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	list := slices.Clone(p.Spec.Tolerations)
	for _, name := range names {
		list = setToleration(list, fairlead.Toleration{Key: name, Operator: fairlead.TolerationExists, Effect: fairlead.NoSchedule})
	}
	return list
}

func extended(resource string) bool {
	return strings.Contains(resource, "/") && !strings.Contains(resource, "kubernetes.io/") && !strings.HasPrefix(resource, "requests.")
}

// BestEffort reports whether a pod has the quality of service BestEffort: by its
// status, or else because no container requests or limits CPU or memory.
func BestEffort(p *fairlead.Pod) bool {
	if p.Status.QOSClass != "" {
		return p.Status.QOSClass == "BestEffort"
	}
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		for _, amounts := range []map[string]string{c.Resources.Requests, c.Resources.Limits} {
			if positive(amounts["cpu"]) || positive(amounts["memory"]) {
				return false
			}
		}
	}
	return true
}

// positive reports whether a quantity of the API is more than zero: whether one of
// its digits is not 0.
func positive(quantity string) bool {
	number, _, _ := strings.Cut(quantity, "e")
	number, _, _ = strings.Cut(number, "E")
	return strings.ContainsAny(number, "123456789") && !strings.HasPrefix(number, "-")
}

func memoryPressureToleration() fairlead.Toleration {
	return fairlead.Toleration{Key: KeyMemoryPressure, Operator: fairlead.TolerationExists, Effect: fairlead.NoSchedule}
}

// KubeletAdmits reports whether a kubelet accepts a pod that was bound to its
// node, as far as taints go; if not, reason says why. Taints of effect NoExecute
// must be tolerated, unless the pod is static. A node short of memory takes no
// pod that is [BestEffort] and does not tolerate that.
func KubeletAdmits(p *fairlead.Pod, n *fairlead.Node, static bool, o *Options) (ok bool, reason string) {
	if t := FirstUntolerated(p.Spec.Tolerations, n.Spec.Taints, OnNoExecute, o); t != nil && !static {
		return false, "it does not tolerate the taint " + t.String() + " of the node"
	}
	pressure := n.Condition("MemoryPressure")
	taint := fairlead.Taint{Key: KeyMemoryPressure, Effect: fairlead.NoSchedule}
	if pressure != nil && pressure.Status == fairlead.ConditionTrue && BestEffort(p) && FirstMatching(p.Spec.Tolerations, &taint, o) < 0 {
		return false, "the node is short of memory, and the pod is BestEffort and does not tolerate " + taint.String()
	}
	return true, ""
}
