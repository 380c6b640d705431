package update

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	memory "github.com/fairlead/fairlead/internal/cluster"
)

// workload is a set of pods of one kind, with a disruption budget.
type workload struct {
	name        string
	replicas    int                   // of a daemon, one for each node
	daemon      bool                  // drains leave it where it is
	min         *fairlead.IntOrString // that must stay available; nil for no budget
	tolerations []fairlead.Toleration
}

// The namespace of all pods, and the label of nodes with the name of their pool.
const (
	apps      = "apps"
	poolLabel = "pool"
)

// view is the rollout engine with its view of the cluster.
type view struct {
	*rollout.MemBackend
	runner *rollout.Runner
}

// newView returns a view whose engine drains the pods of nodes, or in which drains take the
// time that the nodes specify.
func (p *play) newView(drainTime func(string) time.Duration) (v view, err error) {
	v.MemBackend = &rollout.MemBackend{Cluster: p.shared, Changed: p.nodeActed, DrainTime: drainTime}
	v.UpdateTime = func(name, _ string) (time.Duration, error) {
		switch n := p.node(name); {
		case n.fails:
			return n.update, fmt.Errorf("its configuration cannot be applied")
		case n.lost:
			return never, nil
		default:
			return n.update, nil
		}
	}
	v.runner, err = rollout.NewRunner(v, nil, &fairlead.RunnerOptions{Clock: p.clock})
	return v, err
}

// view returns the view for a pool.
func (p *play) view(q *pool) *view {
	if len(q.workloads) > 0 {
		return &p.drained
	}
	return &p.timed
}

// stage creates the nodes, which run the old release, and their pods.
func (p *play) stage() (err error) {
	if p.timed, err = p.newView(func(name string) time.Duration { return p.node(name).drain }); err != nil {
		return err
	}
	if p.drained, err = p.newView(nil); err != nil {
		return err
	}
	p.clock.Set(p.start.Add(-p.startup - time.Minute)) // all pods are ready when it begins
	for i := range p.pools {
		q := &p.pools[i]
		p.setPool(q)
		for _, w := range q.workloads {
			p.run(q, &w)
		}
	}
	p.clock.Set(p.start)
	return nil
}

// setPool creates a pool.
func (p *play) setPool(q *pool) {
	_ = p.view(q).Edit(q.name, func(w *rollout.World) error {
		w.Pool.Spec = rollout.PoolSpec{MaxUnavailable: q.unavailable, Paused: q.paused, Configuration: rollout.Configuration{Name: rendered(q.name, p.From)}}
		for _, n := range q.nodes {
			x := rollout.Node{ObjectMeta: rollout.ObjectMeta{Name: n.name, UID: n.name, CreationTimestamp: p.start, Labels: map[string]string{poolLabel: q.name}, Annotations: map[string]string{
				rollout.AnnotationCurrent: rendered(q.name, p.From), rollout.AnnotationDesired: rendered(q.name, p.From), rollout.AnnotationState: rollout.StateDone,
			}}}
			if n.zone != "" {
				x.Labels[rollout.LabelZone] = n.zone
			}
			w.Nodes = append(w.Nodes, x)
		}
		return nil
	})
}

// run places the pods of a workload on the nodes of a pool.
func (p *play) run(q *pool, w *workload) {
	p.all.Lock()
	defer p.all.Unlock()
	labels := map[string]string{"app": w.name}
	if w.min != nil {
		budget := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: apps, Name: w.name}}
		budget.Spec.MinAvailable, budget.Spec.Selector = w.min, &fairlead.LabelSelector{MatchLabels: labels}
		memory.Put(p.all, memory.Budgets(), &budget)
	}
	spec := fairlead.PodSpec{Tolerations: w.tolerations, NodeSelector: map[string]string{poolLabel: q.name}}
	if !w.daemon {
		p.all.AddWorkload(memory.Workload{Namespace: apps, Name: w.name, Replicas: w.replicas, Labels: labels, Template: spec})
		p.all.Run()
		return
	}
	for i := range w.replicas {
		name := w.name + "-" + strconv.Itoa(i)
		pod := fairlead.Pod{Spec: spec, ObjectMeta: fairlead.ObjectMeta{
			Namespace: apps, Name: name, UID: name, Labels: labels,
			OwnerReferences: []fairlead.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: w.name, UID: "owner-of-" + w.name, Controller: new(true)}},
		}}
		pod.Spec.NodeName = q.nodes[i].name
		pod.Status.Phase, pod.Status.Conditions = fairlead.PodRunning, []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionTrue}}
		memory.Put(p.all, memory.Pods(), &pod)
	}
}

// working reports whether a node is being drained or changed, and will eventually finish.
func (p *play) working() bool {
	for i := range p.pools {
		q := &p.pools[i]
		nodes := p.view(q).World(q.name).Nodes
		if slices.ContainsFunc(nodes, func(n rollout.Node) bool {
			is := p.node(n.Name)
			return rollout.Draining(&n) && (len(q.workloads) > 0 || !is.neverUp) || n.Annotations[rollout.AnnotationState] == rollout.StateWorking && !is.lost
		}) {
			return true
		}
	}
	return false
}
