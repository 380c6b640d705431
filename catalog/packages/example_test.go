package packages_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/packages"
)

const kiln = `{"schema": "olm.package", "name": "kiln", "defaultChannel": "stable"}
{"schema": "olm.channel", "package": "kiln", "name": "stable", "entries": [{"name": "kiln.v1.0.0"}]}
{"schema": "olm.channel", "package": "kiln", "name": "old", "entries": [{"name": "kiln.v0.1.0"}]}
{"schema": "olm.bundle", "package": "kiln", "name": "kiln.v0.1.0", "image": "quay.io/kiln:0", "properties": [
 {"type": "olm.package", "value": {"packageName": "kiln", "version": "0.1.0"}}]}
{"schema": "olm.bundle", "package": "kiln", "name": "kiln.v1.0.0", "image": "quay.io/kiln:1", "properties": [
 {"type": "olm.package", "value": {"packageName": "kiln", "version": "1.0.0"}},
 {"type": "olm.csv.metadata", "value": {"displayName": "Kiln", "installModes": [{"type": "OwnNamespace", "supported": true}]}}]}
`

func ExampleList() {
	ctx := context.Background()
	c, err := catalog.Open(ctx, fstest.MapFS{"kiln.json": {Data: []byte(kiln)}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	list, _, err := packages.List(ctx, c, &packages.Source{ObjectMeta: fairlead.ObjectMeta{Name: "community", Namespace: "olm"}, DisplayName: "Community Operators"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range list.Items {
		fmt.Println(m.Name, m.Status.CatalogSourceDisplayName, m.Status.DefaultChannel, m.Status.Channels[0].CurrentCSV)
	}
	// Output:
	// kiln Community Operators stable kiln.v1.0.0
}

// Which install modes does the default channel support?
func ExampleOf() {
	c, err := catalog.Open(context.Background(), fstest.MapFS{"kiln.json": {Data: []byte(kiln)}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, _ := c.Package("kiln")
	m, without, err := packages.Of(p, &packages.Source{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Status.Channels[0].CurrentCSVDesc.InstallModes)
	for _, o := range without {
		fmt.Printf("channel %s: %s\n", o.Channel, o.Why)
	}
	// Output:
	// [{OwnNamespace true}]
	// channel old: its head kiln.v0.1.0 carries neither the manifest of a CSV nor olm.csv.metadata
}
