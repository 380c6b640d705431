package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/fleet"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	engine "github.com/fairlead/fairlead/lifecycle/fleet"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is a fake server.
type world struct {
	*testing.T
	client.WithWatch
	backend *fleet.Backend
	writes  []string
	fail    error
	changes string // the object that another client changes whenever it is read by name
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	w := &world{T: t}
	note := func(verb string, o client.Object) error {
		w.writes = append(w.writes, verb+" "+o.GetName())
		return w.fail
	}
	w.WithWatch = fake.NewClientBuilder().WithObjects(objects...).WithStatusSubresource(object(fleet.HealthCheckKind, ""), object(fleet.ControlPlaneKind, ""), object(clusterKind("MachineHealthCheck"), ""), object(clusterKind("Machine"), "")).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if err := c.Get(ctx, key, o, opts...); err != nil || key.Name != w.changes {
				return err
			}
			o.SetLabels(map[string]string{"changed": fmt.Sprint(o.GetResourceVersion())})
			return c.Update(ctx, o)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			given := client.DeleteOptions{}
			given.ApplyOptions(opts)
			if p := given.Preconditions; p == nil || *p.UID != types.UID("u-"+o.GetName()) || *p.ResourceVersion == "" {
				t.Errorf("%s is deleted without saying which", o.GetName())
			}
			if err := note("delete", o); err != nil {
				return err
			}
			return c.Delete(ctx, o)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if err := note("patch", o); err != nil {
				return err
			}
			return c.Patch(ctx, o, p, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			if err := note(sub, o); err != nil {
				return err
			}
			if data, err := p.Data(o); err != nil || !strings.Contains(string(data), `"resourceVersion"`) {
				t.Errorf("%s of %s is written on any revision: %s, %v", sub, o.GetName(), data, err)
			}
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	}).Build()
	w.backend = &fleet.Backend{Client: w}
	return w
}

func object(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(kind)
	u.SetNamespace("fleet")
	u.SetName(name)
	u.SetUID(types.UID("u-" + name))
	return u
}

// pair returns a machine of set s, with a node whose condition Ready has had a status
// for ten minutes.
func pair(i int, status corev1.ConditionStatus) []client.Object {
	m, is := object(machines.Kind, fmt.Sprint("m", i)), true
	m.SetLabels(map[string]string{"role": "worker"})
	m.SetCreationTimestamp(metav1.NewTime(now.Add(-time.Duration(i) * time.Hour)))
	m.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: fleet.SetKind.GroupVersion().String(), Kind: "MachineSet", Name: "s", UID: "u-s", Controller: &is}})
	m.Object["status"] = map[string]any{"phase": "Running", "nodeRef": map[string]any{"kind": "Node", "name": fmt.Sprint("n", i)}}
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, LastTransitionTime: metav1.NewTime(now.Add(-10 * time.Minute))}}
	return []client.Object{m, n}
}

// check returns a health check that replaces workers silent for more than five
// minutes, unless more than most are unhealthy.
func check(most string) *unstructured.Unstructured {
	u := object(fleet.HealthCheckKind, "c")
	u.Object["spec"] = map[string]any{
		"selector": map[string]any{"matchLabels": map[string]any{"role": "worker"}}, "maxUnhealthy": most,
		"unhealthyConditions": []any{map[string]any{"type": "Ready", "status": "Unknown", "timeout": "5m"}},
	}
	return u
}

