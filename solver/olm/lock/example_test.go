package lock_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/lock"
)

func resolver(text string) (*olm.Resolver, error) {
	held, err := catalog.Open(context.Background(), fstest.MapFS{"catalog.json": {Data: []byte(text)}}, nil)
	if err != nil {
		return nil, err
	}
	return olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "example"}, Catalog: held}}, nil)
}

const (
	before = `{"schema":"olm.package","name":"shop","defaultChannel":"stable"}
{"schema":"olm.channel","package":"shop","name":"stable","entries":[{"name":"shop.v1.0.0"}]}
{"schema":"olm.bundle","package":"shop","name":"shop.v1.0.0","image":"example.com/shop:1","properties":[]}`
	after = `{"schema":"olm.package","name":"shop","defaultChannel":"stable"}
{"schema":"olm.channel","package":"shop","name":"stable","entries":[{"name":"shop.v1.0.1","replaces":"shop.v1.0.0"},{"name":"shop.v1.0.0"}]}
{"schema":"olm.bundle","package":"shop","name":"shop.v1.0.0","image":"example.com/shop:1","properties":[]}
{"schema":"olm.bundle","package":"shop","name":"shop.v1.0.1","image":"example.com/shop:1.0.1","properties":[]}`
)

// A lock holds as long as the same inputs give the same answer.
func ExampleLock_Verify() {
	ctx := context.Background()
	r, err := resolver(before)
	if err != nil {
		fmt.Println(err)
		return
	}
	req, err := r.Request("default", &olm.Case{Subscriptions: []string{"shop"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := lock.New(ctx, r, req)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.Verify(ctx, r, req))
	r, err = resolver(after)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.Verify(ctx, r, req))
	// Output:
	// <nil>
	// the lock does not hold: something else is chosen now
	// 	catalog example: its content differs
	// 	chosen shop: name was "shop.v1.0.0", is "shop.v1.0.1"
	// 	chosen shop: image was "example.com/shop:1", is "example.com/shop:1.0.1"
	// 	chosen shop: its content differs
	// 	chosen shop: replaces was "", is "shop.v1.0.0"
	// 	served shop: operator was "shop.v1.0.0", is "shop.v1.0.1"
}

// Anything that Format would not write is refused, with its position.
func ExampleParse() {
	_, err := lock.Parse("shop.lock", []byte("{\n  \"lockVersion\": 7\n}\n"))
	fmt.Println(err)
	// Output:
	// shop.lock:2:3: lockVersion is 7; this program reads version 1: write the lock again, or use a program that knows its version
}
