package eviction

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/leaves"
	engine "github.com/fairlead/fairlead/taints/eviction"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// TestZoneMatters changes each field of a node, in zones that are whole, broken in part and wholly: if
// the engine then decides otherwise, the change causes a pass.
func TestZoneMatters(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	decided := map[string]bool{}
	for _, broken := range []int{0, 1, 2, 3} {
		for _, status := range []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown} {
			for _, taint := range []string{"", "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
				nodes := []*corev1.Node{}
				for i := range 4 {
					nodes = append(nodes, zoneNode(i, now, i < broken))
				}
				n := nodes[3]
				n.Status.Conditions[0].Status = status
				n.Spec.Taints[0].Key = taint
				vary(n, func(path string, old *corev1.Node) {
					before := decide(t, append(nodes[:3:3], old), now)
					if before == decide(t, nodes, now) {
						return
					}
					decided[path] = true
					if !zoneMatters(event.UpdateEvent{ObjectOld: old, ObjectNew: n}) {
						t.Errorf("%s decides, and its change is not noticed", path)
					}
				})
			}
		}
	}
	for _, path := range []string{".Status.Conditions[0].Status", ".Spec.Taints[0].Key", ".Status.Conditions[0].LastTransitionTime.Time", ".ObjectMeta.Labels"} {
		if !decided[path] {
			t.Errorf("%s decides nothing: %v", path, decided)
		}
	}
}

func zoneNode(i int, now time.Time, broken bool) *corev1.Node {
	n := &corev1.Node{}
	leaves.Fill(n)
	n.ObjectMeta = metav1.ObjectMeta{Name: fmt.Sprint("n", i), UID: "u", Labels: map[string]string{corev1.LabelTopologyZone: "a"}, CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))}
	n.Spec.Taints[0] = corev1.Taint{Key: "x", Effect: corev1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: now.Add(-time.Minute)}}
	n.Status.Conditions[0] = corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-30*time.Minute - time.Duration(i)*time.Second)), LastHeartbeatTime: metav1.NewTime(now)}
	if broken {
		n.Status.Conditions[0].Status = corev1.ConditionUnknown
	}
	return n
}

// vary changes every leaf of a node, one after the other, and calls f with the node as it was.
func vary(n *corev1.Node, f func(path string, old *corev1.Node)) {
	leaves.Each(n, func(path string, v reflect.Value) {
		old, was := n.DeepCopy(), reflect.New(v.Type()).Elem()
		was.Set(v)
		if path != ".ObjectMeta.Name" && leaves.Alter(v) {
			f(path, old)
		}
		v.Set(was)
	})
}

// decide returns the decision about zones, as text.
func decide(t *testing.T, nodes []*corev1.Node, now time.Time) string {
	w := &engine.ZoneWorld{}
	for _, n := range nodes {
		w.Nodes = append(w.Nodes, kube.Node(n))
	}
	state, text := engine.ZoneState{}, ""
	for range 3 { // tokens come with time
		d := engine.ZoneStep(state, w, now, &engine.Policy{NodeLifecycle: &engine.NodeLifecycle{NodeEvictionRate: 1}})
		data, err := json.Marshal([]any{d.State, d.Actions, d.Wake})
		if err != nil {
			t.Fatal(err)
		}
		text += string(data)
		state, now = d.State, now.Add(time.Second)
	}
	return text
}
