package rollout_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/cluster"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// drainWorld is a pool of two nodes with pods of an application that must keep one
// of its two, and with a pod of a daemon on each.
func drainWorld(t *testing.T, clock *fairlead.ManualClock) (*rollout.MemBackend, *cluster.Cluster) {
	shared := &fairlead.MemCluster{Clock: clock}
	all := cluster.Of(shared, nil, nil)
	b := &rollout.MemBackend{Cluster: shared}
	one, labels := fairlead.IntOrString{Int: 1}, map[string]string{"app": "web"}
	err := b.Edit(pool, func(w *rollout.World) error {
		w.Pool.Spec.NodeSelector = &fairlead.LabelSelector{MatchLabels: map[string]string{"role": "worker"}}
		w.Pool.Spec.Configuration.Name = "v1"
		for _, name := range []string{"a", "b"} {
			n := rollout.Node{ObjectMeta: rollout.ObjectMeta{Name: name, UID: "uid-" + name, Labels: map[string]string{"role": "worker"}}}
			n.Annotations = map[string]string{rollout.AnnotationCurrent: "v0", rollout.AnnotationDesired: "v0", rollout.AnnotationState: rollout.StateDone}
			n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionTrue}}
			w.Nodes = append(w.Nodes, n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all.Lock()
	defer all.Unlock()
	budget := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "web"}}
	budget.Spec.MinAvailable, budget.Spec.Selector = &one, &fairlead.LabelSelector{MatchLabels: labels}
	cluster.Put(all, cluster.Budgets(), &budget)
	for _, node := range []string{"a", "b"} {
		yes := true
		p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "daemon-" + node, UID: "daemon-" + node}}
		p.OwnerReferences = []fairlead.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "daemon", UID: "daemon", Controller: &yes}}
		p.Spec.NodeName, p.Status.Phase = node, "Running"
		cluster.Put(all, cluster.Pods(), &p)
	}
	all.AddWorkload(cluster.Workload{Namespace: "shop", Name: "web", Replicas: 2, Labels: labels})
	all.Run()
	return b, all
}

// TestDrains: a pool whose pods the engine sees is drained by it, as budgets allow:
// the application never has less than it must, daemons stay, and no node is updated
// while a pod is on it. At the end all nodes are updated.
func TestDrains(t *testing.T) {
	clock := new(fairlead.ManualClock)
	clock.Set(start)
	b, all := drainWorld(t, clock)
	evicted := 0
	b.Changed = func(_ string, a rollout.Action) {
		switch a := a.(type) {
		case drain.Evict:
			evicted++
			if strings.HasPrefix(a.Name, "daemon") {
				t.Errorf("%s: its DaemonSet would put it there again", a)
			}
		case rollout.Update:
			for _, p := range all.PodsOn(a.Node) {
				if p.ControllerOf().Kind != "DaemonSet" {
					t.Errorf("node %s is updated with pod %s on it", a.Node, p)
				}
			}
		}
	}
	runner := newRunner(t, b, nil, &fairlead.RunnerOptions{Clock: clock})
	why, least := map[string]bool{}, 0
	for range 500 {
		d, err := runner.Reconcile(context.Background(), pool)
		if refused := (*fairlead.RefusedError)(nil); err != nil && !errors.As(err, &refused) {
			t.Fatal(err)
		}
		for _, k := range d.Blocked {
			why[k.Reason] = true
		}
		all.Lock()
		if ready, _ := all.Ready("shop", "web"); ready < least {
			t.Fatalf("%d pods of the application are ready, and 1 must be", ready)
		} else if ready > 0 {
			least = 1
		}
		all.Unlock()
		clock.Advance(5 * time.Second)
	}
	w := b.World(pool)
	for i := range w.Nodes {
		if n := &w.Nodes[i]; !rollout.Updated(&w.Pool, n) || rollout.Unavailable(n) {
			t.Errorf("node %s: %v, unschedulable %v", n.Name, n.Annotations, n.Spec.Unschedulable)
		}
	}
	if evicted == 0 || !why[drain.ReasonPodTerminating] && !why[drain.ReasonPodPending] {
		t.Errorf("%d evictions, and reasons %v: no drain was seen", evicted, why)
	}
}

