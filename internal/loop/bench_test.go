package loop_test

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/loop"
)

// BenchmarkReconcile is what a pass costs beside the engine and the store,
// which is in memory: one that saves and applies, and one with nothing to do.
func BenchmarkReconcile(b *testing.B) {
	for _, kind := range []string{"acts", "rests"} {
		b.Run(kind, func(b *testing.B) {
			r := loop.New(loop.Engine[state, world, climb]{
				Name: "bench", Version: 1,
				Observe: func(context.Context, string) (world, error) { return world{}, nil },
				Apply:   func(context.Context, string, climb) error { return nil },
				Step: func(s state, _ world, _ time.Time) (d loop.Decision[state, climb]) {
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
