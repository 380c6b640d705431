package extension_test

import (
	"testing"

	"github.com/fairlead/fairlead/solver/olm/extension"
)

// BenchmarkHeadline is one decision about a ClusterExtension that is to be
// updated.
func BenchmarkHeadline(b *testing.B) {
	w := world("a.v1")
	b.Run("extension/revisions=1", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			extension.Step(extension.State{}, w, noon, nil)
		}
	})
}
