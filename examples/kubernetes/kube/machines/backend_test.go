package machines_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/nodes"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// cluster is the fake client and the writes to it.
type cluster struct {
	client.WithWatch
	backend *machines.Backend
	cloud   *cloud
	asked   []string
	fail    error // the error of the next write
}

type cloud struct {
	there   lifecycle.Instance
	err     error
	deleted int
}

func (c *cloud) Instance(context.Context, *lifecycle.Machine) (lifecycle.Instance, error) {
	return c.there, c.err
}

func (c *cloud) Delete(context.Context, *lifecycle.Machine) error {
	c.deleted++
	return c.err
}

func newCluster(t *testing.T, objects ...client.Object) *cluster {
	c := &cluster{cloud: &cloud{there: lifecycle.InstanceExists}}
	note := func(format string, args ...any) error {
		c.asked = append(c.asked, fmt.Sprintf(format, args...))
		return c.fail
	}
	kind := &unstructured.Unstructured{}
	kind.SetGroupVersionKind(machines.Kind)
	c.WithWatch = fake.NewClientBuilder().WithObjects(objects...).WithStatusSubresource(kind).
		WithIndex(&corev1.Pod{}, "spec.nodeName", nodes.Of).WithIndex(&corev1.Pod{}, machines.NodeIndex, nodes.Of).
		WithInterceptorFuncs(interceptor.Funcs{
			Delete: func(ctx context.Context, next client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				given := client.DeleteOptions{}
				given.ApplyOptions(opts)
				if err := note("delete %s uid=%s grace=%v", o.GetName(), *given.Preconditions.UID, show(given.GracePeriodSeconds)); err != nil {
					return err
				}
				return next.Delete(ctx, o, opts...)
			},
			Patch: func(ctx context.Context, next client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				data, err := p.Data(o)
				if err != nil {
					t.Error(err)
				}
				if err := note("patch %s %s", o.GetName(), data); err != nil {
					return err
				}
				return next.Patch(ctx, o, p, opts...)
			},
			SubResourcePatch: func(ctx context.Context, next client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				data, err := p.Data(o)
				if err != nil {
					t.Error(err)
				}
				if err := note("patch %s/%s %s", o.GetName(), sub, data); err != nil {
					return err
				}
				return next.SubResource(sub).Patch(ctx, o, p, opts...)
			},
			SubResourceCreate: func(ctx context.Context, next client.Client, sub string, o, s client.Object, opts ...client.SubResourceCreateOption) error {
				e := s.(*policyv1.Eviction)
				return note("create %s/%s uid=%s grace=%v", o.GetName(), sub, *e.DeleteOptions.Preconditions.UID, show(e.DeleteOptions.GracePeriodSeconds))
			},
		}).Build()
	c.backend = &machines.Backend{Client: c, Cache: c, Cloud: c.cloud}
	return c
}

func show(p *int64) any {
	if p == nil {
		return nil
	}
	return *p
}

func machine(edit func(map[string]any)) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{
			"namespace": "fleet", "name": "m", "uid": "u",
			"deletionTimestamp": "2026-03-01T12:00:00Z", "finalizers": []any{"other/one", lifecycle.Finalizer},
		},
		"spec": map[string]any{
			"providerID": "cloud:1",
			"lifecycleHooks": map[string]any{
				"preDrain": []any{map[string]any{"name": "a", "owner": "x"}, map[string]any{"name": "b", "owner": "x"}},
			},
		},
		"status": map[string]any{"nodeRef": map[string]any{"name": "n"}, "addresses": []any{}, "errorReason": "old"},
	}}
	u.SetGroupVersionKind(machines.Kind)
	if edit != nil {
		edit(u.Object)
	}
	return u
}

func node() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "nu"}, Spec: corev1.NodeSpec{ProviderID: "cloud:1"}}
}

func pod(namespace, name, on string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("u-" + name)}, Spec: corev1.PodSpec{NodeName: on}}
}

