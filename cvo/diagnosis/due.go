package diagnosis

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/taints/eviction"
)

// evictionTime is how long after it is due an eviction may be seen to begin.
const evictionTime = 5 * time.Minute

// evictionsDue adds the pods on nodes that report that must leave for taints of effect NoExecute, and
// those that should have left. What runs on a node that is down waits for the node anyway.
func (b *builder) evictionsDue() {
	for i := range b.nodes {
		n := &b.nodes[i]
		started := startedTaints(n)
		if len(started) == 0 || !b.reports(n.Name) {
			continue
		}
		for _, k := range b.index.podsOn[n.Name] {
			p := &b.pods[k]
			if p.Finished() || p.DeletionTimestamp != nil {
				continue
			}
			if d := eviction.EvictAt(p, started, nil); d.Evict() {
				b.evictionDue(p, n.Name, &d)
			}
		}
	}
}

// startedTaints returns the taints of a node that evict pods.
func startedTaints(n *fairlead.Node) (started []eviction.Started) {
	for _, t := range n.Spec.Taints {
		if t.Effect != fairlead.NoExecute {
			continue
		}
		s := eviction.Started{Taint: t}
		if t.TimeAdded != nil {
			s.Since = *t.TimeAdded
		}
		started = append(started, s)
	}
	return started
}

// evictionDue adds a pod that must leave its node.
func (b *builder) evictionDue(p *fairlead.Pod, node string, d *eviction.Deadline) {
	name, id := p.ObjectMeta.String(), ID("Pod", p.Namespace, p.Name)+"#eviction-due"
	x := Node{ID: id, Kind: "Pod", Namespace: p.Namespace, Name: p.Name, State: Going, Reason: EvictionDue, Sure: Derived, Owner: controllerManager}
	if d.At.IsZero() || b.now.Sub(d.At) < evictionTime {
		x.Says = "pod " + name + " must leave node " + node + " for taint " + d.Taint.Key + ", and is evicted"
		if d.At.After(b.now) {
			x.Says += " at " + clock(d.At, b.now)
		}
		b.add(x)
		return
	}
	x.State, x.Reason, x.Since, x.Alike = Faulty, EvictionOverdue, d.At, controllerManager
	x.Says = "pod " + name + " should have left node " + node + " for taint " + d.Taint.Key + ", and nothing evicts it"
	x.do, x.command = "see why "+controllerManager+", which evicts pods for taints, does not", shell.Command("kubectl -n kube-system get pods -o wide -l %s", "component="+controllerManager)
	if b.openshift() {
		x.command = shell.Command("oc get clusteroperator %s", controllerManager)
	}
	b.waitsFor(&x, id, controllerManager)
	b.add(x)
}
