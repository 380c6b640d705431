package cvo

import (
	"slices"
	"strings"
)

// KnownCapabilities returns the capabilities of OpenShift up to 4.22, the sets
// of them that a ClusterVersion may name (None, v4.11 to v4.18 and vCurrent),
// and the feature gates that some depend on, as in its API
// (config.openshift.io/v1). The caller owns the result, and may add what later
// releases know.
func KnownCapabilities() *CapabilitySets {
	out := &CapabilitySets{
		Sets: map[string][]string{"None": {}}, Current: "vCurrent",
		Gated: map[string][]string{
			"CompatibilityRequirements": {"CRDCompatibilityRequirementOperator", "ClusterAPIMachineManagement"},
			"ClusterAPI":                {"ClusterAPIMachineManagement"},
		},
	}
	for _, s := range []struct{ name, more string }{ // each includes those before it
		{"v4.11", "baremetal marketplace openshift-samples MachineAPI"},
		{"v4.12", "Console Insights Storage CSISnapshot"},
		{"v4.13", "NodeTuning"},
		{"v4.14", "Build DeploymentConfig ImageRegistry"},
		{"v4.15", "OperatorLifecycleManager CloudCredential"},
		{"v4.16", "Ingress CloudControllerManager"},
		{"v4.17", ""},
		{"v4.18", "OperatorLifecycleManagerV1"},
		{"vCurrent", "CompatibilityRequirements ClusterAPI"},
	} {
		out.Known = append(out.Known, strings.Fields(s.more)...)
		slices.Sort(out.Known)
		out.Sets[s.name] = slices.Clone(out.Known)
	}
	return out
}
