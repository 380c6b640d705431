package placement

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Amount is a quantity of a resource, exact to the billionth of a unit, as the
// API keeps it: whole units, and billionths from 0 to 999,999,999 on top.
// Amounts are compared with ==.
type Amount struct {
	Units  int64
	Billth int32 // billionths that are added to Units
}

const billion = 1_000_000_000

// maxAmount is the largest amount: the API caps larger quantities to it.
var maxAmount = Amount{Units: math.MaxInt64}

// suffixes are the scales of quantities: powers of ten or of two.
var suffixes = map[string]struct {
	base  int64
	power int64
}{
	"": {10, 0}, "n": {10, -9}, "u": {10, -6}, "m": {10, -3}, "k": {10, 3}, "M": {10, 6}, "G": {10, 9}, "T": {10, 12}, "P": {10, 15}, "E": {10, 18},
	"Ki": {2, 10}, "Mi": {2, 20}, "Gi": {2, 30}, "Ti": {2, 40}, "Pi": {2, 50}, "Ei": {2, 60},
}

// ParseAmount reads a quantity as the API writes it: a decimal number with an
// optional sign, then a suffix (n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi,
// Ei) or a power of ten (e3, E-2). Anything finer than a billionth is rounded
// away from zero, and anything above the 63 bits of a whole number is capped,
// both as in the API. The error repeats the text.
func ParseAmount(text string) (Amount, error) {
	number := len(text)
	for i := range len(text) {
		if c := text[i]; !(c >= '0' && c <= '9' || c == '.' || i == 0 && (c == '+' || c == '-')) {
			number = i
			break
		}
	}
	digits, suffix := text[:number], text[number:]
	base, power, ok := scale(suffix)
	if !ok {
		return Amount{}, fmt.Errorf("%q is not a quantity: %q is neither a suffix such as m, k, Mi nor a power of ten such as e3", text, suffix)
	}
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil && power == 0 && n >= 0 {
		return Amount{Units: n}, nil
	}
	return parseScaled(text, digits, base, power)
}

// scale returns the factor of a suffix.
func scale(suffix string) (base, power int64, ok bool) {
	if s, known := suffixes[suffix]; known {
		return s.base, s.power, true
	}
	if suffix[0] != 'e' && suffix[0] != 'E' {
		return 0, 0, false
	}
	n, err := strconv.ParseInt(suffix[1:], 10, 32)
	return 10, n, err == nil
}

// maxDigits limits the computation: numbers with more digits are either above
// the largest amount or below the smallest one.
const maxDigits = 60

func parseScaled(text, digits string, base, power int64) (Amount, error) {
	negative := strings.HasPrefix(digits, "-")
	digits = strings.TrimLeft(digits, "+-")
	whole, fraction, _ := strings.Cut(digits, ".")
	if whole+fraction == "" || strings.Contains(fraction, ".") || strings.ContainsAny(digits, "+-") {
		return Amount{}, fmt.Errorf("%q is not a quantity: it does not begin with a decimal number", text)
	}
	whole = strings.TrimLeft(whole, "0")
	fraction = strings.TrimRight(fraction, "0")
	n, _ := new(big.Int).SetString("0"+whole+fraction, 10)
	if n.Sign() == 0 {
		return Amount{}, nil
	}
	if base == 10 {
		size := int64(len(whole)) + power
		switch {
		case size > maxDigits:
			return limited(negative), nil
		case size < -maxDigits:
			n.SetInt64(1) // rounded up below
			fraction, power = strings.Repeat("0", maxDigits), 0
		}
	}
	// The amount in billionths is n * base^power * 10^(9 - len(fraction)).
	up, down := big.NewInt(billion), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(fraction))), nil)
	factor := new(big.Int).Exp(big.NewInt(base), big.NewInt(max(power, -power)), nil)
	if power >= 0 {
		up.Mul(up, factor)
	} else {
		down.Mul(down, factor)
	}
	n.Mul(n, up)
	rest := new(big.Int)
	n.QuoRem(n, down, rest)
	if rest.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	if negative {
		n.Neg(n)
	}
	units, billionths := new(big.Int).DivMod(n, big.NewInt(billion), new(big.Int))
	if !units.IsInt64() || units.Int64() == math.MaxInt64 {
		return limited(negative), nil
	}
	return Amount{Units: units.Int64(), Billth: int32(billionths.Int64())}, nil
}

func limited(negative bool) Amount {
	if negative {
		return Amount{Units: -math.MaxInt64}
	}
	return maxAmount
}

// Add returns the sum, capped at the largest amount.
func (a Amount) Add(b Amount) Amount {
	sum := Amount{Units: plus(a.Units, b.Units), Billth: a.Billth + b.Billth}
	if sum.Billth >= billion {
		sum.Billth -= billion
		sum.Units = plus(sum.Units, 1)
	}
	if sum.Units == math.MaxInt64 {
		return maxAmount
	}
	return sum
}

// plus adds with saturation at 64 bits.
func plus(a, b int64) int64 {
	sum := a + b
	switch {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	}
	return sum
}

// Compare returns -1, 0 or 1, as a is less than, equal to, or greater than b.
func (a Amount) Compare(b Amount) int {
	return cmp.Or(cmp.Compare(a.Units, b.Units), cmp.Compare(a.Billth, b.Billth))
}

// Ceil returns the amount in whole units, rounded up.
func (a Amount) Ceil() int64 {
	if a.Billth > 0 {
		return plus(a.Units, 1)
	}
	return a.Units
}

// CeilMilli returns the amount in thousandths of a unit, rounded up.
func (a Amount) CeilMilli() int64 {
	const limit = math.MaxInt64/1000 - 1
	switch {
	case a.Units > limit:
		return math.MaxInt64
	case a.Units < -limit:
		return math.MinInt64
	}
	milli := int64(a.Billth) / 1_000_000
	if int64(a.Billth)%1_000_000 > 0 {
		milli++
	}
	return a.Units*1000 + milli
}
