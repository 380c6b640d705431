package taints

import (
	"math"
	"strconv"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/decimal"
)

// Covers reports whether toleration t makes u redundant: t matches every taint
// that u matches, and for at least as long. It compares what the two match, not
// how they are written: an empty operator is Equal, and a value with Exists is
// ignored. A toleration that matches no value is compared by its key and
// effect. TolerationSeconds count where u matches taints of effect NoExecute;
// negative ones are 0.
//
// Whether numbers are compared makes no difference to u: an allowance must not
// become too wide when that option is turned on. Without the option, Lt and Gt
// cover only each other.
func Covers(t, u fairlead.Toleration, o *Options) bool {
	if !o.numbers() && compares(&t) && !compares(&u) {
		return false
	}
	return (t.Key == "" || t.Key == u.Key) && (t.Effect == "" || t.Effect == u.Effect) && outlasts(&t, &u) &&
		valuesOf(&t).holds(valuesOf(&u))
}

func compares(t *fairlead.Toleration) bool {
	return t.Operator == fairlead.TolerationLt || t.Operator == fairlead.TolerationGt
}

// outlasts reports whether t tolerates taints of effect NoExecute for at least as
// long as u, or u none.
func outlasts(t, u *fairlead.Toleration) bool {
	if u.Effect != "" && u.Effect != fairlead.NoExecute || t.TolerationSeconds == nil {
		return true
	}
	return u.TolerationSeconds != nil && max(*u.TolerationSeconds, 0) <= max(*t.TolerationSeconds, 0)
}

// valueSet is the set of taint values that a toleration accepts: all, one, or the
// whole numbers from low to high; none if low is above high.
type valueSet struct {
	all, one  bool
	value     string
	low, high int64
}

func valuesOf(t *fairlead.Toleration) valueSet {
	empty := valueSet{low: 1, high: 0}
	switch t.Operator {
	case fairlead.TolerationExists:
		return valueSet{all: true}
	case fairlead.TolerationEqual, "":
		return valueSet{one: true, value: t.Value}
	case fairlead.TolerationLt, fairlead.TolerationGt:
		bound, err := decimal.Parse(t.Value)
		switch {
		case err != nil || bound == math.MinInt64 && t.Operator == fairlead.TolerationLt || bound == math.MaxInt64 && t.Operator == fairlead.TolerationGt:
			return empty
		case t.Operator == fairlead.TolerationLt:
			return interval64(math.MinInt64, bound-1)
		}
		return interval64(bound+1, math.MaxInt64)
	}
	return empty
}

// interval64 returns the whole numbers from low to high, which may be just one.
func interval64(low, high int64) valueSet {
	if low == high {
		return valueSet{one: true, value: strconv.FormatInt(low, 10)}
	}
	return valueSet{low: low, high: high}
}

func (s valueSet) none() bool { return !s.all && !s.one && s.low > s.high }

// holds reports whether every value of other is in s.
func (s valueSet) holds(other valueSet) bool {
	switch {
	case s.all || other.none():
		return true
	case s.one:
		return other.one && other.value == s.value
	case other.one:
		n, err := decimal.Parse(other.value)
		return err == nil && s.low <= n && n <= s.high
	}
	return !other.all && s.low <= other.low && other.high <= s.high
}

// overlap reports whether some taint is matched by both.
func overlap(t, u *fairlead.Toleration) bool {
	keys := t.Key == "" || u.Key == "" || t.Key == u.Key
	effects := t.Effect == "" || u.Effect == "" || t.Effect == u.Effect
	return keys && effects && valuesOf(t).meets(valuesOf(u))
}

// meets reports whether some value is in both.
func (s valueSet) meets(other valueSet) bool {
	switch {
	case s.none() || other.none():
		return false
	case s.all || other.all:
		return true
	case s.one:
		return other.holds(s)
	case other.one:
		return s.holds(other)
	}
	return max(s.low, other.low) <= min(s.high, other.high)
}

// MergeTolerations returns the tolerations of both lists, in order, without those
// that another one covers; of equal ones it keeps the first. The arguments are
// not changed.
func MergeTolerations(first, second []fairlead.Toleration, o *Options) []fairlead.Toleration {
	all := append(append([]fairlead.Toleration(nil), first...), second...)
	var kept []fairlead.Toleration
	for i, t := range all {
		if !superfluous(all, i, t, o) {
			kept = append(kept, t)
		}
	}
	return kept
}

// superfluous reports whether another toleration covers the one at index i, and
// is not itself dropped in its favour.
func superfluous(all []fairlead.Toleration, i int, t fairlead.Toleration, o *Options) bool {
	for j, other := range all {
		if j != i && Covers(other, t, o) && (j < i || !Covers(t, other, o)) {
			return true
		}
	}
	return false
}
