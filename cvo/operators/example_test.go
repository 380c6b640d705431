package operators_test

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/cvo/operators"
	"github.com/fairlead/fairlead/cvo/snapshot"
)

// Why an operator is not installed, from a dump.
func ExampleOf() {
	var r snapshot.Reader
	err := r.Stream(strings.NewReader(world), "dump.yaml")
	s, _ := r.Snapshot()
	v := operators.Of(s).Subscription("shops", "shop")
	fmt.Println(v.Waits[0].Reason, err)
	// Output:
	// NoOperatorGroup <nil>
}

// All operators of a dump, the blocked first.
func ExampleOf_all() {
	var r snapshot.Reader
	err := r.Stream(strings.NewReader(world), "dump.yaml")
	s, _ := r.Snapshot()
	for _, v := range operators.Of(s).Operators() {
		fmt.Println(v.Subject(), v.Blocked(), err)
	}
	// Output:
	// subscription shops/shop true <nil>
}
