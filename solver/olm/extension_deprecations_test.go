package olm_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
)

// TestDeprecationsOfCatalogs tests which catalogs an extension looks at, and
// what they state about its package.
func TestDeprecationsOfCatalogs(t *testing.T) {
	held, err := catalog.Open(t.Context(), fstest.MapFS{"catalog.json": {Data: []byte(`
{"schema":"olm.package","name":"p","defaultChannel":"c"}
{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"p.v1"}]}
{"schema":"olm.bundle","package":"p","name":"p.v1","image":"example.com/p","properties":[{"type":"olm.package","value":{"packageName":"p","version":"1.0.0"}}]}
{"schema":"olm.deprecations","package":"p","entries":[{"reference":{"schema":"olm.package"},"message":"gone"}]}
`)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	one := olm.Source{SourceKey: olm.SourceKey{Name: "one"}, Catalog: held, Labels: map[string]string{"tier": "1"}}
	off := olm.Source{SourceKey: olm.SourceKey{Name: "off"}, Catalog: held, Disabled: true}
	ill := olm.Source{SourceKey: olm.SourceKey{Name: "ill"}, Err: errors.New("down")}
	named := func(name string) func(*olm.Source) bool { return func(s *olm.Source) bool { return s.Name == name } }
	for _, c := range []struct {
		sources []olm.Source
		x       olm.Extension
		want    string
	}{
		{nil, olm.Extension{Package: "p"}, "0 false []"},
		{[]olm.Source{one}, olm.Extension{Package: "p"}, "1 true [gone]"},
		{[]olm.Source{one}, olm.Extension{Package: "q"}, "1 false []"},
		{[]olm.Source{one, off, ill}, olm.Extension{Package: "p"}, "3 true [gone]"},
		{[]olm.Source{one, off}, olm.Extension{Package: "p", Catalogs: named("off")}, "1 false []"},
		{[]olm.Source{one}, olm.Extension{Package: "p", Catalogs: named("other")}, "0 false []"},
	} {
		r, err := olm.NewResolver(c.sources, nil)
		if err != nil {
			t.Fatal(err)
		}
		list, n, known := r.Deprecations(&c.x)
		texts := []string{}
		for _, d := range list {
			texts = append(texts, d.Message)
		}
		if got := fmt.Sprint(n, known, texts); got != c.want {
			t.Errorf("%s of %d: got %s, want %s", c.x.Package, len(c.sources), got, c.want)
		}
	}
}
