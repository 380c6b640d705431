package fleet_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func clusterKind(kind string) schema.GroupVersionKind {
	return machines.KindClusterAPI.GroupVersion().WithKind(kind)
}

// clusterWorld is a cluster of the Cluster API with a check for its workers, and one
// machine for each given node status; an empty status means a machine without a node.
func clusterWorld(t *testing.T, edit func(check, cluster *unstructured.Unstructured), statuses ...corev1.ConditionStatus) *world {
	c, cluster := object(clusterKind("MachineHealthCheck"), "c"), object(clusterKind("Cluster"), "prod")
	c.Object["spec"] = map[string]any{
		"clusterName": "prod", "selector": map[string]any{"matchLabels": map[string]any{"role": "worker"}},
		"checks": map[string]any{
			"nodeStartupTimeoutSeconds": int64(1200),
			"unhealthyNodeConditions":   []any{map[string]any{"type": "Ready", "status": "Unknown", "timeoutSeconds": int64(300)}},
		},
		"remediation": map[string]any{"triggerIf": map[string]any{"unhealthyLessThanOrEqualTo": "40%"}},
	}
	if edit != nil {
		edit(c, cluster)
	}
	all := []client.Object{c, cluster}
	for i, status := range statuses {
		pair := pair(i, status)
		m := pair[0].(*unstructured.Unstructured)
		m.SetGroupVersionKind(machines.KindClusterAPI)
		m.SetLabels(map[string]string{"role": "worker", "cluster.x-k8s.io/cluster-name": "prod"})
		m.SetCreationTimestamp(metav1.NewTime(now.Add(-15 * time.Minute)))
		if status == "" {
			m.Object["status"] = map[string]any{"phase": "Provisioned"}
			pair = pair[:1]
		}
		all = append(all, pair...)
	}
	other := object(machines.KindClusterAPI, "other") // of another cluster, and unhealthy
	other.SetLabels(map[string]string{"role": "worker", "cluster.x-k8s.io/cluster-name": "test"})
	w := newWorld(t, append(all, other)...)
	w.backend.Kind = machines.KindClusterAPI
	return w
}

// told returns the conditions of an object, as TYPE STATUS REASON.
func (w *world) told(kind, name string) []string {
	w.Helper()
	u := object(clusterKind(kind), name)
	if err := w.Get(w.Context(), client.ObjectKeyFromObject(u), u); err != nil {
		w.Fatal(err)
	}
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	var out []string
	for _, c := range all {
		c := c.(map[string]any)
		if c["severity"] != nil || c["reason"] == "" || c["lastTransitionTime"] == nil {
			w.Errorf("%s %s: condition %v is not of the form of v1beta2", kind, name, c)
		}
		out = append(out, fmt.Sprint(c["type"], " ", c["status"], " ", c["reason"]))
	}
	return out
}

func (w *world) says(kind, name string, want ...string) {
	w.Helper()
	if is := w.told(kind, name); !slices.Equal(is, want) {
		w.Errorf("%s %s: %q, want %q", kind, name, is, want)
	}
}

