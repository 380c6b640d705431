package edit_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/edit"
)

const kiln = `
schema: olm.package
name: kiln
defaultChannel: stable
---
schema: olm.channel
package: kiln
name: stable
entries:
- name: kiln.v1.0.0
- name: kiln.v1.1.0
  replaces: kiln.v1.0.0
---
schema: olm.bundle
package: kiln
name: kiln.v1.0.0
image: registry.example/kiln:1.0.0
properties:
- {type: olm.package, value: {packageName: kiln, version: 1.0.0}}
---
schema: olm.bundle
package: kiln
name: kiln.v1.1.0
image: registry.example/kiln:1.1.0
properties:
- {type: olm.package, value: {packageName: kiln, version: 1.1.0}}
`

func open(text string) *catalog.Catalog {
	c, err := catalog.Open(context.Background(), fstest.MapFS{"kiln.yaml": {Data: []byte(text)}}, nil)
	if err != nil {
		panic(err)
	}
	return c
}

func ExampleFilter() {
	part, report, err := edit.Filter(context.Background(), open(kiln), []edit.Selection{{Package: "kiln", Versions: ">=1.1.0"}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Packages, "package,", report.Bundles, "bundle")
	p, _ := part.Package("kiln")
	for ch := range p.Channels() {
		fmt.Println(ch.Name(), ch.Entries())
	}
	// Output:
	// 1 package, 1 bundle
	// stable [{kiln.v1.1.0 kiln.v1.0.0 [] }]
}

func ExampleMerge() {
	_, _, err := edit.Merge(context.Background(), nil, open(kiln), open(strings.ReplaceAll(kiln, "kiln:1.1.0", "kiln:1.1.1")))
	fmt.Println(err)
	// Output:
	// catalog: merge: package "kiln", bundle "kiln.v1.1.0" differs: catalog 1 has it at kiln.yaml:21:1, catalog 2 at kiln.yaml:21:1; say which of the catalogs to prefer
}

func ExampleNewPackage() {
	text, err := edit.NewPackage(edit.PackageTemplate{Name: "kiln", DefaultChannel: "stable"})
	if err != nil {
		fmt.Println(err)
		return
	}
	os.Stdout.Write(text)
	// Output:
	// {
	//   "schema": "olm.package",
	//   "name": "kiln",
	//   "defaultChannel": "stable"
	// }
}
