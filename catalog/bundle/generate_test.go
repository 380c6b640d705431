package bundle_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog/bundle"
)

// TestGenerate: what is generated is read back as it was meant.
func TestGenerate(t *testing.T) {
	made, err := bundle.Generate(bundle.GenerateOptions{Package: "kiln", Channels: []string{"4.10", "stable"}, DefaultChannel: "stable"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Read(context.Background(), fstest.MapFS{
		"manifests/csv.yaml":        {Data: []byte("apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: kiln.v1.0.0}\nspec: {version: 1.0.0, replaces: kiln.v0.9.0, skips: [a, b]}\n")},
		"metadata/annotations.yaml": {Data: made.Annotations},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b.Package() != "kiln" || strings.Join(b.Channels(), " ") != "4.10 stable" || b.DefaultChannel() != "stable" {
		t.Errorf("%s %v %s", b.Package(), b.Channels(), b.DefaultChannel())
	}
	if e := b.Entry(); e.Name != "kiln.v1.0.0" || e.Replaces != "kiln.v0.9.0" || len(e.Skips) != 2 || e.SkipRange != "" {
		t.Errorf("%+v", e)
	}
	for _, bad := range []bundle.GenerateOptions{
		{}, {Package: "a"}, {Package: "a", Channels: []string{"b"}, DefaultChannel: "c"}, {Package: "a", Channels: []string{"b,c"}}, {Package: "a\n", Channels: []string{"b"}},
	} {
		if _, err := bundle.Generate(bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

func ExampleGenerate() {
	made, err := bundle.Generate(bundle.GenerateOptions{Package: "kiln", Channels: []string{"stable"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	os.Stdout.Write(made.Annotations)
	// Output:
	// annotations:
	//   operators.operatorframework.io.bundle.mediatype.v1: registry+v1
	//   operators.operatorframework.io.bundle.manifests.v1: manifests/
	//   operators.operatorframework.io.bundle.metadata.v1: metadata/
	//   operators.operatorframework.io.bundle.package.v1: kiln
	//   operators.operatorframework.io.bundle.channels.v1: stable
}
