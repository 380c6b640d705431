package gate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/gate"
)

func upgradeable(status fairlead.ConditionStatus, generation int64, message string) []gate.Condition {
	return []gate.Condition{
		{Type: "Other", Status: fairlead.ConditionFalse},
		{Type: gate.UpgradeableCondition, Status: status, ObservedGeneration: generation, Message: message},
	}
}

func TestUpgradeable(t *testing.T) {
	for _, c := range []struct {
		name              string
		conditions, admin []gate.Condition
		open              bool
		message           string // part of it
	}{
		{"no condition", nil, nil, true, ""},
		{"other conditions", upgradeable("", 7, "")[:1], nil, true, ""},
		{"true", upgradeable("True", 7, ""), nil, true, ""},
		{"unknown", upgradeable("Unknown", 7, ""), nil, true, ""},
		{"false", upgradeable("False", 7, "migrating"), nil, false, "not ready for it (migrating); wait for it, or override"},
		{"outdated false", upgradeable("False", 6, ""), nil, false, "outdated: it was judged by generation 6, the object is at 7"},
		{"outdated true", upgradeable("True", 6, ""), nil, false, "outdated"},
		{"override true", upgradeable("False", 7, "migrating"), upgradeable("True", 0, "known bug"), true, "not ready (migrating) (known bug)"},
		{"override true of true", upgradeable("True", 7, ""), upgradeable("True", 0, "just so"), true, ""},
		{"override true of outdated", upgradeable("False", 6, ""), upgradeable("True", 0, ""), true, "not ready"},
		{"override false", upgradeable("True", 7, ""), upgradeable("False", 0, "freeze"), false, "administrator forbids it (freeze); remove the override"},
		{"override unknown", upgradeable("False", 7, ""), upgradeable("Unknown", 0, ""), false, "not ready for it; wait"},
		{"override of another", upgradeable("False", 7, ""), upgradeable("", 0, "")[:1], false, "not ready"},
	} {
		v := gate.Upgradeable(&gate.OperatorCondition{
			ObjectMeta: gate.ObjectMeta{Name: "eagle.v1", Namespace: "ops", Generation: 7},
			Spec:       gate.OperatorConditionSpec{Overrides: c.admin},
			Status:     gate.OperatorConditionStatus{Conditions: c.conditions},
		})
		if v.Open != c.open || !strings.Contains(v.Message, c.message) || (v.Message == "") != (c.message == "") || v.Open != (v.Reason == "") {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
	if v := gate.Upgradeable(nil); !v.Open {
		t.Errorf("no object: %+v", v)
	}
}

// The spec counts only once it has been observed.
func TestObserve(t *testing.T) {
	c := gate.OperatorCondition{Spec: gate.OperatorConditionSpec{Conditions: upgradeable("False", 0, "")}}
	if !gate.Upgradeable(&c).Open {
		t.Error("a condition of the spec counts before it was observed")
	}
	c.Status = c.Observe()
	if gate.Upgradeable(&c).Open {
		t.Error("an observed condition does not count")
	}
	c.Status.Conditions[1].Status = fairlead.ConditionTrue
	if c.Spec.Conditions[1].Status != fairlead.ConditionFalse {
		t.Error("status and spec share memory")
	}
}

func TestApproval(t *testing.T) {
	sub := func(name string, a olm.Approval) olm.Subscription {
		return olm.Subscription{ObjectMeta: olm.ObjectMeta{Name: name}, Spec: olm.SubscriptionSpec{InstallPlanApproval: a}}
	}
	for _, c := range []struct {
		subs     []olm.Subscription
		approved bool
		want     olm.Approval
		open     bool
	}{
		{nil, false, olm.ApprovalAutomatic, true},
		{[]olm.Subscription{sub("a", ""), sub("b", olm.ApprovalAutomatic)}, false, olm.ApprovalAutomatic, true},
		{[]olm.Subscription{sub("a", ""), sub("b", olm.ApprovalManual)}, false, olm.ApprovalManual, false},
		{[]olm.Subscription{sub("a", olm.ApprovalManual), sub("b", olm.ApprovalManual)}, true, olm.ApprovalManual, true},
	} {
		if got, _ := gate.Approval(c.subs); got != c.want {
			t.Errorf("%v: %s", c.subs, got)
		}
		v := gate.Approve(c.subs, c.approved)
		if v.Open != c.open || !c.open && !strings.Contains(v.Message, "since b ask for it") {
			t.Errorf("%v: %+v", c.subs, v)
		}
	}
}

func csv(name string, values ...string) olm.ClusterServiceVersion {
	made := olm.ClusterServiceVersion{ObjectMeta: olm.ObjectMeta{Name: name, Namespace: "ops"}}
	if values == nil {
		return made
	}
	var props []string
	for _, v := range values {
		props = append(props, fmt.Sprintf(`{"type":"olm.maxOpenShiftVersion","value":%s}`, v))
	}
	made.Annotations = map[string]string{olm.PropertiesAnnotation: `{"properties":[` + strings.Join(props, ",") + `]}`}
	return made
}

func TestMaxOpenShift(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   string
		err    string
	}{
		{nil, "", ""},
		{[]string{`"4.19"`}, "4.19", ""},
		{[]string{`"4.10"`}, "4.10", ""},
		{[]string{`"v4.9.3"`}, "4.9", ""},
		{[]string{`4.15`}, "4.15", ""},
		{[]string{`4.1`}, "", "4.10 prints as, too"},
		{[]string{`4.2`}, "", "4.20 prints as, too"},
		{[]string{`"soon"`}, "", "is not a version"},
		{[]string{`"0.19"`}, "", "is not a version"},
		{[]string{`{}`}, "", "write a version in quotes"},
		{[]string{`"4.9"`, `"4.9"`}, "", "there 2 times"},
	} {
		made := csv("eagle.v1", c.values...)
		got, err := gate.MaxOpenShift(&made)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %q, %v", c.values, got, err)
		}
	}
}

