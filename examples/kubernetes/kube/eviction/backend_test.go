package eviction_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/fairlead/fairlead"
	engine "github.com/fairlead/fairlead/taints/eviction"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/eviction"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/worlds"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// cluster is the fake client and the requests to it.
type cluster struct {
	client.WithWatch
	backend *eviction.Backend
	asked   []string
	fail    func(call string) error
}

func newCluster(t *testing.T, objects ...client.Object) *cluster {
	c := &cluster{fail: func(string) error { return nil }}
	note := func(call string) error {
		c.asked = append(c.asked, call)
		return c.fail(call)
	}
	c.WithWatch = fake.NewClientBuilder().WithObjects(objects...).
		WithStatusSubresource(&corev1.Pod{}, &corev1.Node{}).
		WithIndex(&corev1.Pod{}, eviction.NodeIndex, func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }).
		WithInterceptorFuncs(interceptor.Funcs{
			Delete: func(ctx context.Context, next client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				given := client.DeleteOptions{}
				given.ApplyOptions(opts)
				if err := note(fmt.Sprintf("delete %s uid=%s", o.GetName(), *given.Preconditions.UID)); err != nil {
					return err
				}
				return next.Delete(ctx, o, opts...)
			},
			Patch: func(ctx context.Context, next client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				data, err := p.Data(o)
				if err != nil {
					t.Error(err)
				}
				if err := note("patch " + o.GetName() + " " + string(data)); err != nil {
					return err
				}
				return next.Patch(ctx, o, p, opts...)
			},
			SubResourcePatch: func(ctx context.Context, next client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				data, err := p.Data(o)
				if err != nil {
					t.Error(err)
				}
				var said struct{ Metadata map[string]any }
				if err := json.Unmarshal(data, &said); err != nil {
					t.Error(err)
				}
				if err := note(fmt.Sprintf("patch %s/%s on %v", o.GetName(), sub, said.Metadata)); err != nil {
					return err
				}
				return next.SubResource(sub).Patch(ctx, o, p, opts...)
			},
			SubResourceCreate: func(ctx context.Context, next client.Client, sub string, o client.Object, s client.Object, opts ...client.SubResourceCreateOption) error {
				if err := note(fmt.Sprintf("create %s/%s", o.GetName(), sub)); err != nil {
					return err
				}
				return next.SubResource(sub).Create(ctx, o, s, opts...)
			},
		}).Build()
	c.backend = &eviction.Backend{Client: c, Reader: c, Lifecycle: true}
	return c
}

func pod(name, uid string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(uid)},
		Spec:       corev1.PodSpec{NodeName: "n"},
		Status:     corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
}

func evict(name, uid string) engine.Evict {
	return engine.Evict{Pod: engine.PodRef{Namespace: "shop", Name: name, UID: uid}, Node: "n", Taint: fairlead.Taint{Key: "k", Effect: fairlead.NoExecute}, At: noon}
}

func (c *cluster) apply(t *testing.T, a engine.Action, wantErr string, want ...string) {
	t.Helper()
	c.asked = nil
	err := c.backend.Apply(t.Context(), "n", a)
	if wantErr == "" && err != nil || wantErr != "" && (err == nil || !strings.Contains(err.Error(), wantErr)) {
		t.Errorf("error %v, want %q", err, wantErr)
	}
	if !slices.Equal(c.asked, want) {
		t.Errorf("asked %q, want %q", c.asked, want)
	}
}

// TestFacts checks that every field of the engine's Worlds is filled in.
func TestFacts(t *testing.T) {
	renewed := metav1.NewMicroTime(noon)
	c := newCluster(t, pod("p", "1"), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}},
		&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "b"}},
		&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-node-lease", Name: "n"}, Spec: coordinationv1.LeaseSpec{RenewTime: &renewed}})
	c.backend.Budgets = true
	w, err := c.backend.Observe(t.Context(), "n")
	if err != nil {
		t.Fatal(err)
	}
	// The Runner sets Heard, Zones and Outcomes.
	if unset := worlds.Unset(w); !slices.Equal(unset, []string{"Heard", "Outcomes", "Zones"}) {
		t.Errorf("unset fields: %q", unset)
	}
	zones, err := c.backend.ObserveZones(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if unset := worlds.Unset(zones); !slices.Equal(unset, []string{"Outcomes"}) {
		t.Errorf("of zones: unset fields: %q", unset)
	}
}

func TestEvict(t *testing.T) {
	c := newCluster(t, pod("p", "1"))
	c.apply(t, evict("p", "other"), "") // another pod has the name
	c.apply(t, evict("q", "1"), "")     // it is gone
	c.apply(t, evict("p", "1"), "", "patch p/status on map[uid:1]", "delete p uid=1")
	c.apply(t, evict("p", "1"), "")
}

