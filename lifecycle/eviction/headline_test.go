package eviction_test

import (
	"testing"

	"github.com/fairlead/fairlead/lifecycle/eviction"
)

// BenchmarkHeadline is one pass over a request of one requester that a
// responder works on.
func BenchmarkHeadline(b *testing.B) {
	s := open("acme.io/database-operator").ask("drain-1", "acme.io/drainer").settle()
	b.Run("request/responders=1", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			eviction.Coordinate(&s.w, s.now)
		}
	})
}
