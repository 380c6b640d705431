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
