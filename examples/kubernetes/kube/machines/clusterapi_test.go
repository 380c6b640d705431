package machines_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/nodes"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/worlds"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// capi is a cluster of the Cluster API on a server, with an engine.
type capi struct {
	*testing.T
	client.WithWatch
	backend *machines.Backend
	runner  *lifecycle.Runner
	clock   *fairlead.ManualClock
}

var (
	dockerMachine = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2", Kind: "DockerMachine"}
	kubeadmConfig = schema.GroupVersionKind{Group: "bootstrap.cluster.x-k8s.io", Version: "v1beta2", Kind: "KubeadmConfig"}
	kubeadmPlane  = schema.GroupVersionKind{Group: "controlplane.cluster.x-k8s.io", Version: "v1beta2", Kind: "KubeadmControlPlane"}
	clusterKind   = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Cluster"}
)

// yaml returns an object, given as JSON.
func yaml(kind schema.GroupVersionKind, name, text string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &u.Object); err != nil {
		panic(err)
	}
	u.SetGroupVersionKind(kind)
	u.SetNamespace("fleet")
	u.SetName(name)
	u.SetUID("uid-x")
	return u
}

func newCAPI(t *testing.T, objects ...client.Object) *capi {
	s := runtime.NewScheme()
	if err := scheme.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{dockerMachine.GroupVersion(), kubeadmConfig.GroupVersion(), kubeadmPlane.GroupVersion()})
	for _, k := range []schema.GroupVersionKind{machines.KindClusterAPI, dockerMachine, kubeadmConfig, kubeadmPlane, clusterKind} {
		mapper.Add(k, meta.RESTScopeNamespace)
		s.AddKnownTypeWithName(k, &unstructured.Unstructured{})
		s.AddKnownTypeWithName(k.GroupVersion().WithKind(k.Kind+"List"), &unstructured.UnstructuredList{})
	}
	for k := range scheme.Scheme.AllKnownTypes() {
		mapper.Add(k, meta.RESTScopeNamespace)
	}
	status := &unstructured.Unstructured{}
	status.SetGroupVersionKind(machines.KindClusterAPI)
	c := &capi{T: t, clock: &fairlead.ManualClock{}}
	c.clock.Set(time.Date(2026, 3, 1, 12, 1, 0, 0, time.UTC))
	c.WithWatch = fake.NewClientBuilder().WithScheme(s).WithRESTMapper(mapper).WithObjects(objects...).WithStatusSubresource(status).
		WithIndex(&corev1.Pod{}, "spec.nodeName", nodes.Of).WithIndex(&corev1.Pod{}, machines.NodeIndex, nodes.Of).Build()
	c.backend = &machines.Backend{Client: c, Cache: c, Kind: machines.KindClusterAPI, Clock: c.clock}
	runner, err := lifecycle.NewRunner(c.backend, nil, &fairlead.RunnerOptions{Store: &fairlead.MemStore{}, Clock: c.clock})
	if err != nil {
		t.Fatal(err)
	}
	c.runner = runner
	return c
}

// member returns a machine of the control plane, on node n, that is being
// deleted.
func member() *unstructured.Unstructured {
	return yaml(machines.KindClusterAPI, "m", `{
		"metadata": {"deletionTimestamp": "2026-03-01T12:00:00Z", "finalizers": ["machine.cluster.x-k8s.io"],
			"labels": {"cluster.x-k8s.io/cluster-name": "c", "cluster.x-k8s.io/control-plane": ""},
			"annotations": {"pre-drain.delete.hook.machine.cluster.x-k8s.io/move": "app", "in-place-updates.internal.cluster.x-k8s.io/update-in-progress": ""}},
		"spec": {"clusterName": "c", "providerID": "docker:///m",
			"infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DockerMachine", "name": "m"},
			"bootstrap": {"configRef": {"apiGroup": "bootstrap.cluster.x-k8s.io", "kind": "KubeadmConfig", "name": "m"}}},
		"status": {"nodeRef": {"name": "n"}, "conditions": [
			{"type": "Ready", "status": "True", "observedGeneration": 7, "reason": "Ready", "message": "", "lastTransitionTime": "2026-03-01T11:00:00Z"}]}}`)
}

// others returns the objects to which the machine belongs.
func others() []client.Object {
	other := member()
	other.SetName("m2")
	other.SetUID("u2")
	other.SetDeletionTimestamp(nil)
	other.SetAnnotations(nil)
	other.Object["status"] = map[string]any{}
	n := node()
	n.Spec.ProviderID = "docker:///m"
	infra := yaml(dockerMachine, "m", `{"metadata": {"finalizers": ["dockermachine.infrastructure.cluster.x-k8s.io"]}}`)
	return []client.Object{
		other, n, infra, yaml(kubeadmConfig, "m", `{"metadata": {}}`),
		yaml(clusterKind, "c", `{"metadata": {"labels": {"env": "prod"}}, "spec": {"controlPlaneRef": {"apiGroup": "controlplane.cluster.x-k8s.io", "kind": "KubeadmControlPlane", "name": "kcp"}}}`),
		yaml(kubeadmPlane, "kcp", `{"metadata": {}, "status": {}}`),
	}
}

