package olm_test

import (
	"context"
	"errors"
	"fmt"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
)

// shop is a catalog with a web shop, which needs a database.
const shop = `
{"schema":"olm.package","name":"shop","defaultChannel":"stable"}
{"schema":"olm.channel","package":"shop","name":"stable","entries":[{"name":"shop.v2.0.0","replaces":"shop.v1.0.0"},{"name":"shop.v1.0.0"}]}
{"schema":"olm.bundle","package":"shop","name":"shop.v2.0.0","image":"example.com/shop:2","properties":[
  {"type":"olm.package","value":{"packageName":"shop","version":"2.0.0"}},
  {"type":"olm.package.required","value":{"packageName":"database","versionRange":">=5.0.0"}}]}
{"schema":"olm.bundle","package":"shop","name":"shop.v1.0.0","image":"example.com/shop:1","properties":[
  {"type":"olm.package","value":{"packageName":"shop","version":"1.0.0"}},
  {"type":"olm.package.required","value":{"packageName":"database","versionRange":">=4.0.0"}}]}
{"schema":"olm.package","name":"database","defaultChannel":"stable"}
{"schema":"olm.channel","package":"database","name":"stable","entries":[{"name":"database.v4.2.0"}]}
{"schema":"olm.bundle","package":"database","name":"database.v4.2.0","image":"example.com/database:4.2","properties":[
  {"type":"olm.package","value":{"packageName":"database","version":"4.2.0"}}]}
`

func resolver() (*olm.Resolver, error) {
	held, err := catalog.Open(context.Background(), fstest.MapFS{"catalog.json": {Data: []byte(shop)}}, nil)
	if err != nil {
		return nil, err
	}
	return olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "example"}, Catalog: held}}, nil)
}

// A subscription brings what its operator requires. Here the newest version
// cannot be had, and the answer says why.
func ExampleResolver_Resolve() {
	r, err := resolver()
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := r.Resolve(context.Background(), &olm.Request{
		Subscriptions: []olm.Subscription{{
			ObjectMeta: olm.ObjectMeta{Name: "my-shop"},
			Spec:       olm.SubscriptionSpec{Package: "shop", Channel: "stable"},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range res.Chosen {
		fmt.Println("install", c.Name)
	}
	fmt.Println(res.Subscriptions[0].Why[0])
	// Output:
	// install database.v4.2.0
	// install shop.v1.0.0
	// shop.v2.0.0 requires package database in range >=5.0.0, which nothing offers: package database has version 4.2.0 (database.v4.2.0 in channel stable), which is not in the range
}

// What cannot be satisfied is explained.
func ExampleUnsatError_Explain() {
	r, err := resolver()
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	req, err := r.Request("default", &olm.Case{Subscriptions: []string{"database/fast"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = r.Resolve(ctx, req)
	var unsat *olm.UnsatError
	if errors.As(err, &unsat) {
		x, err := unsat.Explain(ctx)
		fmt.Println(x, err)
	}
	// Output:
	// subscription database cannot be served: no operators found in channel fast of package database
	//   package database of catalog example has the channel stable
	// To do: subscribe to channel stable of package database, which can be served <nil>
}
