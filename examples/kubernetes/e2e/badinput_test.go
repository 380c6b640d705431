package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/types"
)

// event returns "" if there is an event on an object whose note contains the
// text, or else what is missing.
func (w *world) event(kind, name, reason, text string) string {
	var all eventsv1.EventList
	if err := w.admin.List(w.Context(), &all); err != nil {
		return err.Error()
	}
	var seen []string
	for _, e := range all.Items {
		if e.Regarding.Kind != kind || e.Regarding.Name != name {
			continue
		}
		if e.Reason == reason && strings.Contains(e.Note, text) {
			return ""
		}
		seen = append(seen, e.Reason+": "+e.Note)
	}
	return fmt.Sprintf("there are the events %q", seen)
}

// The state of one node was saved by a newer release: that node is left alone,
// an event reports why and what to do, and all others are handled.
func TestStateOfANewerRelease(t *testing.T) {
	w := newWorld(t, nil)
	operator.Install(t, w.Cluster, "rbac-eviction.yaml")
	w.namespace("shop")
	left := w.departures("shop")
	pods := map[string]types.UID{}
	for _, node := range []string{"n1", "n2"} {
		if err := w.kubelets.AddNode(t.Context(), node, nil); err != nil {
			t.Fatal(err)
		}
		pods["on-"+node] = w.pod("shop", "on-"+node, node, nil).UID
	}
	flags := []string{"-controllers=eviction", "-leader-elect=false"}
	manager := operator.Start(t, w.Cluster, flags...)
	manager.Ready()
	w.taint("n1", true)
	w.eventually("n1 is served", func() string { return expect(fmt.Sprint(!left.of("on-n1").IsZero()), "true") })
	manager.Kill()
	w.taint("n1", false)

	store, err := kube.NewStore(w.admin, operator.Namespace, "taints")
	if err != nil {
		t.Fatal(err)
	}
	pods["late-on-n1"] = w.pod("shop", "late-on-n1", "n1", nil).UID
	key := "taints.n1"
	saved, err := store.Get(t.Context(), key) // not there if nothing is left to be remembered
	if err != nil && !errors.Is(err, fairlead.ErrNotFound) {
		t.Fatal(err)
	}
	if _, err := store.Put(t.Context(), key, []byte(`{"version":99,"name":"n1","state":{}}`), saved.Revision); err != nil {
		t.Fatal(err)
	}
	manager = operator.Start(t, w.Cluster, flags...)
	manager.Ready()
	w.taint("n1", true)
	w.taint("n2", true)
	w.eventually("n2 is served", func() string { return expect(fmt.Sprint(!left.of("on-n2").IsZero()), "true") })
	w.eventually("an event on n1 reports why not", func() string { return w.event("Node", "n1", "PassFailed", "run the newer release again") })
	time.Sleep(2 * time.Second)
	if !left.of("late-on-n1").IsZero() {
		t.Error("a pod was evicted on a state that is not understood")
	}
	w.evictedOnce(pods, "on-n1", "on-n2")
}

// A cloud that does not answer is reported on the machine, and retried;
// nothing is removed from the machine meanwhile.
func TestBrokenCloud(t *testing.T) {
	w := newWorld(t, nil)
	operator.Install(t, w.Cluster, "crd/machine.yaml", "rbac-machines.yaml")
	w.namespace("fleet")
	cloud := newInstances(t)
	w.machine(cloud, "m1", "n1", nil)
	working, err := os.ReadFile(cloud.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cloud.path, []byte("#!/bin/sh\necho quota exceeded >&2\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	operator.Start(t, w.Cluster, "-controllers=machines", "-machines-cloud="+cloud.path, "-leader-elect=false").Ready()
	w.deleteMachine("m1")
	w.eventually("an event reports it", func() string { return w.event("Machine", "m1", machines.ReasonCloud, "quota exceeded") })
	if n := w.requests(cluster.Filter{User: operator.User, Verb: "delete"}); len(n) > 0 {
		t.Errorf("deleted without knowing of the instance: %+v", n)
	}
	if err := os.WriteFile(cloud.path, working, 0o755); err != nil {
		t.Fatal(err)
	}
	w.eventually("the machine is gone", func() string {
		_, err := w.getMachine(t.Context(), "m1")
		return expect(fmt.Sprint(err != nil && strings.Contains(err.Error(), "not found")), "true")
	})
}
