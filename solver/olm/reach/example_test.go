package reach_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/release"
	"github.com/fairlead/fairlead/solver/olm/reach"
)

// shop is a package whose version 1.1.0 requires the package till.
const shop = `{"schema": "olm.package", "name": "shop", "defaultChannel": "stable"}
{"schema": "olm.channel", "package": "shop", "name": "stable", "entries": [{"name": "shop.v1.0.0"}, {"name": "shop.v1.1.0", "replaces": "shop.v1.0.0"}]}
{"schema": "olm.bundle", "package": "shop", "name": "shop.v1.0.0", "image": "quay.io/shop:1", "properties": [
 {"type": "olm.package", "value": {"packageName": "shop", "version": "1.0.0"}}]}
{"schema": "olm.bundle", "package": "shop", "name": "shop.v1.1.0", "image": "quay.io/shop:2", "properties": [
 {"type": "olm.package", "value": {"packageName": "shop", "version": "1.1.0"}},
 {"type": "olm.package.required", "value": {"packageName": "till", "versionRange": ">=1.0.0"}}]}
`

const till = `{"schema": "olm.package", "name": "till", "defaultChannel": "stable"}
{"schema": "olm.channel", "package": "till", "name": "stable", "entries": [{"name": "till.v1.0.0"}]}
{"schema": "olm.bundle", "package": "till", "name": "till.v1.0.0", "image": "quay.io/till:1", "properties": [
 {"type": "olm.package", "value": {"packageName": "till", "version": "1.0.0"}}]}
`

func files(text string) fstest.MapFS { return fstest.MapFS{"catalog.json": {Data: []byte(text)}} }

func open(text string) *catalog.Catalog {
	c, err := catalog.Open(context.Background(), files(text), nil)
	if err != nil {
		panic(err)
	}
	return c
}

func ExampleResolver_Reach() {
	var r reach.Resolver
	from := catalog.Installed{Name: "shop.v1.0.0", Version: "1.0.0"}
	for _, text := range []string{shop + till, shop} {
		why, err := r.Reach(context.Background(), open(text), "shop", "stable", from)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("reaches the head:", why == "")
	}
	// Output:
	// reaches the head: true
	// reaches the head: false
}

// A release that removes what others require does not pass.
func ExampleResolver() {
	report, err := release.Evaluate(context.Background(), open(shop+till), files(shop), &release.Options{Resolver: &reach.Resolver{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, u := range report.Unresolved {
		fmt.Println(u.Package, u.Channel, u.Bundle)
	}
	// Output:
	// shop stable shop.v1.0.0
}
