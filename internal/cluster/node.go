package cluster

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
)

// OutOfService is the key of the taint of nodes that are known to be down: their pods are
// deleted at once.
const OutOfService = "node.kubernetes.io/out-of-service"

// Cordon makes the node with a name and UID unschedulable, or schedulable if is is
// false. The same write sets an annotation, or removes it. If the node already is so,
// nothing is written, not even the annotation; and nothing is if it is to be schedulable
// and lacks the annotation: then others have cordoned it. It reports whether anything
// was written. The error is a *fairlead.RefusedError with code 404 if there is no node
// with that name and UID.
func (c *Cluster) Cordon(node, uid string, is bool, annotation, value string) (changed bool, err error) {
	n, err := c.meant(node, uid)
	if err != nil || n.Spec.Unschedulable == is {
		return false, err
	}
	if _, ours := n.Annotations[annotation]; !is && !ours {
		return false, nil
	}
	q := *n
	q.Spec.Unschedulable = is
	q.Annotations = maps.Clone(n.Annotations)
	delete(q.Annotations, annotation)
	if value != "" {
		if q.Annotations == nil {
			q.Annotations = map[string]string{}
		}
		q.Annotations[annotation] = value
	}
	Put(c, Nodes(), &q)
	return true, nil
}

// meant returns the node with a name and UID.
func (c *Cluster) meant(node, uid string) (*fairlead.Node, error) {
	if n := Ref(c, Nodes(), node); n != nil && n.UID == uid {
		return n, nil
	}
	return nil, refused(404, "NotFound", "there is no node %s with UID %s", node, uid)
}

// Taint adds a taint to the node with a name and UID, or removes it if is is false; key
// and effect identify it. It reports whether anything was written: not if the node
// already has one with that key and effect, whatever its value, or has none. The error is
// that of Cordon.
func (c *Cluster) Taint(node, uid string, t fairlead.Taint, is bool) (changed bool, err error) {
	n, err := c.meant(node, uid)
	if err != nil {
		return false, err
	}
	at := slices.IndexFunc(n.Spec.Taints, func(o fairlead.Taint) bool { return o.Key == t.Key && o.Effect == t.Effect })
	if at >= 0 == is {
		return false, nil
	}
	q := *n
	if is {
		q.Spec.Taints = append(slices.Clone(n.Spec.Taints), t)
	} else {
		q.Spec.Taints = slices.Delete(slices.Clone(n.Spec.Taints), at, at+1)
	}
	Put(c, Nodes(), &q)
	return true, nil
}

// Boot reboots a node.
func (c *Cluster) Boot(node string) { c.boots[node]++ }

// BootID identifies the current boot of a node.
func (c *Cluster) BootID(node string) string { return "boot-" + strconv.Itoa(c.boots[node]) }

// Fence records evidence that a node is powered off, or withdraws it.
func (c *Cluster) Fence(uid string, is bool) {
	if c.fenced[uid] = is; !is {
		delete(c.fenced, uid)
	}
}

// Fenced reports whether a node is proven to be powered off.
func (c *Cluster) Fenced(uid string) bool { return c.fenced[uid] }

func outOfService(n *fairlead.Node) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(t fairlead.Taint) bool { return t.Key == OutOfService })
}

// dropPods ends the pods of a node that is out of service: those that do not tolerate it, and
// those that are being deleted. A finalizer keeps a pod all the same.
func (c *Cluster) dropPods(node string) {
	if n := Ref(c, Nodes(), node); n == nil || !outOfService(n) {
		return
	}
	now := c.Now()
	for _, p := range c.PodsOn(node) {
		switch {
		case p.DeletionTimestamp == nil && tolerates(p, Ref(c, Nodes(), node)):
		case len(p.Finalizers) > 0:
			c.End(p, now, 0, nil)
		default:
			c.vanish(p)
		}
	}
}

// tolerates reports whether a pod may stay on a node that is out of service.
func tolerates(p *fairlead.Pod, n *fairlead.Node) bool {
	return !slices.ContainsFunc(n.Spec.Taints, func(t fairlead.Taint) bool {
		return t.Key == OutOfService && t.Effect == fairlead.NoExecute && object.FirstMatch(p.Spec.Tolerations, &t, false) < 0
	})
}

// EndPod requests that a pod end within grace seconds; nil means its own grace period. If
// guarded is set, its budgets are checked first. It reports whether anything changed. The
// error is a *fairlead.RefusedError: 404 if the pod does not exist, 429 if a budget does
// not allow it, 500 if two guard it.
func (c *Cluster) EndPod(namespace, name, uid string, grace *int64, guarded bool) (changed bool, err error) {
	p := c.PodOf(uid)
	if p == nil || p.Namespace != namespace || p.Name != name {
		return false, refused(404, "NotFound", "there is no pod %s/%s with UID %s", namespace, name, uid)
	}
	if guarded {
		if err := c.judge(p); err != nil {
			return false, err
		}
	}
	seconds := Grace(p, grace)
	return c.End(p, c.Now().Add(time.Duration(seconds)*time.Second).Truncate(time.Second), seconds, nil), nil
}

// judge checks whether the budgets of a pod allow its eviction.
func (c *Cluster) judge(p *fairlead.Pod) error {
	switch of, v := c.Guards(p); {
	case v.Allows():
		return nil
	case v == object.EvictionUnsupported:
		return refused(500, "InternalError", "the pod has more than one disruption budget, and the API knows what to do with one")
	default:
		s := of[0].Status
		return refused(429, "TooManyRequests", "disruption budget %s needs %d healthy pods and has %d", of[0].Name, s.DesiredHealthy, s.CurrentHealthy)
	}
}

// View returns the pods of a node and the budgets of their namespaces, with their current
// numbers. The caller owns the lists.
func (c *Cluster) View(node string) (pods []fairlead.Pod, budgets []fairlead.PodDisruptionBudget) {
	on := c.PodsOn(node)
	if len(on) == 0 {
		return nil, nil
	}
	pods = make([]fairlead.Pod, 0, len(on))
	for i, p := range on {
		pods = append(pods, *p)
		if i > 0 && p.Namespace == on[i-1].Namespace {
			continue
		}
		for _, g := range c.guards[p.Namespace] {
			budgets = append(budgets, *c.measure(g))
		}
	}
	return pods, budgets
}
