package semverx_test

import (
	"fmt"

	"github.com/fairlead/fairlead/internal/semverx"
)

func ExampleParseRange() {
	skipRange, err := semverx.ParseRange(">=4.1.0 <4.1.2 || 4.0.x")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range []string{"4.0.7", "v4.1", "4.1.2-rc.1", "4.1.2"} {
		v, err := semverx.ParseTolerant(s)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(v, skipRange.Contains(v))
	}
	// Output:
	// 4.0.7 true
	// 4.1.0 true
	// 4.1.2-rc.1 true
	// 4.1.2 false
}

func ExampleParseRange_hint() {
	_, err := semverx.ParseRange("^1.2")
	fmt.Println(err)
	// Output:
	// version range "^1.2": unknown operator "^"; write ">=1.2.0 <2.0.0-0"
}
