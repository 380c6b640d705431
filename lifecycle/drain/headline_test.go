package drain

import "testing"

// BenchmarkHeadline plans the drains of a fleet, one node after the other.
func BenchmarkHeadline(b *testing.B) {
	req := fleet(100, 110)
	req.AtOnce = 1
	b.Run("drain/nodes=100/pods=11000/budgets=550", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if plan, err := NewPlan(req, drainStart, nil); err != nil || plan.Evicted == 0 || plan.Stuck == 0 {
				b.Fatal(err)
			}
		}
	})
}
