package placement_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/fairlead/fairlead/taints/placement"
)

func TestParseAmount(t *testing.T) {
	for text, want := range map[string]placement.Amount{
		"0": {}, "1": {Units: 1}, "+7": {Units: 7}, "-1": {Units: -1}, "1.5": {Units: 1, Billth: 500_000_000}, ".5": {Billth: 500_000_000}, "5.": {Units: 5},
		"100m": {Billth: 100_000_000}, "1Ki": {Units: 1024}, "0.5Ki": {Units: 512}, "1e3": {Units: 1000}, "1E3": {Units: 1000}, "2E-1": {Billth: 200_000_000},
		"1E": {Units: 1e18}, "9Ei": {Units: math.MaxInt64}, "8Ei": {Units: math.MaxInt64}, "7Ei": {Units: 7 << 60}, "1e1000": {Units: math.MaxInt64},
		"1e-1000": {Billth: 1}, "0.1n": {Billth: 1}, "-0.1n": {Units: -1, Billth: 999_999_999}, "-1500m": {Units: -2, Billth: 500_000_000},
		"9223372036854775807": {Units: math.MaxInt64}, "9223372036854775808": {Units: math.MaxInt64}, "007": {Units: 7}, "0.000": {},
	} {
		if got, err := placement.ParseAmount(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "m", ".", "-", "1x", "1mm", "1.2.3", "1 ", " 1", "1e", "1e1.5", "e3", "+-1", "1-", "1ki", "1K", "0x1", "1e3Ki"} {
		if got, err := placement.ParseAmount(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// TestAmounts compares sums and roundings with fractions.
func TestAmounts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	fraction := func(a placement.Amount) *big.Rat {
		return new(big.Rat).Add(new(big.Rat).SetInt64(a.Units), big.NewRat(int64(a.Billth), 1_000_000_000))
	}
	for range 20_000 {
		number := func() (string, *big.Rat) {
			text := strconv.Itoa(r.IntN(2000)) + "." + strconv.Itoa(r.IntN(1_000_000))
			suffix := []string{"", "m", "Ki", "Mi", "k", "M"}[r.IntN(6)]
			text += suffix
			want := rat(text)
			scaled := new(big.Rat).Mul(want, big.NewRat(1_000_000_000, 1))
			return text, big.NewRat(ceil(scaled), 1_000_000_000)
		}
		x, wantX := number()
		y, wantY := number()
		a, err := placement.ParseAmount(x)
		if err != nil || fraction(a).Cmp(wantX) != 0 {
			t.Fatalf("%s: got %v, %v; want %v", x, a, err, wantX)
		}
		b, err := placement.ParseAmount(y)
		if err != nil || a.Compare(b) != wantX.Cmp(wantY) {
			t.Fatalf("%s and %s compare as %d (%v)", x, y, a.Compare(b), err)
		}
		sum := new(big.Rat).Add(wantX, wantY)
		if got := a.Add(b); fraction(got).Cmp(sum) != 0 || got.Ceil() != ceil(sum) || got.CeilMilli() != ceil(new(big.Rat).Mul(sum, big.NewRat(1000, 1))) {
			t.Fatalf("%s + %s: got %v, want %v", x, y, got, sum)
		}
	}
	most := placement.Amount{Units: math.MaxInt64}
	if got := most.Add(placement.Amount{Units: 1, Billth: 5}); got != most || most.CeilMilli() != math.MaxInt64 {
		t.Error(got)
	}
}
