package cvo_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo"
)

// BenchmarkHeadline is a whole update of a release as large as a real one, in
// virtual time, and one pass in which an operator is waited for.
func BenchmarkHeadline(b *testing.B) {
	one, two := large(b, "4.18.0"), large(b, "4.19.0")
	b.Run("update/tasks=910", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			clock, backend, r := largeCluster(b, one, two)
			backend.SetCluster("east", cvo.Spec{DesiredUpdate: &cvo.Update{Image: imageTwo, Version: "4.19.0"}}, cvo.Release{Version: "4.18.0", Image: imageOne})
			b.StartTimer()
			reach(b, clock, backend, r, imageTwo)
		}
	})
	b.Run("pass/tasks=910", func(b *testing.B) {
		clock, backend, r := largeCluster(b, one, two)
		backend.Operators["c20"] = time.Hour
		update(b, clock, backend, r, func(d *cvo.Decision) bool {
			return len(d.Blocked) > 0 && len(d.Actions) == 0 && waitsFor(d.State) == 1
		})
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.Reconcile(b.Context(), "east"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
