package fleet_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/fleet"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	engine "github.com/fairlead/fairlead/lifecycle/fleet"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// providerSpec returns that of a machine in an AWS zone.
func providerSpec(size, zone string) map[string]any {
	placement := map[string]any{"region": "r"}
	value := map[string]any{"instanceType": size, "blockDevices": []any{map[string]any{"size": int64(120)}}, "placement": placement}
	if zone != "" {
		placement["availabilityZone"] = zone
		value["subnet"] = map[string]any{"filters": []any{map[string]any{"name": "tag:Name", "values": []any{"subnet-" + zone}}}}
	}
	return map[string]any{"value": value}
}

// planeSet returns a set of three machines of a size in the zones a, b and c.
func planeSet(size string) *unstructured.Unstructured {
	u := object(fleet.ControlPlaneKind, "cluster")
	u.SetGeneration(4)
	labels := map[string]any{"machine.openshift.io/cluster-api-cluster": "c1", "machine.openshift.io/cluster-api-machine-role": "master"}
	var domains []any
	for _, zone := range []string{"a", "b", "c"} {
		domains = append(domains, map[string]any{
			"placement": map[string]any{"availabilityZone": zone},
			"subnet":    map[string]any{"type": "Filters", "filters": []any{map[string]any{"name": "tag:Name", "values": []any{"subnet-" + zone}}}},
		})
	}
	u.Object["spec"] = map[string]any{
		"replicas": int64(3), "state": "Active", "strategy": map[string]any{"type": "RollingUpdate"},
		"selector": map[string]any{"matchLabels": map[string]any{"machine.openshift.io/cluster-api-machine-role": "master"}},
		"template": map[string]any{"machineType": "machines_v1beta1_machine_openshift_io", "machines_v1beta1_machine_openshift_io": map[string]any{
			"failureDomains": map[string]any{"platform": "AWS", "aws": domains},
			"metadata":       map[string]any{"labels": labels},
			"spec":           map[string]any{"providerSpec": providerSpec(size, "")},
		}},
	}
	return u
}

// master returns a machine of the set, and its ready node.
func master(name, size, zone string) []client.Object {
	m := object(machines.Kind, name)
	m.SetLabels(map[string]string{"machine.openshift.io/cluster-api-machine-role": "master"})
	m.SetCreationTimestamp(metav1.NewTime(now))
	m.Object["spec"] = map[string]any{"providerSpec": providerSpec(size, zone)}
	m.Object["status"] = map[string]any{"phase": "Running", "nodeRef": map[string]any{"kind": "Node", "name": "n-" + name}}
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n-" + name, Labels: map[string]string{"node-role.kubernetes.io/master": ""}}}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: "True"}}
	return []client.Object{m, n}
}

func masters(size string) []client.Object {
	return slices.Concat(master("c1-master-0", size, "b"), master("c1-master-1", size, "c"), master("c1-master-2", size, "a"))
}

