package extension_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/cluster"
	"github.com/fairlead/fairlead/solver/olm/extension"
)

// TestSharedCluster installs an extension on the nodes of a cluster that others act
// on: its deployment is as ready as its pods, which an update of the deployment
// replaces, and a revision with the same deployment does not. They go with the extension.
func TestSharedCluster(t *testing.T) {
	clock := new(fairlead.ManualClock)
	clock.Set(noon)
	shared := &fairlead.MemCluster{Clock: clock}
	all := cluster.Of(shared, nil, nil)
	h := newHarbour(newShop(t))
	bundles := contents()
	bundles["a.v2"][0] = bytes.Replace(bundles["a.v2"][0], []byte("a-op:2"), []byte("a-op:1"), 1) // the deployment stays
	h.MemBackend = &extension.MemBackend{Bundles: bundles, Cluster: shared}
	other := &extension.MemBackend{Cluster: shared} // another view of the same
	runner, err := extension.NewRunner(h, h.resolve, nil, &fairlead.RunnerOptions{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	// pods are those of the operator that run, by UID.
	pods := func() map[string]fairlead.Pod {
		all.Lock()
		defer all.Unlock()
		all.Run()
		running := map[string]fairlead.Pod{}
		for _, p := range all.PodsIn("ns") {
			if p.DeletionTimestamp == nil && p.Spec.NodeName != "" {
				running[p.UID] = *p
			}
		}
		return running
	}
	pass := func(until string, done func(x *extension.ClusterExtension) bool) {
		t.Helper()
		for end := clock.Now().Add(time.Hour); !done(other.World("a").Extension); clock.Advance(time.Second) {
			if _, err := runner.Reconcile(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
			if clock.Now().After(end) {
				t.Fatalf("not %s after an hour: %+v", until, other.World("a").Extension)
			}
		}
	}
	has := func(bundle string) func(*extension.ClusterExtension) bool {
		return func(x *extension.ClusterExtension) bool {
			return x.Status.Install != nil && x.Status.Install.Bundle.Name == bundle
		}
	}
	h.PutExtension(asks(""))
	start := clock.Now()
	pass("waiting", func(*extension.ClusterExtension) bool { return clock.Now().After(start.Add(time.Minute)) })
	if x := other.World("a").Extension; x.Status.Install != nil {
		t.Fatalf("installed without a node: %+v", x.Status)
	}
	all.Lock()
	err = all.Join(fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n1"}})
	all.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	pass("installed", has("a.v1"))
	first := pods()
	if len(first) != 1 {
		t.Fatalf("its pods are %v", first)
	}

	h.newest = 2
	pass("updated", has("a.v2"))
	for uid := range pods() {
		if _, same := first[uid]; !same {
			t.Error("a revision with the same deployment has replaced its pods")
		}
	}
	h.newest = 3
	pass("updated to another deployment", has("a.v3"))
	for uid, p := range pods() {
		if _, same := first[uid]; same {
			t.Errorf("pod %s of the deployment before is there", p.Name)
		}
	}
	h.DeleteExtension("a", clock.Now())
	pass("gone", func(x *extension.ClusterExtension) bool { return x == nil })
	clock.Advance(time.Minute)
	if left := pods(); len(left) > 0 {
		t.Errorf("it has left %v", left)
	}
}
