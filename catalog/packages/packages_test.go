package packages_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/packages"
	"github.com/fairlead/fairlead/internal/samples"
)

const shop = `schema: olm.package
name: shop
defaultChannel: stable
description: Sells.
icon: {base64data: PHN2Zy8+, mediatype: image/svg+xml}
---
schema: olm.channel
package: shop
name: stable
entries: [{name: shop.v1.9.0}, {name: shop.v1.10.0, replaces: shop.v1.9.0}]
---
schema: olm.channel
package: shop
name: alpha
entries: [{name: shop.v1.9.0}]
---
schema: olm.channel
package: shop
name: bare
entries: [{name: shop.v0.1.0}]
---
schema: olm.bundle
package: shop
name: shop.v1.9.0
image: quay.io/shop:1.9.0
relatedImages: [{name: b, image: quay.io/b:1}, {name: "", image: quay.io/a:1}, {name: c, image: quay.io/b:1}]
properties:
- {type: olm.package, value: {packageName: shop, version: 1.9.0}}
- type: olm.csv.metadata
  value:
    displayName: Shop
    annotations: {capabilities: Basic Install}
    labels: {operatorframework.io/arch.arm64: supported}
    provider: {name: Example, url: "https://example.com"}
    installModes: [{type: AllNamespaces, supported: true}]
    crdDescriptions: {owned: [{name: tills.shop.io, version: v1, kind: Till, specDescriptors: [{path: size, x-descriptors: [a]}]}]}
    nativeAPIs: [{group: "", version: v1, kind: Pod}]
---
schema: olm.bundle
package: shop
name: shop.v1.10.0
image: quay.io/shop:1.10.0
properties:
- {type: olm.package, value: {packageName: shop, version: 1.10.0}}
- type: olm.bundle.object
  value: {data: CSV}
---
schema: olm.bundle
package: shop
name: shop.v0.1.0
image: quay.io/shop:0.1.0
properties: [{type: olm.package, value: {packageName: shop, version: 0.1.0}}]
---
schema: olm.deprecations
package: shop
entries:
- {reference: {schema: olm.package}, message: use another}
- {reference: {schema: olm.channel, name: alpha}, message: use stable}
- {reference: {schema: olm.bundle, name: shop.v1.9.0}, message: old}
`

const csv = `{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
 "metadata": {"name": "shop.v1.10.0", "annotations": {"a": "b"}, "labels": {"operatorframework.io/os.windows": "supported"}},
 "spec": {"displayName": "Shop", "version": "1.10", "description": "Sells more.", "icon": [{"base64data": "eA==", "mediatype": "image/png"}],
  "relatedImages": [{"name": "x", "image": "quay.io/x:1"}], "provider": {"name": "Example"},
  "install": {"strategy": "deployment", "spec": {"deployments": [{"name": "d", "spec": {"template": {"spec": {
   "containers": [{"name": "c", "image": "quay.io/shop:run"}], "initContainers": [{"name": "i", "image": "quay.io/x:1"}]}}}}]}}}}`

// open opens a catalog of which a bundle holds the CSV above.
func open(t testing.TB, text string) *catalog.Catalog {
	t.Helper()
	text = strings.ReplaceAll(text, "data: CSV", "data: "+base64.StdEncoding.EncodeToString([]byte(csv)))
	return samples.Text(t, text)
}

func community() *packages.Source {
	return &packages.Source{
		ObjectMeta: fairlead.ObjectMeta{
			Name: "community", Namespace: "olm", Labels: map[string]string{"tier": "1"}, CreationTimestamp: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC),
		},
		DisplayName: "Community", Publisher: "All",
	}
}

