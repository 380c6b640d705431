package drain_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/drain"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/nodes"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/worlds"
	engine "github.com/fairlead/fairlead/lifecycle/drain"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// world is a fake API server with an engine.
type world struct {
	*testing.T
	client  client.WithWatch
	backend *drain.Backend
	runner  *engine.Runner
	clock   *fairlead.ManualClock
	store   *fairlead.MemStore
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	s := runtime.NewScheme()
	if err := scheme.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	s.AddKnownTypeWithName(drain.Kind, &unstructured.Unstructured{})
	s.AddKnownTypeWithName(drain.Kind.GroupVersion().WithKind(drain.Kind.Kind+"List"), &unstructured.UnstructuredList{})
	kind := &unstructured.Unstructured{}
	kind.SetGroupVersionKind(drain.Kind)
	w := &world{T: t, clock: &fairlead.ManualClock{}, store: &fairlead.MemStore{}}
	w.clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	w.client = fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).WithStatusSubresource(kind).
		WithIndex(&corev1.Pod{}, "spec.nodeName", nodes.Of).Build()
	w.backend = &drain.Backend{Client: w.client, Cache: w.client}
	w.restart()
	return w
}

// restart makes a new Runner with the saved state.
func (w *world) restart() {
	w.Helper()
	var err error
	w.runner, err = engine.NewRunner(w.backend, nil, &fairlead.RunnerOptions{Store: w.store, Clock: w.clock})
	w.must(err)
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// run makes some passes.
func (w *world) run() engine.Decision {
	w.Helper()
	var d engine.Decision
	for range 8 {
		var err error
		if d, err = w.runner.Reconcile(w.Context(), "n1"); err != nil {
			w.Fatal(err)
		}
		w.clock.Advance(time.Second)
	}
	return d
}

func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)}, Status: corev1.NodeStatus{
		NodeInfo:   corev1.NodeSystemInfo{BootID: "boot-1"},
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
	}}
}

func pod(name, kind, owner string) *corev1.Pod {
	is := true
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"app": owner},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: owner, UID: "o", Controller: &is}},
	}, Spec: corev1.PodSpec{NodeName: "n1"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
}

func request(name string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"nodeName": "n1", "requester": "jane"}}}
	for key, value := range spec {
		u.Object["spec"].(map[string]any)[key] = value
	}
	u.SetGroupVersionKind(drain.Kind)
	u.SetName(name)
	u.SetUID(types.UID("uid-" + name))
	u.SetCreationTimestamp(metav1.NewTime(time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)))
	return u
}

func (w *world) node() *corev1.Node {
	w.Helper()
	var n corev1.Node
	w.must(w.client.Get(w.Context(), client.ObjectKey{Name: "n1"}, &n))
	return &n
}

// wantStatus compares the status of a request.
func (w *world) wantStatus(name, phase, reason string) {
	w.Helper()
	u := request(name, nil)
	w.must(w.client.Get(w.Context(), client.ObjectKeyFromObject(u), u))
	gotPhase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
	gotReason, _, _ := unstructured.NestedString(u.Object, "status", "reason")
	if gotPhase != phase || gotReason != reason {
		w.Errorf("request %s: %q %q, want %q %q", name, gotPhase, gotReason, phase, reason)
	}
}

func (w *world) edit(name, patch string) {
	w.Helper()
	w.must(w.client.Patch(w.Context(), request(name, nil), client.RawPatch(types.MergePatchType, []byte(patch))))
}

func (w *world) pods() (names []string) {
	w.Helper()
	var all corev1.PodList
	w.must(w.client.List(w.Context(), &all))
	for i := range all.Items {
		names = append(names, all.Items[i].Name)
	}
	return names
}

// TestFacts checks that every field of the engine's World is filled in.
func TestFacts(t *testing.T) {
	w := newWorld(t, node("n1"), pod("web-1", "ReplicaSet", "web"), pod("agent-1", "DaemonSet", "agent"),
		&appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "agent"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"tier": "front"}}},
		&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}},
		request("r1", map[string]any{"purpose": "Reboot", "why": "a new kernel", "until": "2026-03-01T13:00:00Z", "nodeUID": "uid-n1", "paused": true, "fenced": true, "priority": int64(2), "replaceFirst": true}),
		request("elsewhere", map[string]any{"nodeName": "n2"}))
	w.backend.Namespaces = true
	w.backend.Facts = func(_ context.Context, v *engine.World) error {
		v.Slots, v.Stopped, v.ClusterLabels = []engine.TakenSlot{{Limit: "one"}}, true, map[string]string{"a": "b"}
		v.Replacement = engine.ReplacementComing
		v.Own = []engine.OwnFate{{UID: "uid-web-1", Fate: engine.FateEvict}}
		return nil
	}
	got, err := w.backend.Observe(t.Context(), "n1")
	w.must(err)
	// The Runner sets Outcomes.
	if unset := worlds.Unset(got); !slices.Equal(unset, []string{"Outcomes"}) {
		t.Errorf("unset fields: %q", unset)
	}
	if len(got.Requests) != 1 || len(got.Pods) != 2 || len(got.DaemonSets) != 1 || got.Namespaces[0].Labels["tier"] != "front" || got.BootID != "boot-1" {
		t.Errorf("observed: %+v", got)
	}
	want := engine.Request{Name: "r1", UID: "uid-r1", Requester: "jane", Why: "a new kernel", Purpose: engine.Reboot, NodeUID: "uid-n1",
		Asked: time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC), Until: time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC), Paused: true, Priority: 2, ReplaceFirst: true}
	got.Requests[0].Asked, got.Requests[0].Until = got.Requests[0].Asked.UTC(), got.Requests[0].Until.UTC()
	if got.Requests[0] != want {
		t.Errorf("request %+v, want %+v", got.Requests[0], want)
	}
}

