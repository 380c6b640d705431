package cluster_test

import (
	"errors"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/cluster"
)

// start returns a cluster with nodes, and a workload of three pods of which two
// must stay.
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

// TestEviction: budgets hold, pods take their grace to end, and controllers and the
// scheduler put others in their place where there is room.
func TestEviction(t *testing.T) {
	c, clock := start(t, "a", "b")
	if ready(c) != 3 {
		t.Fatal(cluster.List(c, cluster.Pods()))
	}
	pods := cluster.List(c, cluster.Pods())
	if err := c.Evict("shop/"+pods[0].Name, pods[0].UID, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Evict("shop/"+pods[1].Name, pods[1].UID, nil); code(err) != 429 {
		t.Errorf("the budget is spent, and the answer is %v", err)
	}
	if err := c.Evict("shop/"+pods[1].Name, "other", nil); code(err) != 404 {
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

// TestRoom: what does not fit waits, until there is room.
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

// TestInstance: an instance takes its time to go, its node falls silent, and is
// removed in the end; its pods go with it.
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

// TestWrites: who has an old revision or means another object is refused, and
// finalizers keep what is deleted.
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

// TestClient: a cache is behind or not, but never mixed; calls fail before or after
// they took effect; and the same seed has the same faults.
func TestClient(t *testing.T) {
	run := func(seed uint64) (failed, lost, behind int) {
		c, _ := start(t, "a")
		x := c.Client(seed, cluster.Faults{Stale: 2, Fail: 4, Lost: 4, Conflict: 6})
		for range 200 {
			before, _ := cluster.Get(c, cluster.Nodes(), "a")
			err := cluster.Change(x, cluster.Nodes(), "a", "", func(n *fairlead.Node) bool {
				n.Spec.Unschedulable = !n.Spec.Unschedulable
				return true
			})
			after, _ := cluster.Get(c, cluster.Nodes(), "a")
			switch done := before.ResourceVersion != after.ResourceVersion; {
			case err == nil && !done:
				t.Fatal("nothing was done, and nobody says so")
			case err != nil && done:
				lost++
			case err != nil:
				failed++
			}
			x.Sync()
			if x.Behind() > 0 {
				behind++
			}
		}
		x.Heal()
		x.Sync()
		if n, ok := cluster.Cached(x, cluster.Nodes(), "a"); !ok || x.Behind() != 0 {
			t.Fatal("the cache does not catch up", n)
		} else if now, _ := cluster.Get(c, cluster.Nodes(), "a"); now.ResourceVersion != n.ResourceVersion {
			t.Fatal("the cache is wrong")
		}
		x.Outage(true)
		if err := x.Do(func(*cluster.Cluster) error { return nil }); code(err) != 503 {
			t.Fatal(err)
		}
		return failed, lost, behind
	}
	a, b, d := run(1)
	e, f, g := run(1)
	if a == 0 || b == 0 || d == 0 || a != e || b != f || d != g {
		t.Errorf("failed %d, lost %d, behind %d; and then %d, %d, %d", a, b, d, e, f, g)
	}
}
