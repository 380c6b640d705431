package draw_test

import (
	"context"
	"fmt"
	"os"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/draw"
)

// kiln returns a package with one channel.
func kiln() *catalog.Package {
	c, err := catalog.Open(context.Background(), fstest.MapFS{"kiln.yaml": {Data: []byte(`
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
`)}}, nil)
	if err != nil {
		panic(err)
	}
	p, _ := c.Package("kiln")
	return p
}

func ExampleMermaid() {
	if err := draw.Mermaid(context.Background(), os.Stdout, kiln(), nil); err != nil {
		fmt.Println(err)
	}
	// Output:
	// ---
	// title: "kiln"
	// ---
	// flowchart LR
	//     subgraph g0["stable (default)"]
	//     n0["kiln.v1.0.0"]
	//     n1{{"kiln.v1.1.0"}}
	//     end
	//     n0 --> n1
}

func ExampleDOT() {
	if err := draw.DOT(context.Background(), os.Stdout, kiln(), nil); err != nil {
		fmt.Println(err)
	}
	// Output:
	// digraph "kiln" {
	// 	rankdir=LR;
	// 	node [shape=box];
	// 	subgraph cluster_0 {
	// 	label="stable (default)";
	// 	"stable/kiln.v1.0.0" [label="kiln.v1.0.0"];
	// 	"stable/kiln.v1.1.0" [label="kiln.v1.1.0", shape=hexagon];
	// 	}
	// 	"stable/kiln.v1.0.0" -> "stable/kiln.v1.1.0";
	// }
}
