package snapshot_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/snapshot"
)

// BenchmarkHeadline reads a dump of 5,000 pods and 100 nodes.
func BenchmarkHeadline(b *testing.B) {
	var items []string
	for i := range 100 {
		items = append(items, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"worker-%d","labels":{"zone":"z%d"}},"status":{"allocatable":{"cpu":"32","memory":"128Gi","pods":"250"},"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-02T15:04:05Z"}]}}`, i, i%3))
	}
	for i := range 5000 {
		items = append(items, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"ns-%d","name":"web-%d","uid":"u%d","labels":{"app":"web-%d"},"creationTimestamp":"2026-01-02T15:04:05Z"},"spec":{"nodeName":"worker-%d","containers":[{"name":"main","image":"example.com/web:1","resources":{"requests":{"cpu":"100m","memory":"256Mi"}}}]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-02T15:04:06Z"}]}}`, i/50, i, i, i/10, i%100))
	}
	text := `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(items, ",") + `]}`
	b.Run("snapshot/nodes=100/pods=5000", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			var r snapshot.Reader
			if err := r.Stream(strings.NewReader(text), "dump.json"); err != nil {
				b.Fatal(err)
			}
			s, err := r.Snapshot()
			if err != nil || len(s.PodsOn("worker-0")) != 50 {
				b.Fatal(err)
			}
		}
	})
}
