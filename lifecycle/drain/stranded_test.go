package drain_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// TestStranded: a pod on a silent node that should have ended may still run. Who
// does maintenance is not told that the node is drained as long as that is so; it is
// once the node is proven to be off, once it is heard of and the pod is gone, and for
// a reboot or a removal, which end the pod.
func TestStranded(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	due := at.Add(-time.Hour)
	p := drain.Pod{ObjectMeta: drain.ObjectMeta{Namespace: "d", Name: "db", UID: "db", DeletionTimestamp: &due}}
	p.OwnerReferences = []drain.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db", UID: "s", Controller: new(true)}}
	p.Spec.NodeName, p.Status.Phase = "n", "Running"
	daemon := p
	daemon.Name, daemon.UID = "agent", "agent"
	daemon.OwnerReferences = []drain.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent", UID: "a", Controller: new(true)}}
	for _, c := range []struct {
		name    string
		purpose drain.Purpose
		change  func(w *drain.World)
		phase   drain.Phase
		reason  string // that is told
	}{
		{"silent", drain.Maintenance, nil, drain.PhaseDraining, drain.ReasonPodStranded},
		{"silent, purpose left out", "", nil, drain.PhaseDraining, drain.ReasonPodStranded},
		{"silent, reboot", drain.Reboot, nil, drain.PhaseDrained, drain.ReasonSilentActs},
		{"silent, removal", drain.Removal, nil, drain.PhaseDrained, drain.ReasonSilentActs},
		{"fenced", drain.Maintenance, func(w *drain.World) { w.Fenced = true }, drain.PhaseDrained, drain.ReasonRequesterActs},
		{"stopped", drain.Maintenance, func(w *drain.World) { w.Stopped = true }, drain.PhaseDrained, drain.ReasonRequesterActs},
		{"only a daemon is left", drain.Maintenance, func(w *drain.World) { w.Pods = w.Pods[1:] }, drain.PhaseDrained, drain.ReasonSilentActs},
		{"it has ended", drain.Maintenance, func(w *drain.World) { w.Pods[0].Status.Phase = fairlead.PodSucceeded }, drain.PhaseDrained, drain.ReasonSilentActs},
		{"heard of", drain.Maintenance, func(w *drain.World) { w.Node.Status.Conditions[0].Status = "True" }, drain.PhaseDraining, drain.ReasonPodTerminating},
	} {
		n := &drain.Node{ObjectMeta: drain.ObjectMeta{Name: "n", UID: "n"}}
		n.Spec.Unschedulable = true
		n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "Unknown", LastTransitionTime: due}}
		w := &drain.World{Name: "n", Requests: []drain.Request{{Name: "r", UID: "r", Requester: "jane", Purpose: c.purpose, Asked: due}}}
		w.Node, w.Pods = n, []drain.Pod{p, daemon}
		if c.change != nil {
			c.change(w)
		}
		d := drain.Step(drain.State{}, w, at, nil)
		var phase drain.Phase
		for _, a := range d.Actions {
			if r, is := a.(drain.Report); is {
				phase = r.Status.Phase
			}
		}
		if phase != c.phase || !slices.ContainsFunc(d.Blocked, func(w fairlead.Block) bool { return w.Reason == c.reason }) {
			t.Errorf("%s: phase %s, %v", c.name, phase, d.Blocks())
		}
		if d.Wake.IsZero() {
			t.Errorf("%s: nobody looks again", c.name)
		}
	}
}