func (w *world) check() *engine.HealthReport {
	w.Helper()
	r, err := w.backend.Check(w.Context(), "fleet/c", now)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

func (w *world) status() map[string]any {
	w.Helper()
	u := check("")
	if err := w.Get(w.Context(), client.ObjectKeyFromObject(u), u); err != nil {
		w.Fatal(err)
	}
	status, _, _ := unstructured.NestedMap(u.Object, "status")
	return status
}

func condition(status map[string]any) string {
	c := status["conditions"].([]any)[0].(map[string]any)
	return fmt.Sprint(c["type"], " ", c["status"], " ", c["reason"])
}

// TestCheck deletes the machine of a silent node, reports it in the status, and
// does not write an unchanged status again.
func TestCheck(t *testing.T) {
	w := newWorld(t, slices.Concat([]client.Object{check("40%")}, pair(1, corev1.ConditionUnknown), pair(2, corev1.ConditionTrue), pair(3, corev1.ConditionTrue))...)
	if r := w.check(); !slices.Equal(r.Remediate, []string{"fleet/m1"}) {
		t.Errorf("%+v", r)
	}
	if want := []string{"delete m1", "status c"}; !slices.Equal(w.writes, want) {
		t.Errorf("writes %q, want %q", w.writes, want)
	}
	if s := w.status(); s["expectedMachines"] != int64(3) || s["currentHealthy"] != int64(2) || s["remediationsAllowed"] != int64(0) || condition(s) != "RemediationAllowed True <nil>" {
		t.Errorf("status %v", s)
	}
	w.writes = nil
	w.check() // the machine is gone
	w.check()
	if want := []string{"status c"}; !slices.Equal(w.writes, want) {
		t.Errorf("at rest: writes %q, want %q", w.writes, want)
	}
	if r, err := w.backend.Check(t.Context(), "fleet/gone", now); r != nil || err != nil {
		t.Errorf("a check that is gone: %v, %v", r, err)
	}
}

// TestTooMany replaces nothing when too many machines are unhealthy, and
// reports why.
func TestTooMany(t *testing.T) {
	w := newWorld(t, slices.Concat([]client.Object{check("1")}, pair(1, corev1.ConditionUnknown), pair(2, corev1.ConditionUnknown), pair(3, corev1.ConditionTrue))...)
	if r := w.check(); len(r.Remediate) > 0 || len(r.Blocked) != 1 || r.Blocked[0].Reason != "TooManyUnhealthy" {
		t.Errorf("%+v", r)
	}
	if want := []string{"status c"}; !slices.Equal(w.writes, want) || condition(w.status()) != "RemediationAllowed False TooManyUnhealthy" {
		t.Errorf("writes %q, status %v", w.writes, w.status())
	}
}

// TestTemplate creates a remediation from the template instead of deleting the
// machine, once.
func TestTemplate(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "infrastructure.example.com", Version: "v1", Kind: "RebootTemplate"}
	template := object(kind, "reboot")
	template.Object["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{"strategy": "soft"}}}
	c := check("100%")
	c.Object["spec"].(map[string]any)["remediationTemplate"] = map[string]any{"apiVersion": "infrastructure.example.com/v1", "kind": "RebootTemplate", "name": "reboot"}
	w := newWorld(t, slices.Concat([]client.Object{c, template}, pair(1, corev1.ConditionUnknown), pair(2, corev1.ConditionTrue))...)
	w.check()
	w.check()
	kind.Kind = "Reboot"
	made := object(kind, "m1")
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(made), made); err != nil {
		t.Fatal(err)
	}
	if strategy, _, _ := unstructured.NestedString(made.Object, "spec", "strategy"); strategy != "soft" || made.GetOwnerReferences()[0].UID != "u-m1" {
		t.Errorf("%v", made.Object)
	}
	if slices.Contains(w.writes, "delete m1") {
		t.Error("the machine is deleted, too")
	}
}

// TestRefused reports refusals of the server with their code, and handles the
// other machines.
func TestRefused(t *testing.T) {
	w := newWorld(t, slices.Concat([]client.Object{check("100%")}, pair(1, corev1.ConditionUnknown), pair(2, corev1.ConditionUnknown))...)
	w.fail = apierrors.NewConflict(schema.GroupResource{Resource: "machines"}, "m", errors.New("uid"))
	_, err := w.backend.Check(t.Context(), "fleet/c", now)
	var refused *fairlead.RefusedError
	if !errors.As(err, &refused) || refused.Code != 409 || !slices.Equal(w.writes, []string{"delete m1", "delete m2", "status c"}) {
		t.Errorf("%v, writes %q", err, w.writes)
	}
	c := check("100%")
	c.Object["spec"].(map[string]any)["unhealthyConditions"] = []any{map[string]any{"type": "", "status": "Unknown", "timeout": "5m"}}
	w = newWorld(t, c)
	if _, err := w.backend.Check(t.Context(), "fleet/c", now); err == nil || !strings.Contains(err.Error(), "health check fleet/c: spec.unhealthyConditions[0].type") {
		t.Errorf("%v", err)
	}
}

// TestScaleDown marks the machines that a set should remove, and reduces its
// replicas.
func TestScaleDown(t *testing.T) {
	set := object(fleet.SetKind, "s")
	set.Object["spec"] = map[string]any{"replicas": int64(3), "deletePolicy": "Oldest"}
	other := object(machines.Kind, "other") // belongs to no set
	w := newWorld(t, slices.Concat([]client.Object{set, other}, pair(1, "True"), pair(2, "True"), pair(3, "True"))...)
	picks, err := w.backend.ScaleDown(t.Context(), "fleet/s", 2, now)
	if err != nil {
		t.Fatal(err)
	}
	if len(picks) != 2 || picks[0].Machine.Name != "m3" || picks[1].Machine.Name != "m2" {
		t.Errorf("%v", picks)
	}
	if want := []string{"patch m3", "patch m2", "patch s"}; !slices.Equal(w.writes, want) {
		t.Errorf("writes %q, want %q", w.writes, want)
	}
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(set), set); err != nil {
		t.Fatal(err)
	}
	if n, _, _ := unstructured.NestedInt64(set.Object, "spec", "replicas"); n != 1 {
		t.Errorf("the set is asked for %d machines", n)
	}
	w.writes = nil // the marked machines are removed next, and are not written again
	if picks, err = w.backend.ScaleDown(t.Context(), "fleet/s", 1, now); err != nil || len(picks) != 3 || !slices.Equal(w.writes, []string{"patch m1", "patch s"}) {
		t.Errorf("%v, %v, writes %q", picks, err, w.writes)
	}
	for _, n := range []int{0, -1, 1} {
		if _, err := w.backend.ScaleDown(t.Context(), "fleet/s", n, now); err == nil {
			t.Errorf("%d of none", n)
		}
	}
}
