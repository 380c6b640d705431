package fairlead_test

import (
	"context"
	"fmt"
	"log"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/taints/eviction"
)

// Two engines act on one cluster in memory: pods are evicted from a node for its
// taint, their controllers make others, and those run on the node of a machine.
func ExampleMemCluster() {
	clock := new(fairlead.ManualClock)
	clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	all := &fairlead.MemCluster{Clock: clock}
	machines := &lifecycle.MemBackend{Cluster: all}
	evictions := &eviction.MemBackend{Cluster: all}

	for _, name := range []string{"n1", "n2"} {
		machines.PutNode(fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name}})
	}
	pod := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "web"}}
	controller := true
	pod.OwnerReferences = []fairlead.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "rs", Controller: &controller}}
	pod.Spec.NodeName = "n1"
	machines.PutPod(pod)

	n, _ := evictions.Node("n1")
	n.Spec.Unschedulable = true
	n.Spec.Taints = []fairlead.Taint{{Key: "maintenance", Effect: fairlead.NoExecute}}
	evictions.PutNode(n)
	runner, err := eviction.NewRunner(evictions, nil, &fairlead.RunnerOptions{Clock: clock})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := runner.Reconcile(context.Background(), "n1"); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		clock.Set(clock.Now().Add(20 * time.Second))
		fmt.Println("on n1:", len(machines.PodsOn("n1")), "on n2:", len(machines.PodsOn("n2")))
	}
	// Output:
	// on n1: 1 on n2: 0
	// on n1: 0 on n2: 1
}

// Views of one cluster see each other's changes, and those of two clusters do not.
func TestMemCluster(t *testing.T) {
	all := new(fairlead.MemCluster)
	a, b, apart := &lifecycle.MemBackend{Cluster: all}, &eviction.MemBackend{Cluster: all}, new(lifecycle.MemBackend)
	b.PutNode(fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n"}})
	if a.Node("n") == nil || apart.Node("n") != nil {
		t.Error("a node is seen where it is not, or not where it is")
	}
	one := all.Part("key", func() any { return 1 })
	if again := all.Part("key", func() any { return 2 }); one != again {
		t.Errorf("what is kept is made again: %v, %v", one, again)
	}
}
