package placement_test

import (
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints/placement"
)

// A pod that asks for more than any node has.
func ExampleCluster_Evaluate() {
	c := placement.New(nil)
	node := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n1"}}
	node.Status.Allocatable = map[string]string{"cpu": "4", "memory": "8Gi", "pods": "110"}
	node.Spec.Taints = []fairlead.Taint{{Key: "gpu", Effect: fairlead.NoSchedule}}
	if err := c.SetNode(node); err != nil {
		fmt.Println(err)
	}
	pod := &fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "big"}}
	pod.Spec.Containers = []fairlead.Container{{Resources: fairlead.Resources{Requests: map[string]string{"cpu": "100"}}}}
	for _, why := range c.Evaluate(pod, "n1") {
		fmt.Printf("%s: %s\n", why.Filter, why.Message)
	}
	// Output:
	// TaintToleration: it does not tolerate the taint gpu:NoSchedule
	// NodeResourcesFit: it requests 100 of cpu; 4 of 4 are free
}

// A pod of higher priority takes the place of another.
func ExampleCluster_Preempt() {
	c := placement.New(nil)
	node := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n1"}}
	node.Status.Allocatable = map[string]string{"cpu": "4", "pods": "110"}
	_ = c.SetNode(node)
	pod := func(name, node string, priority int32) *fairlead.Pod {
		p := &fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: name}}
		p.Spec.NodeName, p.Spec.Priority = node, &priority
		p.Spec.Containers = []fairlead.Container{{Resources: fairlead.Resources{Requests: map[string]string{"cpu": "3"}}}}
		return p
	}
	_ = c.Add(pod("batch", "n1", 0))
	if found, ok := c.Preempt(pod("web", "", 1000), nil, nil); ok {
		fmt.Println(found.Node, "without", found.Victims[0].ObjectMeta.String())
	}
	// Output: n1 without shop/batch
}

// A service that answers, for each pod, where it fits and why nowhere else.
func ExampleCluster_Where() {
	c := placement.New(nil)
	for _, cpu := range []string{"1", "2", "4", "8"} {
		node := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n" + cpu}}
		node.Status.Allocatable = map[string]string{"cpu": cpu, "pods": "110"}
		node.Spec.Unschedulable = cpu == "8"
		_ = c.SetNode(node)
	}
	pod := &fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "web"}}
	pod.Spec.Containers = []fairlead.Container{{Resources: fairlead.Resources{Requests: map[string]string{"cpu": "3"}}}}
	where := c.Where(pod, nil)
	fmt.Println("fits on", where.Nodes)
	for _, r := range where.Rejections {
		fmt.Printf("%d: %s: %s: %s\n", r.Nodes, r.Filter, r.Node, r.Message)
	}
	// Output:
	// fits on [n4]
	// 2: NodeResourcesFit: n1: it requests 3 of cpu; 1 of 1 are free
	// 1: NodeUnschedulable: n8: the node is cordoned
}
