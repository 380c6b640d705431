package bundle_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog/bundle"
)

// BenchmarkHeadline reads a bundle directory: a CSV, ten CRDs and forty other
// objects.
func BenchmarkHeadline(b *testing.B) {
	made, err := bundle.Generate(bundle.GenerateOptions{Package: "kiln", Channels: []string{"stable"}})
	if err != nil {
		b.Fatal(err)
	}
	owned := ""
	dir := fstest.MapFS{"metadata/annotations.yaml": {Data: made.Annotations}}
	for i := range 10 {
		owned += fmt.Sprintf("    - {name: pots%d.kiln.example, kind: Pot%d, version: v1}\n", i, i)
		dir[fmt.Sprintf("manifests/crd%d.yaml", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pots%d.kiln.example}
spec:
  group: kiln.example
  scope: Namespaced
  names: {kind: Pot%d, plural: pots%d, singular: pot%d, listKind: Pot%dList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {glaze: {type: string}, size: {type: integer}}}}}}}
`, i, i, i, i, i)}
	}
	for i := range 40 {
		dir[fmt.Sprintf("manifests/role%d.yaml", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: kiln-%d}\nrules:\n- {apiGroups: [kiln.example], resources: [pots%d], verbs: [get, list, watch]}\n", i, i%10)}
	}
	dir["manifests/csv.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: kiln.v1.0.0}\nspec:\n  version: 1.0.0\n  customresourcedefinitions:\n    owned:\n" + owned)}
	b.Run("bundle/objects=51", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := bundle.Read(b.Context(), dir, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
