package extension_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/extension"
)

// TestTogether: what requires another bundle waits for an extension that has it,
// and says which would do; two that bring one API do not come together.
func TestTogether(t *testing.T) {
	held, err := catalog.Open(t.Context(), fstest.MapFS{"catalog.json": {Data: []byte(`
{"schema":"olm.package","name":"a","defaultChannel":"c"}
{"schema":"olm.channel","package":"a","name":"c","entries":[{"name":"a.v2"}]}
{"schema":"olm.bundle","package":"a","name":"a.v2","image":"example.com/a","properties":[{"type":"olm.package","value":{"packageName":"a","version":"2.0.0"}},{"type":"olm.package.required","value":{"packageName":"b","versionRange":">=1.0.0"}}]}
{"schema":"olm.package","name":"b","defaultChannel":"c"}
{"schema":"olm.channel","package":"b","name":"c","entries":[{"name":"b.v1"}]}
{"schema":"olm.bundle","package":"b","name":"b.v1","image":"example.com/b","properties":[{"type":"olm.package","value":{"packageName":"b","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"K"}}]}
{"schema":"olm.package","name":"z","defaultChannel":"c"}
{"schema":"olm.channel","package":"z","name":"c","entries":[{"name":"z.v1"}]}
{"schema":"olm.bundle","package":"z","name":"z.v1","image":"example.com/z","properties":[{"type":"olm.package","value":{"packageName":"z","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"K"}}]}
`)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "c"}, Catalog: held}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	named := func(name string) extension.ClusterExtension {
		x := extension.ClusterExtension{ObjectMeta: fairlead.ObjectMeta{Name: name}}
		x.Spec.Source = extension.SourceConfig{SourceType: "Catalog", Catalog: &extension.CatalogFilter{Package: name}}
		return x
	}
	wrong := named("wrong")
	wrong.Spec.Source.SourceType = "Image"
	for _, c := range []struct {
		asks   extension.ClusterExtension
		others []extension.ClusterExtension
		want   string
	}{
		{named("b"), nil, "b.v1"},
		{named("a"), nil, "package a cannot be installed together with the other extensions:\nan extension asks for package a\nbundle a.v2 requires package b in range >=1.0.0\nTo do: create extensions for b (b.v1); then it gets a.v2"},
		{named("a"), []extension.ClusterExtension{named("b"), wrong}, "a.v2"},
		{named("z"), []extension.ClusterExtension{named("b")}, "package z cannot be installed together with the other extensions:\nan extension asks for package b\nan extension asks for package z\nthere can be only one provider of K (g/v1): c/b.v1 of extension 1, c/z.v1 of extension 2"},
		{named("q"), []extension.ClusterExtension{named("b")}, `no bundles found for package "q"; no catalog has the package`},
		{wrong, nil, `clusterextension wrong: spec.source.sourceType is "Image"; the only one is Catalog`},
	} {
		resolve := extension.Together(func() *olm.Resolver { return r }, func(context.Context, string) ([]extension.ClusterExtension, error) { return c.others, nil })
		a, err := resolve(t.Context(), &c.asks)
		if err != nil {
			t.Fatal(err)
		}
		got := a.Refusal
		if a.Choice != nil {
			got = a.Choice.Name
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.asks.Name, got, c.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	resolve := extension.Together(func() *olm.Resolver { return r }, func(context.Context, string) ([]extension.ClusterExtension, error) { return nil, nil })
	x := named("a")
	if a, err := resolve(ended, &x); err == nil || strings.Contains(fmt.Sprint(a), "a.v2") {
		t.Errorf("of a context that ended it answers %+v, %v", a, err)
	}
}