func TestObserve(t *testing.T) {
	budget := func(namespace string) *policyv1.PodDisruptionBudget {
		return &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "b"}}
	}
	objects := []client.Object{node(), pod("shop", "p", "n"), pod("shop", "q", "n"), pod("web", "r", "other"), budget("shop"), budget("web")}
	for what, m := range map[string]*unstructured.Unstructured{
		"by nodeRef":    machine(nil),
		"by providerID": machine(func(o map[string]any) { delete(o, "status") }),
	} {
		c := newCluster(t, append(objects, m)...)
		w, err := c.backend.Observe(t.Context(), "fleet/m")
		if err != nil || w.Check() != nil || w.Node == nil || len(w.Pods) != 2 || len(w.Budgets) != 1 || w.Instance != lifecycle.InstanceExists {
			t.Errorf("%s: %+v, %v", what, w, err)
		}
	}
	c := newCluster(t)
	if w, err := c.backend.Observe(t.Context(), "fleet/m"); err != nil || w.Machine != nil {
		t.Errorf("%+v, %v", w, err)
	}
	c = newCluster(t, machine(nil))
	c.cloud.err = errors.New("the cloud is down")
	if w, err := c.backend.Observe(t.Context(), "fleet/m"); err != nil || w.Instance != "" {
		t.Errorf("%+v, %v", w, err)
	}
}

