package eviction

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/cluster"
)

// MemBackend is a cluster in memory: a [ZoneBackend] to test an embedding with.
// The zero value is an empty cluster on the machine's clock. Its methods may be
// called from several goroutines.
//
// An evicted pod terminates: it is gone after its grace period, 30 seconds if it has
// none. It stays if its node sends no heartbeats, because then the kubelet does not
// respond. It is not replaced.
type MemBackend struct {
	// Clock tells the time of the cluster. Nil means the machine's clock.
	Clock fairlead.Clock

	// Changed is called for each action that changed something, in order. It
	// must not call the backend's methods.
	Changed func(action Action)

	// Cluster is the cluster that this is a view of. If set, its Clock is used, and
	// the controllers of evicted pods create others in their place. Nil means a
	// cluster of its own. See [fairlead.MemCluster].
	Cluster *fairlead.MemCluster

	once sync.Once
	all  *cluster.Cluster
}

// lease is what the kubelet renews.
type lease struct {
	fairlead.ObjectMeta
	renewed time.Time
}

func leases() cluster.Kind[lease] {
	return cluster.Kind[lease]{Name: "Lease", Meta: func(l *lease) *fairlead.ObjectMeta { return &l.ObjectMeta }}
}

// lock takes the lock and advances the cluster to the present.
func (b *MemBackend) lock() {
	b.once.Do(func() { b.all = cluster.Of(b.Cluster, b.Clock, &cluster.Options{Still: true}) })
	b.all.Lock()
	b.all.Run()
}

func (b *MemBackend) node(name string) *fairlead.Node {
	return cluster.Ref(b.all, cluster.Nodes(), name)
}

func (b *MemBackend) renewed(node string) time.Time {
	if l := cluster.Ref(b.all, leases(), node); l != nil {
		return l.renewed
	}
	return time.Time{}
}

// PutNode adds a node, or replaces the one with its name.
func (b *MemBackend) PutNode(n fairlead.Node) {
	b.lock()
	defer b.all.Unlock()
	cluster.Put(b.all, cluster.Nodes(), &n)
}

// DeleteNode removes a node. Its pods stay, as in a cluster without garbage
// collection.
func (b *MemBackend) DeleteNode(name string) {
	b.lock()
	defer b.all.Unlock()
	cluster.Drop(b.all, cluster.Nodes(), name)
	cluster.Drop(b.all, leases(), name)
}

// Node returns a node, and false if there is none of that name.
func (b *MemBackend) Node(name string) (fairlead.Node, bool) {
	b.lock()
	defer b.all.Unlock()
	n := b.node(name)
	if n == nil {
		return fairlead.Node{}, false
	}
	return copyNode(n), true
}

// Report does what a kubelet does: it renews the lease, and sets the condition
// Ready. Other conditions that had become Unknown become False.
func (b *MemBackend) Report(name string, ready bool) {
	b.lock()
	defer b.all.Unlock()
	n := b.node(name)
	if n == nil {
		return
	}
	now := b.all.Now()
	cluster.Put(b.all, leases(), &lease{fairlead.ObjectMeta{Name: name}, now})
	c := fairlead.NodeCondition{Type: nodeReady, Status: fairlead.ConditionFalse, LastHeartbeatTime: now, LastTransitionTime: now, Reason: "KubeletNotReady"}
	if ready {
		c.Status, c.Reason = fairlead.ConditionTrue, "KubeletReady"
	}
	b.setCondition(n, c)
	for _, o := range n.Status.Conditions {
		if o.Type != nodeReady && o.Status == fairlead.ConditionUnknown {
			o.Status, o.Reason, o.Message = fairlead.ConditionFalse, "KubeletHasEnough", ""
			o.LastHeartbeatTime, o.LastTransitionTime = now, now
			b.setCondition(b.node(name), o)
		}
	}
}

// setCondition replaces the condition of a type. Nodes are replaced, and never
// modified.
func (b *MemBackend) setCondition(n *fairlead.Node, c fairlead.NodeCondition) {
	next := copyNode(n)
	i := slices.IndexFunc(next.Status.Conditions, func(o fairlead.NodeCondition) bool { return o.Type == c.Type })
	if i < 0 {
		next.Status.Conditions = append(next.Status.Conditions, c)
	} else {
		if old := next.Status.Conditions[i]; old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		next.Status.Conditions[i] = c
	}
	cluster.Put(b.all, cluster.Nodes(), &next)
}

func copyNode(n *fairlead.Node) fairlead.Node {
	next := *n
	next.Spec.Taints = slices.Clone(n.Spec.Taints)
	next.Status.Conditions = slices.Clone(n.Status.Conditions)
	return next
}

// PutPod adds a pod, or replaces the one with its namespace and name.
func (b *MemBackend) PutPod(p fairlead.Pod) {
	b.lock()
	defer b.all.Unlock()
	cluster.Put(b.all, cluster.Pods(), &p)
}

// DeletePod removes a pod at once, as if its node had reported that it has stopped.
func (b *MemBackend) DeletePod(namespace, name string) {
	b.lock()
	defer b.all.Unlock()
	cluster.Drop(b.all, cluster.Pods(), namespace+"/"+name)
}

// Pod returns a pod, and false if there is none.
func (b *MemBackend) Pod(namespace, name string) (fairlead.Pod, bool) {
	b.lock()
	defer b.all.Unlock()
	if p := b.pod(PodRef{Namespace: namespace, Name: name}); p != nil {
		return *p, true
	}
	return fairlead.Pod{}, false
}

// pod returns the referenced pod, or nil if it does not exist or no longer does.
func (b *MemBackend) pod(ref PodRef) *fairlead.Pod {
	p := cluster.Ref(b.all, cluster.Pods(), ref.String())
	if p == nil || ref.UID != "" && ref.UID != p.UID {
		return nil
	}
	return p
}

