package eviction

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
)

// MemBackend is a cluster in memory: a [ZoneBackend] to test an embedding with.
// The zero value is an empty cluster on the machine's clock. Its methods may be
// called from several goroutines.
//
// An evicted pod terminates: it is gone after its grace period, 30 seconds if it
// has none, and stays if nothing is known of its node, as the agent there does
// not answer. Nobody makes a new pod in its place.
type MemBackend struct {
	// Clock tells the time of the cluster. Nil means the machine's.
	Clock fairlead.Clock

	// Changed is told of each action that has changed something, in order. It
	// must not call the backend's methods.
	Changed func(action Action)

	mu      sync.Mutex
	nodes   map[string]*fairlead.Node           // by name
	leases  map[string]time.Time                // by node
	pods    map[string]map[PodRef]*fairlead.Pod // by node
	where   map[string]PodRef                   // by "namespace/name": the pod that has the name now
	onNode  map[string]string                   // by "namespace/name": where that pod is
	budgets []fairlead.PodDisruptionBudget      // by namespace and name
}

// PutNode adds a node, or puts it in the place of the one of its name.
func (b *MemBackend) PutNode(n fairlead.Node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.nodes == nil {
		b.nodes = make(map[string]*fairlead.Node)
		b.leases = make(map[string]time.Time)
	}
	b.nodes[n.Name] = &n
}

// DeleteNode removes a node. Its pods stay, as in a cluster that nobody cleans
// up.
func (b *MemBackend) DeleteNode(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.nodes, name)
	delete(b.leases, name)
}

// Node returns a node, and false if there is none of the name.
func (b *MemBackend) Node(name string) (fairlead.Node, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.nodes[name]
	if n == nil {
		return fairlead.Node{}, false
	}
	return copyNode(n), true
}

// Report is what the agent of a node does: it renews the lease, and sets the
// condition Ready. Other conditions that had become unknown are False then.
func (b *MemBackend) Report(name string, ready bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.nodes[name]
	if n == nil {
		return
	}
	now := b.now()
	b.leases[name] = now
	c := fairlead.NodeCondition{Type: nodeReady, Status: fairlead.ConditionFalse, LastHeartbeatTime: now, LastTransitionTime: now, Reason: "KubeletNotReady"}
	if ready {
		c.Status, c.Reason = fairlead.ConditionTrue, "KubeletReady"
	}
	b.setCondition(n, c)
	for _, o := range n.Status.Conditions {
		if o.Type != nodeReady && o.Status == fairlead.ConditionUnknown {
			o.Status, o.Reason, o.Message = fairlead.ConditionFalse, "KubeletHasEnough", ""
			o.LastHeartbeatTime, o.LastTransitionTime = now, now
			b.setCondition(b.nodes[name], o)
		}
	}
}

// setCondition replaces the condition of a type. Nodes are replaced, and never
// changed.
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
	b.nodes[n.Name] = &next
}

func copyNode(n *fairlead.Node) fairlead.Node {
	next := *n
	next.Spec.Taints = slices.Clone(n.Spec.Taints)
	next.Status.Conditions = slices.Clone(n.Status.Conditions)
	return next
}

// PutPod adds a pod, or puts it in the place of the one of its namespace and
// name, which is gone then.
func (b *MemBackend) PutPod(p fairlead.Pod) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pods == nil {
		b.pods = make(map[string]map[PodRef]*fairlead.Pod)
		b.where = make(map[string]PodRef)
		b.onNode = make(map[string]string)
	}
	b.forget(p.Namespace + "/" + p.Name)
	ref := RefOf(&p)
	if b.pods[p.Spec.NodeName] == nil {
		b.pods[p.Spec.NodeName] = make(map[PodRef]*fairlead.Pod)
	}
	b.pods[p.Spec.NodeName][ref] = &p
	b.where[ref.String()] = ref
	b.onNode[ref.String()] = p.Spec.NodeName
}

// DeletePod removes a pod at once, as if its node had said that it has stopped.
func (b *MemBackend) DeletePod(namespace, name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget(namespace + "/" + name)
}

func (b *MemBackend) forget(name string) {
	if ref, ok := b.where[name]; ok {
		delete(b.pods[b.onNode[name]], ref)
		delete(b.where, name)
		delete(b.onNode, name)
	}
}

// Pod returns a pod, and false if there is none.
func (b *MemBackend) Pod(namespace, name string) (fairlead.Pod, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.pod(PodRef{Namespace: namespace, Name: name}); p != nil {
		return *p, true
	}
	return fairlead.Pod{}, false
}

// pod returns the pod that is meant, nil if there is none, or none any more.
func (b *MemBackend) pod(ref PodRef) *fairlead.Pod {
	is, ok := b.where[ref.String()]
	if !ok || ref.UID != "" && ref.UID != is.UID {
		return nil
	}
	node := b.onNode[ref.String()]
	p := b.pods[node][is]
	if b.gone(p) {
		b.forget(ref.String())
		return nil
	}
	return p
}

// gone reports whether a pod has terminated.
func (b *MemBackend) gone(p *fairlead.Pod) bool {
	if p.DeletionTimestamp == nil || p.DeletionTimestamp.After(b.now()) {
		return false
	}
	n := b.nodes[p.Spec.NodeName]
	if n == nil {
		return true
	}
	c := n.Condition(nodeReady)
	return c == nil || c.Status != fairlead.ConditionUnknown
}