// Pods that are being deleted are left alone, and a condition that is set is
// not set again.
func TestEvictAgain(t *testing.T) {
	leaving, noted := pod("leaving", "1"), pod("noted", "2")
	leaving.Finalizers, leaving.DeletionTimestamp = []string{"a/b"}, &metav1.Time{Time: noon}
	noted.Status.Conditions = append(noted.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager"})
	c := newCluster(t, leaving, noted)
	c.apply(t, evict("leaving", "1"), "")
	c.apply(t, evict("noted", "2"), "", "delete noted uid=2")
}

func TestEvictErrors(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for _, c := range []struct {
		on   string
		err  error
		want string
		all  []string
	}{
		{"patch", apierrors.NewConflict(pods, "p", errors.New("uid")), "", []string{"patch p/status on map[uid:1]"}},
		{"patch", apierrors.NewNotFound(pods, "p"), "", []string{"patch p/status on map[uid:1]"}},
		{"patch", apierrors.NewForbidden(pods, "p", errors.New("rbac")), "pod shop/p: note that it is evicted: pods \"p\" is forbidden", []string{"patch p/status on map[uid:1]"}},
		{"delete", apierrors.NewConflict(pods, "p", errors.New("uid")), "", []string{"patch p/status on map[uid:1]", "delete p uid=1"}},
		{"delete", apierrors.NewTimeoutError("slow", 1), "pod shop/p: delete: ", []string{"patch p/status on map[uid:1]", "delete p uid=1"}},
	} {
		k := newCluster(t, pod("p", "1"))
		k.fail = func(call string) error {
			if strings.HasPrefix(call, c.on) {
				return c.err
			}
			return nil
		}
		k.apply(t, evict("p", "1"), c.want, c.all...)
	}
}

func TestEvictAsksBudgets(t *testing.T) {
	c := newCluster(t, pod("p", "1"))
	refuse := true
	c.fail = func(call string) error {
		if refuse && strings.HasPrefix(call, "create") {
			return apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 10)
		}
		return nil
	}
	a := evict("p", "1")
	a.Budget = true
	c.apply(t, a, "pod shop/p: evict: its disruption budget does not allow it now: Cannot evict", "patch p/status on map[uid:1]", "create p/eviction")
	refuse = false
	c.apply(t, a, "", "create p/eviction")
	var pods corev1.PodList
	if err := c.List(t.Context(), &pods); err != nil || len(pods.Items) != 0 {
		t.Errorf("%d pods are left, %v", len(pods.Items), err)
	}
}

func TestMarkNotReady(t *testing.T) {
	c := newCluster(t, pod("p", "1"))
	a := engine.MarkNotReady{Pod: engine.PodRef{Namespace: "shop", Name: "p", UID: "1"}}
	c.apply(t, a, "", "patch p/status on map[uid:1]")
	c.apply(t, a, "")
}

func node(conditions ...corev1.NodeCondition) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "u"},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoExecute}, {Key: "a", Effect: corev1.TaintEffectNoSchedule}, {Key: "b", Value: "1", Effect: corev1.TaintEffectNoExecute}}},
		Status:     corev1.NodeStatus{Conditions: conditions},
	}
}

func TestEditTaints(t *testing.T) {
	c := newCluster(t, node())
	edit := engine.EditTaints{Node: "n", UID: "u",
		Remove: []fairlead.Taint{{Key: "a", Effect: fairlead.NoExecute}},
		Add:    []fairlead.Taint{{Key: "b", Value: "2", Effect: fairlead.NoExecute}, {Key: "c", Effect: fairlead.NoExecute, TimeAdded: &noon}},
	}
	c.apply(t, edit, "", `patch n {"metadata":{"resourceVersion":"999"},"spec":{"taints":[{"effect":"NoSchedule","key":"a"},{"effect":"NoExecute","key":"b","value":"2"},{"effect":"NoExecute","key":"c","timeAdded":"2026-03-01T12:00:00Z"}]}}`)
	c.apply(t, edit, "") // already done
	edit.UID = "another"
	edit.Add[0].Value = "3"
	c.apply(t, edit, "")
	edit.Node = "gone"
	c.apply(t, edit, "")
}

// After a conflict the write is decided again on current data, twice.
func TestEditTaintsConflict(t *testing.T) {
	edit := engine.EditTaints{Node: "n", UID: "u", Add: []fairlead.Taint{{Key: "c", Effect: fairlead.NoExecute}}}
	for conflicts, want := range map[int]string{1: "", 2: "", 3: "node n: change its taints: "} {
		c := newCluster(t, node())
		n := 0
		c.fail = func(string) error {
			if n++; n <= conflicts {
				return apierrors.NewConflict(schema.GroupResource{Resource: "nodes"}, "n", errors.New("changed"))
			}
			return nil
		}
		err := c.backend.Apply(t.Context(), "n", edit)
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.Contains(got, want) {
			t.Errorf("%d conflicts: %v", conflicts, err)
		}
	}
}