// TestDrainTold: why a drain of the engine does not go on is told pod by pod, with
// what would end it, and its attempts are kept.
func TestDrainTold(t *testing.T) {
	w := workers()
	n := &w.Nodes[0]
	w.Pool.Spec.Configuration.Name = "v1"
	n.Spec.Unschedulable = true
	n.Annotations[rollout.AnnotationDesired], n.Annotations[rollout.AnnotationDesiredDrain] = "v1", "drain-v1"
	guarded := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "db", UID: "db", Labels: map[string]string{"app": "db"}}}
	guarded.OwnerReferences = []fairlead.OwnerReference{{Kind: "StatefulSet", Name: "db", Controller: new(true)}}
	guarded.Spec.NodeName, guarded.Status.Phase = n.Name, "Running"
	guarded.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionTrue}}
	free := guarded
	free.Name, free.UID, free.Labels = "web", "web", nil
	budget := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "db"}}
	budget.Spec.MinAvailable, budget.Spec.Selector = &fairlead.IntOrString{Int: 1}, &fairlead.LabelSelector{MatchLabels: guarded.Labels}
	budget.Status.DesiredHealthy, budget.Status.CurrentHealthy, budget.Status.ExpectedPods = 1, 1, 1
	w.Pods = []rollout.NodePods{{Name: n.Name, View: drain.View{Pods: []fairlead.Pod{guarded, free}, Budgets: []fairlead.PodDisruptionBudget{budget}}}}
	d := rollout.Step(rollout.State{}, w, start, nil)
	var evicted []string
	for _, a := range d.Actions {
		if e, ok := a.(drain.Evict); ok {
			evicted = append(evicted, e.Name)
		}
	}
	if len(evicted) != 1 || evicted[0] != "web" {
		t.Errorf("evicts %v, and the one pod without a budget may go", evicted)
	}
	told := false
	for _, b := range d.Blocked {
		told = told || b.Reason == drain.ReasonBudgetNever && b.Subject == "node "+n.Name && strings.Contains(b.Message, "shop/db") && b.Unblock != ""
	}
	if !told {
		t.Errorf("nobody says that the budget of shop/db never lets it go: %v", d.Blocked)
	}
	later := rollout.Step(d.State, w, start.Add(time.Second), nil)
	for _, a := range later.Actions {
		if _, ok := a.(drain.Evict); ok {
			t.Errorf("a second later: %s is asked for again", a)
		}
	}
	slow := rollout.Step(d.State, w, start.Add(2*time.Hour), nil)
	if !slices.ContainsFunc(slow.Blocked, func(b fairlead.Block) bool {
		return b.Reason == rollout.ReasonDraining && strings.Contains(b.Message, "slow")
	}) {
		t.Errorf("after two hours: %v", slow.Blocked)
	}
	w.Pods[0].Pods = nil
	done := rollout.Step(d.State, w, start.Add(time.Minute), nil)
	for _, a := range done.Actions {
		if a, ok := a.(rollout.Drained); ok && a.Wish == "drain-v1" && a.Revision == n.ResourceVersion {
			return
		}
	}
	t.Errorf("the node is empty, and nobody notes it: %v", done.Actions)
}

// sharing is a pool of which two nodes are drained, with a pod each of an application
// that may lose one.
func sharing() *rollout.World {
	w := workers()
	w.Pool.Spec.Configuration.Name = "v1"
	w.Pool.Spec.MaxUnavailable = &fairlead.IntOrString{Int: 2}
	labels := map[string]string{"app": "db"}
	budget := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "db"}}
	budget.Spec.MaxUnavailable, budget.Spec.Selector = &fairlead.IntOrString{Int: 1}, &fairlead.LabelSelector{MatchLabels: labels}
	budget.Status.DesiredHealthy, budget.Status.CurrentHealthy, budget.Status.ExpectedPods, budget.Status.DisruptionsAllowed = 1, 2, 2, 1
	for i := range 2 {
		n := &w.Nodes[i]
		n.Spec.Unschedulable = true
		n.Annotations[rollout.AnnotationDesired], n.Annotations[rollout.AnnotationDesiredDrain] = "v1", "drain-v1"
		p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "db-" + n.Name, UID: "db-" + n.Name, Labels: labels}}
		p.OwnerReferences = []fairlead.OwnerReference{{Kind: "StatefulSet", Name: "db", Controller: new(true)}}
		p.Spec.NodeName, p.Status.Phase = n.Name, "Running"
		p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionTrue}}
		w.Pods = append(w.Pods, rollout.NodePods{Name: n.Name, View: drain.View{Pods: []fairlead.Pod{p}, Budgets: []fairlead.PodDisruptionBudget{budget}}})
	}
	return w
}

func evicted(d rollout.Decision) (names []string) {
	for _, a := range d.Actions {
		if e, ok := a.(drain.Evict); ok {
			names = append(names, e.Name)
		}
	}
	return names
}

// TestDrainedAsksForNothing: a pod that has come to a node since that was drained is left
// alone, and takes nothing of what budgets allow the others.
func TestDrainedAsksForNothing(t *testing.T) {
	w := sharing()
	w.Nodes[0].Annotations[rollout.AnnotationLastDrain] = "drain-v1"
	d := rollout.Step(rollout.State{}, w, start, nil)
	if got := evicted(d); !slices.Equal(got, []string{"db-b"}) {
		t.Errorf("evicts %v, want the pod of the node that is being drained", got)
	}
}

// TestDrainsShareBudgets: of two nodes that are drained at the same time one pod is
// asked for where a budget allows one, and no other before that one is seen to go.
func TestDrainsShareBudgets(t *testing.T) {
	w := sharing()
	d := rollout.Step(rollout.State{}, w, start, nil)
	first := evicted(d)
	if len(first) != 1 {
		t.Fatalf("evicts %v, and the budget allows one", first)
	}
	if later := rollout.Step(d.State, w, start.Add(time.Second), nil); len(evicted(later)) > 0 {
		t.Errorf("a second later %v is not seen to go, and %v is asked for", first, evicted(later))
	}
}

// TestDraining: the agent of the reference says Working before it has a node
// drained. Such a node is being drained, and not updated yet.
func TestDraining(t *testing.T) {
	n := &workers().Nodes[0]
	n.Spec.Unschedulable = true
	a := n.Annotations
	a[rollout.AnnotationDesired], a[rollout.AnnotationState], a[rollout.AnnotationDesiredDrain] = "v1", rollout.StateWorking, "drain-v1"
	if got := rollout.Stage(n); got != rollout.StageDrain || !rollout.Draining(n) {
		t.Errorf("Stage %q, Draining %v", got, rollout.Draining(n))
	}
	a[rollout.AnnotationLastDrain] = "drain-v1"
	if got := rollout.Stage(n); got != rollout.StageUpdate || rollout.Draining(n) {
		t.Errorf("drained: Stage %q, Draining %v", got, rollout.Draining(n))
	}
}
