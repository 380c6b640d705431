package eviction_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/taints/eviction"
)

// BenchmarkHeadline is one decision about an unreachable node, whose pods all
// wait for their own time.
func BenchmarkHeadline(b *testing.B) {
	w, err := newCrowd(250).Observe(b.Context(), "node-0")
	if err != nil {
		b.Fatal(err)
	}
	now := start.Add(time.Minute)
	d := eviction.Step(eviction.State{}, w, now, nil)
	b.Run("eviction/pods=250", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if again := eviction.Step(d.State, w, now, nil); len(again.Actions) > 0 {
				b.Fatal("they do not wait")
			}
		}
	})
}