// TestCloudDown: while the cloud does not answer, the node is drained; only the finalizer
// waits, and why is said.
func TestCloudDown(t *testing.T) {
	c := newCluster(t, machine(func(o map[string]any) { delete(o["spec"].(map[string]any), "lifecycleHooks") }), node(), pod("shop", "web-1", "n"))
	c.cloud.there, c.cloud.err = "", errors.New("credentials expired")
	r, err := lifecycle.NewRunner(c.backend, nil, &fairlead.RunnerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 6 {
		_, _ = r.Reconcile(t.Context(), "fleet/m")
	}
	asked := strings.Join(c.asked, "\n")
	if !strings.Contains(asked, `"unschedulable":true`) || !strings.Contains(asked, "web-1/eviction") {
		t.Errorf("the node is not drained: %s", asked)
	}
	if b, is := c.backend.Outage("fleet/m"); !is || !strings.Contains(b.Message, "credentials expired") || b.Reason != machines.ReasonCloud {
		t.Errorf("%v, %+v", is, b)
	}
	c.cloud.there, c.cloud.err = lifecycle.InstanceExists, nil
	if _, err := c.backend.Observe(t.Context(), "fleet/m"); err != nil {
		t.Error(err)
	}
	if _, is := c.backend.Outage("fleet/m"); is {
		t.Error("it is still said when the cloud is back")
	}
}

// The cloud is not asked about machines that stay.
func TestObserveMachinesThatStay(t *testing.T) {
	c := newCluster(t, machine(func(o map[string]any) {
		delete(o["metadata"].(map[string]any), "deletionTimestamp")
	}), node())
	c.cloud.err = errors.New("asked")
	if w, err := c.backend.Observe(t.Context(), "fleet/m"); err != nil || w.Machine == nil || w.Node != nil {
		t.Errorf("%+v, %v", w, err)
	}
}

func TestApply(t *testing.T) {
	grace := int64(5)
	for _, a := range []struct {
		action lifecycle.Action
		want   []string
		err    string
	}{
		{drain.Cordon{Node: "n", UID: "nu", Mark: "m"}, []string{`patch n {"metadata":{"annotations":{"fairlead.io/cordon":"m"},"resourceVersion":"999","uid":"nu"},"spec":{"unschedulable":true}}`}, ""},
		{drain.Uncordon{Node: "n", UID: "nu"}, nil, ""}, // it has no mark: others have cordoned it
		{drain.Uncordon{Node: "ours", UID: "nu"}, []string{`patch ours {"metadata":{"annotations":{"fairlead.io/cordon":null},"resourceVersion":"999","uid":"nu"},"spec":{"unschedulable":false}}`}, ""},
		{drain.Evict{Namespace: "shop", Name: "p", UID: "u-p", GracePeriodSeconds: &grace}, []string{"create p/eviction uid=u-p grace=5"}, ""},
		{drain.DeletePod{Namespace: "shop", Name: "p", UID: "u-p"}, []string{"delete p uid=u-p grace=<nil>"}, ""},
		{drain.DeletePod{Namespace: "shop", Name: "gone", UID: "u"}, []string{"delete gone uid=u grace=<nil>"}, "404: "},
		{lifecycle.DeleteNode{Name: "n", UID: "nu"}, []string{"delete n uid=nu grace=<nil>"}, ""},
		{lifecycle.DeleteNode{Name: "gone", UID: "u"}, []string{"delete gone uid=u grace=<nil>"}, ""},
		{lifecycle.RemoveHook{Point: lifecycle.PreDrain, Name: "a", Owner: "x"}, []string{`patch m {"metadata":{"resourceVersion":"999"},"spec":{"lifecycleHooks":{"preDrain":[{"name":"b","owner":"x"}]}}}`}, ""},
		{lifecycle.RemoveHook{Point: lifecycle.PreDrain, Name: "a", Owner: "y"}, nil, "409: hook a belongs to x and not to y"},
		{lifecycle.RemoveHook{Point: lifecycle.PreTerminate, Name: "a", Owner: "x"}, nil, ""},
		{lifecycle.RemoveFinalizer{Finalizer: lifecycle.Finalizer}, []string{`patch m {"metadata":{"finalizers":["other/one"],"resourceVersion":"999"}}`}, ""},
		{lifecycle.RemoveFinalizer{Finalizer: "not/there"}, nil, ""},
		{lifecycle.UpdateStatus{Revision: "999", Phase: "Deleting", ErrorReason: "X"}, []string{`patch m/status {"metadata":{"resourceVersion":"999"},"status":{"conditions":null,"errorMessage":null,"errorReason":"X","phase":"Deleting"}}`}, ""},
		{lifecycle.RecordEvent{Type: "Normal"}, nil, ""},
	} {
		ours := node()
		ours.Name, ours.Annotations = "ours", map[string]string{drain.CordonAnnotation: "m"}
		c := newCluster(t, machine(nil), node(), ours, pod("shop", "p", "n"))
		err := c.backend.Apply(t.Context(), "fleet/m", a.action)
		if a.err == "" && err != nil || a.err != "" && (err == nil || !strings.HasPrefix(err.Error(), a.err)) {
			t.Errorf("%#v: %v, want %q", a.action, err, a.err)
		}
		if !slices.Equal(c.asked, a.want) {
			t.Errorf("%#v: asked %q, want %q", a.action, c.asked, a.want)
		}
	}
}

// The engine must not remove the finalizer of another machine with the same
// name.
func TestFinalizerOfAMachineThatStays(t *testing.T) {
	c := newCluster(t, machine(func(o map[string]any) { delete(o["metadata"].(map[string]any), "deletionTimestamp") }))
	if err := c.backend.Apply(t.Context(), "fleet/m", lifecycle.RemoveFinalizer{Finalizer: lifecycle.Finalizer}); err != nil || c.asked != nil {
		t.Error(err, c.asked)
	}
}

func TestUpdateStatusKeepsTheRest(t *testing.T) {
	c := newCluster(t, machine(nil))
	err := c.backend.Apply(t.Context(), "fleet/m", lifecycle.UpdateStatus{
		Revision: "999", Phase: lifecycle.PhaseDeleting,
		Conditions: []lifecycle.Condition{{Type: "Drained", Status: "False", Reason: "Draining"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	u := machine(nil)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(u), u); err != nil {
		t.Fatal(err)
	}
	phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
	ref, _, _ := unstructured.NestedString(u.Object, "status", "nodeRef", "name")
	_, failed, _ := unstructured.NestedString(u.Object, "status", "errorReason")
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	if phase != "Deleting" || ref != "n" || failed || len(conditions) != 1 {
		t.Errorf("%v", u.Object["status"])
	}
}

// Refusals by the server are reported to the engine with their code.
func TestRefusals(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for _, r := range []struct {
		err  error
		want fairlead.RefusedError
	}{
		{apierrors.NewTooManyRequests("budget web needs 3 pods", 10), fairlead.RefusedError{Code: 429, Message: "budget web needs 3 pods", RetryAfter: 10 * time.Second}},
		{apierrors.NewConflict(pods, "p", errors.New("uid")), fairlead.RefusedError{Code: 409, Message: `Operation cannot be fulfilled on pods "p": uid`}},
	} {
		c := newCluster(t, machine(nil))
		c.fail = r.err
		err := c.backend.Apply(t.Context(), "fleet/m", drain.Evict{Namespace: "shop", Name: "p", UID: "u-p"})
		var got *fairlead.RefusedError
		if !errors.As(err, &got) || *got != r.want {
			t.Errorf("%v, want %v", err, r.want)
		}
	}
}

func TestDeleteInstance(t *testing.T) {
	c := newCluster(t, machine(nil))
	if err := c.backend.Apply(t.Context(), "fleet/m", lifecycle.DeleteInstance{}); err != nil || c.cloud.deleted != 1 {
		t.Error(err, c.cloud.deleted)
	}
	c = newCluster(t, machine(func(o map[string]any) { delete(o["metadata"].(map[string]any), "deletionTimestamp") }))
	if err := c.backend.Apply(t.Context(), "fleet/m", lifecycle.DeleteInstance{}); err == nil || c.cloud.deleted != 0 {
		t.Error(err, c.cloud.deleted)
	}
	c = newCluster(t)
	if err := c.backend.Apply(t.Context(), "fleet/m", lifecycle.DeleteInstance{}); err != nil || c.cloud.deleted != 0 {
		t.Error(err, c.cloud.deleted)
	}
}

func TestMachineOfAnotherForm(t *testing.T) {
	c := newCluster(t, machine(func(o map[string]any) { o["spec"] = map[string]any{"providerID": int64(1)} }))
	_, err := c.backend.Observe(t.Context(), "fleet/m")
	if err == nil || !strings.HasPrefix(err.Error(), "Machine fleet/m: does not have the expected form: ") {
		t.Error(err)
	}
}

func TestProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cloud")
	script := `#!/bin/sh
case "$1 $2 $3" in
"exists cloud:1 fleet/m") echo yes ;;
"exists cloud:2 fleet/m") echo no ;;
"exists cloud:3 fleet/m") echo perhaps ;;
"exists cloud:4 fleet/m") echo no such account >&2; exit 3 ;;
"exists cloud:5 fleet/m") sleep 60 ;;
"delete cloud:1 fleet/m") ;;
*) exit 9 ;;
esac
`
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	p := &machines.Program{Path: path}
	for id, want := range map[string]string{
		"cloud:1": "Exists <nil>",
		"cloud:2": "Gone <nil>",
		"cloud:3": " " + path + ` exists cloud:3: printed "perhaps": must print yes or no`,
		"cloud:4": " " + path + " exists cloud:4: exit status 3: no such account",
		"cloud:5": " " + path + " exists cloud:5: it took longer than 100ms\nsignal: killed: ",
	} {
		m := &lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Namespace: "fleet", Name: "m"}}
		m.Spec.ProviderID = id
		p.Timeout = time.Minute
		if id == "cloud:5" {
			p.Timeout = 100 * time.Millisecond
		}
		got, err := p.Instance(t.Context(), m)
		if s := fmt.Sprint(got, " ", err); s != want {
			t.Errorf("%s: %q, want %q", id, s, want)
		}
		if err := p.Delete(t.Context(), m); (err == nil) != (id == "cloud:1") {
			t.Errorf("delete %s: %v", id, err)
		}
	}
}
