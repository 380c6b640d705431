package catalog_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
)

func open(t *testing.T, files map[string]string) (*catalog.Catalog, error) {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return catalog.Open(context.Background(), fsys, nil)
}

func TestOpenMixed(t *testing.T) {
	c, err := open(t, map[string]string{
		"b/catalog.yaml": "schema: olm.package\nname: b\ndefaultChannel: stable\n---\nschema: olm.channel\nname: stable\npackage: b\nentries:\n- name: b.v1\n- {name: b.v2, replaces: b.v1, skips: [b.v0], skipRange: '<2.0.0'}\n",
		"b/bundles":      `{"schema":"olm.bundle","name":"b.v1","package":"b","image":"r/b:1","properties":[{"type":"olm.package","value":{"packageName":"b","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"K"}}]}`,
		"a.json":         `{"schema":"olm.package","name":"a"}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for p := range c.Packages() {
		names = append(names, p.Name())
	}
	if !slices.Equal(names, []string{"a", "b"}) {
		t.Fatalf("packages: %q", names)
	}
	p, _ := c.Package("b")
	ch, ok := p.Channel(p.DefaultChannel())
	if !ok || len(ch.Entries()) != 2 || ch.Entries()[1].SkipRange != "<2.0.0" || ch.Entries()[1].Skips[0] != "b.v0" {
		t.Fatalf("channel: %+v", ch)
	}
	for b := range c.Providers(catalog.GVK{Group: "g", Version: "v1", Kind: "K"}) {
		if b.Name() != "b.v1" || b.Version() != "1.0.0" || b.Image() != "r/b:1" {
			t.Fatalf("bundle: %+v", b)
		}
		props, err := b.Properties()
		if err != nil || len(props) != 2 || string(props[1].Value) != `{"group":"g","version":"v1","kind":"K"}` {
			t.Fatalf("%v %v", props, err)
		}
		return
	}
	t.Fatal("no provider")
}

func TestOpenFaults(t *testing.T) {
	_, err := open(t, map[string]string{
		"a.json": "{\"schema\":\"olm.package\",\n \"name\": 7}\n{\"schema\": \"x\",,}\n{\"schema\":\"y\"}",
		"b.yaml": "schema: olm.package\nname: [\n",
	})
	var all catalog.Diagnostics
	if !errors.As(err, &all) || len(all) != 3 {
		t.Fatalf("%v", err)
	}
	for i, want := range []string{
		`a.json:2:10: package: name is a number and must be a string; write "7", in quotes`,
		`a.json:3:16: a key in double quotes is expected here, not ','`,
		`b.yaml:2:1: the YAML text is malformed at this line: did not find expected node content; check indentation, colons and quotes`,
	} {
		if all[i].Error() != want {
			t.Errorf("%s", all[i].Error())
		}
	}
}
