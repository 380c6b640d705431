package catalog_test

import (
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
)

// BenchmarkHeadline validates a catalog, and judges the next version of one.
func BenchmarkHeadline(b *testing.B) {
	b.Run("validate/packages=600", func(b *testing.B) {
		fsys, size := large(600)
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			if _, report, err := check.Open(b.Context(), fsys, nil); err != nil || !report.Valid() {
				b.Fatal(err, report.Err())
			}
		}
	})
	b.Run("open/packages=600", func(b *testing.B) {
		fsys, size := large(600)
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := catalog.Open(b.Context(), fsys, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("release/entries=500/dropped=166", func(b *testing.B) {
		text := hardCatalogs["chain without its middle third"](500)
		before := openText(b, text.before)
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			again := catalogAgain(b, before) // graphs are kept
			b.StartTimer()
			if err := hardWork["release"](b.Context(), again, nil, text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
