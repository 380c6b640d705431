package fairlead

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// What a pass was handed must not change under it, and what is remembered is the
// latest outcome of each action, the newest of them.
func TestOutcomesAreShared(t *testing.T) {
	const most = 5
	r := rand.New(rand.NewPCG(1, 2))
	var l outcomes
	var want []Outcome
	var handed, copies [][]Outcome
	for i := range 2000 {
		o := Outcome{Key: Key{ID: fmt.Sprint(r.IntN(8))}, Message: fmt.Sprint(i)}
		keep := r.IntN(4) > 0
		l.add(o, keep, most)
		want = slices.DeleteFunc(want, func(x Outcome) bool { return x.Key == o.Key })
		if keep {
			want = append(want, o)
		}
		want = want[max(0, len(want)-most):]
		if !slices.Equal(l.list, want) {
			t.Fatalf("after %d: %v, want %v", i, l.list, want)
		}
		if r.IntN(3) == 0 {
			handed, copies = append(handed, l.share()), append(copies, slices.Clone(want))
		}
	}
	for i := range handed {
		if !slices.Equal(handed[i], copies[i]) {
			t.Fatalf("what was handed out changed: %v, was %v", handed[i], copies[i])
		}
	}
}
