package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
)

// TestNotRunning: what keeps a machine from running is named by its first cause, and a
// young or running one is left alone.
func TestNotRunning(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ready := func(status fairlead.ConditionStatus) []fairlead.NodeCondition {
		return []fairlead.NodeCondition{{Type: "Ready", Status: status, LastTransitionTime: now.Add(-time.Hour)}}
	}
	for _, tt := range []struct {
		want string
		edit func(m *lifecycle.Machine, n *lifecycle.Node)
	}{
		{"", func(*lifecycle.Machine, *lifecycle.Node) {}},
		{"", func(m *lifecycle.Machine, n *lifecycle.Node) {
			m.CreationTimestamp, m.Status.NodeRef, n.Spec.ProviderID, n.Name = now.Add(-time.Minute), nil, "", "stranger"
		}},
		{"MachineFailed no m5.large", func(m *lifecycle.Machine, _ *lifecycle.Node) {
			m.Status.Phase, m.Status.ErrorReason, m.Status.ErrorMessage = lifecycle.PhaseFailed, "InvalidConfiguration", "no m5.large"
		}},
		{"NoInstance quota", func(m *lifecycle.Machine, n *lifecycle.Node) {
			m.Spec.ProviderID, m.Status.NodeRef, n.Name, n.Spec.ProviderID = "", nil, "other", "cloud:///other"
			m.Status.Conditions = []lifecycle.Condition{{Type: "MachineCreation", Status: "False", Reason: "CreateError", Message: "quota"}}
		}},
		{"NoNode stranger", func(m *lifecycle.Machine, n *lifecycle.Node) {
			m.Status.NodeRef, n.Spec.ProviderID, n.Name = nil, "", "stranger"
		}},
		{"NodeOfAnother cloud:///new", func(_ *lifecycle.Machine, n *lifecycle.Node) { n.Spec.ProviderID = "cloud:///new" }},
		{"NodeNotReady reporting", func(_ *lifecycle.Machine, n *lifecycle.Node) { n.Status.Conditions = ready("Unknown") }},
		{"NodeGone n1", func(m *lifecycle.Machine, n *lifecycle.Node) { n.Name, n.Spec.ProviderID = "n2", "cloud:///2" }},
		{"InstanceMissing cloud", func(m *lifecycle.Machine, n *lifecycle.Node) {
			n.Name, n.Spec.ProviderID = "n2", "cloud:///2"
			m.Status.Conditions = []lifecycle.Condition{{Type: "InstanceExists", Status: "False"}}
		}},
		{"", func(m *lifecycle.Machine, n *lifecycle.Node) {
			n.Status.Conditions, m.DeletionTimestamp = ready("Unknown"), &now
		}},
	} {
		m := &lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Namespace: "api", Name: "m1", CreationTimestamp: now.Add(-3 * time.Hour)}}
		m.Spec.ProviderID, m.Status.NodeRef, m.Status.Phase = "cloud:///1", &lifecycle.NodeRef{Name: "n1"}, lifecycle.PhaseRunning
		n := lifecycle.Node{ObjectMeta: lifecycle.ObjectMeta{Name: "n1"}}
		n.Spec.ProviderID, n.Status.Conditions = "cloud:///1", ready("True")
		tt.edit(m, &n)
		b, ok := lifecycle.NotRunning(m, []lifecycle.Node{n}, now)
		reason, part, _ := strings.Cut(tt.want, " ")
		if ok != (tt.want != "") || ok && (b.Reason != reason || !strings.Contains(b.Message, part) || b.Unblock == "") {
			t.Errorf("want %q, got %v %v", tt.want, ok, fmt.Sprint(b))
		}
	}
}

// TestReported: of the Cluster API the conditions about a deletion count while it is
// deleted, in both of its versions, and say whether the drain is over.
func TestReported(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	m := &lifecycle.Machine{APIVersion: "cluster.x-k8s.io/v1beta1", ObjectMeta: lifecycle.ObjectMeta{DeletionTimestamp: &now}}
	m.Status.Conditions = []lifecycle.Condition{
		{Type: "NodeHealthy", Status: "False"}, {Type: "DrainingSucceeded", Status: "True"}, {Type: "VolumeDetachSucceeded", Status: "False", Reason: "WaitingForVolumeDetach"},
	}
	if got := lifecycle.Reported(m); len(got) != 1 || got[0].Type != "VolumeDetachSucceeded" || !lifecycle.DrainReported(m) {
		t.Errorf("v1beta1 reports %v, drained %v", got, lifecycle.DrainReported(m))
	}
	m.APIVersion = "cluster.x-k8s.io/v1beta2"
	m.Status.Conditions = []lifecycle.Condition{{Type: "Deleting", Status: "True", Reason: "DrainingNode", Message: "2 pods"}}
	if got := lifecycle.Reported(m); len(got) != 1 || lifecycle.DrainReported(m) {
		t.Errorf("v1beta2 reports %v, drained %v", got, lifecycle.DrainReported(m))
	}
	m.Status.Conditions[0].Reason = "WaitingForPreTerminateHook"
	if !lifecycle.DrainReported(m) {
		t.Error("v1beta2 is past its drain")
	}
}
