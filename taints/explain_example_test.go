package taints_test

import (
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
)

func ExampleExplain() {
	pod := &fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Name: "web-0", Namespace: "shop"}}
	pod.Spec.Tolerations = []fairlead.Toleration{{Key: "dedicated", Operator: fairlead.TolerationEqual, Value: "web"}}
	node := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n1"}}
	node.Spec.Taints = []fairlead.Taint{{Key: "dedicated", Value: "gpu", Effect: fairlead.NoSchedule}}
	fmt.Print(taints.Explain(pod, node, nil))
	// Output:
	// pod/shop/web-0 on node/n1: it is not scheduled there; if it runs there, it stays
	//   not tolerated: dedicated=gpu:NoSchedule, which keeps new pods off
	//     cause: the node is reserved for pods that tolerate it; owner: whoever put it there
	//     what to do: if the pod belongs there, add {key: dedicated, operator: Equal, value: gpu, effect: NoSchedule} to it; if the taint does not, kubectl taint node n1 dedicated=gpu:NoSchedule-
	//     tolerations[0] comes closest: {key: dedicated, operator: Equal, value: web}, but its value is web, not gpu
}

func ExampleEdit() {
	node := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n1"}}
	for range 2 {
		changes, err := taints.ParseChanges([]string{"dedicated=gpu:NoSchedule", "maintenance-"})
		if err != nil {
			fmt.Println(err)
			return
		}
		e, err := taints.Edit(node, changes, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(e.Verb, e.Taints)
		node.Spec.Taints = e.Taints
	}
	// Output:
	// tainted [dedicated=gpu:NoSchedule]
	// unchanged [dedicated=gpu:NoSchedule]
}

func ExampleParseChange() {
	_, err := taints.ParseChange("dedicated=gpu:noschedule")
	fmt.Println(err)
	// Output:
	// taint "dedicated=gpu:noschedule", character 15: there is no such effect; write NoSchedule, PreferNoSchedule or NoExecute; write dedicated=gpu:NoSchedule
}

func ExampleLint() {
	pod := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Name: "db-0", Namespace: "shop"}}
	minute := int64(60)
	pod.Spec.Tolerations = []fairlead.Toleration{
		{Key: "maintenance", Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute, TolerationSeconds: &minute},
		{Key: "maintenance", Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute},
	}
	for _, f := range taints.Lint(&taints.Cluster{Pods: []fairlead.Pod{pod}}, nil) {
		fmt.Println(f.Code, f.Object, f.Field)
	}
	// Output:
	// order pod/shop/db-0 spec.tolerations[1]
}
