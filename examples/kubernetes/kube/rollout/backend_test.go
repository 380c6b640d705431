package rollout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	engine "github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/drain"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/worlds"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/rollout"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

var buildKind = schema.GroupVersionKind{Group: rollout.Kind.Group, Version: "v1", Kind: "MachineOSBuild"}

type world struct {
	*testing.T
	client  client.WithWatch
	backend *rollout.Backend
	runner  *engine.Runner
	clock   *fairlead.ManualClock
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	s := runtime.NewScheme()
	if err := scheme.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	var kinds []client.Object
	for _, k := range []schema.GroupVersionKind{rollout.Kind, drain.Kind, buildKind} {
		s.AddKnownTypeWithName(k, &unstructured.Unstructured{})
		s.AddKnownTypeWithName(k.GroupVersion().WithKind(k.Kind+"List"), &unstructured.UnstructuredList{})
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(k)
		kinds = append(kinds, u)
	}
	w := &world{T: t, clock: &fairlead.ManualClock{}}
	w.clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	w.client = fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).WithStatusSubresource(kinds...).Build()
	w.backend = &rollout.Backend{Client: w.client, Last: "w3"}
	var err error
	if w.runner, err = engine.NewRunner(w.backend, nil, &fairlead.RunnerOptions{Store: &fairlead.MemStore{}, Clock: w.clock}); err != nil {
		t.Fatal(err)
	}
	return w
}

func pool(name, configuration string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"nodeSelector":  map[string]any{"matchLabels": map[string]any{"role": name}},
		"configuration": map[string]any{"name": configuration, "source": []any{map[string]any{"kind": "MachineConfig", "name": "00-" + name}}},
	}}}
	u.SetGroupVersionKind(rollout.Kind)
	u.SetName(name)
	return u
}

func node(name, role, runs string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"role": role}, Annotations: map[string]string{
		engine.AnnotationCurrent: runs, engine.AnnotationDesired: runs, engine.AnnotationState: engine.StateDone,
	}}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
}

