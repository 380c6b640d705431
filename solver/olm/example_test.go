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

// A subscription also installs what its operator requires. Here the newest
// version cannot be installed, and the answer says why.
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

// A request that cannot be satisfied is explained.
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
	// To do: change subscription database to channel stable; then database.v4.2.0 is installed <nil>
}

// chain is a catalog with three versions of a shop, the last of which needs a
// newer cache.
const chain = `
{"schema":"olm.package","name":"shop","defaultChannel":"stable"}
{"schema":"olm.channel","package":"shop","name":"stable","entries":[
  {"name":"shop.v3.0.0","replaces":"shop.v2.0.0"},{"name":"shop.v2.0.0","replaces":"shop.v1.0.0"},{"name":"shop.v1.0.0"}]}
{"schema":"olm.bundle","package":"shop","name":"shop.v3.0.0","image":"example.com/shop:3","properties":[
  {"type":"olm.package.required","value":{"packageName":"cache","versionRange":">=2.0.0"}},
  {"type":"olm.package","value":{"packageName":"shop","version":"3.0.0"}}]}
{"schema":"olm.bundle","package":"shop","name":"shop.v2.0.0","image":"example.com/shop:2","properties":[
  {"type":"olm.package","value":{"packageName":"shop","version":"2.0.0"}}]}
{"schema":"olm.bundle","package":"shop","name":"shop.v1.0.0","image":"example.com/shop:1","properties":[
  {"type":"olm.package","value":{"packageName":"shop","version":"1.0.0"}}]}
{"schema":"olm.package","name":"cache","defaultChannel":"stable"}
{"schema":"olm.channel","package":"cache","name":"stable","entries":[{"name":"cache.v2.0.0","replaces":"cache.v1.0.0"},{"name":"cache.v1.0.0"}]}
{"schema":"olm.bundle","package":"cache","name":"cache.v2.0.0","image":"example.com/cache:2","properties":[
  {"type":"olm.package","value":{"packageName":"cache","version":"2.0.0"}}]}
{"schema":"olm.bundle","package":"cache","name":"cache.v1.0.0","image":"example.com/cache:1","properties":[
  {"type":"olm.package","value":{"packageName":"cache","version":"1.0.0"}}]}
`

// shopAt returns a resolver for the chain, and a request for a namespace that
// has a version of the shop and the first cache.
func shopAt(version string) (*olm.Resolver, *olm.Request, error) {
	held, err := catalog.Open(context.Background(), fstest.MapFS{"catalog.json": {Data: []byte(chain)}}, nil)
	if err != nil {
		return nil, nil, err
	}
	r, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "example"}, Catalog: held}}, nil)
	if err != nil {
		return nil, nil, err
	}
	req, err := r.Request("", &olm.Case{Subscriptions: []string{"shop", "cache"}, Installed: []string{version, "cache.v1.0.0"}})
	return r, req, err
}

// The cache moves only because the shop's new version needs it.
func ExampleResolver_UpdateOnly() {
	for _, version := range []string{"shop.v1.0.0", "shop.v2.0.0"} {
		r, req, err := shopAt(version)
		if err != nil {
			fmt.Println(err)
			return
		}
		u, err := r.UpdateOnly(context.Background(), req, []string{"shop"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(version, "->", u.Resolution.Subscriptions[0].Operator, u.Moved)
	}
	// Output:
	// shop.v1.0.0 -> shop.v2.0.0 []
	// shop.v2.0.0 -> shop.v3.0.0 [{cache cache.v1.0.0 cache.v2.0.0 gives way: shop.v3.0.0 needs cache.v2.0.0}]
}

// Two hops lead to the head of the channel.
func ExampleResolver_UpgradePath() {
	r, req, err := shopAt("shop.v1.0.0")
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := r.UpgradePath(context.Background(), req, []olm.Target{{Package: "shop"}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, h := range p.Hops {
		fmt.Println(h.Installed)
	}
	// Output:
	// [cache.v1.0.0 shop.v2.0.0]
	// [cache.v2.0.0 shop.v3.0.0]
}

// What if the cache were held back?
func ExampleBase_WhatIf() {
	r, req, err := shopAt("shop.v2.0.0")
	if err != nil {
		fmt.Println(err)
		return
	}
	base, err := r.Base(context.Background(), req)
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := base.WhatIf(context.Background(), &olm.Supposition{Pin: []olm.Pin{{Package: "cache", Version: "1.0.0"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range e.Subscriptions {
		fmt.Println(s.Subscription, s.Before, "->", s.After)
	}
	// Output:
	// cache cache.v2.0.0 -> cache.v1.0.0
	// shop shop.v3.0.0 -> shop.v2.0.0
}

// Constraints: a CEL rule on what is installed beside an operator, and all, any and
// not, which are about one bundle.
func ExampleResolver_Resolve_constraints() {
	const text = `
{"schema":"olm.package","name":"app","defaultChannel":"stable"}
{"schema":"olm.channel","package":"app","name":"stable","entries":[{"name":"app.v1"}]}
{"schema":"olm.bundle","package":"app","name":"app.v1","image":"example.com/app:1","properties":[
  {"type":"olm.package","value":{"packageName":"app","version":"1.0.0"}},
  {"type":"olm.constraint","value":{"failureMessage":"needs certified storage","cel":{"rule":"properties.exists(p, p.type == 'certified') && properties.exists(p, p.type == 'storage')"}}},
  {"type":"olm.constraint","value":{"failureMessage":"needs a database that is not the old one","all":{"constraints":[
    {"any":{"constraints":[{"package":{"packageName":"lake","versionRange":">=1.0.0"}},{"package":{"packageName":"pond","versionRange":">=1.0.0"}}]}},
    {"not":{"constraints":[{"gvk":{"group":"example.com","version":"v1alpha1","kind":"Database"}}]}}]}}}]}
{"schema":"olm.package","name":"disk","defaultChannel":"stable"}
{"schema":"olm.channel","package":"disk","name":"stable","entries":[{"name":"disk.v1"}]}
{"schema":"olm.bundle","package":"disk","name":"disk.v1","image":"example.com/disk:1","properties":[
  {"type":"olm.package","value":{"packageName":"disk","version":"1.0.0"}},{"type":"certified","value":true},{"type":"storage","value":"fast"}]}
{"schema":"olm.package","name":"lake","defaultChannel":"stable"}
{"schema":"olm.channel","package":"lake","name":"stable","entries":[{"name":"lake.v1"}]}
{"schema":"olm.bundle","package":"lake","name":"lake.v1","image":"example.com/lake:1","properties":[
  {"type":"olm.package","value":{"packageName":"lake","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"example.com","version":"v1alpha1","kind":"Database"}}]}
{"schema":"olm.package","name":"pond","defaultChannel":"stable"}
{"schema":"olm.channel","package":"pond","name":"stable","entries":[{"name":"pond.v1"}]}
{"schema":"olm.bundle","package":"pond","name":"pond.v1","image":"example.com/pond:1","properties":[
  {"type":"olm.package","value":{"packageName":"pond","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"example.com","version":"v1","kind":"Database"}}]}
`
	held, err := catalog.Open(context.Background(), fstest.MapFS{"catalog.json": {Data: []byte(text)}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "example"}, Catalog: held}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := r.Resolve(context.Background(), &olm.Request{
		Subscriptions: []olm.Subscription{{ObjectMeta: olm.ObjectMeta{Name: "app"}, Spec: olm.SubscriptionSpec{Package: "app"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range res.Chosen {
		fmt.Println("install", c.Name)
	}
	// Output:
	// install app.v1
	// install disk.v1
	// install pond.v1
}
