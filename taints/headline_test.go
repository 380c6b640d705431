package taints_test

import (
	"testing"

	"github.com/fairlead/fairlead/taints"
)

// BenchmarkHeadline filters the nodes of a large cluster for one pod.
func BenchmarkHeadline(b *testing.B) {
	fleet, tolerations := benchmarkFleet(5000)
	b.Run("filter/nodes=5000/taints=15000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for i := range fleet {
				if taints.FirstUntolerated(tolerations, fleet[i].Spec.Taints, taints.OnScheduling, nil) != nil {
					b.Fatal("not tolerated")
				}
			}
		}
	})
}
