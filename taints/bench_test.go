package taints_test

import (
	"fmt"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
)

// benchmarkFleet is nodes with three taints each, and the tolerations of a pod
// that tolerates two of them.
func benchmarkFleet(nodes int) ([]fairlead.Node, []fairlead.Toleration) {
	fleet := make([]fairlead.Node, nodes)
	for i := range fleet {
		fleet[i].Name = fmt.Sprint("n", i)
		fleet[i].Spec.Taints = []fairlead.Taint{
			{Key: "dedicated", Value: fmt.Sprint("team-", i%7), Effect: fairlead.NoSchedule},
			{Key: "example.com/gpu", Value: "true", Effect: fairlead.NoExecute},
			{Key: "example.com/spot", Effect: fairlead.PreferNoSchedule},
		}
	}
	return fleet, []fairlead.Toleration{
		{Key: "node.kubernetes.io/not-ready", Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute},
		{Key: "node.kubernetes.io/unreachable", Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute},
		{Key: "dedicated", Operator: fairlead.TolerationExists},
		{Key: "example.com/gpu", Operator: fairlead.TolerationEqual, Value: "true"},
	}
}

func BenchmarkFirstUntolerated(b *testing.B) {
	fleet, tolerations := benchmarkFleet(5000)
	b.ReportAllocs()
	for b.Loop() {
		for i := range fleet {
			if taints.FirstUntolerated(tolerations, fleet[i].Spec.Taints, taints.OnScheduling, nil) != nil {
				b.Fatal("not tolerated")
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/5000, "ns/node")
}

func BenchmarkEvaluate(b *testing.B) {
	fleet, tolerations := benchmarkFleet(5000)
	pod := &fairlead.Pod{Spec: fairlead.PodSpec{Tolerations: tolerations}}
	b.ReportAllocs()
	for b.Loop() {
		for i := range fleet {
			if v := taints.Evaluate(pod, &fleet[i], nil); !v.Schedulable() || v.Avoided() != 1 {
				b.Fatal("not tolerated")
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/5000, "ns/node")
}
