package solver

import (
	"cmp"
	"math"
	"math/bits"
)

// efforts is a sum of efforts. It is exact, however large they are: a set of
// drops always takes more effort than a part of it, and the last resort stays
// the last.
type efforts struct{ high, low uint64 }

// effortOf returns an effort, which is at least 0, as a sum.
func effortOf(effort int) efforts { return efforts{low: uint64(effort)} }

func (e efforts) plus(o efforts) efforts {
	low, carry := bits.Add64(e.low, o.low, 0)
	return efforts{e.high + o.high + carry, low}
}

func (e efforts) compare(o efforts) int {
	return cmp.Or(cmp.Compare(e.high, o.high), cmp.Compare(e.low, o.low))
}

// int returns the sum, or the largest int if it does not fit.
func (e efforts) int() int {
	if e.high > 0 || e.low > math.MaxInt {
		return math.MaxInt
	}
	return int(e.low)
}