// Pods returns the pods of a node, by namespace and name. The empty name is
// that of pods without a node.
func (b *MemBackend) Pods(node string) []fairlead.Pod {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.list(node)
}

func (b *MemBackend) list(node string) []fairlead.Pod {
	refs := slices.SortedFunc(maps.Keys(b.pods[node]), func(x, y PodRef) int { return strings.Compare(x.String(), y.String()) })
	var all []fairlead.Pod
	for _, ref := range refs {
		if p := b.pod(ref); p != nil {
			all = append(all, *p)
		}
	}
	return all
}

// PutBudget adds a disruption budget, or puts it in the place of the one of its
// namespace and name. Its status is kept by the cluster.
func (b *MemBackend) PutBudget(budget fairlead.PodDisruptionBudget) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := budget.ObjectMeta.String()
	i, found := slices.BinarySearchFunc(b.budgets, name, func(x fairlead.PodDisruptionBudget, name string) int {
		return strings.Compare(x.ObjectMeta.String(), name)
	})
	if found {
		b.budgets[i] = budget
	} else {
		b.budgets = slices.Insert(b.budgets, i, budget)
	}
}

// Budgets returns the disruption budgets with their present status, by namespace
// and name.
func (b *MemBackend) Budgets() []fairlead.PodDisruptionBudget {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.measured()
}

func (b *MemBackend) measured() []fairlead.PodDisruptionBudget {
	if len(b.budgets) == 0 {
		return nil
	}
	var pods []*fairlead.Pod
	for _, node := range slices.Sorted(maps.Keys(b.pods)) {
		for _, p := range b.list(node) {
			pods = append(pods, &p)
		}
	}
	all := slices.Clone(b.budgets)
	for i := range all {
		if status, err := all[i].Measure(pods, nil, b.now()); err == nil {
			all[i].Status = status
		}
	}
	return all
}

// Observe implements Backend.
func (b *MemBackend) Observe(ctx context.Context, node string) (*World, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	w := &World{Name: node, Pods: b.list(node), Budgets: b.measured(), LeaseRenewed: b.leases[node]}
	if n := b.nodes[node]; n != nil {
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
	b.mu.Lock()
	defer b.mu.Unlock()
	f := new(ZoneWorld)
	for _, name := range slices.Sorted(maps.Keys(b.nodes)) {
		f.Nodes = append(f.Nodes, copyNode(b.nodes[name]))
	}
	return f, nil
}

// Apply implements Backend.
func (b *MemBackend) Apply(ctx context.Context, _ string, action Action) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
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
		n := b.nodes[a.Node]
		if n == nil || n.UID != a.UID {
			return false, nil
		}
		return b.editTaints(n, a), nil
	case SetConditions:
		n := b.nodes[a.Node]
		if n == nil || n.UID != a.UID {
			return false, nil
		}
		w := World{Node: n, LeaseRenewed: b.leases[a.Node]}
		if !w.Heartbeat().Equal(a.Heartbeat) {
			return false, nil // it has reported since
		}
		for _, c := range a.Conditions {
			b.setCondition(b.nodes[a.Node], c)
		}
		return true, nil
	case MarkNotReady:
		p := b.pod(a.Pod)
		if p == nil || !p.Ready() {
			return false, nil
		}
		next := *p
		next.Status.Conditions = fairlead.SetCondition(p.Status.Conditions, fairlead.Condition{
			Type: nodeReady, Status: fairlead.ConditionFalse, Reason: "NodeNotReady", LastTransitionTime: b.now(),
		})
		b.pods[p.Spec.NodeName][RefOf(p)] = &next
		return true, nil
	}
	return false, fmt.Errorf("there is no action %T", action)
}

// editTaints makes the one write that EditTaints asks for.
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
	b.nodes[n.Name] = &next
	return !slices.Equal(n.Spec.Taints, next.Spec.Taints)
}

// evict deletes a pod, or asks the eviction API to.
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
	grace := int64(30)
	if g := p.Spec.TerminationGracePeriodSeconds; g != nil {
		grace = max(*g, 0)
	}
	next := *p
	end, ok := later(b.now(), grace)
	if !ok {
		end = time.Unix(lastInstant, 0).UTC()
	}
	next.DeletionTimestamp, next.DeletionGracePeriodSeconds = &end, &grace
	next.Status.Conditions = fairlead.SetCondition(p.Status.Conditions, fairlead.Condition{
		Type: "DisruptionTarget", Status: fairlead.ConditionTrue, Reason: "DeletionByTaintManager", LastTransitionTime: b.now(),
		Message: "taint " + a.Taint.Key,
	})
	b.pods[p.Spec.NodeName][RefOf(p)] = &next
	return true, nil
}

// disrupt asks the budgets of a pod.
func (b *MemBackend) disrupt(p *fairlead.Pod) error {
	all := b.measured()
	index, _ := object.NewBudgets(all)
	var of []*fairlead.PodDisruptionBudget
	for _, i := range index.Of(p, nil) {
		of = append(of, index.At(i))
	}
	if v := object.JudgeEviction(p, of...); !v.Allows() {
		return &fairlead.RefusedError{
			Code: 429, Reason: "TooManyRequests",
			Message: fmt.Sprintf("eviction of pod %s: its disruption budget does not allow it: %s", p.ObjectMeta.String(), v),
		}
	}
	return nil
}

func (b *MemBackend) now() time.Time {
	if b.Clock == nil {
		return fairlead.SystemClock{}.Now()
	}
	return b.Clock.Now()
}
