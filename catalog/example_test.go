package catalog_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
)

func Example() {
	files := fstest.MapFS{"kiln/catalog.yaml": {Data: []byte(`
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
- type: olm.package
  value: {packageName: kiln, version: 1.0.0}
`)}}
	c, err := catalog.Open(context.Background(), files, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for p := range c.Packages() {
		channel, _ := p.Channel(p.DefaultChannel())
		for _, e := range channel.Entries() {
			fmt.Printf("%s %s %s replaces %q\n", p.Name(), channel.Name(), e.Name, e.Replaces)
		}
		for b := range p.Bundles() {
			fmt.Println(b.Name(), b.Version(), b.Image())
		}
	}
	// Output:
	// kiln stable kiln.v1.0.0 replaces ""
	// kiln stable kiln.v1.1.0 replaces "kiln.v1.0.0"
	// kiln.v1.0.0 1.0.0 registry.example/kiln:1.0.0
}

func ExampleParseImageRef() {
	ref, err := catalog.ParseImageRef("etcd:3.5")
	fmt.Println(ref, ref.Pinned(), err)
	_, err = catalog.ParseImageRef("quay.io/Etcd/etcd")
	fmt.Println(err)
	// Output:
	// docker.io/library/etcd:3.5 false <nil>
	// image reference "quay.io/Etcd/etcd": the repository path "Etcd/etcd" has upper-case letters: write it as etcd/etcd
}
