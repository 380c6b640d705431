package taints_test

import (
	"fmt"

	"github.com/fairlead/fairlead/taints"
)

func ExampleToleration() {
	taint := taints.Taint{Key: "dedicated", Value: "gpu", Effect: taints.NoSchedule}
	for _, t := range []taints.Toleration{
		{Key: "dedicated", Value: "gpu"},
		{Key: "dedicated", Value: "web"},
		{Key: "dedicated", Operator: taints.Exists, Effect: taints.NoSchedule},
		{Operator: taints.Exists, Effect: taints.NoExecute},
	} {
		fmt.Println(t.Tolerates(taint))
	}
	// Output:
	// true
	// false
	// true
	// false
}

func ExampleFirstUntolerated() {
	tolerations := []taints.Toleration{{Key: "dedicated", Operator: taints.Exists}}
	node := []taints.Taint{
		{Key: "dedicated", Value: "gpu", Effect: taints.NoSchedule},
		{Key: "maintenance", Effect: taints.NoSchedule},
		{Key: "slow-disk", Effect: taints.PreferNoSchedule},
	}
	fmt.Println(taints.FirstUntolerated(tolerations, node, taints.OnScheduling, nil).Key)
	fmt.Println(taints.FirstUntolerated(tolerations, node, taints.OnNoExecute, nil))
	// Output:
	// maintenance
	// <nil>
}
