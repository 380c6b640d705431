package template_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog/bundle"
	"github.com/fairlead/fairlead/catalog/template"
)

// A semver template makes channels from versions. Here a directory of bundle
// directories stands for the registry.
func ExampleTemplate_Render() {
	registry := fstest.MapFS{}
	for _, version := range []string{"1.0.0", "1.1.0", "1.1.1"} {
		registry[version+"/manifests/csv.yaml"] = &fstest.MapFile{Data: []byte(
			"kind: ClusterServiceVersion\nmetadata:\n  name: pond.v" + version + "\nspec:\n  version: " + version + "\n  description: Digs ponds.\n")}
		registry[version+"/metadata/annotations.yaml"] = &fstest.MapFile{Data: []byte(
			"annotations:\n  operators.operatorframework.io.bundle.package.v1: pond\n")}
	}
	render := func(_ context.Context, ref string) ([]template.Bundle, error) {
		_, version, _ := strings.Cut(ref, ":v")
		dir, err := registry.Sub(version)
		if err != nil {
			return nil, err
		}
		b, err := bundle.Read(context.Background(), dir, nil)
		if err != nil {
			return nil, err
		}
		d, err := b.Render(&bundle.RenderOptions{Image: ref, CSVMetadata: true})
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(d)
		return []template.Bundle{{JSON: text, CSV: d.CSV}}, err
	}

	t, err := template.Parse([]byte(`
schema: olm.semver
stable:
  bundles:
  - image: quay.io/example/pond:v1.0.0
  - image: quay.io/example/pond:v1.1.0
  - image: quay.io/example/pond:v1.1.1
`), &template.Options{File: "pond.yaml"})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := t.Render(context.Background(), render)
	if err != nil {
		fmt.Println(err)
		return
	}
	r.Documents = r.Documents[:3] // package and channels; bundles follow
	for _, d := range r.Documents {
		fmt.Printf("%s\n", d)
	}
	// Output:
	// {"schema":"olm.package","name":"pond","defaultChannel":"stable-v1.1","description":"Digs ponds."}
	// {"schema":"olm.channel","name":"stable-v1.0","package":"pond","entries":[{"name":"pond.v1.0.0"}]}
	// {"schema":"olm.channel","name":"stable-v1.1","package":"pond","entries":[{"name":"pond.v1.1.0"},{"name":"pond.v1.1.1","replaces":"pond.v1.0.0","skips":["pond.v1.1.0"]}]}
}

// Everything that is wrong with a template is told at once.
func ExampleParse() {
	_, err := template.Parse([]byte(`schema: olm.semver
generateMajorChannel: true
defaultChannelTypePreference: major
stable:
  bundles:
  - img: quay.io/example/pond:v1.0.0
`), &template.Options{File: "pond.yaml"})
	if ds, ok := err.(interface{ Unwrap() []error }); ok {
		for _, d := range ds.Unwrap() {
			fmt.Println(d)
		}
	}
	// Output:
	// pond.yaml:2:1: there is no field generateMajorChannel; it is ignored; write generateMajorChannels
	// pond.yaml:3:31: defaultChannelTypePreference is major, but no major channels are generated; set generateMajorChannels: true
	// pond.yaml:6:5: stable.bundles[0] names no image; write image: with the reference of the bundle's image
	// pond.yaml:6:5: there is no field stable.bundles[0].img; it is ignored
}

// A basic template is a catalog with references in place of its bundles.
func ExampleResult_WriteJSON() {
	t, err := template.Parse([]byte(`{"schema": "olm.template.basic", "entries": [
  {"schema": "olm.bundle", "image": "quay.io/example/pond:v1.0.0"},
  {"schema": "olm.package", "name": "pond", "defaultChannel": "stable"}
]}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.References())
	r, err := t.Render(context.Background(), func(_ context.Context, ref string) ([]template.Bundle, error) {
		return []template.Bundle{{JSON: json.RawMessage(`{"schema":"olm.bundle","name":"pond.v1.0.0","package":"pond"}`)}}, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = r.WriteJSON(os.Stdout)
	// Output:
	// [quay.io/example/pond:v1.0.0]
	// {
	//     "schema": "olm.package",
	//     "name": "pond",
	//     "defaultChannel": "stable"
	// }
	// {
	//     "schema": "olm.bundle",
	//     "name": "pond.v1.0.0",
	//     "package": "pond"
	// }
}
