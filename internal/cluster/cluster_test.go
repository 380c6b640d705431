package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/cluster"
)

// start returns a cluster with nodes, and a workload of three pods, at least
// two of which must be available.
func start(t *testing.T, nodes ...string) (*cluster.Cluster, *fairlead.ManualClock) {
	t.Helper()
	clock := new(fairlead.ManualClock)
	clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	c := cluster.New(clock, nil)
	for _, name := range nodes {
		c.AddInstance("cloud:///"+name, func() string { return name })
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/hostname": name}}, Spec: fairlead.NodeSpec{ProviderID: "cloud:///" + name}}
		n.Status.Allocatable = map[string]string{"cpu": "2", "memory": "4Gi", "pods": "10"}
		if err := c.Join(n); err != nil {
			t.Fatal(err)
		}
	}
	two := fairlead.IntOrString{Int: 2}
	labels := map[string]string{"app": "web"}
	b := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "web"}}
	b.Spec.MinAvailable, b.Spec.Selector = &two, &fairlead.LabelSelector{MatchLabels: labels}
	if _, err := cluster.Create(c, cluster.Budgets(), b); err != nil {
		t.Fatal(err)
	}
	c.AddWorkload(cluster.Workload{
		Namespace: "shop", Name: "web", Replicas: 3, Labels: labels,
		Template: fairlead.PodSpec{Containers: []fairlead.Container{{Name: "web", Resources: fairlead.Resources{Requests: map[string]string{"cpu": "1"}}}}},
	})
	c.Run()
	clock.Set(clock.Now().Add(10 * time.Second))
	c.Run()
	return c, clock
}

func code(err error) int {
	var r *fairlead.RefusedError
	if errors.As(err, &r) {
		return r.Code
	}
	return 0
}

func ready(c *cluster.Cluster) (n int) {
	for _, p := range cluster.List(c, cluster.Pods()) {
		if p.Ready() && p.DeletionTimestamp == nil {
			n++
		}
	}
	return n
}

// TestEviction checks that budgets are respected, that pods take their grace period
// to end, and that controllers and the scheduler replace them where there is room.
func TestEviction(t *testing.T) {
	c, clock := start(t, "a", "b")
	if ready(c) != 3 {
		t.Fatal(cluster.List(c, cluster.Pods()))
	}
	pods := cluster.List(c, cluster.Pods())
	if _, err := c.EndPod("shop", pods[0].Name, pods[0].UID, nil, true); err != nil {
		t.Fatal(err)
	}
	if _, err := c.EndPod("shop", pods[1].Name, pods[1].UID, nil, true); code(err) != 429 {
		t.Errorf("the budget is spent, and the answer is %v", err)
	}
	if _, err := c.EndPod("shop", pods[1].Name, "other", nil, true); code(err) != 404 {
		t.Errorf("another pod is meant, and the answer is %v", err)
	}
	c.Run()
	if n := len(cluster.List(c, cluster.Pods())); n != 4 {
		t.Errorf("there are %d pods, and one is to be made in place of the one that ends", n)
	}
	clock.Set(clock.Now().Add(30 * time.Second))
	c.Run()
	if n := len(cluster.List(c, cluster.Pods())); n != 3 || ready(c) != 3 {
		t.Errorf("after its grace there are %d pods, %d of them ready", n, ready(c))
	}
}

// TestRoom checks that pods that do not fit wait until there is room.
func TestRoom(t *testing.T) {
	c, clock := start(t, "a")
	if ready(c) != 2 {
		t.Fatalf("%d pods are ready on a node with room for two", ready(c))
	}
	if err := c.Join(fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "b"}}); err != nil {
		t.Fatal(err)
	}
	c.Run()
	clock.Set(c.Next())
	c.Run()
	if ready(c) != 3 {
		t.Errorf("%d pods are ready after a node has joined", ready(c))
	}
}

// TestInstance checks that an instance takes time to delete, and that its node
// stops reporting and is finally removed with its pods.
func TestInstance(t *testing.T) {
	c, clock := start(t, "a", "b")
	c.DeleteInstance("cloud:///b", 0)
	for range 6 {
		if next := c.Next(); !next.IsZero() {
			clock.Set(next)
		}
		c.Run()
	}
	if _, ok := cluster.Get(c, cluster.Nodes(), "b"); ok || c.HasInstance("cloud:///b") {
		t.Error("the node or its instance is still there")
	}
	for _, p := range cluster.List(c, cluster.Pods()) {
		if p.Spec.NodeName == "b" {
			t.Errorf("pod %s is on a node that is gone", p.Name)
		}
	}
}