// TestDrain takes a node out of service for two requesters, one after the other,
// with a crash in between, and returns it to service after the last one.
func TestDrain(t *testing.T) {
	w := newWorld(t, node("n1"), pod("web-1", "ReplicaSet", "web"), pod("agent-1", "DaemonSet", "agent"),
		&appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "agent"}}, request("r1", map[string]any{"paused": true}))
	w.run()
	if w.node().Spec.Unschedulable || len(w.pods()) != 2 {
		t.Error("a paused request has done something")
	}
	w.wantStatus("r1", "Paused", "")
	w.edit("r1", `{"spec":{"paused":false}}`)
	w.run()
	if got := w.pods(); !w.node().Spec.Unschedulable || !slices.Equal(got, []string{"agent-1"}) {
		t.Errorf("not drained: %q are there", got)
	}
	w.wantStatus("r1", "Drained", "")

	w.must(w.client.Create(t.Context(), request("r2", nil)))
	w.restart()
	w.run()
	w.wantStatus("r2", "Drained", "")
	w.edit("r1", `{"spec":{"cancelled":true}}`)
	w.run()
	w.wantStatus("r1", "Over", "Cancelled")
	if !w.node().Spec.Unschedulable {
		t.Error("the node was returned to service although it is still needed")
	}
	w.must(w.client.Delete(t.Context(), request("r2", nil)))
	w.restart()
	w.run()
	if w.node().Spec.Unschedulable {
		t.Error("the node was not returned to service")
	}
	if n := w.saved(); n > 1 { // the end of r1 is remembered while r1 exists
		t.Errorf("%d states are left", n)
	}
	w.must(w.client.Delete(t.Context(), request("r1", nil)))
	for range 10 { // the fact that the node was cordoned here is remembered for a while
		if d := w.run(); !d.Wake.IsZero() {
			w.clock.Set(d.Wake)
		}
	}
	if n := w.saved(); n != 0 {
		t.Errorf("%d states are left at the end", n)
	}
}

func (w *world) saved() (n int) {
	w.Helper()
	for _, err := range w.store.List(w.Context(), "") {
		w.must(err)
		n++
	}
	return n
}

// TestOthersCordon keeps a cordon that was set by others.
func TestOthersCordon(t *testing.T) {
	n := node("n1")
	n.Spec.Unschedulable = true
	w := newWorld(t, n, request("r1", nil))
	w.run()
	w.wantStatus("r1", "Drained", "")
	w.must(w.client.Delete(t.Context(), request("r1", nil)))
	w.run()
	if !w.node().Spec.Unschedulable {
		t.Error("the cordon of another user was removed")
	}
}

// TestFenced taints a silent node once a user confirms that it is not running,
// and not before, and removes the taint when the node reports again.
func TestFenced(t *testing.T) {
	n := node("n1")
	n.Status.Conditions[0].Status = corev1.ConditionUnknown
	n.Spec.Taints = []corev1.Taint{{Key: "node.kubernetes.io/unreachable", Effect: corev1.TaintEffectNoExecute}}
	w := newWorld(t, n, request("r1", nil))
	tainted := func() bool {
		taints := w.node().Spec.Taints
		if !slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.Key == "node.kubernetes.io/unreachable" }) {
			t.Error("a taint of another user was removed")
		}
		return slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.Key == engine.OutOfServiceTaint })
	}
	w.run()
	if tainted() {
		t.Error("tainted without evidence")
	}
	w.edit("r1", `{"spec":{"fenced":true}}`)
	w.run()
	if !tainted() {
		t.Error("not tainted")
	}
	w.restart()
	back := w.node()
	back.Status.Conditions[0].Status = corev1.ConditionTrue
	w.must(w.client.Status().Update(t.Context(), back))
	w.edit("r1", `{"spec":{"fenced":false}}`)
	w.run()
	if tainted() {
		t.Error("the taint is there though the node is heard of again")
	}
}

// TestAnother refuses actions for another node, or another request, with the
// same name.
func TestAnother(t *testing.T) {
	w := newWorld(t, node("n1"), request("r1", nil))
	err := w.backend.Apply(t.Context(), "n1", engine.TaintOutOfService{Node: "n1", UID: "old"})
	if refused, ok := err.(*fairlead.RefusedError); !ok || refused.Code != 409 {
		t.Errorf("a taint for another node: %v", err)
	}
	if err := w.backend.Apply(t.Context(), "n1", engine.Report{Request: "gone", UID: "x"}); err != nil {
		t.Errorf("a report of a request that is gone: %v", err)
	}
	bad := request("r2", map[string]any{"until": "tomorrow"})
	w.must(w.client.Create(t.Context(), bad))
	if _, err := w.backend.Observe(t.Context(), "n1"); err == nil {
		t.Error("a request that cannot be read was read")
	}
	if _, err := w.backend.Observe(t.Context(), "n2"); err != nil || apierrors.IsNotFound(err) {
		t.Errorf("a node that is not there: %v", err)
	}
}
