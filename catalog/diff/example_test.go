package diff_test

import (
	"context"
	"fmt"
	"os"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/diff"
)

// open opens a package with one channel, whose entries are given as JSON.
func open(entries string, versions ...string) *catalog.Catalog {
	text := `{"schema": "olm.package", "name": "kiln", "defaultChannel": "stable"}
{"schema": "olm.channel", "package": "kiln", "name": "stable", "entries": ` + entries + "}\n"
	for _, v := range versions {
		text += fmt.Sprintf(`{"schema": "olm.bundle", "package": "kiln", "name": "kiln.v%s", "image": "registry.example/kiln:%[1]s",
 "properties": [{"type": "olm.package", "value": {"packageName": "kiln", "version": "%[1]s"}}]}`+"\n", v)
	}
	c, err := catalog.Open(context.Background(), fstest.MapFS{"kiln.json": {Data: []byte(text)}}, nil)
	if err != nil {
		panic(err)
	}
	return c
}

func ExampleCompare() {
	before := open(`[{"name": "kiln.v1.0.0"}]`, "1.0.0")
	after := open(`[{"name": "kiln.v1.0.0"}, {"name": "kiln.v1.1.0", "replaces": "kiln.v1.0.0"}]`, "1.0.0", "1.1.0")
	d, err := diff.Compare(context.Background(), before, after, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := d.WriteText(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// ~ package kiln
	//   ~ channel stable: head kiln.v1.1.0, was kiln.v1.0.0
	//     + entry kiln.v1.1.0
	//     + update kiln.v1.0.0 -> kiln.v1.1.0 (replaces)
	//   + bundle kiln.v1.1.0
}

// Who has a bundle that no update leads on from is left without updates.
func ExampleDiff_Stranded() {
	before := open(`[{"name": "kiln.v1.0.0"}, {"name": "kiln.v1.1.0", "replaces": "kiln.v1.0.0"}]`, "1.0.0", "1.1.0")
	after := open(`[{"name": "kiln.v1.1.0"}]`, "1.1.0")
	d, err := diff.Compare(context.Background(), before, after, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Stranded(), d.Packages[0].Stranded[0].Bundle, d.Packages[0].Stranded[0].Rules)
	// Output:
	// 1 kiln.v1.0.0 [v0 v1]
}
