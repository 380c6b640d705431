package taints

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
)

// How long taints may stay that stand for something short.
const (
	initializing = time.Hour // uninitialized, by the cloud's controller
	removing     = time.Hour // ToBeDeletedByClusterAutoscaler
)

// asOf returns when a cluster was read, as far as it shows: the last report of a node.
func asOf(c *Cluster) (at time.Time) {
	for i := range c.Nodes {
		for _, k := range c.Nodes[i].Status.Conditions {
			if k.LastHeartbeatTime.After(at) {
				at = k.LastHeartbeatTime
			}
		}
	}
	return at
}

// leftover looks for taints of a node that stand for something that is over, and for
// keys that are nearly well-known ones.
func (l *linter) leftover(n *fairlead.Node) {
	ready := n.Condition(nodeReady)
	isReady := ready != nil && ready.Status == fairlead.ConditionTrue
	for i := range n.Spec.Taints {
		t := &n.Spec.Taints[i]
		problem := ""
		switch t.Key {
		case KeyOutOfService:
			if isReady {
				problem = "the node is ready again: it keeps pods off a node that runs"
			}
		case KeyNotReady, KeyUnreachable:
			if isReady && !l.fresh(ready) {
				problem = "the node is ready: whoever removes it by the node's conditions does not run"
			}
		case KeyUnschedulable:
			if !n.Spec.Unschedulable {
				problem = "the node is not cordoned: whoever removes it after an uncordon does not run"
			}
		case KeyUninitialized:
			since := n.CreationTimestamp
			if t.TimeAdded != nil {
				since = *t.TimeAdded
			}
			if d := l.now.Sub(since); !l.now.IsZero() && !since.IsZero() && d > initializing {
				problem = fmt.Sprintf("it is there for %v: the cloud controller manager does not run, or does not know the node", d.Round(time.Minute))
			}
		case "ToBeDeletedByClusterAutoscaler":
			if at, err := strconv.ParseInt(t.Value, 10, 64); err == nil && !l.now.IsZero() && l.now.Sub(time.Unix(at, 0)) > removing {
				problem = fmt.Sprintf("it is there for %v, and the node was not removed", l.now.Sub(time.Unix(at, 0)).Round(time.Minute))
			}
		default:
			problem = l.stale(n, t)
		}
		if problem != "" {
			l.add(LintLeftover, taintField(i), fmt.Sprintf("%s on node %s: %s", t, n.Name, problem), "remove it: "+shell.Command("kubectl taint node %s %s-", n.Name, fairlead.Taint{Key: t.Key, Effect: t.Effect}.String()))
			continue
		}
		if key := typo(t.Key); key != "" {
			l.add(LintTypo, taintField(i)+".key", fmt.Sprintf("%q is nearly %s, which the control plane uses, and is not it", t.Key, key), "write "+key+", or use a key of your own")
		}
	}
}

// stale says that a taint of a pressure is there and its condition is not, or "".
func (l *linter) stale(n *fairlead.Node, t *fairlead.Taint) string {
	k := knownTaintOf(t.Key)
	if k == nil || k.condition == "" {
		return ""
	}
	if c := n.Condition(k.condition); c != nil && c.Status == fairlead.ConditionFalse && !l.fresh(c) {
		return "condition " + k.condition + " is False: no kubelet reports it"
	}
	return ""
}

// fresh reports whether a condition has just changed, so that the taint may follow yet.
func (l *linter) fresh(c *fairlead.NodeCondition) bool {
	return !l.now.IsZero() && l.now.Sub(c.LastTransitionTime) < 2*time.Minute
}

// typo returns the well-known key that a key was probably meant to be, or "".
func typo(key string) string {
	if systemKey(key) {
		return ""
	}
	var names []string
	for i := range knownTaints {
		names = append(names, knownTaints[i].key)
	}
	return meant(key, names)
}

// stock reports whether a pod belongs to the cluster itself: its tolerations are those of
// every installation, and need not match anything in this one.
func stock(p *fairlead.Pod) bool {
	return strings.HasPrefix(p.Namespace, "kube-") || strings.HasPrefix(p.Namespace, "openshift-") || p.Namespace == "openshift" || strings.HasPrefix(p.Spec.PriorityClassName, "system-")
}
