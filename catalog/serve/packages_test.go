package serve_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog/packages"
	"github.com/fairlead/fairlead/catalog/serve"
	"github.com/fairlead/fairlead/internal/samples"
)

// shelf returns a catalog of packages that have nothing but names.
func shelf(t testing.TB, source, namespace, icon string, names ...string) serve.Shelf {
	var text strings.Builder
	for _, name := range names {
		fmt.Fprintf(&text, `{"schema": "olm.package", "name": %q, "defaultChannel": "stable", "icon": %s}
{"schema": "olm.channel", "package": %q, "name": "stable", "entries": [{"name": "%s.v1.0.0"}]}
{"schema": "olm.bundle", "package": %q, "name": "%s.v1.0.0", "image": "quay.io/x:1", "properties": [
 {"type": "olm.package", "value": {"packageName": %q, "version": "1.0.0"}}, {"type": "olm.csv.metadata", "value": {"displayName": "X"}}]}
`, name, icon, name, name, name, name, name)
	}
	return serve.Shelf{Source: packages.Source{ObjectMeta: fairlead.ObjectMeta{Name: source, Namespace: namespace, Labels: map[string]string{"tier": source}}}, Catalog: samples.Text(t, text.String())}
}

// TestPackages: what is seen from where, and what is refused.
func TestPackages(t *testing.T) {
	const png = `{"base64data": "eA==", "mediatype": "image/png"}`
	h := serve.NewPackages([]serve.Shelf{
		shelf(t, "community", "market", png, "kiln", "shop"), shelf(t, "own", "team", `{"base64data": "eA==", "mediatype": "text/html"}`, "shop", "till"),
		shelf(t, "other", "far", "null", "lamp"),
	}, &serve.PackagesOptions{GlobalNamespace: "market"})
	const api = "/apis/packages.operators.coreos.com/v1/"
	for _, c := range []struct {
		path   string
		status int
		want   string // names with the catalog and namespace of each, or a part of the answer
	}{
		{"packagemanifests", 200, "kiln/community/market lamp/other/far shop/community/market shop/own/team till/own/team"},
		{"namespaces/market/packagemanifests", 200, "kiln/community/market shop/community/market"},
		{"namespaces/team/packagemanifests", 200, "kiln/community/team shop/community/team shop/own/team till/own/team"},
		{"namespaces/none/packagemanifests", 200, "kiln/community/none shop/community/none"},
		{"namespaces/team/packagemanifests?labelSelector=catalog=own", 200, "shop/own/team till/own/team"},
		{"namespaces/team/packagemanifests?labelSelector=catalog%3D%3Down,tier", 200, "shop/own/team till/own/team"},
		{"namespaces/team/packagemanifests?labelSelector=catalog!%3Down,!far", 200, "kiln/community/team shop/community/team"},
		{"packagemanifests?labelSelector=tier+in+(own,%20other),catalog+notin+(own)", 200, "lamp/other/far"},
		{"packagemanifests?labelSelector=catalog+in+(own),catalog+in+(other)", 200, ""},
		{"packagemanifests?labelSelector=catalog+in+(own", 400, "the list is not closed; add )"},
		{"packagemanifests?labelSelector=catalog+of+(own)", 400, `there is no operator \"of\"`},
		{"packagemanifests?labelSelector=(own)", 400, "there is no operator"},
		{"packagemanifests?labelSelector=,", 400, "it names no label"},
		{"packagemanifests?fieldSelector=metadata.name=shop", 200, "shop/community/market shop/own/team"},
		{"packagemanifests?fieldSelector=metadata.name%3D%3Dshop", 200, "shop/community/market shop/own/team"},
		{"packagemanifests?fieldSelector=status=x", 400, "the only one is metadata.name=NAME"},
		{"namespaces/team/packagemanifests/till", 200, `"currentCSV":"till.v1.0.0"`},
		{"namespaces/market/packagemanifests/till", 404, `packagemanifests.packages.operators.coreos.com \"till\" not found`},
		{"namespaces/team/packagemanifests/kiln/icon", 200, "x"},
		{"namespaces/far/packagemanifests/lamp/icon", 404, "has no icon"},
		{"namespaces/team/packagemanifests/kiln/scale", 404, "there is nothing at"},
		{"packagemanifests/kiln", 404, "there is nothing at"},
		{"pods", 404, "there is nothing at"},
	} {
		w := ask(h, "GET", api+c.path)
		got := w.Body.String()
		if list := (packages.PackageManifestList{}); strings.HasPrefix(got, `{"apiVersion":"packages.operators.coreos.com/v1","kind":"PackageManifestList"`) {
			if err := json.Unmarshal([]byte(got), &list); err != nil || list.Items == nil {
				t.Fatalf("%s: %s", c.path, got)
			}
			var names []string
			for _, m := range list.Items {
				names = append(names, m.Name+"/"+m.Status.CatalogSource+"/"+m.Namespace)
				if m.Status.Channels[0].CurrentCSVDesc.Icon != nil {
					t.Errorf("%s: a picture", c.path)
				}
			}
			if strings.Join(names, " ") != c.want {
				t.Errorf("%s: %s", c.path, names)
			}
		} else if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.path, got)
		}
		if w.Code != c.status {
			t.Errorf("%s: %d", c.path, w.Code)
		}
	}
	if w := ask(h, "DELETE", api+"packagemanifests"); w.Code != 405 {
		t.Error(w.Code)
	}
	if w := ask(h, "GET", "/api/v1/pods"); w.Code != 404 {
		t.Error(w.Code)
	}
	kind := func(w *httptest.ResponseRecorder) string { return w.Header().Get("Content-Type") }
	w := ask(h, "GET", api+"namespaces/team/packagemanifests/kiln/icon")
	if kind(w) != "image/png" || w.Header().Get("ETag") != `"kiln.stable.kiln.v1.0.0"` {
		t.Error(w.Header())
	}
	if w := ask(h, "GET", api+"namespaces/team/packagemanifests/kiln/icon", `If-None-Match: "kiln.stable.kiln.v1.0.0"`); w.Code != 304 {
		t.Error(w.Code)
	}
	if w := ask(h, "GET", api+"namespaces/team/packagemanifests/till/icon"); kind(w) != "application/octet-stream" {
		t.Error(w.Header())
	}
}