func (c *capi) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c *capi) observe() *lifecycle.World {
	c.Helper()
	w, err := c.backend.Observe(c.Context(), "fleet/m")
	c.must(err)
	return w
}

// there reports whether an object exists.
func (c *capi) there(kind schema.GroupVersionKind, name string) bool {
	c.Helper()
	u := yaml(kind, name, `{}`)
	err := c.Get(c.Context(), client.ObjectKeyFromObject(u), u)
	if err != nil && !apierrors.IsNotFound(err) {
		c.Fatal(err)
	}
	return err == nil
}

// passes makes passes until there is nothing left to do, and returns the
// reasons.
func (c *capi) passes() (reasons []string) {
	c.Helper()
	for range 20 {
		d, err := c.runner.Reconcile(c.Context(), "fleet/m")
		c.must(err)
		c.clock.Advance(31 * time.Second)
		reasons = nil
		for _, b := range d.Blocks() {
			reasons = append(reasons, b.Reason)
		}
	}
	return reasons
}

func (c *capi) edit(kind schema.GroupVersionKind, name string, change func(*unstructured.Unstructured)) {
	c.Helper()
	u := yaml(kind, name, `{}`)
	c.must(c.Get(c.Context(), client.ObjectKeyFromObject(u), u))
	change(u)
	c.must(c.Update(c.Context(), u))
}

// TestFactsClusterAPI checks the fields that only machines of the Cluster API
// have.
func TestFactsClusterAPI(t *testing.T) {
	objects := append(others(), member(), pod("shop", "p", "n"), &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "b"}})
	c := newCAPI(t, objects...)
	w := c.observe()
	// The infrastructure object takes the place of Instance; the others are checked
	// by TestFacts.
	want := []string{"Attachments", "DaemonSets", "Instance", "Namespaces", "Outcomes", "Own", "Owners", "PersistentVolumes", "Slots", "Stopped"}
	if unset := worlds.Unset(w); !slices.Equal(unset, want) {
		t.Errorf("unset fields: %q, want %q", unset, want)
	}
	if *w.Cluster != (lifecycle.Cluster{ControlPlanes: 1}) || w.ClusterLabels["env"] != "prod" || !w.Machine.UpdatingInPlace() {
		t.Errorf("cluster %+v, %v", w.Cluster, w.ClusterLabels)
	}
	if hooks := w.Machine.Spec.LifecycleHooks.PreDrain; len(hooks) != 1 || hooks[0] != (lifecycle.Hook{Name: "move", Owner: "app"}) {
		t.Errorf("hooks %v", hooks)
	}
	var objectsSeen []string
	for _, o := range w.Objects {
		objectsSeen = append(objectsSeen, fmt.Sprintf("%s %s %s %v", o.Kind, o.ObjectMeta, o.State, o.Finalizers))
	}
	if got := strings.Join(objectsSeen, "; "); got != "DockerMachine fleet/m Exists [dockermachine.infrastructure.cluster.x-k8s.io]; KubeadmConfig fleet/m Exists []" {
		t.Error(got)
	}

	c.edit(clusterKind, "c", func(u *unstructured.Unstructured) { u.Object["spec"].(map[string]any)["paused"] = true })
	c.edit(kubeadmPlane, "kcp", func(u *unstructured.Unstructured) {
		u.Object["status"] = map[string]any{"externalManagedControlPlane": true}
	})
	if w := c.observe(); *w.Cluster != (lifecycle.Cluster{Paused: true, ExternalControlPlane: true}) {
		t.Errorf("paused, managed elsewhere: %+v", w.Cluster)
	}
	for name, ref := range map[string]string{"gone": `"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DockerMachine"`, "unknown": `"apiGroup": "other.example.com", "kind": "Thing"`} {
		m := member()
		var spec map[string]any
		c.must(json.Unmarshal([]byte(`{"infrastructureRef": {`+ref+`, "name": "`+name+`"}, "clusterName": "c"}`), &spec))
		m.Object["spec"] = spec
		other := newCAPI(t, append(others(), m)...)
		want := map[string]lifecycle.Instance{"gone": lifecycle.InstanceGone, "unknown": ""}[name]
		if w := other.observe(); len(w.Objects) != 1 || w.Objects[0].State != want {
			t.Errorf("%s: %+v, want state %q", name, w.Objects, want)
		}
	}
}