// TestClusterAPI asks the owner of an unhealthy machine to replace it, by conditions;
// it deletes nothing, and does not write unchanged conditions again.
func TestClusterAPI(t *testing.T) {
	w := clusterWorld(t, nil, "Unknown", "True", "True")
	r := w.check()
	if !slices.Equal(r.Remediate, []string{"fleet/m0"}) || r.Total != 3 {
		t.Errorf("%+v", r)
	}
	if want := []string{"status m0", "status m1", "status m2", "status c"}; !slices.Equal(w.writes, want) {
		t.Errorf("writes %q, want %q", w.writes, want)
	}
	w.says("Machine", "m0", "HealthCheckSucceeded False UnhealthyNode", "OwnerRemediated False WaitingForRemediation")
	w.says("Machine", "m1", "HealthCheckSucceeded True HealthCheckSucceeded")
	w.says("MachineHealthCheck", "c", "RemediationAllowed True RemediationAllowed")
	w.says("Machine", "other")
	if w.writes = nil; len(w.check().Remediate) != 1 || len(w.writes) > 0 {
		t.Errorf("at rest: writes %q", w.writes)
	}
	// Its node reports again before the owner has begun.
	n := &corev1.Node{}
	if err := w.Get(t.Context(), client.ObjectKey{Name: "n0"}, n); err != nil {
		t.Fatal(err)
	}
	n.Status.Conditions[0].Status = corev1.ConditionTrue
	if err := w.Status().Update(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	w.check()
	w.says("Machine", "m0", "HealthCheckSucceeded True HealthCheckSucceeded", "OwnerRemediated False WaitingForRemediation") // the owner removes that
}

// TestClusterAPIChanged writes nothing to a machine that has changed since it was
// observed.
func TestClusterAPIChanged(t *testing.T) {
	w := clusterWorld(t, nil, "Unknown", "True", "True")
	w.changes = "m0"
	_, err := w.backend.Check(t.Context(), "fleet/c", now)
	var refused *fairlead.RefusedError
	if !errors.As(err, &refused) || refused.Code != 409 {
		t.Errorf("%v, want a conflict", err)
	}
	w.changes = ""
	w.says("Machine", "m0")
}

// TestClusterAPIHolds replaces nothing when too many machines are unhealthy, while a
// node may still appear, or while the cluster is paused.
func TestClusterAPIHolds(t *testing.T) {
	w := clusterWorld(t, nil, "Unknown", "Unknown", "True")
	if r := w.check(); len(r.Remediate) > 0 || len(r.Blocked) != 1 || r.Blocked[0].Reason != "TooManyUnhealthy" {
		t.Errorf("%+v", r)
	}
	w.says("Machine", "m0", "HealthCheckSucceeded False UnhealthyNode")
	w.says("MachineHealthCheck", "c", "RemediationAllowed False TooManyUnhealthy")

	w = clusterWorld(t, nil, "", "True", "True")
	if r := w.check(); len(r.Remediate) > 0 || r.Wake != now.Add(5*time.Minute+time.Second) {
		t.Errorf("%+v", r)
	}
	w.says("Machine", "m0")
	if r, err := w.backend.Check(t.Context(), "fleet/c", now.Add(6*time.Minute)); err != nil || !slices.Equal(r.Remediate, []string{"fleet/m0"}) {
		t.Errorf("%+v, %v", r, err)
	}
	w.says("Machine", "m0", "HealthCheckSucceeded False NodeStartupTimeout", "OwnerRemediated False WaitingForRemediation")

	w = clusterWorld(t, func(_, cluster *unstructured.Unstructured) { cluster.Object["spec"] = map[string]any{"paused": true} }, "Unknown", "True", "True")
	if r := w.check(); len(w.writes) > 0 || r.Blocked[0].Reason != "Paused" {
		t.Errorf("writes %q, %+v", w.writes, r)
	}
	w = clusterWorld(t, func(c, _ *unstructured.Unstructured) {
		_ = unstructured.SetNestedSlice(c.Object, []any{map[string]any{"expression": "false", "message": "no"}}, "spec", "checks", "unhealthyExpressions")
	}, "True")
	if _, err := w.backend.Check(t.Context(), "fleet/c", now); err == nil || !strings.Contains(err.Error(), "health check fleet/c: spec.checks.unhealthyExpressions: expressions are not evaluated") {
		t.Error(err)
	}
}

// TestClusterAPITemplate leaves the replacement to the controller of the
// template.
func TestClusterAPITemplate(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "infrastructure.example.com", Version: "v1", Kind: "RebootTemplate"}
	w := clusterWorld(t, func(c, _ *unstructured.Unstructured) {
		_ = unstructured.SetNestedStringMap(c.Object, map[string]string{"apiVersion": "infrastructure.example.com/v1", "kind": "RebootTemplate", "name": "reboot"}, "spec", "remediation", "templateRef")
	}, "Unknown", "True", "True")
	if err := w.Create(t.Context(), object(kind, "reboot")); err != nil {
		t.Fatal(err)
	}
	w.check()
	w.check()
	kind.Kind = "Reboot"
	made := object(kind, "m0")
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(made), made); err != nil {
		t.Fatal(err)
	}
	if o := made.GetOwnerReferences()[0]; o.APIVersion != "cluster.x-k8s.io/v1beta2" || o.UID != "u-m0" {
		t.Errorf("%+v", o)
	}
	w.says("Machine", "m0", "HealthCheckSucceeded False UnhealthyNode", "ExternallyRemediated False WaitingForRemediation")
}

// TestClusterAPIScaleDown marks machines as the Cluster API does.
func TestClusterAPIScaleDown(t *testing.T) {
	w := clusterWorld(t, nil, "True", "True")
	set := object(clusterKind("MachineSet"), "s")
	set.Object["spec"] = map[string]any{"replicas": int64(2), "deletion": map[string]any{"order": "Newest"}}
	if err := w.Create(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	picks, err := w.backend.ScaleDown(t.Context(), "fleet/s", 1, now)
	if err != nil || len(picks) != 1 {
		t.Fatalf("%v, %v", picks, err)
	}
	m := object(clusterKind("Machine"), picks[0].Machine.Name)
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(m), m); err != nil || m.GetAnnotations()["cluster.x-k8s.io/delete-machine"] == "" {
		t.Errorf("%v, %v", m.GetAnnotations(), err)
	}
}
