package drain

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// TestMissingNode: a request for any node of a name waits since the node is missing, and
// one for a node that is gone for good ends.
func TestMissingNode(t *testing.T) {
	asked := drainStart.Add(-time.Hour)
	any := Request{Name: "any", UID: "r1", Requester: "jane", Purpose: Maintenance, Asked: asked}
	bound := Request{Name: "bound", UID: "r2", Requester: "jane", Purpose: Maintenance, NodeUID: "old", Asked: asked}
	w := &World{Name: "n", Requests: []Request{any, bound}}
	d := Step(State{}, w, drainStart, nil)
	if len(d.Blocked) != 1 || d.Blocked[0].Reason != ReasonNodeMissing || d.Blocked[0].Name != "any" || !d.Blocked[0].Since.Equal(drainStart) {
		t.Errorf("it waits for %v", d.Blocked)
	}
	later := Step(d.State, w, drainStart.Add(time.Hour), nil)
	if len(later.Blocked) != 1 || !later.Blocked[0].Since.Equal(drainStart) {
		t.Errorf("an hour later it waits for %v", later.Blocked)
	}
	over := ""
	for _, a := range d.Actions {
		if r, is := a.(Report); is && r.Status.Phase == PhaseOver {
			over += r.Request + " " + r.Status.Reason
		}
	}
	if over != "bound "+OverGone {
		t.Errorf("over: %q, of %v", over, d.Actions)
	}
}

// TestPodReturns: a pod that tolerates the cordon is evicted once; the one in its place is
// told, with its owner, and left.
func TestPodReturns(t *testing.T) {
	yes := true
	n := &Node{ObjectMeta: ObjectMeta{Name: "n", UID: "n", Annotations: map[string]string{CordonAnnotation: drainStart.Format(time.RFC3339Nano)}}}
	n.Spec.Unschedulable = true
	p := Pod{ObjectMeta: ObjectMeta{Namespace: "d", Name: "sticky-1", UID: "p1", CreationTimestamp: drainStart.Add(-time.Hour)}}
	p.OwnerReferences = []OwnerReference{{Kind: "ReplicaSet", Name: "sticky", UID: "rs", Controller: &yes}}
	p.Spec.NodeName = "n"
	p.Spec.Tolerations = []fairlead.Toleration{{Operator: fairlead.TolerationExists}}
	progress := Progress{Cordoned: "n", CordonMark: drainStart.Format(time.RFC3339Nano)}
	now := drainStart.Add(time.Minute)
	first := Pods(progress, &View{Node: n, Pods: []Pod{p}}, nil, now, nil)
	if len(first.Actions) != 1 {
		t.Fatalf("the first time: %v, waits %v", first.Actions, first.Progress.Waits)
	}
	p.Name, p.UID, p.CreationTimestamp = "sticky-2", "p2", now
	again := Pods(first.Progress, &View{Node: n, Pods: []Pod{p}}, nil, now.Add(time.Minute), nil)
	if len(again.Actions) != 0 || again.Done || len(again.Progress.Waits) != 1 || again.Progress.Waits[0].Reason != ReasonPodReturns || again.Progress.Waits[0].Owner != "sticky" {
		t.Errorf("the second time: %v, done %v, waits %v", again.Actions, again.Done, again.Progress.Waits)
	}
	p.Spec.Tolerations = nil
	if other := Pods(first.Progress, &View{Node: n, Pods: []Pod{p}}, nil, now.Add(time.Minute), nil); len(other.Actions) != 1 {
		t.Errorf("without the toleration: %v", other.Progress.Waits)
	}
}
