package olm_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/olm"
)

// deepConflict is a problem on which a search that gives up the wrong choices
// leaves out a subscription, or settles for a worse answer: the conflict
// between a.v2 and the requirements of x and y shows only several choices after
// a.v2 was taken.
const deepConflict = `
catalog c
a stable*: a.v2 -> a.v1
a.v2: provides Z11 Z22 W12 W21
i stable*: i.v1
i.v1: requires package k >=0.0.0
k stable*: k.v2 -> k.v1
x stable*: x.v2 -> x.v1
x.v2: requires api X2Z; requires api X2W
x.v1: requires api X1Z; requires api X1W
y stable*: y.v2 -> y.v1
y.v2: requires api Y2Z; requires api Y2W
y.v1: requires api Y1Z; requires api Y1W
z stable*: z11.v1 -> z12.v1 -> z21.v1 -> z22.v1
z11.v1: provides X2Z Y2Z Z11
z12.v1: provides X2Z Y1Z
z21.v1: provides X1Z Y2Z
z22.v1: provides X1Z Y1Z Z22
w stable*: w11.v1 -> w12.v1 -> w21.v1 -> w22.v1
w11.v1: provides X2W Y2W
w12.v1: provides X2W Y1W W12
w21.v1: provides X1W Y2W W21
w22.v1: provides X1W Y1W
subscription a a/stable
subscription i i/stable
subscription x x/stable
subscription y y/stable
`

// TestDeepConflict resolves deepConflict many times from scratch, each time
// with the subscriptions in another order.
func TestDeepConflict(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 2))
	s := parseScenario(t, deepConflict)
	w := strings.Fields("a/stable/a.v1 i/stable/i.v1 k/stable/k.v2 w/stable/w11.v1 x/stable/x.v2 y/stable/y.v2 z/stable/z11.v1")
	for range long.N(150, 1000) {
		subs := s.request.Subscriptions
		rnd.Shuffle(len(subs), func(i, j int) { subs[i], subs[j] = subs[j], subs[i] })
		res, err := olm.Resolve(context.Background(), s.sources, s.request, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range res.Chosen {
			got = append(got, c.String())
		}
		if !slices.Equal(got, w) {
			t.Fatalf("got %v, want %v", got, w)
		}
	}
}
