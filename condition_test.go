package fairlead_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// A condition is put in place of the one of its type; the argument stays what
// it was, and is returned where nothing changes.
func TestSetCondition(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	is := func(kind string, status fairlead.ConditionStatus, reason string, at time.Time) fairlead.Condition {
		return fairlead.Condition{Type: kind, Status: status, Reason: reason, LastTransitionTime: at}
	}
	a, b := is("A", fairlead.ConditionTrue, "Why", noon), is("B", fairlead.ConditionFalse, "", noon)
	later := noon.Add(time.Hour)
	for _, c := range []struct {
		name string
		set  fairlead.Condition
		want []fairlead.Condition
		free bool // nothing changes, so nothing is allocated
	}{
		{"as it was, later", is("A", fairlead.ConditionTrue, "Why", later), []fairlead.Condition{a, b}, true},
		{"another reason", is("A", fairlead.ConditionTrue, "Other", later), []fairlead.Condition{is("A", fairlead.ConditionTrue, "Other", noon), b}, false},
		{"another status", is("A", fairlead.ConditionFalse, "Why", later), []fairlead.Condition{is("A", fairlead.ConditionFalse, "Why", later), b}, false},
		{"another type", is("C", fairlead.ConditionTrue, "", later), []fairlead.Condition{a, b, is("C", fairlead.ConditionTrue, "", later)}, false},
	} {
		list := append(make([]fairlead.Condition, 0, 8), a, b) // with room behind it
		got := fairlead.SetCondition(list, c.set)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, not %v", c.name, got, c.want)
		}
		_ = append(got, is("X", fairlead.ConditionTrue, "", noon))
		if !reflect.DeepEqual(list[:3], []fairlead.Condition{a, b, {}}) {
			t.Errorf("%s: the argument became %v", c.name, list[:3])
		}
		if n := testing.AllocsPerRun(10, func() { fairlead.SetCondition(list, c.set) }); (n == 0) != c.free {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}
