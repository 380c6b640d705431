package failure

import (
	"regexp"
	"slices"
	"sync"
)

// table returns all rows, those about one component before general ones.
var table = sync.OnceValue(func() []row {
	return slices.Concat(updateRows(), configRows(), controlRows(), operatorRows(), workloadRows(), appRows(), nodeRows(), olmRows(), apiRows(), refusedRows(), storageRows(), imageRows(), podRows(), networkRows())
})

// re compiles the expressions of the table: case is ignored.
func re(text string) *regexp.Regexp { return regexp.MustCompile(`(?i)` + text) }

func res(texts ...string) (all []*regexp.Regexp) {
	for _, t := range texts {
		all = append(all, re(t))
	}
	return all
}

func list(words ...string) []string { return words }
