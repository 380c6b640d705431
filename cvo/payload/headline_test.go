package payload_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/cvo/payload"
)

// BenchmarkHeadline reads a release of as many manifests as a real one has, and
// orders them.
func BenchmarkHeadline(b *testing.B) {
	files := fstest.MapFS{
		"manifests/README":                   {},
		"release-manifests/release-metadata": {Data: []byte(`{"kind":"cincinnati-metadata-v0","version":"4.19.0"}`)},
		"release-manifests/image-references": {Data: []byte(`{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":"4.19.0"}}`)},
	}
	for i := range 900 {
		text := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c-%d\n  namespace: component-%d\n  annotations: {include.release.openshift.io/self-managed-high-availability: \"true\"}\ndata:\n", i, i/30)
		for k := range 20 {
			text += fmt.Sprintf("  key-%d: a value of some length that stands for the rest of a manifest\n", k)
		}
		files[fmt.Sprintf("release-manifests/0000_%02d_component-%d_%02d_config.yaml", 10+i/30, i/30, i%30)] = &fstest.MapFile{Data: []byte(text)}
	}
	b.Run("load/manifests=900", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p, err := payload.Load(files, nil)
			if err != nil {
				b.Fatal(err)
			}
			if n := len(p.Select(payload.NewFilter()).Tasks); n != 900 {
				b.Fatal(n)
			}
		}
	})
	b.Run("order/manifests=1000", func(b *testing.B) {
		tasks := level(40, 25)
		b.ReportAllocs()
		for b.Loop() {
			payload.NewGraph(tasks, nil)
		}
	})
}
