package kube_test

import (
	"encoding/json"
	"fmt"
	"github.com/fairlead/fairlead"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"
)

// Our types have the API's JSON names, so each conversion must give what
// decoding the API's own JSON gives.
func TestConversionsEqualJSON(t *testing.T) {
	for seed := range int64(300) {
		fill := filler(seed)
		var pod corev1.Pod
		var node corev1.Node
		var budget policyv1.PodDisruptionBudget
		fill.Fill(&pod)
		fill.Fill(&node)
		fill.Fill(&budget)
		same(t, &pod, kube.Pod(&pod))
		same(t, &node, kube.Node(&node))
		same(t, &budget, kube.Budget(&budget))
		var conditions []metav1.Condition
		fill.Fill(&conditions)
		for i, c := range kube.Conditions(conditions) {
			same(t, &conditions[i], c)
		}
		if back := kube.FromConditions(kube.Conditions(conditions)); !cmp.Equal(back, conditions, cmpopts.EquateEmpty()) {
			t.Errorf("conditions: %s", cmp.Diff(conditions, back))
		}
		if back := kube.FromTaints(kube.Taints(node.Spec.Taints)); !cmp.Equal(back, node.Spec.Taints, cmpopts.EquateEmpty()) {
			t.Errorf("taints: %s", cmp.Diff(node.Spec.Taints, back))
		}
		if back := kube.FromTolerations(kube.Tolerations(pod.Spec.Tolerations)); !cmp.Equal(back, pod.Spec.Tolerations, cmpopts.EquateEmpty()) {
			t.Errorf("tolerations: %s", cmp.Diff(pod.Spec.Tolerations, back))
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func same[T any](t *testing.T, from any, got T) {
	t.Helper()
	var want T
	data, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(data, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%T: -json +conversion\n%s", from, d)
	}
}

// filler makes objects as the server returns them: times in whole seconds,
// quantities that parse, enough of everything to notice differences.
func filler(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 3).MaxDepth(12).Funcs(
		func(v *metav1.Time, c randfill.Continue) { *v = metav1.NewTime(time.Unix(c.Int63n(4e9)+1, 0)) },
		func(v *metav1.MicroTime, c randfill.Continue) {
			*v = metav1.NewMicroTime(time.Unix(c.Int63n(4e9)+1, 0))
		},
		func(v *resource.Quantity, c randfill.Continue) {
			*v = *resource.NewMilliQuantity(c.Int63n(1e6), resource.DecimalSI)
		},
		func(v *intstr.IntOrString, c randfill.Continue) {
			if *v = intstr.FromInt32(c.Int31()); c.Bool() {
				*v = intstr.FromString(fmt.Sprintf("%d%%", c.Intn(100)))
			}
		},
		func(v *metav1.FieldsV1, c randfill.Continue) { v.Raw = []byte("{}") },
		func(v *runtime.RawExtension, c randfill.Continue) {},
	)
}

func TestDecodeAndEncode(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{"name": "a"},
		"spec":     map[string]any{"unschedulable": true},
	}}
	var n fairlead.Node
	if err := kube.Decode(u, &n); err != nil || !n.Spec.Unschedulable {
		t.Fatal(n, err)
	}
	back, err := kube.Encode(n, "v1", "Node")
	if err != nil || back.GetName() != "a" || back.GetKind() != "Node" {
		t.Fatal(back, err)
	}
	u.Object["spec"] = map[string]any{"unschedulable": "yes"}
	err = kube.Decode(u, &n)
	want := "Node a: does not have the expected form: json: cannot unmarshal string into Go struct field NodeSpec.spec.unschedulable of type bool"
	if fmt.Sprint(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func BenchmarkPod(b *testing.B) {
	var pod corev1.Pod
	filler(rand.Int64()).Fill(&pod)
	for b.Loop() {
		kube.Pod(&pod)
	}
}
