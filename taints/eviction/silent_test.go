package eviction_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints/eviction"
)

// Of a silent node each ready pod is marked as not ready once, however often it is
// listed; one without an identity is not, and neither marked nor evicted by its name.
func TestPodsOfSilentNode(t *testing.T) {
	now := start.Add(time.Hour)
	long := strings.Repeat("x", 254)
	n := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n", UID: "u", CreationTimestamp: start}}
	n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionUnknown, LastTransitionTime: start}}
	n.Spec.Taints = []fairlead.Taint{{Key: "a", Effect: fairlead.NoExecute, TimeAdded: &start}}
	w := &eviction.World{Name: "n", Node: n, Heard: start}
	for _, name := range [][3]string{{"ns", "p", "u1"}, {"ns", "p", "u1"}, {"ns", "q", ""}, {"ns", long, "u2"}, {long, "r", "u3"}, {"ns", "s", long}} {
		p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: name[0], Name: name[1], UID: name[2]}}
		p.Spec.NodeName, p.Status.Phase = "n", fairlead.PodRunning
		p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionTrue}}
		w.Pods = append(w.Pods, p)
	}
	d := eviction.Step(eviction.State{}, w, now, &eviction.Policy{NodeLifecycle: &eviction.NodeLifecycle{}})
	marked, evicted, blocked := 0, 0, 0
	for _, a := range d.Actions {
		switch a.(type) {
		case eviction.MarkNotReady:
			marked++
		case eviction.Evict:
			evicted++
		}
	}
	for _, b := range d.Blocked {
		if b.Reason == eviction.ReasonNoUID {
			blocked++
		}
	}
	if marked != 1 || evicted != 1 || blocked != 4 {
		t.Errorf("%d marked, %d evicted, %d without identity; want 1, 1, 4: %v", marked, evicted, blocked, d.Actions)
	}
}
