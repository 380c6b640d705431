package extension_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/extension"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// shop is the catalogs of a test: package a, whose versions are published one after
// the other. a.v1 has a config map that later ones have not; a.v3 has no CRD.
type shop struct {
	resolvers []*olm.Resolver // by the newest version that they have; 0 has no catalog
}

func newShop(t testing.TB) *shop {
	t.Helper()
	s := &shop{}
	for newest := range 4 {
		var b strings.Builder
		var entries []string
		for v := 1; v <= newest; v++ {
			replaces := ""
			if v > 1 {
				replaces = fmt.Sprintf(`,"replaces":"a.v%d"`, v-1)
			}
			entries = append(entries, fmt.Sprintf(`{"name":"a.v%d"%s}`, v, replaces))
			fmt.Fprintf(&b, `{"schema":"olm.bundle","package":"a","name":"a.v%[1]d","image":"example.com/a:%[1]d","properties":[{"type":"olm.package","value":{"packageName":"a","version":"%[1]d.0.0"}}]}`+"\n", v)
		}
		fmt.Fprintf(&b, `{"schema":"olm.package","name":"a","defaultChannel":"stable"}`+"\n")
		fmt.Fprintf(&b, `{"schema":"olm.channel","package":"a","name":"stable","entries":[%s]}`+"\n", strings.Join(entries, ","))
		b.WriteString(`{"schema":"olm.deprecations","package":"a","entries":[{"reference":{"schema":"olm.bundle","name":"a.v1"},"message":"a.v1 is old"},{"reference":{"schema":"olm.channel","name":"stable"},"message":"stable ends"}]}` + "\n")
		var sources []olm.Source
		if newest > 0 {
			held, err := catalog.Open(t.Context(), fstest.MapFS{"catalog.json": {Data: []byte(b.String())}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			sources = []olm.Source{{SourceKey: olm.SourceKey{Name: "shop"}, Catalog: held, Labels: map[string]string{"tier": "one"}}}
		}
		r, err := olm.NewResolver(sources, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.resolvers = append(s.resolvers, r)
	}
	return s
}

// contents are the bundles of a shop.
func contents() map[string][]json.RawMessage {
	all := map[string][]json.RawMessage{}
	for v := 1; v <= 3; v++ {
		owned := `{"name":"as.g.example","version":"v1","kind":"A"}`
		if v == 3 {
			owned = ""
		}
		list := []json.RawMessage{json.RawMessage(fmt.Sprintf(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"a.v%[1]d"},"spec":{
			"installModes":[{"type":"AllNamespaces","supported":true}],"customresourcedefinitions":{"owned":[%[2]s]},
			"install":{"spec":{"deployments":[{"name":"a-op","spec":{"replicas":1,"template":{"spec":{"containers":[{"name":"op","image":"example.com/a-op:%[1]d"}]}}}}]}}}}`, v, owned))}
		if v < 3 {
			list = append(list, json.RawMessage(fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"as.g.example","labels":{"v":"%d"}},"spec":{"group":"g.example","names":{"kind":"A","plural":"as"},"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true}]}}`, v)))
		}
		if v == 1 {
			list = append(list, json.RawMessage(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}`))
		}
		all[fmt.Sprintf("a.v%d", v)] = list
	}
	return all
}

var (
	theCRD        = extension.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "as.g.example"}
	theConfigMap  = extension.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "c"}
	theDeployment = extension.Ref{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: "a-op"}
)

// asks is an extension for package a.
func asks(version string) extension.ClusterExtension {
	x := extension.ClusterExtension{ObjectMeta: fairlead.ObjectMeta{Name: "a"}}
	x.Spec = extension.Spec{Namespace: "ns", Source: extension.SourceConfig{SourceType: "Catalog", Catalog: &extension.CatalogFilter{Package: "a", Version: version}}}
	return x
}

// harbour is a cluster with a shop.
type harbour struct {
	*extension.MemBackend
	shop   *shop
	newest int                      // what is published
	sick   map[extension.Ref]string // objects that are not ready, and why
}

func newHarbour(s *shop) *harbour {
	h := &harbour{MemBackend: &extension.MemBackend{Bundles: contents()}, shop: s, newest: 1, sick: map[extension.Ref]string{}}
	h.Health = func(r extension.Ref) (bool, string) { return h.sick[r] == "", h.sick[r] }
	return h
}

func (h *harbour) resolve(ctx context.Context, x *extension.ClusterExtension) (*extension.Answer, error) {
	return extension.Alone(func() *olm.Resolver { return h.shop.resolvers[h.newest] })(ctx, x)
}

// use says of which CRDs there are objects.
func (h *harbour) use(crds ...string) {
	c := extension.Cluster{}
	for _, name := range crds {
		c.Resources = append(c.Resources, extension.Resource{CRD: name, Version: "v1"})
	}
	h.SetCluster(c)
}
