package fairlead_test

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// BenchmarkReconcile is what a pass costs beside the engine and the store,
// which is in memory: one that saves and applies, and one with nothing to do.
func BenchmarkReconcile(b *testing.B) {
	for _, kind := range []string{"acts", "rests"} {
		b.Run(kind, func(b *testing.B) {
			r := runner(b, funcs[state, world]{
				Name: "bench", Version: 1,
				Observe: func(context.Context, string) (world, error) { return world{}, nil },
				Apply:   func(context.Context, string, climb) error { return nil },
				Step: func(s state, _ world, _ time.Time) (d fairlead.Decision[state, climb]) {
					if d.State = s; kind == "acts" {
						d.State.Rung++
						d.Actions = []climb{{d.State.Rung}}
					}
					return d
				},
			}, nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Reconcile(b.Context(), "a"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
