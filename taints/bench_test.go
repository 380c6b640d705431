package taints_test

import (
	"fmt"
	"testing"

	"github.com/fairlead/fairlead/taints"
)

// benchmarkFleet is nodes with three taints each, and the tolerations of a pod
// that tolerates two of them.
func benchmarkFleet(nodes int) ([]taints.Node, []taints.Toleration) {
	fleet := make([]taints.Node, nodes)
	for i := range fleet {
		fleet[i].Name = fmt.Sprint("n", i)
		fleet[i].Spec.Taints = []taints.Taint{
			{Key: "dedicated", Value: fmt.Sprint("team-", i%7), Effect: taints.NoSchedule},
			{Key: "example.com/gpu", Value: "true", Effect: taints.NoExecute},
			{Key: "example.com/spot", Effect: taints.PreferNoSchedule},
		}
	}
	return fleet, []taints.Toleration{
		{Key: "node.kubernetes.io/not-ready", Operator: taints.Exists, Effect: taints.NoExecute},
		{Key: "node.kubernetes.io/unreachable", Operator: taints.Exists, Effect: taints.NoExecute},
		{Key: "dedicated", Operator: taints.Exists},
		{Key: "example.com/gpu", Operator: taints.Equal, Value: "true"},
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

func BenchmarkJudge(b *testing.B) {
	fleet, tolerations := benchmarkFleet(5000)
	pod := &taints.Pod{Spec: taints.PodSpec{Tolerations: tolerations}}
	b.ReportAllocs()
	for b.Loop() {
		for i := range fleet {
			if v := taints.Judge(pod, &fleet[i], nil); !v.Schedulable() || v.Avoided() != 1 {
				b.Fatal("not tolerated")
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/5000, "ns/node")
}

func BenchmarkMatcherRow(b *testing.B) {
	fleet, tolerations := benchmarkFleet(5000)
	m := taints.NewMatcher(nil)
	for i := range fleet {
		m.AddNode(&fleet[i])
	}
	p := m.AddPod(&taints.Pod{Spec: taints.PodSpec{Tolerations: tolerations}})
	b.ReportAllocs()
	for b.Loop() {
		row := m.Row(p)
		for i := range fleet {
			if !row.Verdict(taints.NodeID(i)).Schedulable() {
				b.Fatal("not tolerated")
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/5000, "ns/pair")
}