func TestClusterUpdate(t *testing.T) {
	copied := csv("copy.v1", `"4.1"`)
	copied.Status.Reason = olm.ReasonCopied
	fleet := []olm.ClusterServiceVersion{csv("free.v1"), csv("owl.v1", `"4.20"`), copied, csv("eagle.v1", `"4.19"`)}
	for _, c := range []struct {
		from, to string
		csvs     []olm.ClusterServiceVersion
		want     string
	}{
		{"4.18.7", "4.19.0", fleet, ""},
		{"4.19.1", "4.19.9", fleet, ""},
		{"4.19.1", "4.20.0", fleet, "eagle.v1"},
		{"4.20.0-rc.1", "4.21.0", fleet, "owl.v1 eagle.v1"},
		{"4.19.1", "4.20.0", []olm.ClusterServiceVersion{csv("odd.v1", `"?"`)}, "odd.v1"},
		{"4.19.1", "4.19.2", []olm.ClusterServiceVersion{csv("odd.v1", `"?"`)}, ""},
	} {
		v, found, err := gate.ClusterUpdate(c.from, c.to, c.csvs)
		var names []string
		for _, f := range found {
			names = append(names, f.Operator.Name)
		}
		if err != nil || strings.Join(names, " ") != c.want || v.Open != (c.want == "") {
			t.Errorf("%s to %s: %q, %+v, %v", c.from, c.to, names, v, err)
		}
	}
	if _, _, err := gate.ClusterUpdate("4.19", "?", nil); err == nil {
		t.Error("no version is taken")
	}
	if _, _, err := gate.ClusterUpdate("?", "4.19", nil); err == nil {
		t.Error("no version is taken")
	}
}

// The next minor version is the one after the current, whatever its patch.
func TestNextMinor(t *testing.T) {
	for max, open := range map[string]bool{`"4.19"`: false, `"4.20"`: true} {
		v, found, err := gate.NextMinor("4.19.7", []olm.ClusterServiceVersion{csv("eagle.v1", max)})
		if err != nil || v.Open != open || (len(found) == 0) != open {
			t.Errorf("%s: %+v, %v, %v", max, v, found, err)
		}
	}
	if _, _, err := gate.NextMinor("?", nil); err == nil {
		t.Error("what is not a version is taken")
	}
}
