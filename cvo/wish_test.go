package cvo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
)

// Who asks by its version for a conditional update that is not recommended is
// told which risk it has, and how to accept it.
func TestConditionalByVersion(t *testing.T) {
	risk := func(name string, applies cvo.ConditionStatus) cvo.ConditionalUpdateRisk {
		return cvo.ConditionalUpdateRisk{Name: name, Conditions: []cvo.Condition{{Type: "Applies", Status: applies}}}
	}
	cv := &cvo.ClusterVersion{Spec: cvo.Spec{DesiredUpdate: &cvo.Update{Version: "4.18.5"}}}
	cv.Status.Desired = cvo.Release{Version: "4.18.0", Image: "r@sha256:0"}
	cv.Status.ConditionalUpdateRisks = []cvo.ConditionalUpdateRisk{risk("Applies", cvo.True), risk("Harmless", cvo.False), risk("Unclear", cvo.Unknown)}
	cv.Status.ConditionalUpdates = []cvo.ConditionalUpdate{{
		Release:    cvo.Release{Version: "4.18.5", Image: "r@sha256:5"},
		Risks:      []graph.Risk{{Name: "Applies"}, {Name: "Harmless"}, {Name: "Unclear"}, {Name: "New"}},
		Conditions: []cvo.Condition{{Type: "Recommended", Status: cvo.False, Reason: "MultipleReasons", Message: "..."}},
	}}
	found := cvo.Validate(cv, nil)
	if len(found) != 1 {
		t.Fatalf("found %v", found)
	}
	message := found[0].Error()
	for _, part := range []string{"Applies", "Unclear", "New", "spec.desiredUpdate.acceptRisks", "r@sha256:5"} {
		if !strings.Contains(message, part) {
			t.Errorf("%s: it does not say %s", message, part)
		}
	}
	if strings.Contains(message, "Harmless") {
		t.Errorf("%s: Harmless does not apply", message)
	}
	cv.Spec.DesiredUpdate.AcceptRisks = []cvo.AcceptRisk{{Name: "Applies"}}
	if message := cvo.Validate(cv, nil)[0].Error(); strings.Contains(message, "Applies,") || !strings.Contains(message, "Unclear, New") {
		t.Errorf("%s: Applies is accepted", message)
	}
}

// A status that lists no risks by themselves is of a definition that has no
// acceptRisks: the server would drop it, so nobody is told to set it.
func TestConditionalWithoutAcceptRisks(t *testing.T) {
	for status, parts := range map[cvo.ConditionStatus][]string{
		cvo.False:   {"not recommended for this cluster, because of SlowDisks, Leaks; to take it anyway, request its image r@sha256:5"},
		cvo.Unknown: {"not known yet whether it is recommended", "r@sha256:5"},
	} {
		cv := &cvo.ClusterVersion{Spec: cvo.Spec{DesiredUpdate: &cvo.Update{Version: "4.18.5"}}}
		cv.Status.Desired = cvo.Release{Version: "4.18.0", Image: "r@sha256:0"}
		cv.Status.ConditionalUpdates = []cvo.ConditionalUpdate{{
			Release:    cvo.Release{Version: "4.18.5", Image: "r@sha256:5"},
			Risks:      []graph.Risk{{Name: "SlowDisks"}, {Name: "Leaks"}},
			Conditions: []cvo.Condition{{Type: "Recommended", Status: status}},
		}}
		message := cvo.Validate(cv, nil).Error()
		for _, part := range parts {
			if !strings.Contains(message, part) {
				t.Errorf("%s: it does not say %s", message, part)
			}
		}
		if strings.Contains(message, "acceptRisks") {
			t.Errorf("%s: the field is not there", message)
		}
	}
}

// Sets of capabilities and capabilities that nobody knows are refused, and ask
// for nothing.
func TestUnknownCapabilities(t *testing.T) {
	for _, c := range []struct{ set, more, want string }{
		{"", "", ""}, {"None", "", ""}, {"v4.18", "", ""}, {"vCurrent", "Build", ""},
		{"v9.99", "", "spec.capabilities.baselineCapabilitySet"},
		{"v4.18", "Build Bogus", "spec.capabilities.additionalEnabledCapabilities[1]"},
		{"nine", "Bogus", "spec.capabilities.baselineCapabilitySet spec.capabilities.additionalEnabledCapabilities[0]"},
	} {
		cv := &cvo.ClusterVersion{Spec: cvo.Spec{Capabilities: &cvo.CapabilitiesSpec{BaselineCapabilitySet: c.set, AdditionalEnabledCapabilities: strings.Fields(c.more)}}}
		var got []string
		for _, e := range cvo.Validate(cv, nil) {
			got = append(got, e.Path)
			if !strings.Contains(e.Problem, "v4.18") && !strings.Contains(e.Problem, "Build") {
				t.Errorf("%v: it does not say what there is", e)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	own := &cvo.CapabilitySets{Known: []string{"A"}, Sets: map[string][]string{"mine": {"A"}}}
	cv := &cvo.ClusterVersion{Spec: cvo.Spec{Capabilities: &cvo.CapabilitiesSpec{BaselineCapabilitySet: "mine"}}}
	if found := cvo.Validate(cv, own); len(found) > 0 {
		t.Errorf("%v", found)
	}
}

// The order in which a backend lists what it sees does not matter.
func TestAnyOrder(t *testing.T) {
	s := newStage(t)
	var parts []part
	for i := range 5 {
		parts = append(parts, part{runlevel: 10, component: fmt.Sprintf("c%d", i), operator: true})
	}
	s.backend.SetRelease("r@a", release(t, "4.18.0", parts, nil), true, 0)
	s.backend.turned = true
	s.backend.SetCluster("c", cvo.Spec{}, cvo.Release{Version: "4.18.0", Image: "r@a"})
	s.run(10 * 60e9)
	if h := s.backend.Version("c").Status.History; len(h) != 1 || h[0].State != cvo.Completed {
		t.Errorf("%+v; %v", h, s.last.Blocked)
	}
}
