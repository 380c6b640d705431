// Package examples_test holds the code that README.md shows, so that it is
// known to compile and to print what it says.
package examples_test

import (
	"context"
	"fmt"
	"os"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
)

func Example_readme() {
	ctx := context.Background()
	operators, err := catalog.Open(ctx, os.DirFS("testdata/shop"), nil)
	if err != nil {
		fmt.Println(err) // what is wrong, with file, line and column
		return
	}
	plan, err := olm.Resolve(ctx,
		[]olm.Source{{SourceKey: olm.SourceKey{Name: "community"}, Catalog: operators}},
		&olm.Request{Subscriptions: []olm.Subscription{{
			ObjectMeta: olm.ObjectMeta{Name: "my-shop"},
			Spec:       olm.SubscriptionSpec{Package: "shop", Channel: "stable"},
		}}}, nil)
	if err != nil {
		fmt.Println(err) // why not
		return
	}
	for _, choice := range plan.Chosen {
		fmt.Println("install", choice)
	}
	fmt.Println(plan.Subscriptions[0].Why)

	// Output:
	// install database/stable/database.v4.2.0
	// install shop/stable/shop.v1.0.0
	// [shop.v2.0.0 requires package database in range >=5.0.0, which nothing offers: package database has version 4.2.0 (database.v4.2.0 in channel stable), which is not in the range]
}
