package arch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/taints/eviction"
)

// The sizes at which states are bounded, see docs/design.md.
const (
	podsOfNode       = 2500
	nodesOfPool      = 5000
	nodesOfPlan      = 100  // that are to be out of service
	operatorsAtATime = 1000 // of a release, or of a namespace
	objectsOfBundle  = 1000
	voters           = 9
)

// TestStateBounds: at the documented sizes, and while every action is refused, no engine
// stores more than a quarter of what a Store takes.
func TestStateBounds(t *testing.T) {
	for name, c := range map[string]struct {
		open   func(*testing.T, *clockWorld)
		passes int // until everything was tried
	}{
		"lifecycle": {fullMachine, 28}, "drain": {fullNode, 28}, "eviction": {fullOfTainted, 4}, "zones": {manyNotReady, 10}, "rollout": {largePool, 4},
		"cvo": {largeRelease, 6}, "quorum": {manyVoters, 6}, "install": {manySubscriptions, 6}, "manifests": {manyManifests, 6}, "plan": {largePlan, 4}, "extension": {largeBundle, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := new(clockWorld)
			w.clock.Set(noon)
			c.open(t, w)
			w.refuse, w.spare = true, []string{"Cordon", "UpdateStatus", "Report", "Retrieve", "WriteStatus", "CreatePlan", "SetFinalizer", "Unpack", "CreateRevision"}
			largest := 0
			for range c.passes {
				_, _ = w.reconcile() // what is refused is an error
				w.clock.Advance(5 * time.Second)
				for rec, err := range w.store.List(t.Context(), "") {
					if err != nil {
						t.Fatal(err)
					}
					largest = max(largest, len(rec.Value))
				}
			}
			t.Logf("%d bytes, of %d that a Store takes", largest, fairlead.MaxValueSize)
			if largest < 200 || largest > fairlead.MaxValueSize/4 {
				t.Errorf("the largest state has %d bytes, want at most %d, and not nothing", largest, fairlead.MaxValueSize/4)
			}
		})
	}
}

// uids returns a source of UIDs, as the API server makes them.
func uids() func() string {
	r := rand.New(rand.NewPCG(1, 1))
	return func() string {
		a, b := r.Uint64(), r.Uint64()
		return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>48, b&0xffffffffffff)
	}
}

// crowd returns the pods of a full node.
func crowd() (all []fairlead.Pod) {
	uid, yes := uids(), true
	for i := range podsOfNode {
		p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: fmt.Sprintf("team-%03d", i%97), Name: fmt.Sprintf("service-%04d-7d9c5b%04x-%05x", i, i*7919%65536, i*104729%1048576), UID: uid()}}
		p.OwnerReferences = []fairlead.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: fmt.Sprintf("service-%04d", i), UID: uid(), Controller: &yes}}
		p.Spec.NodeName, p.Status.Phase = "n", "Running"
		all = append(all, p)
	}
	return all
}

func fullNode(t *testing.T, w *clockWorld) {
	b := &drain.MemBackend{Clock: &w.clock}
	b.PutNode(fairlead.Node{ObjectMeta: object("n")})
	for _, p := range crowd() {
		b.PutPod(p)
	}
	b.PutRequest("n", drain.Request{Name: "r", UID: "r", Requester: "jane", Purpose: drain.Maintenance, Asked: noon})
	drive(t, w, "n", b, func(b fairlead.Backend[*drain.World, drain.Action], o *fairlead.RunnerOptions) (reconcile[drain.State, drain.Action], error) {
		return on(drain.NewRunner(b, nil, o))
	})
}

func fullMachine(t *testing.T, w *clockWorld) {
	b := &lifecycle.MemBackend{Clock: &w.clock}
	b.PutNode(fairlead.Node{ObjectMeta: object("n")})
	for _, p := range crowd() {
		b.PutPod(p)
	}
	m := lifecycle.Machine{ObjectMeta: object("m")}
	m.Finalizers = []string{lifecycle.Finalizer}
	m.Spec.ProviderSpec = json.RawMessage(`{}`)
	m.Status.NodeRef, m.Status.Phase = &lifecycle.NodeRef{Name: "n"}, lifecycle.PhaseRunning
	for _, err := range []error{b.PutMachine(m), b.Delete("m")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	drive(t, w, "m", b, func(b fairlead.Backend[*lifecycle.World, lifecycle.Action], o *fairlead.RunnerOptions) (reconcile[lifecycle.State, lifecycle.Action], error) {
		return on(lifecycle.NewRunner(b, nil, o))
	})
}

func fullOfTainted(t *testing.T, w *clockWorld) {
	b := &eviction.MemBackend{Clock: &w.clock}
	node := fairlead.Node{ObjectMeta: object("n")}
	node.Spec.Taints = []fairlead.Taint{{Key: "x", Effect: fairlead.NoExecute}}
	b.PutNode(node)
	for _, p := range crowd() {
		b.PutPod(p)
	}
	drive(t, w, "n", b, func(b fairlead.Backend[*eviction.World, eviction.Action], o *fairlead.RunnerOptions) (reconcile[eviction.State, eviction.Action], error) {
		return on(eviction.NewRunner(b, nil, o))
	})
}

func manyNotReady(t *testing.T, w *clockWorld) {
	b := &eviction.MemBackend{Clock: &w.clock}
	uid := uids()
	for i := range nodesOfPool {
		node := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprintf("ip-10-%d-%d-%d.ec2.internal", i/4096, i/256%16, i%256), UID: uid()}}
		node.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionTrue, LastTransitionTime: noon.Add(-time.Hour)}}
		if i%3 == 0 {
			node.Status.Conditions[0].Status = fairlead.ConditionFalse
		}
		b.PutNode(node)
	}
	policy := &eviction.Policy{NodeLifecycle: &eviction.NodeLifecycle{}}
	drive(t, w, eviction.AllZones, b, func(refuse fairlead.Backend[*eviction.World, eviction.Action], o *fairlead.RunnerOptions) (reconcile[eviction.ZoneState, eviction.Action], error) {
		r, err := eviction.NewRunner(zones{refuse, b.ObserveZones}, policy, o)
		return func(ctx context.Context, _ string) (eviction.ZoneDecision, error) { return r.ReconcileZones(ctx) }, err
	})
}

func largePool(t *testing.T, w *clockWorld) {
	b := &rollout.MemBackend{Clock: &w.clock}
	uid := uids()
	err := b.Edit("worker", func(world *rollout.World) error {
		world.Pool.Name, world.Pool.Spec.Configuration.Name = "worker", "rendered-worker-4c1b2d7f8a6e5d4c3b2a190817263544"
		world.Pool.Spec.MaxUnavailable = &fairlead.IntOrString{Text: "100%"}
		for i := range nodesOfPool {
			n := rollout.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprintf("ip-10-%d-%d-%d.ec2.internal", i/4096, i/256%16, i%256), UID: uid(), ResourceVersion: fmt.Sprint(1_000_000 + 7*i)}}
			n.Annotations = map[string]string{rollout.AnnotationCurrent: "one", rollout.AnnotationDesired: "one", rollout.AnnotationState: rollout.StateDone}
			world.Nodes = append(world.Nodes, n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	drive(t, w, "worker", b, func(b fairlead.Backend[*rollout.World, rollout.Action], o *fairlead.RunnerOptions) (reconcile[rollout.State, rollout.Action], error) {
		return on(rollout.NewRunner(b, nil, o))
	})
}