// TestWrites checks that writes with an old revision or for another object are
// refused, and that finalizers delay deletions.
func TestWrites(t *testing.T) {
	c, _ := start(t, "a")
	n, _ := cluster.Get(c, cluster.Nodes(), "a")
	old := n
	n.Finalizers = []string{"example.com/keep"}
	n, err := cluster.Update(c, cluster.Nodes(), n)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cluster.Update(c, cluster.Nodes(), old); code(err) != 409 {
		t.Errorf("an old revision is written: %v", err)
	}
	if err := cluster.Delete(c, cluster.Nodes(), "a", n.UID, nil); err != nil {
		t.Fatal(err)
	}
	n, ok := cluster.Get(c, cluster.Nodes(), "a")
	if !ok || n.DeletionTimestamp == nil {
		t.Fatal("the finalizer does not keep it")
	}
	n.Finalizers = nil
	if _, err := cluster.Update(c, cluster.Nodes(), n); err != nil {
		t.Fatal(err)
	}
	if _, ok := cluster.Get(c, cluster.Nodes(), "a"); ok {
		t.Error("it is there without a finalizer")
	}
	if _, err := cluster.Update(c, cluster.Nodes(), n); code(err) != 404 {
		t.Errorf("what is gone is written: %v", err)
	}
}

// counter is a backend that counts actions.
type counter struct{ n int }

func (c *counter) Observe(context.Context, string) (int, error)    { return c.n, nil }
func (c *counter) Apply(_ context.Context, _ string, by int) error { c.n += by; return nil }

// TestFaults checks that observations are current or old, and never from the future,
// that calls fail before or after they take effect, and arrive twice, and that the
// same seed has the same faults.
func TestFaults(t *testing.T) {
	run := func(seed uint64) (failed, lost, twice, old int) {
		b := new(counter)
		x := cluster.Through(b, seed, cluster.Faults{Stale: 2, Fail: 4, Lost: 4, Conflict: 6, Twice: 6})
		for range 200 {
			before := b.n
			err := x.Apply(t.Context(), "a", 1)
			switch done := b.n - before; {
			case err == nil && done == 0:
				t.Fatal("nothing was done, and nobody says so")
			case err != nil && done > 0:
				lost++
			case err != nil:
				failed++
			case done == 2:
				twice++
			}
			if n, err := x.Observe(t.Context(), "a"); err == nil && n != b.n {
				if old++; n > b.n || !x.Old() {
					t.Fatalf("%d is seen, and %d is there", n, b.n)
				}
			}
		}
		x.Outage(true)
		if err := x.Apply(t.Context(), "a", 1); code(err) != 503 {
			t.Fatal(err)
		}
		x.Heal()
		if n, err := x.Observe(t.Context(), "a"); err != nil || n != b.n {
			t.Fatal("healed, it sees", n, err)
		}
		return failed, lost, twice, old
	}
	a, b, c, d := run(1)
	e, f, g, h := run(1)
	if a*b*c*d == 0 || a != e || b != f || c != g || d != h {
		t.Errorf("failed %d, lost %d, twice %d, old %d; and then %d, %d, %d, %d", a, b, c, d, e, f, g, h)
	}
}

// TestWatch checks that events are delivered late, in another order and again,
// and that none is lost.
func TestWatch(t *testing.T) {
	c, _ := start(t)
	w := c.Watch(1, cluster.Faults{Late: 3, Again: 3})
	told, order := map[string]int{}, []string{}
	take := func() {
		for _, e := range w.Take() {
			told[e.Name]++
			order = append(order, e.Name)
		}
	}
	for i := range 50 {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprintf("%02d", i)}}
		if err := c.Join(n); err != nil {
			t.Fatal(err)
		}
		take()
	}
	w.Heal()
	take()
	again := 0
	for _, n := range told {
		if n > 1 {
			again++
		}
	}
	if len(told) != 50 || again == 0 || slices.IsSorted(order) {
		t.Errorf("%d nodes are told of, %d of them again, in the order %v", len(told), again, order)
	}
}

// TestOutOfService checks which pods go from a silent node when it is marked as out of service.
func TestOutOfService(t *testing.T) {
	c, clock := start(t, "a", "b")
	pods := cluster.List(c, cluster.Pods())
	p := pods[slices.IndexFunc(pods, func(p fairlead.Pod) bool { return p.Spec.NodeName == "a" })]
	left := map[string]bool{}
	for _, name := range []string{"plain", "tolerating", "kept"} {
		q := p
		q.Name, q.UID, q.OwnerReferences, q.Labels = name, "", nil, nil
		if name == "tolerating" {
			q.Spec.Tolerations = []fairlead.Toleration{{Key: cluster.OutOfService, Operator: "Exists"}}
		} else if name == "kept" {
			q.Finalizers = []string{"a/b"}
		}
		if _, err := cluster.Create(c, cluster.Pods(), q); err != nil {
			t.Fatal(err)
		}
	}
	c.Silence("a", true)
	n, _ := cluster.Get(c, cluster.Nodes(), "a")
	if _, err := c.Taint("a", n.UID, fairlead.Taint{Key: cluster.OutOfService, Effect: fairlead.NoExecute}, true); err != nil {
		t.Fatal(err)
	}
	c.Run()
	clock.Set(clock.Now().Add(time.Minute))
	c.Run()
	for _, q := range cluster.List(c, cluster.Pods()) {
		left[q.Name] = q.DeletionTimestamp != nil
	}
	going, kept := left["kept"]
	goes, tolerated := left["tolerating"]
	if _, is := left["plain"]; is || !kept || !going || !tolerated || goes {
		t.Errorf("left, and whether they are being deleted: %v", left)
	}
}
