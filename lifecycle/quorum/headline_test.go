package quorum_test

import (
	"testing"

	"github.com/fairlead/fairlead/lifecycle/quorum"
)

// BenchmarkHeadline decides about a control plane of five, of which one machine
// is being deleted.
func BenchmarkHeadline(b *testing.B) {
	w := newPanel(5, 1, 0, 1).world()
	b.Run("quorum/members=5", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			quorum.Step(quorum.State{}, w, begin, nil)
		}
	})
}
