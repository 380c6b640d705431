package quorum_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/lifecycle/quorum"
)

var start = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// TestEndpointsUnknown: no list of endpoints is not an empty one.
func TestEndpointsUnknown(t *testing.T) {
	for _, c := range []struct {
		endpoints []string
		actions   int
	}{{nil, 1}, {[]string{}, 0}} {
		w := plane(t, "a:deleting b c d")
		w.Endpoints = c.endpoints
		if d := quorum.Step(quorum.State{}, w, start, nil); len(d.Actions) != c.actions {
			t.Errorf("endpoints %#v: %v", c.endpoints, d.Actions)
		}
	}
}

// TestUnanswered: while etcd does not answer, new machines get the hook, and none loses it, whatever
// was known of the members; the plane and the machine that waits say so.
func TestUnanswered(t *testing.T) {
	for _, members := range []string{"a:deleting b c d", "a:deleting b c"} {
		w := plane(t, members)
		for i := range w.Machines {
			if m := &w.Machines[i]; !m.Deleting() && m.Name == "b" {
				m.Spec.LifecycleHooks.PreDrain = nil
			}
		}
		w.Unanswered = "members: connection refused"
		d := quorum.Step(quorum.State{}, w, start, nil)
		if set, is := d.Actions[0].(quorum.SetHook); len(d.Actions) != 1 || !is || !strings.HasSuffix(set.Machine, "b") {
			t.Errorf("%s: %v", members, d.Actions)
		}
		var told []string
		for _, b := range d.Blocked {
			if b.Reason == quorum.ReasonUnanswered && strings.HasSuffix(b.Message, w.Unanswered) {
				told = append(told, b.Subject)
			}
		}
		if len(told) != 2 || len(d.Blocked) != 2 {
			t.Errorf("%s: %v", members, d.Blocked)
		}
	}
}

// TestNoPlane: where no voter is desired, and there is none, nothing is waited for and nothing remembered.
func TestNoPlane(t *testing.T) {
	before := quorum.Step(quorum.State{}, &quorum.World{Desired: 3}, start, nil)
	if len(before.Blocked) != 1 || before.State.IsZero() {
		t.Fatalf("%+v", before)
	}
	if d := quorum.Step(before.State, &quorum.World{NoMachines: true}, start, nil); len(d.Blocked) > 0 || !d.State.IsZero() {
		t.Errorf("%+v", d)
	}
}

// TestResync: without anything to do the next look is after the policy's time, or a minute.
func TestResync(t *testing.T) {
	for policy, want := range map[*quorum.Policy]time.Duration{nil: time.Minute, {Resync: 5 * time.Minute}: 5 * time.Minute} {
		if d := quorum.Step(quorum.State{}, plane(t, "a b c"), start, policy); !d.Wake.Equal(start.Add(want)) {
			t.Errorf("%+v: %v", policy, d.Wake)
		}
	}
}

// TestStrayLearner: a dead learner without machine and node is removed even where the voters
// have no quorum to lose by it.
func TestStrayLearner(t *testing.T) {
	w := plane(t, "a b:sick c:sick d:behind:sick:gone")
	var got []string
	for _, a := range quorum.Step(quorum.State{}, w, start, nil).Actions {
		got = append(got, a.String())
	}
	if len(got) != 1 || !strings.Contains(got[0], "member d") {
		t.Errorf("%v", got)
	}
}
