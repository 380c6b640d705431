package diagnosis

import "testing"

// BenchmarkHeadline diagnoses a cluster in the middle of an update, in which
// much is wrong.
func BenchmarkHeadline(b *testing.B) {
	w, err := testWorld(manyNodes(50, 30))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("diagnosis/nodes=50/pods=1500", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			diagnose(w)
		}
	})
}