// TestClusterAPI takes a machine of the Cluster API through its deletion: paused
// with its cluster, blocked by a hook in an annotation, drained, and then the
// infrastructure object before the bootstrap configuration, the node and the
// finalizer. Conditions of others keep the fields that the engine does not know.
func TestClusterAPI(t *testing.T) {
	c := newCAPI(t, append(others(), member())...)
	c.edit(clusterKind, "c", func(u *unstructured.Unstructured) { u.Object["spec"].(map[string]any)["paused"] = true })
	if got := c.passes(); !slices.Equal(got, []string{lifecycle.ReasonPaused}) {
		t.Errorf("paused: %v", got)
	}
	c.edit(clusterKind, "c", func(u *unstructured.Unstructured) { u.Object["spec"].(map[string]any)["paused"] = false })
	if got := c.passes(); !slices.Contains(got, lifecycle.ReasonHookPending) {
		t.Errorf("with a hook: %v", got)
	}
	u := member()
	c.must(c.Get(t.Context(), client.ObjectKeyFromObject(u), u))
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, x := range conditions {
		k := x.(map[string]any)
		switch message, there := k["message"]; {
		case !there || k["reason"] == "" || k["reason"] == nil || k["severity"] != nil || k["lastTransitionTime"] == nil:
			t.Errorf("condition %v (%v) is not one of metav1", k, message)
		case k["type"] == "Ready" && k["observedGeneration"] != int64(7):
			t.Errorf("a condition of another writer has lost a field: %v", k)
		}
	}
	if len(conditions) != 3 {
		t.Errorf("conditions %v", conditions)
	}
	before := u.GetResourceVersion()
	c.passes()
	if c.must(c.Get(t.Context(), client.ObjectKeyFromObject(u), u)); u.GetResourceVersion() != before {
		t.Error("the machine is written again although nothing has changed")
	}
	remove := lifecycle.RemoveHook{Point: lifecycle.PreDrain, Name: "move", Owner: "other"}
	if err := c.backend.Apply(t.Context(), "fleet/m", remove); err == nil {
		t.Error("the hook of another owner is removed")
	}
	remove.Owner = "app"
	c.must(c.backend.Apply(t.Context(), "fleet/m", remove))
	if got := c.passes(); !slices.Equal(got, []string{lifecycle.ReasonObjectGoing}) {
		t.Errorf("with a finalizer on the infrastructure: %v", got)
	}
	var n corev1.Node
	c.must(c.Get(t.Context(), client.ObjectKey{Name: "n"}, &n))
	if !n.Spec.Unschedulable || !c.there(kubeadmConfig, "m") {
		t.Errorf("unschedulable %v, bootstrap configuration there %v", n.Spec.Unschedulable, c.there(kubeadmConfig, "m"))
	}
	c.edit(dockerMachine, "m", func(u *unstructured.Unstructured) { u.SetFinalizers(nil) })
	c.passes()
	if c.there(dockerMachine, "m") || c.there(kubeadmConfig, "m") || c.there(machines.KindClusterAPI, "m") || !apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKey{Name: "n"}, &n)) {
		t.Error("something of the machine is left")
	}
	if !c.there(machines.KindClusterAPI, "m2") {
		t.Error("the other machine is gone")
	}
}

// TestDeleteObject refuses objects other than the observed ones.
func TestDeleteObject(t *testing.T) {
	c := newCAPI(t, append(others(), member())...)
	c.must(c.backend.Apply(t.Context(), "fleet/m", lifecycle.DeleteObject{Kind: "Secret", Name: "m", UID: "uid-x"}))
	if err := c.backend.Apply(t.Context(), "fleet/m", lifecycle.DeleteObject{Kind: "KubeadmConfig", Name: "m", UID: "another"}); err == nil || !c.there(kubeadmConfig, "m") {
		t.Errorf("another one of the name: %v", err)
	}
	if err := c.backend.Apply(t.Context(), "fleet/m2", lifecycle.DeleteObject{Kind: "KubeadmConfig", Name: "m", UID: "uid-x"}); err == nil || !c.there(kubeadmConfig, "m") {
		t.Errorf("of a machine that is not being deleted: %v", err)
	}
	if err := c.backend.Apply(t.Context(), "fleet/m", lifecycle.DeleteInstance{}); err == nil || !strings.Contains(err.Error(), "its instance cannot be deleted") {
		t.Errorf("without a Cloud: %v", err)
	}
}

// TestLimits drains one machine at a time; the status of the other one names
// it.
func TestLimits(t *testing.T) {
	second := member()
	second.SetName("m2")
	second.SetUID("u2")
	c := newCAPI(t, append(others()[1:], member(), second)...)
	gate, err := drain.NewGate(&fairlead.MemStore{}, "slots", []drain.Limit{{Name: "one", Max: fairlead.IntOrString{Int: 1}}})
	c.must(err)
	c.backend.Gate = gate
	for _, name := range []string{"m", "m2"} { // no hook blocks their drain
		c.edit(machines.KindClusterAPI, name, func(u *unstructured.Unstructured) { u.SetAnnotations(nil) })
	}
	if w := c.observe(); len(w.Slots) > 0 {
		t.Errorf("the first waits for %v", w.Slots)
	}
	w, err := c.backend.Observe(t.Context(), "fleet/m2")
	c.must(err)
	if len(w.Slots) != 1 || w.Slots[0].Limit != "one" || w.Slots[0].Holder != "fleet/m" {
		t.Errorf("the second waits for %v", w.Slots)
	}
	c.edit(machines.KindClusterAPI, "m", func(u *unstructured.Unstructured) { u.SetFinalizers(nil) })
	w, err = c.backend.Observe(t.Context(), "fleet/m2")
	c.must(err)
	if len(w.Slots) > 0 {
		t.Errorf("the first is gone, and the second waits for %v", w.Slots)
	}
}
