package lifecycle_test

import "testing"

// BenchmarkHeadline is a look at a machine that waits for its hooks, and the
// deletion of a fleet by a Runner that saves every state.
func BenchmarkHeadline(b *testing.B) {
	b.Run("machine/hooks=3", func(b *testing.B) {
		step := waiting(b)["hooks"]
		b.ReportAllocs()
		for b.Loop() {
			step()
		}
	})
	b.Run("runner/machines=500", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			passes, _ := fleet(b, 500, true)
			b.ReportMetric(float64(passes), "passes")
		}
	})
}
