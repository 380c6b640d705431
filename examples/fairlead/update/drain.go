package update

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// workload is pods of one kind, with a disruption budget.
type workload struct {
	name        string
	replicas    int                    // of a daemon, one for each node
	daemon      bool                   // drains leave it where it is
	min         *lifecycle.IntOrString // that must stay available; nil for no budget
	tolerations []fairlead.Toleration
}

// owner returns who makes the pods of a workload.
func (w *workload) owner() lifecycle.OwnerReference {
	kind := "ReplicaSet"
	if w.daemon {
		kind = "DaemonSet"
	}
	return lifecycle.OwnerReference{APIVersion: "apps/v1", Kind: kind, Name: w.name, UID: "owner-of-" + w.name, Controller: new(true)}
}

// drains empties the nodes of a pool by the engine of lifecycle, which asks
// disruption budgets. The engine drains machines that are deleted: each drain
// gets a machine with a hook that keeps it from going any further.
type drains struct {
	play    *play
	pool    *pool
	pods    *lifecycle.MemBackend
	runner  *lifecycle.Runner
	machine map[string]string // by node that is drained
	serial  int
}

// newDrains puts the pods of a pool on its nodes, in turn.
func newDrains(p *play, q *pool) (*drains, error) {
	d := &drains{play: p, pool: q, pods: &lifecycle.MemBackend{Clock: p.clock, PodStartup: p.startup}, machine: map[string]string{}}
	d.pods.Changed = d.acted
	for _, n := range q.nodes {
		d.pods.PutNode(lifecycle.Node{ObjectMeta: lifecycle.ObjectMeta{Name: n.name}})
	}
	at := 0
	for _, w := range q.workloads {
		labels := map[string]string{"app": w.name}
		if w.min != nil {
			budget := lifecycle.PodDisruptionBudget{ObjectMeta: lifecycle.ObjectMeta{Namespace: "apps", Name: w.name}}
			budget.Spec.MinAvailable, budget.Spec.Selector = w.min, &lifecycle.LabelSelector{MatchLabels: labels}
			if err := d.pods.PutBudget(budget); err != nil {
				return nil, err
			}
		}
		for i := range w.replicas {
			pod := lifecycle.Pod{ObjectMeta: lifecycle.ObjectMeta{
				Namespace: "apps", Name: w.name + "-" + strconv.Itoa(i), UID: w.name + "-" + strconv.Itoa(i), Labels: labels,
				OwnerReferences: []lifecycle.OwnerReference{w.owner()},
			}}
			pod.Spec.NodeName, pod.Spec.Tolerations = q.nodes[at%len(q.nodes)].name, w.tolerations
			if w.daemon {
				pod.Spec.NodeName = q.nodes[i].name
				at--
			}
			pod.Status.Phase = "Running"
			pod.Status.Conditions = []rollout.Condition{{Type: "Ready", Status: "True"}}
			d.pods.PutPod(pod)
			at++
		}
	}
	var err error
	d.runner, err = lifecycle.NewRunner(d.pods, nil, &fairlead.RunnerOptions{Clock: p.clock})
	return d, err
}

// acted is told of what a drain does.
func (d *drains) acted(machine string, a lifecycle.Action) {
	if a, ok := a.(drain.Evict); ok {
		for node, m := range d.machine { // at most one is equal
			if m == machine {
				d.play.tell("node "+node, "evicts pod "+a.Namespace+"/"+a.Name)
			}
		}
	}
}

// begin begins to drain a node.
func (d *drains) begin(node string) {
	d.serial++
	m := lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Name: node + "-" + strconv.Itoa(d.serial)}}
	m.Spec.LifecycleHooks.PreTerminate = []lifecycle.Hook{{Name: "UpdateNode", Owner: "clusteroperator/" + machineConfig}}
	m.Status.NodeRef = &lifecycle.NodeRef{Name: node}
	now := d.play.clock.Now()
	m.DeletionTimestamp, m.Finalizers = &now, []string{lifecycle.Finalizer}
	d.machine[node] = m.Name
	d.pods.Restore(m, false)
}

// uncordon lets pods come to a node.
func (d *drains) uncordon(node string) {
	n := *d.pods.Node(node)
	n.Spec.Unschedulable = false
	d.pods.PutNode(n)
}

// pass takes all drains of the pool forward, in the order of its nodes.
func (d *drains) pass(ctx context.Context) (acted bool, blocked []fairlead.Block, err error) {
	for _, n := range d.pool.nodes {
		machine := d.machine[n.name]
		if machine == "" {
			continue
		}
		r, err := d.runner.Reconcile(ctx, machine)
		var refused *fairlead.RefusedError
		if err != nil && !errors.As(err, &refused) {
			return false, nil, err
		}
		acted = acted || len(r.Actions) > 0
		d.play.wakes["drain "+n.name] = r.Wake
		for _, b := range r.Blocks() {
			b.Subject = "node " + n.name
			blocked = append(blocked, b)
		}
		c := lifecycle.FindCondition(d.pods.Machine(machine).Status.Conditions, lifecycle.ConditionDrained)
		if c == nil || c.Status != "True" {
			continue
		}
		acted = true
		delete(d.machine, n.name)
		delete(d.play.wakes, "drain "+n.name)
		if err := d.play.drained(d.pool.name, n.name); err != nil {
			return false, nil, err
		}
	}
	return acted, blocked, nil
}

// drained tells the rollout that a node is empty.
func (p *play) drained(pool, node string) error {
	return p.nodes.Edit(pool, func(w *rollout.World) error {
		for i := range w.Nodes {
			if a := w.Nodes[i].Annotations; w.Nodes[i].Name == node {
				a[rollout.AnnotationLastDrain] = a[rollout.AnnotationDesiredDrain]
				return nil
			}
		}
		return fmt.Errorf("there is no node %s in pool %s", node, pool)
	})
}

// emptying returns the drains of a node's pool, nil if it has none.
func (p *play) emptying(node string) *drains {
	for _, d := range p.drains {
		for _, n := range d.pool.nodes {
			if n.name == node {
				return d
			}
		}
	}
	return nil
}

// nextPod returns when something happens to pods; zero for never.
func (p *play) nextPod() (next time.Time) {
	for _, d := range p.drains {
		if t, ok := d.pods.Next(); ok && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	return next
}
