package rollout_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo/rollout"
)

// BenchmarkHeadline is one decision about a pool of a thousand nodes in three
// zones, a tenth of which are updated.
func BenchmarkHeadline(b *testing.B) {
	w := &rollout.World{Pool: rollout.Pool{ObjectMeta: rollout.ObjectMeta{Name: "worker"}}}
	w.Pool.Spec.Configuration.Name = "rendered-worker-2"
	w.Pool.Spec.MaxUnavailable = &rollout.IntOrString{Text: "10%"}
	for i := range 1000 {
		at := "rendered-worker-1"
		if i%10 == 0 {
			at = "rendered-worker-2"
		}
		w.Nodes = append(w.Nodes, rollout.Node{ObjectMeta: rollout.ObjectMeta{
			Name: fmt.Sprintf("worker-%04d", i), Labels: map[string]string{rollout.LabelZone: fmt.Sprint("zone-", i%3)},
			Annotations: map[string]string{rollout.AnnotationCurrent: at, rollout.AnnotationDesired: at, rollout.AnnotationState: rollout.StateDone},
		}})
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	b.Run("rollout/nodes=1000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rollout.Step(rollout.State{}, w, now, nil)
		}
	})
}
