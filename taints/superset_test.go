package taints_test

import (
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/taints"
)

// universe is every taint of few words: with numbers around those that
// tolerations name, so that every interval has some inside and some outside.
func universe() []fairlead.Taint {
	var all []fairlead.Taint
	for _, key := range []string{"a", "b", "z"} {
		for _, effect := range []fairlead.TaintEffect{fairlead.NoSchedule, fairlead.NoExecute, fairlead.PreferNoSchedule, "Other"} {
			for _, value := range []string{"", "x", "y", "0", "1", "2", "3", "4", "07", "-9223372036854775808", "-9223372036854775807", "9223372036854775807", "9223372036854775806"} {
				all = append(all, fairlead.Taint{Key: key, Value: value, Effect: effect})
			}
		}
	}
	return all
}

func (d draw) comparable() fairlead.Toleration {
	t := d.toleration()
	t.Key = d.of("", "a", "a", "b")
	t.Operator = fairlead.TolerationOperator(d.of("", "Equal", "Exists", "Lt", "Gt"))
	t.Value = d.of("", "x", "1", "2", "3", "-9223372036854775807", "9223372036854775806", "9223372036854775807", "-9223372036854775808")
	return t
}

// TestCoversAgrees compares Covers with what the two match among all taints of a
// small universe, in both directions.
func TestCoversAgrees(t *testing.T) {
	d, all := newDraw(7), universe()
	numbers := &taints.Options{ComparisonOperators: true}
	yes := 0
	for range long.N(20_000, 2_000_000) {
		a, b := d.comparable(), d.comparable()
		superset, any := true, false
		for _, taint := range all {
			if b.ToleratesNumber(taint) {
				any = true
				superset = superset && a.ToleratesNumber(taint) && lastsAsLong(a, b, taint)
			}
		}
		got := taints.Covers(a, b, numbers)
		if any && got != superset || !any && got && !superset {
			t.Fatalf("%v covers %v: got %v, want %v", a, b, got, superset)
		}
		if got && !taints.Covers(a, b, nil) && a.Operator != fairlead.TolerationLt && a.Operator != fairlead.TolerationGt {
			t.Fatalf("%v covers %v: not without numbers", a, b)
		}
		if plain := taints.Covers(a, b, nil); plain && any {
			for _, taint := range all {
				if b.Tolerates(taint) && !a.Tolerates(taint) {
					t.Fatalf("%v covers %v without numbers, but not %v", a, b, taint)
				}
			}
		}
		if got {
			yes++
		}
	}
	if yes < 1000 {
		t.Errorf("only %d were covered", yes)
	}
}

func lastsAsLong(a, b fairlead.Toleration, taint fairlead.Taint) bool {
	switch {
	case taint.Effect != fairlead.NoExecute || a.TolerationSeconds == nil:
		return true
	case b.TolerationSeconds == nil:
		return false
	}
	return max(*b.TolerationSeconds, 0) <= max(*a.TolerationSeconds, 0)
}

// TestMergeKeepsTheMeaning: what was tolerated by either list is tolerated by the
// merged one, as long, and nothing else.
func TestMergeKeepsTheMeaning(t *testing.T) {
	d, all := newDraw(8), universe()
	o := &taints.Options{ComparisonOperators: true}
	for range long.N(1_000, 100_000) {
		var lists [2][]fairlead.Toleration
		for i := range lists {
			for range d.IntN(4) {
				lists[i] = append(lists[i], d.comparable())
			}
		}
		merged := taints.MergeTolerations(lists[0], lists[1], o)
		both := append(append([]fairlead.Toleration(nil), lists[0]...), lists[1]...)
		for _, taint := range all {
			if longest(both, taint, o) != longest(merged, taint, o) {
				t.Fatalf("%v and %v merge to %v: %v is treated otherwise", lists[0], lists[1], merged, taint)
			}
		}
		for i, a := range merged {
			for j, b := range merged {
				if i != j && taints.Covers(a, b, o) {
					t.Fatalf("%v: %v is superfluous", merged, b)
				}
			}
		}
	}
}

// longest is how long a taint is tolerated at most: -1 not at all.
func longest(list []fairlead.Toleration, taint fairlead.Taint, o *taints.Options) int64 {
	most := int64(-1)
	for i := range list {
		if !list[i].Matches(&taint, o.ComparisonOperators) {
			continue
		}
		seconds := int64(1 << 40)
		if s := list[i].TolerationSeconds; s != nil && taint.Effect == fairlead.NoExecute {
			seconds = max(*s, 0)
		}
		most = max(most, seconds)
	}
	return most
}

// TestFix: what is advised tolerates the taint, is valid if the taint is, and
// tolerates no other one of the universe.
func TestFix(t *testing.T) {
	for _, taint := range universe() {
		fix := taints.Fix(taint)
		if !fix.Tolerates(taint) {
			t.Errorf("%v does not tolerate %v", fix, taint)
		}
		if taints.ValidateTaints([]fairlead.Taint{taint}, nil) != nil {
			continue
		}
		if err := taints.ValidateTolerations([]fairlead.Toleration{fix}, nil); err != nil {
			t.Errorf("%v: %v", taint, err)
		}
		for _, other := range universe() {
			if other != taint && fix.Tolerates(other) {
				t.Errorf("the fix of %v tolerates %v, too", taint, other)
			}
		}
	}
}
