package fleet_test

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/lifecycle/fleet"
)

// A set gives up two machines: one that somebody has marked, then the oldest.
func ExampleScaleDown() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	machine := func(name string, age time.Duration) lifecycle.Machine {
		return lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Name: name, CreationTimestamp: now.Add(-age)}}
	}
	machines := []lifecycle.Machine{machine("a", time.Hour), machine("b", 3*time.Hour), machine("c", 2*time.Hour)}
	machines[0].Annotations = map[string]string{fleet.DeleteAnnotation: "true"}
	picks, err := fleet.ScaleDown(machines, 2, fleet.DeleteOldest, fleet.MachineAPI, now)
	if err != nil {
		fmt.Println(err)
	}
	for _, p := range picks {
		fmt.Println(p.Machine.Name, "-", p.Why)
	}
	// Output:
	// a - it has annotation machine.openshift.io/delete-machine
	// b - it is the oldest of the others
}

// One machine of the control plane is on its way out at a time, and who waits knows
// for whom.
func ExampleMembers() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	earlier := now.Add(-time.Minute)
	machine := func(name, role string, asked *time.Time) lifecycle.Machine {
		return lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Namespace: "m", Name: name, UID: "u-" + name, Labels: map[string]string{"role": role}, DeletionTimestamp: asked}}
	}
	machines := []lifecycle.Machine{machine("master-0", "master", &now), machine("master-1", "master", &earlier), machine("worker-0", "worker", &now)}
	limit := drain.Limit{Name: "control-plane", Max: fairlead.IntOrString{Int: 1}}
	limit.Selector.MatchLabels = map[string]string{"role": "master"}
	a, err := drain.Admit(nil, fleet.Members(machines), []drain.Limit{limit}, now)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(a.Admitted)
	for _, b := range a.Blocked {
		fmt.Println(b.Subject+":", b.Message)
	}
	// Output:
	// [m/master-1 m/worker-0]
	// machine m/master-0: limit control-plane allows 1 of 2 to be out of service at a time: m/master-1 for 0s
}

// A machine that is being deleted because the autoscaler does not need its node.
func ExampleWhy() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	m := &lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Name: "worker-0", DeletionTimestamp: &now}}
	n := &lifecycle.Node{}
	n.Spec.Taints = []lifecycle.Taint{{Key: "ToBeDeletedByClusterAutoscaler", Value: "1772366100", Effect: "NoSchedule"}}
	for _, c := range fleet.Why(&fleet.Scene{Machine: m, Node: n}, now) {
		fmt.Println(c.Trigger, "-", c.Text, "since", c.Since.Format(time.TimeOnly))
	}
	// Output:
	// Autoscaler - its node has taint ToBeDeletedByClusterAutoscaler since 11:55:00
}
