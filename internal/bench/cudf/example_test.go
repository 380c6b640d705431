package cudf_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/internal/bench/cudf"
)

const garage = `package: car
version: 1
depends: engine, wheel >= 2
installed: true

package: engine
version: 1
installed: true

package: engine
version: 2
conflicts: engine

package: wheel
version: 2
installed: true

package: wheel
version: 3
conflicts: wheel

package: turbo
version: 1
depends: engine >= 2

request:
install: turbo
`

// Find the smallest change that installs a turbo.
func ExampleDocument_Solve() {
	d, err := cudf.Read(strings.NewReader(garage))
	if err != nil {
		fmt.Println(err)
		return
	}
	criteria, err := cudf.ParseCriteria("-removed,-changed")
	if err != nil {
		fmt.Println(err)
		return
	}
	best, err := d.Solve(context.Background(), criteria, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, i := range best.Installed {
		fmt.Println(d.Packages[i].Name, d.Packages[i].Version)
	}
	fmt.Println(best.Values)
	// Output:
	// car 1
	// engine 2
	// wheel 2
	// turbo 1
	// [0 2]
}

// Some lists of criteria have names, as in the competitions.
func ExampleParseCriteria() {
	criteria, err := cudf.ParseCriteria("trendy")
	fmt.Println(criteria, err)
	_, err = cudf.ParseCriteria("-size")
	fmt.Println(err)
	// Output:
	// [-removed -notuptodate -unsat_recommends -new] <nil>
	// cudf: criterion "-size": write - or +, and one of removed, new, changed, notuptodate, unsat_recommends or sum(PROPERTY)
}
