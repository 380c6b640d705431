package catalog_test

import (
	"context"
	"fmt"
	"strings"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
)

func ExampleDecode() {
	stream := `{"schema":"olm.package","name":"kiln"}
---
schema: olm.bundle
package: kiln
name: 1.10
---
schema: example.com/note
text: kept as it is, with 1.0 and 9007199254740993
`
	for d, err := range catalog.Decode(strings.NewReader(stream), nil) {
		if err != nil {
			fmt.Println("error:", err)
			continue
		}
		fmt.Println(d.Pos(), d.Schema(), d.Name())
	}
	// Output:
	// 1:1 olm.package kiln
	// error: 5:7: package "kiln", bundle: name is a number and must be a string; write "1.10", in quotes
	// 7:1 example.com/note
}

func ExampleGraph_WhyNot() {
	files := fstest.MapFS{"kiln.yaml": {Data: []byte(`
schema: olm.package
name: kiln
---
schema: olm.channel
package: kiln
name: stable
entries:
- name: kiln.v1.4.0
  replaces: kiln.v1.3.0
- name: kiln.v1.3.0
  skips: [kiln.v1.1.0]
- name: kiln.v1.2.0
- name: kiln.v1.1.0
`)}}
	c, err := catalog.Open(context.Background(), files, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	kiln, _ := c.Package("kiln")
	stable, _ := kiln.Channel("stable")
	updates := stable.Graph(catalog.AsWritten)
	if path, ok := updates.Path("kiln.v1.1.0", "kiln.v1.4.0"); ok {
		for _, e := range path {
			fmt.Println(e.From, "->", e.To, "by", e.Kind)
		}
	}
	for _, reason := range updates.WhyNot("kiln.v1.2.0", "kiln.v1.4.0").Reasons {
		fmt.Println("-", reason)
	}
	// Output:
	// kiln.v1.1.0 -> kiln.v1.3.0 by skips
	// kiln.v1.3.0 -> kiln.v1.4.0 by replaces
	// - kiln.v1.4.0 replaces only kiln.v1.3.0
	// - kiln.v1.3.0 skips only kiln.v1.1.0
	// - kiln.v1.1.0 neither replaces nor skips anything
	// - no entry accepts kiln.v1.2.0
}

func ExampleCatalog_Explain() {
	files := fstest.MapFS{
		".indexignore":      {Data: []byte("*.md\nobjects/\n")},
		"kiln/catalog.yaml": {Data: []byte("schema: olm.package\nname: kiln\n")},
		"kiln/README.md":    {Data: []byte("The kiln operator.")},
	}
	c, err := catalog.Open(context.Background(), files, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"kiln/README.md", "kiln/objects/csv.yaml", "kiln/catalog.yaml"} {
		if rule, ok := c.Explain(name); ok {
			fmt.Printf("%s: %s at %s\n", name, rule.Pattern, rule.Pos)
		} else {
			fmt.Printf("%s: no rule, so it is read\n", name)
		}
	}
	// Output:
	// kiln/README.md: *.md at .indexignore:1:1
	// kiln/objects/csv.yaml: objects/ at .indexignore:2:1
	// kiln/catalog.yaml: no rule, so it is read
}

func ExampleCatalog_Providers() {
	bundle := `{"schema":"olm.bundle","package":"kiln","name":"kiln.v%d","properties":[
	  {"type":"olm.package","value":{"packageName":"kiln","version":"%d.0.0"}},
	  {"type":"olm.gvk","value":{"group":"fire.example","version":"v1","kind":"Kiln"}}]}`
	files := fstest.MapFS{
		"package.json": {Data: []byte(`{"schema":"olm.package","name":"kiln"}`)},
		"bundles.json": {Data: fmt.Appendf(nil, bundle+bundle, 1, 1, 2, 2)},
	}
	c, err := catalog.Open(context.Background(), files, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for b := range c.Providers(catalog.GVK{Group: "fire.example", Version: "v1", Kind: "Kiln"}) {
		fmt.Println(b.Package().Name(), b.Version())
	}
	// Output:
	// kiln 1.0.0
	// kiln 2.0.0
}
