package taints_test

import (
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
)

func ExampleToleration() {
	taint := fairlead.Taint{Key: "dedicated", Value: "gpu", Effect: fairlead.NoSchedule}
	for _, t := range []fairlead.Toleration{
		{Key: "dedicated", Value: "gpu"},
		{Key: "dedicated", Value: "web"},
		{Key: "dedicated", Operator: fairlead.TolerationExists, Effect: fairlead.NoSchedule},
		{Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute},
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
	tolerations := []fairlead.Toleration{{Key: "dedicated", Operator: fairlead.TolerationExists}}
	node := []fairlead.Taint{
		{Key: "dedicated", Value: "gpu", Effect: fairlead.NoSchedule},
		{Key: "maintenance", Effect: fairlead.NoSchedule},
		{Key: "slow-disk", Effect: fairlead.PreferNoSchedule},
	}
	fmt.Println(taints.FirstUntolerated(tolerations, node, taints.OnScheduling, nil).Key)
	fmt.Println(taints.FirstUntolerated(tolerations, node, taints.OnNoExecute, nil))
	// Output:
	// maintenance
	// <nil>
}
