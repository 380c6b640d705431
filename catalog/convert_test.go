package catalog_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/catalog/edit"
	"github.com/fairlead/fairlead/internal/samples"
)

func payload(manifest string) string {
	return `{"type":"olm.bundle.object","value":{"data":"` + base64.StdEncoding.EncodeToString([]byte(manifest)) + `"}}`
}

func TestConvertObjects(t *testing.T) {
	csv := `kind: ClusterServiceVersion
metadata: {name: p.v1, annotations: {a: "1", big: x}, labels: {l: m}}
spec:
  displayName: P
  description: ""
  keywords: [k]
  customresourcedefinitions: {owned: [{name: as.g, kind: A, version: v1, extra: 1.0}]}
  install: {strategy: deployment}
  provider: {name: me}
`
	bundle := func(name, image, properties string) string {
		return `{"schema":"olm.bundle","name":"` + name + `","package":"p","image":"` + image + `","zzz":1.0,"properties":[` + properties + "]}\n"
	}
	in := openText(t, bundle("p.v1", "i", ` {"type":"olm.package","value":{"packageName":"p","version":"1.0.0"}} , `+payload("kind: Service")+", "+payload(csv)+" ")+
		bundle("p.v2", "i", payload(`{"kind":"ClusterServiceVersion"}`))+
		bundle("p.v3", "", payload(csv))+
		bundle("p.v4", "i", payload("kind: Service")+","+payload(": ["))+
		bundle("p.v5", "i", payload(csv)+`,{"type":"olm.csv.metadata","value":{"displayName":"kept"}}`)+
		bundle("p.v6", "i", `{"type":"olm.csv.metadata","value":{}}`)+`{"schema":"x","n":1.0}`)
	got, kept, err := edit.ConvertObjects(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	var why []string
	for _, c := range kept {
		why = append(why, c.String())
	}
	if s := strings.Join(why, "; "); s != "package p, bundle p.v3: it has no image to take the manifests from; package p, bundle p.v4: none of its objects is a CSV that can be read" {
		t.Errorf("%s", s)
	}
	want := bundle("p.v1", "i", ` {"type":"olm.package","value":{"packageName":"p","version":"1.0.0"}},{"type":"olm.csv.metadata","value":{"annotations":{"a":"1","big":"x"},"apiServiceDefinitions":{},"crdDescriptions":{"owned":[{"name":"as.g","kind":"A","version":"v1","extra":1.0}]},"displayName":"P","keywords":["k"],"labels":{"l":"m"},"provider":{"name":"me"}}} `) +
		bundle("p.v2", "i", `{"type":"olm.csv.metadata","value":{"apiServiceDefinitions":{},"crdDescriptions":{},"provider":{}}}`) +
		bundle("p.v3", "", payload(csv)) +
		bundle("p.v4", "i", payload("kind: Service")+","+payload(": [")) +
		bundle("p.v5", "i", `{"type":"olm.csv.metadata","value":{"displayName":"kept"}}`) +
		bundle("p.v6", "i", `{"type":"olm.csv.metadata","value":{}}`) + "{\"schema\":\"x\",\"n\":1.0}\n"
	if text := inFormat(t, got, catalog.FormatJSON); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// TestConvertRealCatalog converts a real catalog: it stays valid, and what a
// resolver weighs stays the same.
func TestConvertRealCatalog(t *testing.T) {
	c := samples.Open(t, samples.Archive(t, "full-sample"))
	got, kept, err := edit.ConvertObjects(context.Background(), c)
	if err != nil || len(kept) > 0 {
		t.Fatal(err, kept)
	}
	if v, err := check.Catalog(context.Background(), got, nil); err != nil || !v.Valid() {
		t.Errorf("%v %v", err, v.Err())
	}
	n, before, after := 0, 0, 0
	for p := range c.Packages() {
		now, _ := got.Package(p.Name())
		for b := range p.Bundles() {
			other, _ := now.Bundle(b.Name())
			facts, _ := b.Facts()
			same, _ := other.Facts()
			old, _ := json.Marshal(facts)
			text, _ := json.Marshal(same)
			if string(old) != string(text) {
				t.Errorf("%s: facts differ", b.Name())
			}
			before, after = before+b.Document().Size(), after+other.Document().Size()
			n++
		}
	}
	if n < 100 || after*2 > before {
		t.Errorf("%d bundles, %d bytes of %d", n, after, before)
	}
}