// A node is read from the server only if the cache is behind.
func TestEditTaintsFromCache(t *testing.T) {
	c := newCluster(t, node())
	old := fake.NewClientBuilder().WithObjects(node()).Build() // a cache that gets no more updates
	gets := 0
	c.backend.Client = interceptor.NewClient(c, interceptor.Funcs{Get: func(ctx context.Context, next client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
		gets++
		return next.Get(ctx, key, o, opts...)
	}})
	c.backend.Reader = old
	for i, key := range []string{"c", "d"} {
		edit := engine.EditTaints{Node: "n", UID: "u", Add: []fairlead.Taint{{Key: key, Effect: fairlead.NoExecute}}}
		if err := c.backend.Apply(t.Context(), "n", edit); err != nil {
			t.Fatal(err)
		}
		if gets != i {
			t.Errorf("with %q the node was read %d times, want %d", key, gets, i)
		}
	}
	var n corev1.Node
	if err := c.Get(t.Context(), client.ObjectKey{Name: "n"}, &n); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(kube.Node(&n).Spec.Taints); !strings.Contains(got, "c:NoExecute") || !strings.Contains(got, "d:NoExecute") {
		t.Errorf("taints %s", got)
	}
	// Another node now has the name.
	other := node()
	other.UID = "another"
	c.backend.Reader = fake.NewClientBuilder().WithObjects(other).Build()
	c.apply(t, engine.EditTaints{Node: "n", UID: "u", Remove: []fairlead.Taint{{Key: "c", Effect: fairlead.NoExecute}}}, "")
}

func TestSetConditions(t *testing.T) {
	at := metav1.NewTime(noon)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-node-lease", Name: "n"}, Spec: coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{Time: noon}}}
	c := newCluster(t, lease, node(corev1.NodeCondition{Type: "Ready", Status: "True", LastHeartbeatTime: at, LastTransitionTime: at}, corev1.NodeCondition{Type: "Other", Status: "False"}))
	set := engine.SetConditions{Node: "n", UID: "u", Heartbeat: noon, Conditions: []fairlead.NodeCondition{
		{Type: "Ready", Status: "Unknown", Reason: "NodeStatusUnknown", LastHeartbeatTime: noon, LastTransitionTime: noon.Add(time.Minute)},
		{Type: "DiskPressure", Status: "Unknown", LastHeartbeatTime: noon, LastTransitionTime: noon.Add(time.Minute)},
	}}
	c.apply(t, set, "", "patch n/status on map[resourceVersion:999]")
	var n corev1.Node
	if err := c.Get(t.Context(), client.ObjectKey{Name: "n"}, &n); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range n.Status.Conditions {
		got = append(got, fmt.Sprint(c.Type, "=", c.Status))
	}
	if want := []string{"Ready=Unknown", "Other=False", "DiskPressure=Unknown"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(lease), lease); err != nil {
		t.Fatal(err)
	}
	lease.Spec.RenewTime = &metav1.MicroTime{Time: noon.Add(time.Second)} // the node is back
	if err := c.Update(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	set.Conditions[0].Status = "False"
	c.apply(t, set, "")
}

func TestObserve(t *testing.T) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-node-lease", Name: "n"}, Spec: coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{Time: noon}}}
	elsewhere := pod("elsewhere", "2")
	elsewhere.Spec.NodeName = "m"
	c := newCluster(t, node(), pod("p", "1"), elsewhere, lease)
	w, err := c.backend.Observe(t.Context(), "n")
	if err != nil || w.Node == nil || len(w.Pods) != 1 || w.Pods[0].Name != "p" || !w.Heartbeat().Equal(noon) {
		t.Errorf("%+v, %v", w, err)
	}
	if w, err = c.backend.Observe(t.Context(), "gone"); err != nil || w.Node != nil || len(w.Pods) != 0 {
		t.Errorf("%+v, %v", w, err)
	}
	f, err := c.backend.ObserveZones(t.Context())
	if err != nil || len(f.Nodes) != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestApplyAllKeepsOrder(t *testing.T) {
	c := newCluster(t)
	errs := c.backend.ApplyAll(t.Context(), "n", []engine.Action{evict("a", "1"), nil, evict("b", "2")})
	if len(errs) != 3 || errs[0] != nil || errs[1] == nil || errs[2] != nil {
		t.Errorf("%v", errs)
	}
}
