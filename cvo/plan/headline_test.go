package plan_test

import (
	"fmt"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/plan"
)

// BenchmarkHeadline plans two minor versions for a cluster of 100 workers and 20
// operators, half of which have to move first.
func BenchmarkHeadline(b *testing.B) {
	s := shop()
	for i := range 98 {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprint("x", i), Labels: map[string]string{"pool": "worker"}}}
		n.Status.Allocatable = map[string]string{"cpu": "4", "memory": "16Gi", "pods": "100"}
		s.Nodes = append(s.Nodes, n)
	}
	for i := range 19 {
		name := fmt.Sprint("tool", i)
		o := plan.Operator{
			Package: name, Namespace: "shop", Subscription: name, Channel: "stable", Installed: name + ".v1",
			Versions: []plan.OperatorVersion{{Name: name + ".v1", Version: "1.0.0"}, {Name: name + ".v2", Version: "2.0.0"}},
			Updates:  []plan.OperatorUpdate{{From: name + ".v1", To: name + ".v2", Minors: []string{"4.18", "4.19"}}},
		}
		if i%2 == 0 {
			o.Versions[0].MaxOpenShift = "4.19"
		}
		s.Operators = append(s.Operators, o)
	}
	goal := &plan.Goal{Release: "4.20.2", PauseWorkers: true}
	b.Run("plan/nodes=101/operators=20/minors=2", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := plan.Make(b.Context(), s, goal, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