// TestView holds a view to the text that the package server's rules give.
func TestView(t *testing.T) {
	list, without, err := packages.List(t.Context(), open(t, shop), community())
	if err != nil || len(list.Items) != 1 {
		t.Fatal(list, err)
	}
	if got := fmt.Sprint(without); got != "[{shop bare its head shop.v0.1.0 carries neither the manifest of a CSV nor olm.csv.metadata}]" {
		t.Error(got)
	}
	text, err := json.MarshalIndent(list.Items[0], "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
 "apiVersion": "packages.operators.coreos.com/v1",
 "kind": "PackageManifest",
 "metadata": {
  "name": "shop",
  "namespace": "olm",
  "creationTimestamp": "2026-05-01T00:00:00Z",
  "labels": {
   "catalog": "community",
   "catalog-namespace": "olm",
   "operatorframework.io/arch.amd64": "supported",
   "operatorframework.io/os.windows": "supported",
   "provider": "Example",
   "provider-url": "",
   "tier": "1"
  }
 },
 "status": {
  "catalogSource": "community",
  "catalogSourceDisplayName": "Community",
  "catalogSourcePublisher": "All",
  "catalogSourceNamespace": "olm",
  "provider": {
   "name": "Example"
  },
  "packageName": "shop",
  "deprecation": {
   "message": "use another"
  },
  "channels": [
   {
    "name": "alpha",
    "currentCSV": "shop.v1.9.0",
    "currentCSVDesc": {
     "displayName": "Shop",
     "icon": [
      {
       "base64data": "PHN2Zy8+",
       "mediatype": "image/svg+xml"
      }
     ],
     "version": "1.9.0",
     "provider": {
      "name": "Example",
      "url": "https://example.com"
     },
     "annotations": {
      "capabilities": "Basic Install"
     },
     "description": "Sells.",
     "installModes": [
      {
       "type": "AllNamespaces",
       "supported": true
      }
     ],
     "customresourcedefinitions": {
      "owned": [
       {
        "name": "tills.shop.io",
        "version": "v1",
        "kind": "Till"
       }
      ]
     },
     "apiservicedefinitions": {},
     "nativeApis": [
      {
       "group": "",
       "version": "v1",
       "kind": "Pod"
      }
     ],
     "relatedImages": [
      "quay.io/a:1",
      "quay.io/b:1"
     ]
    },
    "deprecation": {
     "message": "use stable"
    },
    "entries": [
     {
      "name": "shop.v1.9.0",
      "version": "1.9.0",
      "deprecation": {
       "message": "old"
      }
     }
    ]
   },
   {
    "name": "stable",
    "currentCSV": "shop.v1.10.0",
    "currentCSVDesc": {
     "displayName": "Shop",
     "icon": [
      {
       "base64data": "eA==",
       "mediatype": "image/png"
      }
     ],
     "version": "1.10.0",
     "provider": {
      "name": "Example"
     },
     "annotations": {
      "a": "b"
     },
     "description": "Sells more.",
     "customresourcedefinitions": {},
     "apiservicedefinitions": {},
     "relatedImages": [
      "quay.io/shop:run",
      "quay.io/x:1"
     ]
    },
    "entries": [
     {
      "name": "shop.v1.10.0",
      "version": "1.10.0"
     },
     {
      "name": "shop.v1.9.0",
      "version": "1.9.0",
      "deprecation": {
       "message": "old"
      }
     }
    ]
   }
  ],
  "defaultChannel": "stable"
 }
}`
	if string(text) != want {
		t.Errorf("%s", text)
	}
}

// TestOmissions: what cannot be shown is told, and another channel becomes the
// default one.
func TestOmissions(t *testing.T) {
	for _, c := range []struct {
		old, new string // in the text
		channels string // that are shown, then the default one
		why      string // of the first omission
	}{
		{"defaultChannel: stable", "defaultChannel: bare", "alpha stable alpha", "its head shop.v0.1.0 carries neither"},
		{"data: CSV", "data: e30=", "alpha alpha", "its head shop.v0.1.0"},
		{"data: CSV", "data: '*'", "alpha alpha", "its head shop.v0.1.0"},
		{"replaces: shop.v1.9.0", "replaces: gone", "alpha alpha", "its head shop.v0.1.0"},
		{"displayName: Shop", "displayName: [1]", "stable stable", "the olm.csv.metadata of its head shop.v1.9.0 cannot be decoded"},
		{"entries: [{name: shop.v0.1.0}]", "entries: [{name: x.v1}]", "alpha stable stable", "there is no bundle x.v1, which is its head"},
		{"- {type: olm.package, value: {packageName: shop, version: 1.9.0}}", "- {type: olm.package, value: {packageName: shop, version: 1.9.0}}\n- {type: olm.deprecated, value: {}}", "alpha stable stable", ""},
	} {
		m, without, err := packages.Of(first(open(t, strings.Replace(shop, c.old, c.new, 1))), community())
		if err != nil || m == nil {
			t.Fatalf("%s: %v, %v", c.new, m, err)
		}
		var shown []string
		for _, ch := range m.Status.Channels {
			shown = append(shown, ch.Name)
		}
		if got := strings.Join(append(shown, m.Status.DefaultChannel), " "); got != c.channels || !strings.Contains(fmt.Sprint(without), c.why) {
			t.Errorf("%s: %s, %v", c.new, got, without)
		}
		if strings.Contains(c.new, "olm.deprecated") && len(m.Status.Channels[1].Entries) != 1 {
			t.Errorf("entries: %v", m.Status.Channels[1].Entries)
		}
	}
	m, without, err := packages.Of(first(open(t, "schema: olm.package\nname: shop\n")), community())
	if err != nil || m != nil || fmt.Sprint(without) != "[{shop  no channel of it can be shown}]" {
		t.Error(m, without, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := packages.List(ctx, open(t, shop), community()); err == nil {
		t.Error("the context has ended")
	}
}

func first(c *catalog.Catalog) *catalog.Package {
	for p := range c.Packages() {
		return p
	}
	return nil
}
