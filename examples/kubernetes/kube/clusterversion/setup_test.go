package clusterversion_test

import (
	"context"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/clusterversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
)

// An unreadable ClusterVersion is reported once, as an event, and the pass is
// retried according to the controller's rate limiter.
func TestReconcilerTells(t *testing.T) {
	c := newCluster(t, clusterversion.Options{Own: releaseA}, clusterVersion())
	m := manage(c, nil)
	recorder := events.NewFakeRecorder(100)
	told := &kube.Events{Recorder: recorder, Action: "Update", Object: func(context.Context, string) runtime.Object { return clusterVersion() }}
	r := &kube.Reconciler{Pass: m.pass, Report: told.Report, Clock: c.clock}
	for range 3 {
		if _, err := r.Reconcile(t.Context(), kube.RequestOf("version")); err != nil {
			t.Fatal(err)
		}
	}
	c.retrieved()
	for range 3 {
		if _, err := r.Reconcile(t.Context(), kube.RequestOf("version")); err != nil {
			t.Fatal(err)
		}
	}
	all := drain(recorder)
	if n := strings.Count(all, "there is no image"); n != 1 {
		t.Errorf("reported %d times: %s", n, all)
	}
	m.edit(m.read("config.openshift.io/v1", "ClusterVersion", "version"), "spec.overrides", "{a: b}")
	for range 3 {
		if _, err := r.Reconcile(t.Context(), kube.RequestOf("version")); err == nil || !strings.Contains(err.Error(), "does not have the expected form") {
			t.Errorf("%v", err)
		}
	}
	if all := drain(recorder); strings.Count(all, "Warning PassFailed") != 1 {
		t.Errorf("reported %s", all)
	}
}

func drain(r *events.FakeRecorder) string {
	var all []string
	for len(r.Events) > 0 {
		all = append(all, <-r.Events)
	}
	return strings.Join(all, "\n")
}
