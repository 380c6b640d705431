package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	engine "github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/rollout"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// agents simulates the agents on nodes: each node with a desired change is
// changed after a moment. It records how many nodes accept no pods at the same
// time.
func (w *world) agents(stop <-chan struct{}) (most func() map[string]int) {
	w.Helper()
	down := map[string]int{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-w.Context().Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
			var all corev1.NodeList
			if w.admin.List(w.Context(), &all) != nil {
				continue // the server is down
			}
			now := map[string]int{}
			for i := range all.Items {
				n := &all.Items[i]
				if n.Spec.Unschedulable {
					now[n.Labels["role"]]++
				}
				if n.Annotations[engine.AnnotationState] != engine.StateWorking {
					continue
				}
				text := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q,%q:%q}}}`, engine.AnnotationState, engine.StateDone, engine.AnnotationCurrent, n.Annotations[engine.AnnotationDesired])
				_ = w.admin.Patch(w.Context(), n, client.RawPatch("application/merge-patch+json", []byte(text))) // or in the next round
			}
			for role, n := range now {
				down[role] = max(down[role], n)
			}
		}
	}()
	return func() map[string]int { <-done; return down }
}

func (w *world) machinePool(name, configuration string, paused bool) {
	w.Helper()
	p := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"nodeSelector":          map[string]any{"matchLabels": map[string]any{"role": name}},
		"machineConfigSelector": map[string]any{"matchLabels": map[string]any{"role": name}},
		"paused":                paused, "maxUnavailable": int64(1),
		"configuration": map[string]any{"name": configuration, "source": []any{map[string]any{"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig", "name": "00-" + name}}},
	}}}
	p.SetGroupVersionKind(rollout.Kind)
	p.SetName(name)
	w.eventually("pool "+name, func() string { return problem(w.admin.Create(w.Context(), p)) })
}

// poolStatus returns "machines updated ready Updated=status" of a pool.
func (w *world) poolStatus(name string) string {
	p := &unstructured.Unstructured{}
	p.SetGroupVersionKind(rollout.Kind)
	if err := w.admin.Get(w.Context(), client.ObjectKey{Name: name}, p); err != nil {
		return err.Error()
	}
	status, _, _ := unstructured.NestedMap(p.Object, "status")
	text := fmt.Sprint(status["machineCount"], " ", status["updatedMachineCount"], " ", status["readyMachineCount"])
	conditions, _, _ := unstructured.NestedSlice(p.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == "Updated" {
			text += fmt.Sprint(" Updated=", c["status"])
		}
	}
	return text
}

// Three pools of OpenShift's own kind get a new configuration; one is paused. Their
// nodes are drained by requests, one node of a pool at a time, through an outage of
// the API server and a crash of the operator. The paused pool continues when it is
// resumed, and then nothing more is written.
func TestMachineConfigPools(t *testing.T) {
	w := newWorld(t, nil)
	w.definitions("machineconfiguration/v1/zz_generated.crd-manifests/0000_80_machine-config_01_machineconfigpools-Default.crd.yaml",
		"machineconfiguration/v1/zz_generated.crd-manifests/0000_80_machine-config_01_machineosbuilds.crd.yaml")
	operator.Install(t, w.Cluster, "crd/drainrequests.yaml", "rbac-drain.yaml", "rbac-rollout.yaml")
	w.namespace("shop")
	for _, role := range []string{"master", "worker", "infra"} {
		for i := range 3 {
			name := fmt.Sprintf("%s-%d", role, i)
			if err := w.kubelets.AddNode(t.Context(), name, map[string]string{"role": role}); err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf(`{"metadata":{"annotations":{%q:"old",%q:"old",%q:%q}}}`, engine.AnnotationCurrent, engine.AnnotationDesired, engine.AnnotationState, engine.StateDone)
			if err := w.admin.Patch(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, client.RawPatch("application/merge-patch+json", []byte(text))); err != nil {
				t.Fatal(err)
			}
		}
		w.machinePool(role, "new", role == "infra")
	}
	w.deployment("web", 6)
	stop := make(chan struct{})
	most := w.agents(stop)
	flags := []string{"-controllers=rollout,drain", "-leader-elect=false"}
	manager := operator.Start(t, w.Cluster, flags...)
	manager.Ready()
	w.eventually("the first node is down", func() string {
		for _, name := range []string{"worker-0", "worker-1", "worker-2"} {
			if w.cordoned(name) == "true" {
				return ""
			}
		}
		return "none is"
	})
	w.outage(5 * time.Second)
	manager.Kill()
	manager = operator.Start(t, w.Cluster, flags...)
	for _, name := range []string{"master", "worker"} {
		w.within(4*time.Minute, "pool "+name+" is updated", func() string { return expect(w.poolStatus(name), "3 3 3 Updated=True") })
	}
	if got := w.poolStatus("infra"); got != "3 0 0 Updated=False" {
		t.Errorf("the paused pool: %s", got)
	}
	p := &unstructured.Unstructured{}
	p.SetGroupVersionKind(rollout.Kind)
	p.SetName("infra")
	if err := w.admin.Patch(t.Context(), p, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"paused":false}}`))); err != nil {
		t.Fatal(err)
	}
	w.within(4*time.Minute, "pool infra is updated", func() string { return expect(w.poolStatus("infra"), "3 3 3 Updated=True") })
	w.eventually("no drain request is left", func() string {
		var list unstructured.UnstructuredList
		list.SetAPIVersion("fairlead.io/v1alpha1")
		list.SetKind("DrainRequestList")
		if err := w.admin.List(t.Context(), &list); err != nil {
			return err.Error()
		}
		return expect(fmt.Sprint(len(list.Items)), "0")
	})
	close(stop)
	for role, n := range most() {
		if n > 1 {
			t.Errorf("%d nodes of pool %s were down at a time", n, role)
		}
	}
	time.Sleep(2 * time.Second)
	since := time.Now()
	time.Sleep(5 * time.Second)
	if late := w.requests(cluster.Filter{User: operator.User, Since: since, Where: writes}); len(late) > 0 {
		t.Errorf("it writes though nothing changes: %s", summary(late))
	}
	for _, r := range w.requests(cluster.Filter{User: operator.User, Resource: "machineconfigpools/status"}) {
		if r.Code >= 400 && r.Code != 409 && r.Code < 500 {
			t.Errorf("a status was refused: %d", r.Code)
		}
		if r.Idle {
			t.Errorf("a status was written that was there already: %s at %v", r.URI, r.Received)
		}
	}
	evicted := w.evictions()
	if n := len(slices.Compact(slices.Clone(evicted))); n != len(evicted) {
		t.Errorf("evicted twice: %s", strings.Join(evicted, " "))
	}
	t.Logf("%d evictions; requests: %s", len(evicted), summary(w.requests(cluster.Filter{User: operator.User})))
	if err := manager.Stop(); err != nil {
		t.Error(err)
	}
	w.rightsUsed([]string{"rbac-rollout.yaml"}, "get fairlead.io/drainrequests")
}
