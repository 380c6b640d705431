package operators_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/solver/olm/install"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestHealth(t *testing.T) {
	two := int32(2)
	ready := appsv1.DeploymentStatus{ObservedGeneration: 3, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2}
	with := func(change func(*appsv1.DeploymentStatus)) appsv1.DeploymentStatus {
		s := ready
		change(&s)
		return s
	}
	condition := func(kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason string) []appsv1.DeploymentCondition {
		return []appsv1.DeploymentCondition{{Type: kind, Status: status, Reason: reason}}
	}
	for _, c := range []struct {
		what   string
		status appsv1.DeploymentStatus
		want   install.Health
	}{
		{"all pods are there", ready, install.Ready},
		{"it has not been observed", with(func(s *appsv1.DeploymentStatus) { s.ObservedGeneration = 2 }), install.Progressing},
		{"a pod is old", with(func(s *appsv1.DeploymentStatus) { s.UpdatedReplicas = 1 }), install.Progressing},
		{"an old pod is left", with(func(s *appsv1.DeploymentStatus) { s.Replicas = 3 }), install.Progressing},
		{"a pod is not available", with(func(s *appsv1.DeploymentStatus) { s.AvailableReplicas = 1 }), install.Progressing},
		{"it has taken too long", with(func(s *appsv1.DeploymentStatus) {
			s.Conditions = condition(appsv1.DeploymentProgressing, "False", "ProgressDeadlineExceeded")
		}), install.Broken},
		{"an older version has taken too long", with(func(s *appsv1.DeploymentStatus) {
			s.ObservedGeneration = 2
			s.Conditions = condition(appsv1.DeploymentProgressing, "False", "ProgressDeadlineExceeded")
		}), install.Progressing},
		{"pods cannot be made, which may pass", with(func(s *appsv1.DeploymentStatus) {
			s.AvailableReplicas = 0
			s.Conditions = condition(appsv1.DeploymentReplicaFailure, "True", "FailedCreate")
		}), install.Progressing},
	} {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d", Generation: 3}, Spec: appsv1.DeploymentSpec{Replicas: &two}, Status: c.status}
		if got, detail := operators.HealthOf(d); got != c.want || (detail == "") != (got == install.Ready) {
			t.Errorf("%s: %s, %q, want %s", c.what, got, detail, c.want)
		}
	}
}

func TestWarned(t *testing.T) {
	err := operators.Warned(t.Context(), func(ctx context.Context) error {
		operators.Warnings{}.HandleWarningHeaderWithContext(ctx, 299, "", "v1beta1 goes")
		operators.Warnings{}.HandleWarningHeaderWithContext(ctx, 199, "", "something else")
		operators.Warnings{}.HandleWarningHeaderWithContext(context.Background(), 299, "", "of another request")
		return nil
	})
	var warned *install.Warned
	if !errors.As(err, &warned) || !slices.Equal(warned.Warnings, []string{"v1beta1 goes"}) {
		t.Errorf("%v", err)
	}
	failed := errors.New("failed")
	if err := operators.Warned(t.Context(), func(context.Context) error { return failed }); err != failed {
		t.Errorf("%v, want the failure", err)
	}
	if err := operators.Warned(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Errorf("%v, want nothing", err)
	}
}

// recorded contains events, as "kind/name reason".
type recorded struct{ all []string }

func (r *recorded) Eventf(regarding, _ runtime.Object, _, reason, _, _ string, _ ...any) {
	o := regarding.(*corev1.ObjectReference)
	r.all = append(r.all, fmt.Sprintf("%s/%s %s", o.Kind, o.Name, reason))
}

// TestReport puts events on the objects concerned, once while a block lasts,
// and again when it recurs.
func TestReport(t *testing.T) {
	w := newWorld(t, nil)
	w.stock("Manual", onlyPipes())
	w.run(30)
	rec := &recorded{}
	report := operators.NewReporter(w.backend, rec)
	waits := fairlead.Pass{Blocked: []fairlead.Block{
		{Subject: "installplan install-1 step Service plumbing/x", Reason: install.ReasonUnsafeCRD},
		{Subject: "subscription pipes", Reason: install.ReasonHeld},
		{Subject: "catalog plumbing/plumbing", Reason: install.ReasonCatalog},
		{Subject: "catalog elsewhere/absent", Reason: install.ReasonCatalog},
		{Subject: "csv absent", Reason: install.ReasonFailed},
		{Subject: "cluster", Reason: "IncompatibleOperatorsInstalled"},
		{Subject: "csv absent", Reason: install.ReasonActionPending},
	}}
	for range 2 {
		report(t.Context(), ns, waits)
	}
	want := []string{
		"InstallPlan/install-1 UnsafeCRD", "Subscription/pipes UpdateHeld", "CatalogSource/plumbing CatalogUnhealthy",
		"OperatorGroup/plumbing CatalogUnhealthy", "OperatorGroup/plumbing Failed", "OperatorGroup/plumbing IncompatibleOperatorsInstalled",
	}
	if !slices.Equal(rec.all, want) {
		t.Errorf("events %q, want %q", rec.all, want)
	}
	rec.all = nil
	report(t.Context(), ns, fairlead.Pass{Err: errors.New("broken")})
	report(t.Context(), ns, fairlead.Pass{Blocked: waits.Blocked[1:2]})
	if want := []string{"OperatorGroup/plumbing PassFailed", "Subscription/pipes UpdateHeld"}; !slices.Equal(rec.all, want) {
		t.Errorf("events %q, want %q", rec.all, want)
	}
}
