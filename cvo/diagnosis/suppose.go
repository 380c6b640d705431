package diagnosis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/operators"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/cvo/snapshot"
)

// What is a kind of change that can be supposed.
type What string

// What can be supposed.
const (
	BudgetFixed What = "BudgetFixed" // a PodDisruptionBudget allows one disruption
	OneMore     What = "OneMore"     // a Deployment or StatefulSet runs one more pod
	Unpaused    What = "Unpaused"    // a MachineConfigPool goes on
	Uncordoned  What = "Uncordoned"  // a node takes pods again
	NodeLost    What = "NodeLost"    // a node stops reporting, and its pods are evicted
	ZoneLost    What = "ZoneLost"    // all nodes of a zone stop reporting
	NodeBack    What = "NodeBack"    // a node is ready again, with its pods
	CatalogBack What = "CatalogBack" // a CatalogSource answers again
)

// How a node looks that does not report.
const (
	unreachable  = "node.kubernetes.io/unreachable"
	kubeletQuiet = "Kubelet stopped posting node status."
)

// ZoneLabel is the label of a node with its zone.
const ZoneLabel = "topology.kubernetes.io/zone"

// Supposition is a change of a cluster that somebody wants to try.
type Supposition struct {
	What      What   `json:"what"`                // which change
	Kind      string `json:"kind,omitempty"`      // of OneMore: Deployment or StatefulSet
	Namespace string `json:"namespace,omitempty"` // of the object, if it has one
	Name      string `json:"name"`                // of the object; of ZoneLost the zone
}

// String says what is supposed, as in "node a is lost".
func (x *Supposition) String() string {
	full := x.Name
	if x.Namespace != "" {
		full = x.Namespace + "/" + x.Name
	}
	switch x.What {
	case BudgetFixed:
		return "budget " + full + " allows one disruption"
	case OneMore:
		return strings.ToLower(x.Kind) + " " + full + " runs one more pod"
	case Unpaused:
		return "pool " + full + " is not paused"
	case Uncordoned:
		return "node " + full + " is not cordoned"
	case NodeLost:
		return "node " + full + " is lost"
	case ZoneLost:
		return "zone " + full + " is lost"
	case NodeBack:
		return "node " + full + " is back"
	case CatalogBack:
		return "catalog " + full + " answers"
	}
	return string(x.What) + " " + full
}

// Suppose returns what would be known of a cluster after changes, one after the other: after each the
// cluster reacts (pods are evicted, replaced and placed, budgets are counted), as it would within
// minutes, but it is still now; zero means the snapshot's own time. The snapshot is not changed. The
// error says which object is not known.
func Suppose(s *snapshot.Snapshot, now time.Time, changes []Supposition) (*snapshot.Snapshot, error) {
	if now.IsZero() {
		now = s.Clock.At
	}
	for i := range changes {
		x := &changes[i]
		ok := true
		switch x.What {
		case CatalogBack:
			s, ok = catalogBack(s, x)
		case OneMore:
			if s, ok = oneMore(s, x); ok {
				w := grounded(s, now)
				w.react(&world{})
				s = w.written(s)
			}
		default:
			before := grounded(s, now)
			after := before.copied()
			if ok = after.suppose(x); ok {
				after.react(before)
				s = after.written(s)
			}
		}
		if !ok {
			return nil, fmt.Errorf("%s: there is no such object in what is known", x)
		}
	}
	return s, nil
}

// grounded is the view of a snapshot in which pods can be placed.
func grounded(s *snapshot.Snapshot, now time.Time) *world {
	w := view(s, now)
	w.ground = &ground{}
	return w
}

// suppose changes a copy of a world; false if it does not have the object.
func (w *world) suppose(x *Supposition) bool {
	switch x.What {
	case BudgetFixed:
		return w.fixBudget(x.Namespace, x.Name)
	case Unpaused:
		return w.editPool(x.Name, func(p *cvo.Pool) { p.Spec.Paused = false })
	case Uncordoned:
		return w.editNode(x.Name, takesPods)
	case NodeLost:
		return w.lose([]string{x.Name})
	case ZoneLost:
		var lost []string
		for i := range w.nodes {
			if w.nodes[i].Labels[ZoneLabel] == x.Name {
				lost = append(lost, w.nodes[i].Name)
			}
		}
		return len(lost) > 0 && w.lose(lost)
	case NodeBack:
		return w.bringBack(x.Name)
	}
	return false
}

// takesPods lets a node take pods again.
func takesPods(n *fairlead.Node) {
	n.Spec.Unschedulable = false
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t fairlead.Taint) bool { return t.Key == unschedulableTaint })
}

// fixBudget lets a budget allow one disruption, and the eviction of pods that are not ready.
func (w *world) fixBudget(namespace, name string) bool {
	b := w.budget(namespace, name)
	if b == nil {
		return false
	}
	lower, _ := lowered(b)
	return w.editBudget(namespace, name, func(x *fairlead.PodDisruptionBudget) {
		lower(x)
		x.Spec.UnhealthyPodEvictionPolicy = fairlead.AlwaysAllow
	})
}

