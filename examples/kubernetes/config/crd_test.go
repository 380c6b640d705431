package config_test

import (
	"encoding/json"
	"io/fs"
	"testing"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/examples/kubernetes/config"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/randfill"
	"sigs.k8s.io/yaml"
)

// The server drops fields that a schema does not have: it must have all fields
// that the engine reads and writes.
func TestSchemasHaveEveryField(t *testing.T) {
	fill := randfill.NewWithSeed(1).NilChance(0).NumElements(1, 1).Funcs(
		func(r *graph.Rule, c randfill.Continue) { *r = graph.Rule{Type: graph.RulePromQL, Query: "up"} },
		func(m *cvo.ObjectMeta, c randfill.Continue) {},
	)
	var version cvo.ClusterVersion
	var operator cvo.ClusterOperator
	fill.Fill(&version)
	fill.Fill(&operator)
	for file, object := range map[string]any{"crd/clusterversions.yaml": version, "crd/clusteroperators.yaml": operator} {
		text, err := fs.ReadFile(config.Files, file)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &crd); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		data, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(data, &fields); err != nil {
			t.Fatal(err)
		}
		delete(fields, "metadata")
		check(t, file, fields, crd.Spec.Versions[0].Schema.OpenAPIV3Schema)
	}
}

func check(t *testing.T, path string, value any, schema *apiextensionsv1.JSONSchemaProps) {
	keeps := schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if s, ok := schema.Properties[key]; ok {
				check(t, path+"."+key, inner, &s)
			} else if !keeps {
				t.Errorf("%s.%s: the schema does not have it", path, key)
			}
		}
	case []any:
		for _, inner := range v {
			check(t, path+"[]", inner, schema.Items.Schema)
		}
	}
}