// Pods returns the pods of a node, by namespace and name. The empty name is that of
// pods without a node.
func (b *MemBackend) Pods(node string) []fairlead.Pod {
	b.lock()
	defer b.all.Unlock()
	return b.list(node)
}

func (b *MemBackend) list(node string) []fairlead.Pod {
	var all []fairlead.Pod
	for _, p := range b.all.PodsOn(node) {
		all = append(all, *p)
	}
	return all
}

// PutBudget adds a disruption budget, or replaces the one with its namespace
// and name. Its status is kept by the cluster.
func (b *MemBackend) PutBudget(budget fairlead.PodDisruptionBudget) {
	b.lock()
	defer b.all.Unlock()
	cluster.Put(b.all, cluster.Budgets(), &budget)
}

// Budgets returns the disruption budgets with their present status, by namespace
// and name.
func (b *MemBackend) Budgets() []fairlead.PodDisruptionBudget {
	b.lock()
	defer b.all.Unlock()
	return b.all.Measured()
}

// Observe implements Backend.
func (b *MemBackend) Observe(ctx context.Context, node string) (*World, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.lock()
	defer b.all.Unlock()
	w := &World{Name: node, Pods: b.list(node), Budgets: b.all.Measured(), LeaseRenewed: b.renewed(node)}
	if n := b.node(node); n != nil {
		c := copyNode(n)
		w.Node = &c
	}
	return w, nil
}

// ObserveZones implements ZoneBackend.
func (b *MemBackend) ObserveZones(ctx context.Context) (*ZoneWorld, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.lock()
	defer b.all.Unlock()
	f := new(ZoneWorld)
	for _, n := range cluster.Refs(b.all, cluster.Nodes()) {
		f.Nodes = append(f.Nodes, copyNode(n))
	}
	return f, nil
}

// Apply implements Backend.
func (b *MemBackend) Apply(ctx context.Context, _ string, action Action) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.lock()
	defer b.all.Unlock()
	changed, err := b.apply(action)
	if changed && b.Changed != nil {
		b.Changed(action)
	}
	return err
}

func (b *MemBackend) apply(action Action) (changed bool, err error) {
	switch a := action.(type) {
	case Evict:
		return b.evict(a)
	case EditTaints:
		n := b.node(a.Node)
		if n == nil || n.UID != a.UID {
			return false, nil
		}
		return b.editTaints(n, a), nil
	case SetConditions:
		n := b.node(a.Node)
		if n == nil || n.UID != a.UID {
			return false, nil
		}
		w := World{Node: n, LeaseRenewed: b.renewed(a.Node)}
		if !w.Heartbeat().Equal(a.Heartbeat) {
			return false, nil // it has reported since
		}
		for _, c := range a.Conditions {
			b.setCondition(b.node(a.Node), c)
		}
		return true, nil
	case MarkNotReady:
		p := b.pod(a.Pod)
		if p == nil || !p.Ready() {
			return false, nil
		}
		next := *p
		next.Status.Conditions = fairlead.SetCondition(p.Status.Conditions, fairlead.Condition{
			Type: nodeReady, Status: fairlead.ConditionFalse, Reason: "NodeNotReady", LastTransitionTime: b.all.Now(),
		})
		cluster.Put(b.all, cluster.Pods(), &next)
		return true, nil
	}
	return false, fmt.Errorf("there is no action %T", action)
}

// editTaints makes the one write of EditTaints.
func (b *MemBackend) editTaints(n *fairlead.Node, a EditTaints) bool {
	next := copyNode(n)
	is := func(t fairlead.Taint) func(fairlead.Taint) bool {
		return func(o fairlead.Taint) bool { return o.Key == t.Key && o.Effect == t.Effect }
	}
	for _, t := range a.Remove {
		next.Spec.Taints = slices.DeleteFunc(next.Spec.Taints, is(t))
	}
	for _, t := range a.Add {
		if i := slices.IndexFunc(next.Spec.Taints, is(t)); i < 0 {
			next.Spec.Taints = append(next.Spec.Taints, t)
		} else if next.Spec.Taints[i].Value != t.Value {
			next.Spec.Taints[i] = t
		}
	}
	cluster.Put(b.all, cluster.Nodes(), &next)
	return !slices.Equal(n.Spec.Taints, next.Spec.Taints)
}

// evict deletes a pod, directly or by the eviction API.
func (b *MemBackend) evict(a Evict) (changed bool, err error) {
	p := b.pod(a.Pod)
	if p == nil || p.DeletionTimestamp != nil {
		return false, nil
	}
	if a.Budget {
		if err := b.disrupt(p); err != nil {
			return false, err
		}
	}
	grace := cluster.Grace(p, nil)
	end, ok := later(b.all.Now(), grace)
	if !ok {
		end = time.Unix(lastInstant, 0).UTC()
	}
	return b.all.End(p, end, grace, func(p *fairlead.Pod) {
		p.Status.Conditions = fairlead.SetCondition(p.Status.Conditions, fairlead.Condition{
			Type: "DisruptionTarget", Status: fairlead.ConditionTrue, Reason: "DeletionByTaintManager", LastTransitionTime: b.all.Now(),
			Message: "taint " + a.Taint.Key,
		})
	}), nil
}

// disrupt checks the budgets of a pod.
func (b *MemBackend) disrupt(p *fairlead.Pod) error {
	if _, v := b.all.Guards(p); !v.Allows() {
		return &fairlead.RefusedError{
			Code: 429, Reason: "TooManyRequests",
			Message: fmt.Sprintf("eviction of pod %s: its disruption budget does not allow it: %s", p.ObjectMeta.String(), v),
		}
	}
	return nil
}
