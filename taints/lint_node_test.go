package taints_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
)

// TestLintLeftover: taints whose reason is over are found, and those that may be on
// their way out, or are right, are not.
func TestLintLeftover(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) *time.Time { at := now.Add(-d); return &at }
	for _, tt := range []struct {
		taint fairlead.Taint
		ready fairlead.ConditionStatus
		other string // a condition that is False
		since time.Duration
		want  string
	}{
		{fairlead.Taint{Key: taints.KeyOutOfService, Value: "nodeshutdown", Effect: "NoExecute"}, "True", "", time.Hour, taints.LintLeftover},
		{fairlead.Taint{Key: taints.KeyOutOfService, Value: "nodeshutdown", Effect: "NoExecute"}, "Unknown", "", time.Hour, ""},
		{fairlead.Taint{Key: taints.KeyUnschedulable, Effect: "NoSchedule"}, "True", "", time.Hour, taints.LintLeftover},
		{fairlead.Taint{Key: taints.KeyUnreachable, Effect: "NoExecute"}, "True", "", time.Hour, taints.LintLeftover},
		{fairlead.Taint{Key: taints.KeyUnreachable, Effect: "NoExecute"}, "True", "", time.Minute, ""},
		{fairlead.Taint{Key: taints.KeyUnreachable, Effect: "NoExecute"}, "Unknown", "", time.Hour, ""},
		{fairlead.Taint{Key: taints.KeyDiskPressure, Effect: "NoSchedule"}, "True", "DiskPressure", time.Hour, taints.LintLeftover},
		{fairlead.Taint{Key: taints.KeyDiskPressure, Effect: "NoSchedule"}, "True", "", time.Hour, ""},
		{fairlead.Taint{Key: taints.KeyUninitialized, Value: "true", Effect: "NoSchedule", TimeAdded: ago(48 * time.Hour)}, "True", "", time.Hour, taints.LintLeftover},
		{fairlead.Taint{Key: taints.KeyUninitialized, Value: "true", Effect: "NoSchedule", TimeAdded: ago(time.Minute)}, "True", "", time.Hour, ""},
		{fairlead.Taint{Key: "ToBeDeletedByClusterAutoscaler", Value: fmt.Sprint(now.Add(-3 * time.Hour).Unix()), Effect: "NoSchedule"}, "True", "", time.Hour, taints.LintLeftover},
		{fairlead.Taint{Key: "ToBeDeletedByClusterAutoscaler", Value: fmt.Sprint(now.Add(-time.Minute).Unix()), Effect: "NoSchedule"}, "True", "", time.Hour, ""},
		{fairlead.Taint{Key: "node.kubernetes.io/out-of-servise", Effect: "NoExecute"}, "True", "", time.Hour, taints.LintTypo},
		{fairlead.Taint{Key: "dedicated", Effect: "NoSchedule"}, "True", "", time.Hour, ""},
	} {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n1"}}
		n.Spec.Taints = []fairlead.Taint{tt.taint}
		n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: tt.ready, LastHeartbeatTime: now, LastTransitionTime: now.Add(-tt.since)}}
		if tt.other != "" {
			n.Status.Conditions = append(n.Status.Conditions, fairlead.NodeCondition{Type: tt.other, Status: "False", LastTransitionTime: now.Add(-tt.since)})
		}
		found := taints.Lint(&taints.Cluster{Nodes: []fairlead.Node{n}}, nil)
		got := ""
		if len(found) > 0 {
			got = found[0].Code
		}
		if got != tt.want || len(found) > 1 {
			t.Errorf("%s, Ready=%s for %v: found %v, want %q", tt.taint, tt.ready, tt.since, found, tt.want)
		}
		if tt.want == taints.LintLeftover && !strings.Contains(found[0].Fix, "kubectl taint node n1 "+tt.taint.Key+":"+string(tt.taint.Effect)+"-") {
			t.Errorf("%s: the fix is %q", tt.taint, found[0].Fix)
		}
	}
}

// TestLintStock: tolerations of components of the cluster itself are no findings.
func TestLintStock(t *testing.T) {
	n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n1"}}
	p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "openshift-dns", Name: "dns"}}
	p.Spec.Tolerations = []fairlead.Toleration{{Key: "node.ocs.openshift.io/storage", Operator: fairlead.TolerationExists}}
	c := &taints.Cluster{Nodes: []fairlead.Node{n}, Pods: []fairlead.Pod{p}}
	if found := taints.Lint(c, nil); len(found) > 0 {
		t.Errorf("found %v", found)
	}
	c.Pods[0].Namespace = "shop"
	if found := taints.Lint(c, nil); len(found) != 1 {
		t.Errorf("of a user: found %v", found)
	}
}
