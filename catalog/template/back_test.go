package template_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/template"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
)

// TestBack: real catalogs, turned into templates and rendered against
// themselves, are the same to the byte of their JSON.
func TestBack(t *testing.T) {
	same, shared, turn := 0, 0, 0
	for dir, sub := range samples.Packages(t, "published") {
		if turn++; turn%20 != 1 && !long.Enabled() {
			continue
		}
		c := samples.Open(t, sub)
		text, err := template.FromCatalog(c)
		if err != nil {
			if !strings.Contains(err.Error(), "has the image of") {
				t.Errorf("%s: %v", dir, err)
			}
			shared++
			continue
		}
		parsed, err := template.Parse(text, nil)
		if err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		result, err := parsed.Render(t.Context(), template.FromBundles(c, nil))
		if err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		got := map[string]int{}
		for _, d := range result.Documents {
			got[compact(t, d)]++
		}
		for d := range c.Documents() {
			text, err := d.JSON()
			if err != nil {
				t.Fatal(err)
			}
			if got[compact(t, text)]--; got[compact(t, text)] < 0 {
				t.Fatalf("%s: %s is another one", dir, d.Subject())
			}
		}
		if n := len(result.Documents); n == 0 {
			t.Fatalf("%s: nothing is rendered", dir)
		}
		same++
	}
	if same == 0 {
		t.Errorf("none is the same, and %d have images of several bundles", shared)
	}
	t.Logf("%d are the same, %d have images of several bundles", same, shared)
}

func compact(t *testing.T, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A bundle that a catalog has need not be rendered again.
func ExampleFromBundles() {
	c, err := catalog.Open(context.Background(), fstest.MapFS{"c.yaml": {Data: []byte(`schema: olm.package
name: kiln
defaultChannel: stable
---
schema: olm.channel
package: kiln
name: stable
entries: [{name: kiln.v1.0.0}]
---
schema: olm.bundle
package: kiln
name: kiln.v1.0.0
image: registry.example/kiln:1.0.0
properties: [{type: olm.package, value: {packageName: kiln, version: 1.0.0}}]
`)}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := template.FromCatalog(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	t, err := template.Parse(text, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := t.Render(context.Background(), template.FromBundles(c, nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.References(), len(result.Documents), "documents")
	// Output:
	// [registry.example/kiln:1.0.0] 3 documents
}
