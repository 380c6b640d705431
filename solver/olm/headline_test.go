package olm_test

import (
	"fmt"
	"testing"

	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
)

// BenchmarkHeadline resolves twenty subscriptions against a catalog of 300
// packages of 30 versions, of which three in ten require another one.
func BenchmarkHeadline(b *testing.B) {
	held := samples.Text(b, chainedPackages(300, 30))
	r, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "c"}, Catalog: held}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	var c olm.Case
	for i := range 20 {
		c.Subscriptions = append(c.Subscriptions, fmt.Sprintf("p%03d", 299-i))
	}
	req, err := r.Request("", &c)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("resolve/packages=300/bundles=9000/subscriptions=20", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.Resolve(b.Context(), req); err != nil {
				b.Fatal(err)
			}
		}
	})
}
