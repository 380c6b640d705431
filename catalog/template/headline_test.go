package template_test

import (
	"fmt"
	"testing"

	"github.com/fairlead/fairlead/catalog/template"
)

// BenchmarkHeadline expands a semver template into channels by major and minor
// version.
func BenchmarkHeadline(b *testing.B) {
	text := "schema: olm.semver\ngenerateMajorChannels: true\ngenerateMinorChannels: true\nstable:\n  bundles:\n"
	for i := range 300 {
		text += fmt.Sprintf("  - image: p@%d.%d.%d\n", i/100, i/10%10, i%10)
	}
	b.Run("template/bundles=300", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			t, err := template.Parse([]byte(text), nil)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := t.Render(b.Context(), renderer); err != nil {
				b.Fatal(err)
			}
		}
	})
}
