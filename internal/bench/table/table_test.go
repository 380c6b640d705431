package table_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/bench/table"
)

const output = `goos: linux
BenchmarkSolve/ours/small-2     100   2000 ns/op   1500 cpu-ns/op   2048 B/op  3 allocs/op
BenchmarkSolve/ours/small-2     100   2000 ns/op   1000 cpu-ns/op   2048 B/op  3 allocs/op
BenchmarkSolve/ours/small-2     100   2000 ns/op   9000 cpu-ns/op   2048 B/op  3 allocs/op
BenchmarkSolve/ours/only-2      100   2000 ns/op   2000 cpu-ns/op
BenchmarkSolve/peer/small-2     100   2000 ns/op   3000 cpu-ns/op   4096 B/op  9 allocs/op  2 broken
BenchmarkOther-2                100   2000 ns/op
ok  	example	1.0s
`

func TestUpdate(t *testing.T) {
	results, err := table.Read(strings.NewReader(output))
	if err != nil {
		t.Fatal(err)
	}
	doc := "before\n<!-- table Solve -->\nold\n<!-- end of table -->\nbetween\n<!-- table short Solve, None -->\n<!-- end of table -->\n" +
		"<!-- table None -->\nkept\n<!-- end of table -->\nafter\n"
	want := `before
<!-- table Solve -->

| solve | ours | peer | peer takes |
|---|---|---|---|
| small | 1.5 us, 2.05 kB, 3 allocs | 3 us, 4.1 kB, 9 allocs, 2 broken | 2.0 x |
| only | 2 us |  |  |

<!-- end of table -->
between
<!-- table short Solve, None -->
- peer takes 2.0 (small) times as long as ours
<!-- end of table -->
<!-- table None -->
kept
<!-- end of table -->
after
`
	got, err := results.Update(doc)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if again, err := results.Update(got); err != nil || again != got {
		t.Errorf("the second time: %v\n%s", err, again)
	}
	if _, err := results.Update("<!-- table Solve -->\n"); err == nil {
		t.Error("a table without an end")
	}
	if _, err := table.Read(strings.NewReader("BenchmarkA 1 x ns/op")); err == nil {
		t.Error("a number that is none")
	}
}

func TestHeadline(t *testing.T) {
	results, err := table.Read(strings.NewReader(`pkg: github.com/fairlead/fairlead/taints
BenchmarkHeadline/filter/nodes=5000-2   100   2000 ns/op   0 B/op  0 allocs/op
pkg: github.com/fairlead/fairlead/catalog
BenchmarkHeadline/validate/packages=600-2   1   3000000 ns/op   2048 B/op  7 allocs/op
BenchmarkOther/a/b-2   1   3000000 ns/op
`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := results.Update("<!-- table Headline -->\n<!-- end of table -->\n")
	want := `<!-- table Headline -->

| packages | time and memory allocated, by what is done and how much of it |
|---|---|
| catalog | validate packages=600: 3 ms, 2.05 kB |
| taints | filter nodes=5000: 2 us, 0 kB |

<!-- end of table -->
`
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
}
