package install_test

import (
	"testing"

	"github.com/fairlead/fairlead/solver/olm/install"
)

// BenchmarkHeadline is a look at a namespace of fifty operators in which all is
// installed.
func BenchmarkHeadline(b *testing.B) {
	state, w := rested(b, 50)
	b.Run("install/operators=50", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if d := install.Step(state, w, start, nil); len(d.Actions) > 0 {
				b.Fatal("it is not at rest")
			}
		}
	})
}