// lose lets nodes stop reporting. Their pods that do not tolerate it are being deleted, and are replaced,
// but for those of StatefulSets: these wait until they are known to have ended.
func (w *world) lose(nodes []string) bool {
	lost := map[string]bool{}
	for _, name := range nodes {
		lost[name] = true
		known := w.editNode(name, func(n *fairlead.Node) {
			since := w.now
			if rollout.Updating(n) { // longer than a restart takes
				since = since.Add(-restartTime)
			}
			silent(n, since)
		})
		if !known {
			return false
		}
	}
	away := fairlead.Taint{Key: unreachable, Effect: fairlead.NoExecute}
	var replaced []fairlead.Pod
	w.editPods(func(p *fairlead.Pod) bool { return lost[p.Spec.NodeName] && !p.Finished() }, func(p *fairlead.Pod) {
		p.Status.Conditions = slices.Clone(p.Status.Conditions)
		if c := fairlead.FindCondition(p.Status.Conditions, "Ready"); c != nil {
			c.Status, c.LastTransitionTime = fairlead.ConditionFalse, w.now
		}
		owner := p.ControllerOf()
		if p.DeletionTimestamp != nil || owner == nil || owner.Kind == "DaemonSet" || owner.Kind == "Node" || slices.ContainsFunc(p.Spec.Tolerations, func(t fairlead.Toleration) bool {
			return t.Tolerates(away) && t.TolerationSeconds == nil
		}) {
			return
		}
		at := w.now
		p.DeletionTimestamp = &at
		if owner.Kind != "StatefulSet" {
			replaced = append(replaced, pending(p, "-new"))
		}
	})
	w.pods = append(slices.Clip(w.pods), replaced...)
	w.replaced()
	return true
}

// silent lets a node stop reporting.
func silent(n *fairlead.Node, since time.Time) {
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		c.Status, c.Reason, c.Message, c.LastTransitionTime = fairlead.ConditionUnknown, "NodeStatusUnknown", kubeletQuiet, since
	}
	if n.Condition("Ready") == nil {
		n.Status.Conditions = append(n.Status.Conditions, fairlead.NodeCondition{Type: "Ready", Status: fairlead.ConditionUnknown, Reason: "NodeStatusUnknown", Message: kubeletQuiet, LastTransitionTime: since})
	}
	for _, effect := range [...]fairlead.TaintEffect{fairlead.NoSchedule, fairlead.NoExecute} {
		t := fairlead.Taint{Key: unreachable, Effect: effect}
		if !slices.ContainsFunc(n.Spec.Taints, func(old fairlead.Taint) bool { return old.Key == t.Key && old.Effect == t.Effect }) {
			n.Spec.Taints = append(n.Spec.Taints, t)
		}
	}
}

// pending is a pod like another one, which waits for a node.
func pending(p *fairlead.Pod, suffix string) fairlead.Pod {
	c := *p
	c.Name, c.UID, c.CreationTimestamp = p.Name+suffix, p.UID+suffix, time.Time{}
	c.DeletionTimestamp, c.DeletionGracePeriodSeconds, c.Finalizers = nil, nil, nil
	c.Spec.NodeName, c.Status = "", fairlead.PodStatus{Phase: fairlead.PodPending}
	return c
}

// written writes what suppositions change into a snapshot.
func (w *world) written(s *snapshot.Snapshot) *snapshot.Snapshot {
	return s.Changed(func(c *snapshot.Snapshot) {
		if w.nodes != nil {
			c.Nodes = s.Nodes.SetItems(w.nodes)
		}
		if w.pods != nil {
			c.Pods = s.Pods.SetItems(w.pods)
		}
		if w.budgets != nil {
			c.Budgets = s.Budgets.SetItems(w.budgets)
		}
		if w.pools != nil {
			c.Pools = s.Pools.SetItems(w.pools)
		}
		c.Attachments = s.Attachments.SetItems(w.storage.attachments)
	})
}

// oneMore lets a workload run one more pod, which waits for a node.
func oneMore(s *snapshot.Snapshot, x *Supposition) (*snapshot.Snapshot, bool) {
	k := slices.IndexFunc(s.Pods.Items, func(p fairlead.Pod) bool {
		c := p.ControllerOf()
		of := c != nil && (c.Kind == x.Kind || c.Kind == "ReplicaSet" && x.Kind == "Deployment")
		return of && p.Namespace == x.Namespace && !p.Finished() && p.DeletionTimestamp == nil && workload(&p) == x.Namespace+"/"+x.Name
	})
	if k < 0 {
		return nil, false
	}
	p := pending(&s.Pods.Items[k], "-more")
	set := p.ControllerOf().Name
	if x.Kind == "StatefulSet" {
		p.Name, p.UID = set+"-more", p.UID+"-more"
	}
	more := func(l *snapshot.List[snapshot.Workload], name string) snapshot.List[snapshot.Workload] {
		items := slices.Clone(l.Items)
		for i := range items {
			if items[i].Namespace == x.Namespace && items[i].Name == name {
				n := replicasOf(&items[i]) + 1
				items[i].Spec.Replicas = &n
			}
		}
		return l.SetItems(items)
	}
	return s.Changed(func(c *snapshot.Snapshot) {
		c.Pods = s.Pods.SetItems(append(slices.Clip(s.Pods.Items), p))
		if x.Kind == "StatefulSet" {
			c.StatefulSets = more(&s.StatefulSets, set)
			return
		}
		c.Deployments, c.ReplicaSets = more(&s.Deployments, x.Name), more(&s.ReplicaSets, set)
	}), true
}

// catalogBack lets a catalog answer, and OLM notice it.
func catalogBack(s *snapshot.Snapshot, x *Supposition) (*snapshot.Snapshot, bool) {
	after, err := operators.Of(s).After(answers(&Node{Namespace: x.Namespace, Name: x.Name})...)
	if err != nil {
		return nil, false
	}
	return s.Changed(func(c *snapshot.Snapshot) {
		c.CatalogSources, c.Subscriptions = s.CatalogSources.SetItems(after.Catalogs), s.Subscriptions.SetItems(after.Subscriptions)
		c.InstallPlans, c.CSVs = s.InstallPlans.SetItems(after.Plans), s.CSVs.SetItems(after.CSVs)
	}), true
}