func (w *world) replace() *engine.Replacement {
	w.Helper()
	r, err := w.backend.Replace(w.Context(), "fleet/cluster", now)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// machines returns the names of the machines, and the zone of each.
func (w *world) machines() (names []string, zones map[string]string) {
	w.Helper()
	list := kube.ListOf(machines.Kind)
	if err := w.List(w.Context(), list); err != nil {
		w.Fatal(err)
	}
	zones = map[string]string{}
	for i := range list.Items {
		m := &list.Items[i]
		names = append(names, m.GetName())
		zones[m.GetName()], _, _ = unstructured.NestedString(m.Object, "spec", "providerSpec", "value", "placement", "availabilityZone")
	}
	return names, zones
}

// planeStatus returns the counts and conditions of the set.
func (w *world) planeStatus() string {
	w.Helper()
	u := planeSet("")
	if err := w.Get(w.Context(), client.ObjectKeyFromObject(u), u); err != nil {
		w.Fatal(err)
	}
	status, _, _ := unstructured.NestedMap(u.Object, "status")
	text := fmt.Sprintf("%v/%v/%v/%v at %v", status["replicas"], status["readyReplicas"], status["updatedReplicas"], status["unavailableReplicas"], status["observedGeneration"])
	for _, c := range status["conditions"].([]any) {
		c := c.(map[string]any)
		text += fmt.Sprintf(" %v=%v(%v)", c["type"], c["status"], c["reason"])
	}
	return text
}

// become makes the newest machine of an index run, with a ready node.
func (w *world) become(name string) {
	w.Helper()
	u := kube.Stub(machines.Kind, "fleet", name)
	if err := w.Get(w.Context(), client.ObjectKeyFromObject(u), u); err != nil {
		w.Fatal(err)
	}
	is := master(name, "", "")
	u.SetUID(types.UID("u-" + name))
	u.Object["status"] = is[0].(*unstructured.Unstructured).Object["status"]
	if err := w.Update(w.Context(), u); err != nil {
		w.Fatal(err)
	}
	if err := w.Create(w.Context(), is[1]); err != nil {
		w.Fatal(err)
	}
}

// TestReplace changes the size of three machines: each index in turn gets a machine in
// the same zone, and loses the old one when the new one is ready.
func TestReplace(t *testing.T) {
	w := newWorld(t, append(masters("small"), planeSet("large"))...)
	before, zones := w.machines()
	for place, old := range []string{"c1-master-0", "c1-master-1", "c1-master-2"} {
		if r := w.replace(); !slices.Equal(r.Create, []int{place}) || r.Delete != "" {
			t.Fatalf("place %d: %+v", place, r)
		}
		now, in := w.machines()
		i := slices.IndexFunc(now, func(n string) bool { return !slices.Contains(before, n) })
		if len(now) != 4 || i < 0 {
			t.Fatalf("place %d: machines %q", place, now)
		}
		made := now[i]
		if !strings.HasPrefix(made, "c1-master-") || !strings.HasSuffix(made, fmt.Sprint("-", place)) || in[made] != zones[old] {
			t.Errorf("place %d: machine %s in zone %q instead of %s in zone %q", place, made, in[made], old, zones[old])
		}
		if r := w.replace(); len(r.Create) > 0 || r.Delete != "" || len(r.Blocked) != 1 || r.Blocked[0].Reason != "MachineNotReady" || r.Wake.IsZero() {
			t.Fatalf("place %d, the new one is not ready: %+v", place, r)
		}
		w.become(made)
		if r := w.replace(); r.Delete != old || len(r.Create) > 0 {
			t.Fatalf("place %d: %+v", place, r)
		}
		uid, revision := types.UID("u-n-"+old), "1"
		if err := w.Delete(t.Context(), master(old, "", "")[1], client.Preconditions{UID: &uid, ResourceVersion: &revision}); err != nil {
			t.Fatal(err)
		}
		before, _ = w.machines()
	}
	w.replace()
	if got, want := w.planeStatus(), "3/3/3/0 at 4 Available=True(AllReplicasAvailable) Degraded=False(AsExpected) Progressing=False(AllReplicasUpdated)"; got != want {
		t.Errorf("status %s, want %s", got, want)
	}
	w.writes = nil
	if r := w.replace(); len(w.writes) > 0 || len(r.Blocked) > 0 {
		t.Errorf("at rest: %+v, writes %q", r, w.writes)
	}
}

// TestReplaceHolds leaves control planes alone that it cannot handle, and
// reports why.
func TestReplaceHolds(t *testing.T) {
	other := master("c1-master-0", "small", "b")
	yes := true
	other[0].SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Other", Name: "o", UID: "u-o", Controller: &yes}})
	bare := master("gone", "small", "a")[1:]
	noPlace := master("c1-master-x", "small", "b")
	noPlace[1].SetName("n-c1-master-x")
	inactive := planeSet("large")
	if err := unstructured.SetNestedField(inactive.Object, "Inactive", "spec", "state"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		objects []client.Object
		want    string
	}{
		"another's":     {slices.Concat(other, masters("small")[2:], []client.Object{planeSet("large")}), "MachinesAlreadyOwned"},
		"bare node":     {slices.Concat(bare, masters("small"), []client.Object{planeSet("large")}), "UnmanagedNodes"},
		"without place": {slices.Concat(noPlace, masters("small")[2:], []client.Object{planeSet("large")}), "ExcessIndexes"},
		"inactive":      {append(masters("small"), inactive), "Inactive"},
	} {
		w := newWorld(t, c.objects...)
		r := w.replace()
		if len(r.Blocked) != 1 || r.Blocked[0].Reason != c.want || len(r.Create) > 0 || r.Delete != "" {
			t.Errorf("%s: %+v", name, r)
		}
		if c.want == "Inactive" {
			if len(w.writes) > 0 {
				t.Errorf("%s: writes %q", name, w.writes)
			}
		} else if got := w.planeStatus(); !strings.Contains(got, "Degraded=True("+c.want+") Progressing=False(OperatorDegraded)") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestReplaceRefuses uses templates that cannot be followed: the error names the field,
// and nothing is done.
func TestReplaceRefuses(t *testing.T) {
	template := []string{"spec", "template", "machines_v1beta1_machine_openshift_io"}
	for _, c := range []struct {
		value any
		at    []string
		want  string
	}{
		{"VSphere", []string{"failureDomains", "platform"}, "failureDomains.platform: failure domains of VSphere are not supported"},
		{"worker", []string{"metadata", "labels", "machine.openshift.io/cluster-api-machine-role"}, "metadata.labels: the selector of the set does not match"},
		{"", []string{"metadata", "labels", "machine.openshift.io/cluster-api-cluster"}, "metadata.labels: machines are named after"},
	} {
		set := planeSet("large")
		if err := unstructured.SetNestedField(set.Object, c.value, append(slices.Clone(template), c.at...)...); err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, append(masters("small"), set)...)
		if _, err := w.backend.Replace(t.Context(), "fleet/cluster", now); err == nil || !strings.Contains(err.Error(), c.want) || len(w.writes) > 0 {
			t.Errorf("%v, writes %q; want %s", err, w.writes, c.want)
		}
	}
	w := newWorld(t)
	if r, err := w.backend.Replace(t.Context(), "fleet/gone", now); r != nil || err != nil {
		t.Errorf("a set that is gone: %v, %v", r, err)
	}
}

// TestReplaceLost creates a machine for an empty index in the zone with the fewest
// machines; two processes with the same decision create only one.
func TestReplaceLost(t *testing.T) {
	w := newWorld(t, append(masters("large")[2:], planeSet("large"))...) // the ones in c and a are left
	w.replace()
	names, zones := w.machines()
	i := slices.IndexFunc(names, func(n string) bool { return strings.HasSuffix(n, "-0") })
	if len(names) != 3 || i < 0 || zones[names[i]] != "b" {
		t.Fatalf("machines %v", zones)
	}
	second := newWorld(t, append(masters("large")[2:], planeSet("large"))...)
	second.replace()
	if again, _ := second.machines(); !slices.Equal(again, names) {
		t.Errorf("machines %q, and by the other %q", names, again)
	}
	made := kube.Stub(machines.Kind, "fleet", names[i])
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(made), made); err != nil {
		t.Fatal(err)
	}
	o := metav1.GetControllerOf(made)
	if o == nil || o.UID != "u-cluster" || made.GetLabels()["machine.openshift.io/cluster-api-cluster"] != "c1" {
		t.Errorf("%v", made.Object)
	}
}
