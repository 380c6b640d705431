package cvo_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo"
)

// The rows of the operator's TestSetCapabilities, TestSetCapabilitiesWithImplicitlyEnabled,
// TestGetCapabilitiesStatus and TestSetFromImplicitlyEnabledCapabilities: which
// capabilities are known and enabled by what is asked for, by what was enabled,
// and by feature gates.
func TestCapabilities(t *testing.T) {
	sets := &cvo.CapabilitySets{
		Known:   strings.Fields("marketplace baremetal openshift-samples MachineAPI Console ClusterAPI"),
		Sets:    map[string][]string{"None": nil, "v4.11": strings.Fields("baremetal marketplace openshift-samples MachineAPI"), "v4.20": strings.Fields("baremetal marketplace openshift-samples MachineAPI Console ClusterAPI")},
		Current: "v4.20",
		Gated:   map[string][]string{"ClusterAPI": {"MachineManagement", "Compatibility"}},
	}
	const every, gateless = "ClusterAPI Console MachineAPI baremetal marketplace openshift-samples", "Console MachineAPI baremetal marketplace openshift-samples"
	all, off := []string{"MachineManagement"}, []string{}
	spec := func(set, more string) *cvo.CapabilitiesSpec {
		return &cvo.CapabilitiesSpec{BaselineCapabilitySet: set, AdditionalEnabledCapabilities: strings.Fields(more)}
	}
	for _, c := range []struct {
		name                     string
		spec                     *cvo.CapabilitiesSpec
		before                   string // what the status has as enabled
		gates                    []string
		known, enabled, implicit string
	}{
		{"capabilities nil, all gates enabled", nil, "", all, every, every, ""},
		{"capabilities set not set, all gates enabled", spec("", ""), "", all, every, every, ""},
		{"set capabilities None, all gates enabled; empty capabilities", spec("None", ""), "", all, every, "", ""},
		{"set capabilities 4_11, all gates enabled; capabilities", spec("v4.11", ""), "", all, every, "MachineAPI baremetal marketplace openshift-samples", ""},
		{"set capabilities vCurrent, all gates enabled", spec("vCurrent", ""), "", all, every, every, ""},
		{"set capabilities None with additional, all gates enabled; already enabled capability", spec("None", "cap2 cap1 cap3 cap1"), "cap2", all, every, "cap1 cap2 cap3", ""},
		{"set capabilities 4_11 with additional, all gates enabled", spec("v4.11", "cap1"), "", all, every, "MachineAPI baremetal cap1 marketplace openshift-samples", ""},
		{"capabilities nil, no gates enabled", nil, "", off, gateless, gateless, ""},
		{"set capabilities vCurrent, no gates enabled", spec("vCurrent", ""), "", off, gateless, gateless, ""},
		{"gated capability in additional, gate disabled", spec("None", "baremetal ClusterAPI"), "", off, gateless, "baremetal", ""},
		{"gated capability in additional, another of its gates enabled", spec("None", "ClusterAPI"), "", []string{"Other", "Compatibility"}, every, "ClusterAPI", ""},
		{"set baseline capabilities with additional; implicitly enable capabilities", spec("vCurrent", ""), "cap1 cap2 cap3 cap2", all, every, "ClusterAPI Console MachineAPI baremetal cap1 cap2 cap3 marketplace openshift-samples", "cap1, cap2, cap3"},
		{"prior-enabled gated capability with gate disabled", spec("vCurrent", ""), "ClusterAPI cap1", off, gateless, "Console MachineAPI baremetal cap1 marketplace openshift-samples", "cap1"},
		{"nobody says which gates are enabled", nil, "", nil, gateless, gateless, ""},
	} {
		w := at("4.20.0")
		w.Own = cvo.Release{Version: "4.20.0", Image: "one"}
		w.Cluster.Spec.Capabilities = c.spec
		w.Cluster.Status.Capabilities.EnabledCapabilities = strings.Fields(c.before)
		w.Gates = c.gates
		told := false
		for _, a := range cvo.Step(cvo.State{}, w, noon, &cvo.Policy{Capabilities: sets}).Actions {
			write, ok := a.(cvo.WriteStatus)
			if !ok {
				continue
			}
			told = true
			known, enabled := strings.Join(write.Status.Capabilities.KnownCapabilities, " "), strings.Join(write.Status.Capabilities.EnabledCapabilities, " ")
			implicit := ""
			for _, cond := range write.Status.Conditions {
				if cond.Type == "ImplicitlyEnabledCapabilities" && cond.Status == cvo.True {
					_, implicit, _ = strings.Cut(cond.Message, ": ")
				}
			}
			if known != c.known || enabled != c.enabled || implicit != c.implicit {
				t.Errorf("%s:\nknown %s\nenabled %s\nimplicit %s", c.name, known, enabled, implicit)
			}
		}
		if !told {
			t.Errorf("%s: no status is written", c.name)
		}
	}
}
