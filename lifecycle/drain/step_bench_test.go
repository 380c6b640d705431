package drain_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// idle are nodes about which nothing has changed, each with what a Step does.
func idle(tb testing.TB) map[string]func() drain.Decision {
	all := map[string]func() drain.Decision{}
	yes := true
	add := func(name string, pods int, edit func(w *drain.World)) {
		w := &drain.World{Name: "n"}
		w.Node = &drain.Node{ObjectMeta: drain.ObjectMeta{Name: "n", UID: "u"}}
		w.Node.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True", LastTransitionTime: noon}}
		w.Requests = []drain.Request{{Name: "a", UID: "ra", Requester: "kured", Purpose: drain.Reboot, Asked: noon}, {Name: "b", UID: "rb", Requester: "jane", Asked: noon.Add(time.Second)}}
		w.BootID = "boot"
		budget := drain.PodDisruptionBudget{ObjectMeta: drain.ObjectMeta{Namespace: "d", Name: "b", Generation: 1}}
		budget.Spec.Selector = &drain.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
		budget.Spec.MaxUnavailable = &drain.IntOrString{}
		budget.Status = fairlead.BudgetStatus{ObservedGeneration: 1, ExpectedPods: pods, CurrentHealthy: pods, DesiredHealthy: pods}
		w.Budgets = []drain.PodDisruptionBudget{budget}
		for i := range pods {
			p := drain.Pod{ObjectMeta: drain.ObjectMeta{Namespace: "d", Name: fmt.Sprintf("p%03d", i), UID: fmt.Sprint("uid-", i), Labels: map[string]string{"app": "a"}}}
			p.OwnerReferences = []drain.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "r", Controller: &yes}}
			p.Spec.NodeName, p.Status.Phase = "n", "Running"
			p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: "True"}}
			w.Pods = append(w.Pods, p)
		}
		edit(w)
		var state drain.State
		now := noon.Add(time.Hour)
		for range 6 { // until nothing changes any more
			d := drain.Step(state, w, now, nil)
			for _, a := range d.Actions {
				switch a := a.(type) {
				case drain.Cordon:
					w.Node.Spec.Unschedulable, w.Node.Annotations = true, map[string]string{drain.CordonAnnotation: a.Mark}
				case drain.Uncordon:
					w.Node.Spec.Unschedulable = false
				case drain.Report:
					for i := range w.Requests {
						if w.Requests[i].UID == a.UID {
							w.Requests[i].Status = a.Status
						}
					}
				default:
					tb.Fatalf("%s: %v", name, a)
				}
			}
			state = d.State
			now = now.Add(time.Minute)
		}
		all[name] = func() drain.Decision { return drain.Step(state, w, now, nil) }
	}
	add("drained", 0, func(*drain.World) {})
	add("held/110", 110, func(*drain.World) {})
	add("waits", 110, func(w *drain.World) { w.Slots = []drain.TakenSlot{{Limit: "all", Holder: "m", Since: noon}} })
	add("paused", 110, func(w *drain.World) { w.Requests[0].Paused, w.Requests[1].Paused = true, true })
	add("nobody", 110, func(w *drain.World) { w.Requests = nil })
	add("over", 110, func(w *drain.World) { w.Requests[0].Cancelled, w.Requests[1].Cancelled = true, true })
	return all
}

// A Step in which nothing has changed allocates nothing.
func TestStepAllocatesNothing(t *testing.T) {
	for name, step := range idle(t) {
		if d := step(); len(d.Actions) > 0 {
			t.Errorf("%s: it does not wait: %v", name, d.Actions)
		}
		if n := testing.AllocsPerRun(100, func() { step() }); n > 0 {
			t.Errorf("%s: a Step allocates %v times", name, n)
		}
	}
}

// BenchmarkStep is a look at a node about which nothing has changed.
func BenchmarkStep(b *testing.B) {
	for name, step := range idle(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
		})
	}
}

// BenchmarkAdmit decides about 5,000 nodes in three zones, of which all are asked
// to go and 50 have slots.
func BenchmarkAdmit(b *testing.B) {
	limits := []drain.Limit{limitOf("all::1%"), limitOf("zone::20:domain"), limitOf("masters:master:1")}
	var members []drain.Member
	for i := range 5_000 {
		members = append(members, memberOf(fmt.Sprintf("n%04d role=%s domain=%c asked=%ds", i, []string{"worker", "master"}[i%1000/999], 'a'+i%3, i)))
	}
	a, err := drain.Admit(nil, members, limits, noon)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if a, err = drain.Admit(a.Slots, members, limits, noon); err != nil || len(a.Admitted) != 50 {
			b.Fatal(err, len(a.Admitted))
		}
	}
}
