package clusterversion_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/clusterversion"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reporting marks the requests of a cache.
type reporting struct{}

// reports is a cache of a cluster, which may have stopped at a ClusterVersion.
type reports struct {
	client.Reader
	stopped *unstructured.Unstructured
}

func (r *reports) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if u, is := o.(*unstructured.Unstructured); is && r.stopped != nil && u.GetKind() == "ClusterVersion" {
		r.stopped.DeepCopyInto(u)
		return nil
	}
	return r.Reader.Get(context.WithValue(ctx, reporting{}, true), key, o, opts...)
}

// held is a cluster that runs a release, with no other requested.
type held struct {
	*cluster
	reports *reports
}

func newHeld(t *testing.T) *held {
	t.Helper()
	cv := set(clusterVersion(), "status", `{desired: {version: 1.0.0, image: `+imageA+`}, observedGeneration: 1, versionHash: "", availableUpdates: null,
		history: [{state: Completed, version: 1.0.0, image: `+imageA+`, verified: true, startedTime: "2026-03-01T10:00:00Z", completionTime: "2026-03-01T11:00:00Z"}]}`)
	h := &held{reports: &reports{}}
	h.cluster = newCluster(t, clusterversion.Options{Reports: h.reports}, cv)
	h.reports.Reader = h.cluster
	return h
}

// stop stops updates of the cache.
func (h *held) stop() {
	h.t.Helper()
	h.reports.stopped = h.read("config.openshift.io/v1", "ClusterVersion", "version")
}

// sees observes, and checks how often the ClusterVersion was read.
func (h *held) sees(what string, reads int) *cvo.ClusterVersion {
	h.t.Helper()
	h.gets = 0
	v := h.observe().Cluster
	if h.gets != reads {
		h.t.Errorf("%s: read %d times, want %d", what, h.gets, reads)
	}
	return v
}

// tell writes a status with a message.
func (h *held) tell(message string) error {
	h.t.Helper()
	status := h.observe().Cluster.Status
	status.Conditions = []cvo.Condition{{Type: "Failing", Status: cvo.False, Message: message, LastTransitionTime: noon}}
	return h.backend.Apply(h.t.Context(), "version", cvo.WriteStatus{Status: status})
}

// ask requests a release without the backend.
func (h *held) ask(update string) {
	h.t.Helper()
	h.edit(h.read("config.openshift.io/v1", "ClusterVersion", "version"), "spec", "{channel: stable-1, desiredUpdate: "+update+"}")
}

// The ClusterVersion is read again when it has changed, and while the requested
// release differs from the applied one.
func TestHeld(t *testing.T) {
	h := newHeld(t)
	h.sees("at first", 1)
	h.sees("at rest", 0)
	if err := h.tell("all is well"); err != nil {
		t.Fatal(err)
	}
	if v := h.sees("the answer to a write", 0); len(v.Status.Conditions) != 1 {
		t.Error(v.Status)
	}
	h.ask("{image: " + imageB + "}")
	for range 2 {
		if v := h.sees("another release", 1); v.Spec.DesiredUpdate == nil || v.Spec.DesiredUpdate.Image != imageB {
			t.Error(v.Spec.DesiredUpdate)
		}
	}
	h.ask("null")
	h.sees("none", 1)
	h.sees("at rest again", 0)
}

// A cache that lags behind does no harm.
func TestHeldWhileReportsLag(t *testing.T) {
	h := newHeld(t)
	h.sees("at first", 1)
	h.stop()
	for _, message := range []string{"one", "two"} {
		if err := h.tell(message); err != nil {
			t.Fatal(err) // it is based on the answer to the last write
		}
		if v := h.sees("own writes", 0); v.Status.Conditions[0].Message != message {
			t.Error(v.Status)
		}
	}
	h.ask("{image: " + imageB + "}")
	h.sees("the cache does not have the request", 0)
	var refused *fairlead.RefusedError
	if err := h.tell("three"); !errors.As(err, &refused) || refused.Reason != string(cvo.ClassConflict) {
		t.Errorf("%v, want a conflict", err)
	}
	if v := h.sees("after the conflict", 1); v.Spec.DesiredUpdate == nil {
		t.Error("the request is not noticed")
	}
	h.ask("null")
	if v := h.sees("taken back while the cache lags", 1); v.Spec.DesiredUpdate != nil {
		t.Error("a release is begun that is no longer requested")
	}
	h.lost = func(string) error {
		return apierrors.NewTimeoutError("the answer got lost", 1)
	}
	if err := h.tell("four"); err == nil {
		t.Error("no error")
	}
	h.lost = func(string) error { return nil }
	if v := h.sees("the answer got lost", 1); v.Status.Conditions[0].Message != "four" {
		t.Error(v.Status)
	}
	h.reports.stopped = nil
	if err := h.WithWatch.Delete(t.Context(), clusterVersion()); err != nil {
		t.Fatal(err)
	}
	if v := h.sees("gone", 1); v != nil {
		t.Error("it is gone, and seen")
	}
}

// Gates are read seldom, unless a release waits for them.
func TestGatesAreReadSeldom(t *testing.T) {
	h := newHeld(t)
	reads := 0
	h.fail = func(call string) error {
		if call == "get ConfigMap/admin-gates" {
			reads++
		}
		return nil
	}
	for _, c := range []struct {
		what, asked string
		after       time.Duration
		want        int
	}{
		{"at first", "null", 0, 1},
		{"at rest", "null", 59 * time.Second, 0},
		{"a minute later", "null", time.Second, 1},
		{"a release is asked for", "{image: " + imageB + "}", 9 * time.Second, 0},
		{"and waits", "{image: " + imageB + "}", time.Second, 1},
		{"and waits", "{image: " + imageB + "}", 10 * time.Second, 1},
	} {
		h.ask(c.asked)
		h.clock.Advance(c.after)
		reads = 0
		if h.observe(); reads != c.want {
			t.Errorf("%s: %d reads, want %d", c.what, reads, c.want)
		}
	}
}