func build(of string, conditions ...string) *unstructured.Unstructured {
	var all []any
	for _, c := range conditions {
		all = append(all, map[string]any{"type": c, "status": "True", "reason": "Test", "message": "", "lastTransitionTime": "2026-03-01T12:00:00Z"})
	}
	u := &unstructured.Unstructured{Object: map[string]any{
		"spec":   map[string]any{"machineConfig": map[string]any{"name": of}},
		"status": map[string]any{"conditions": all, "digestedImagePushSpec": "registry.example/os@sha256:1"},
	}}
	u.SetGroupVersionKind(buildKind)
	u.SetName("build-" + of)
	return u
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// play simulates one pass of the drain controller and of the agents on nodes.
func (w *world) play() {
	w.Helper()
	var all corev1.NodeList
	w.must(w.client.List(w.Context(), &all))
	for i := range all.Items {
		n := &all.Items[i]
		w.must(w.backend.Serve(w.Context(), n.Name))
		w.must(w.client.Get(w.Context(), client.ObjectKeyFromObject(n), n))
		if n.Annotations[engine.AnnotationState] == engine.StateWorking {
			n.Annotations[engine.AnnotationState], n.Annotations[engine.AnnotationCurrent] = engine.StateDone, n.Annotations[engine.AnnotationDesired]
			if image := n.Annotations[engine.AnnotationDesiredImage]; image != "" {
				n.Annotations[engine.AnnotationCurrentImage] = image
			}
			w.must(w.client.Update(w.Context(), n))
		}
	}
	for _, u := range w.requests() {
		u.Object["status"] = map[string]any{"phase": "Drained"}
		w.must(w.client.Status().Update(w.Context(), &u))
	}
}

func (w *world) requests() []unstructured.Unstructured {
	w.Helper()
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(drain.Kind.GroupVersion().WithKind(drain.Kind.Kind + "List"))
	w.must(w.client.List(w.Context(), &list))
	return list.Items
}

// down returns the nodes that accept no pods.
func (w *world) down() (names []string) {
	w.Helper()
	var all corev1.NodeList
	w.must(w.client.List(w.Context(), &all))
	for i := range all.Items {
		if all.Items[i].Spec.Unschedulable {
			names = append(names, all.Items[i].Name)
		}
	}
	return names
}

// TestFacts checks that every field of the engine's World is filled in.
func TestFacts(t *testing.T) {
	w := newWorld(t, pool("master", "new"), pool("arbiter", "new"), node("m1", "master", "old"), node("a1", "arbiter", "old"), node("w1", "worker", "old"), build("new", "Building"))
	master, err := w.backend.Observe(t.Context(), "master")
	w.must(err)
	arbiter, err := w.backend.Observe(t.Context(), "arbiter")
	w.must(err)
	// The Runner sets Outcomes; Pods are left out, because DrainRequests drain
	// the nodes.
	if unset := worlds.Unset(master, arbiter); !slices.Equal(unset, []string{"Outcomes", "Pods"}) {
		t.Errorf("unset fields: %q", unset)
	}
	if len(master.Nodes) != 1 || master.Nodes[0].Name != "m1" || master.PeerPool != nil || arbiter.PeerPool == nil || len(arbiter.Peers) != 1 {
		t.Errorf("master %+v, arbiter %+v", master, arbiter)
	}
	if master.Build.State != engine.BuildRunning || master.Pool.Spec.Configuration.Image != "" {
		t.Errorf("build %+v, image %q", master.Build, master.Pool.Spec.Configuration.Image)
	}
}

// TestRollout brings a pool to a new configuration with an image, one node at a
// time, and then reports it.
func TestRollout(t *testing.T) {
	w := newWorld(t, pool("worker", "new"), node("w1", "worker", "old"), node("w2", "worker", "old"), node("w3", "worker", "old"), build("new", "Prepared", "Succeeded"))
	var order []string
	for range 60 {
		_, err := w.runner.Reconcile(t.Context(), "worker")
		w.must(err)
		down := w.down()
		if len(down) > 1 {
			t.Fatalf("%q are down at a time", down)
		}
		if len(down) == 1 && (len(order) == 0 || order[len(order)-1] != down[0]) {
			order = append(order, down[0])
		}
		w.play()
		w.clock.Advance(time.Second)
	}
	if !slices.Equal(order, []string{"w1", "w2", "w3"}) {
		t.Errorf("in the order %q", order)
	}
	u := pool("worker", "")
	w.must(w.client.Get(t.Context(), client.ObjectKeyFromObject(u), u))
	status, _, _ := unstructured.NestedMap(u.Object, "status")
	if fmt.Sprint(status["machineCount"], status["updatedMachineCount"], status["readyMachineCount"], status["unavailableMachineCount"]) != "3 3 3 0" {
		t.Errorf("status %v", status)
	}
	if name, _, _ := unstructured.NestedString(u.Object, "status", "configuration", "name"); name != "new" {
		t.Errorf("status.configuration %q", name)
	}
	if sources, _, _ := unstructured.NestedSlice(u.Object, "status", "configuration", "source"); len(sources) != 1 {
		t.Errorf("its sources are %v", sources)
	}
	var n corev1.Node
	w.must(w.client.Get(t.Context(), client.ObjectKey{Name: "w3"}, &n))
	if n.Annotations[engine.AnnotationCurrentImage] != "registry.example/os@sha256:1" || len(n.Spec.Taints) > 0 || n.Spec.Unschedulable {
		t.Errorf("w3: %v %v", n.Annotations, n.Spec)
	}
	if left := w.requests(); len(left) > 0 {
		t.Errorf("%d drain requests are left", len(left))
	}
	version := u.GetResourceVersion()
	for range 5 {
		_, err := w.runner.Reconcile(t.Context(), "worker")
		w.must(err)
		w.clock.Advance(time.Hour)
	}
	w.must(w.client.Get(t.Context(), client.ObjectKeyFromObject(u), u))
	if u.GetResourceVersion() != version {
		t.Error("the status is written though nothing has changed")
	}
}

// TestWishes serves requests of the nodes themselves, as made by the daemon of
// the reference, even if a request changes meanwhile.
func TestWishes(t *testing.T) {
	n := node("w1", "worker", "old")
	n.Annotations[engine.AnnotationDesiredDrain] = "drain-new"
	w := newWorld(t, n)
	wish := func(text string) {
		w.must(w.client.Get(t.Context(), client.ObjectKeyFromObject(n), n))
		n.Annotations[engine.AnnotationDesiredDrain] = text
		w.must(w.client.Update(t.Context(), n))
	}
	met := func() string {
		w.must(w.client.Get(t.Context(), client.ObjectKeyFromObject(n), n))
		return n.Annotations[engine.AnnotationLastDrain]
	}
	w.must(w.backend.Serve(t.Context(), "w1"))
	if len(w.requests()) != 1 || met() != "" {
		t.Fatalf("%d requests, met %q", len(w.requests()), met())
	}
	wish("drain-newer")
	for range 4 {
		w.play()
	}
	if met() != "drain-newer" {
		t.Errorf("met %q", met())
	}
	n.Spec.Unschedulable = true
	w.must(w.client.Update(t.Context(), n))
	wish("uncordon-newer")
	w.must(w.backend.Serve(t.Context(), "w1"))
	if met() != "uncordon-newer" || n.Spec.Unschedulable || len(w.requests()) > 0 {
		t.Errorf("met %q, unschedulable %v, %d requests", met(), n.Spec.Unschedulable, len(w.requests()))
	}
}

// TestLate does not change a node that has changed since it was observed.
func TestLate(t *testing.T) {
	w := newWorld(t, node("w1", "worker", "old"))
	err := w.backend.Apply(t.Context(), "worker", engine.Cordon{Node: "w1", Revision: "1"})
	if refused, ok := err.(*fairlead.RefusedError); !ok || refused.Code != 409 || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("late: %v", err)
	}
	if len(w.down()) > 0 {
		t.Error("it was cordoned")
	}
}
