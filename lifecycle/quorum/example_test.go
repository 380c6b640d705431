package quorum_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/quorum"
)

// master puts a machine of the control plane into a cluster, with its node.
func master(b *lifecycle.MemBackend, i int) string {
	var n lifecycle.Node
	n.Name = fmt.Sprintf("node-%d", i)
	b.PutNode(n)
	var m lifecycle.Machine
	m.Name = fmt.Sprintf("master-%d", i)
	m.Labels = map[string]string{quorum.RoleLabel: "master"}
	m.Spec.ProviderSpec = json.RawMessage(`{}`)
	m.Status.Phase = lifecycle.PhaseRunning
	m.Status.NodeRef = &lifecycle.NodeRef{Name: n.Name}
	m.Status.Addresses = []lifecycle.NodeAddress{{Type: "InternalIP", Address: fmt.Sprintf("10.0.0.%d", i)}}
	if err := b.PutMachine(m); err != nil {
		fmt.Println(err)
	}
	return m.Name
}

// A machine of the control plane is deleted. Its member stays until another one
// has taken its place.
func ExampleStep() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w := &quorum.World{Revision: "1", Desired: 1}
	w.Members = []quorum.Member{{ID: "a", Name: "node-0", Addresses: []string{"10.0.0.0"}, Healthy: true}}
	var m lifecycle.Machine
	m.Name = "master-0"
	m.DeletionTimestamp = &now
	m.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{quorum.Hook()}
	m.Status.Phase = lifecycle.PhaseRunning
	m.Status.Addresses = []lifecycle.NodeAddress{{Type: "InternalIP", Address: "10.0.0.0"}}
	w.Machines = []lifecycle.Machine{m}
	d := quorum.Step(quorum.State{}, w, now, nil)
	for _, b := range d.Blocked {
		fmt.Printf("%s: %s; to unblock: %s\n", b.Subject, b.Message, b.Unblock)
	}
	// Output:
	// machine master-0: member node-0 is one of 1 voters, and 1 are desired; to unblock: add a machine to the control plane
}

// A fourth machine joins, its member catches up, and the old one may go.
func ExampleRunner() {
	ctx := context.Background()
	clock := new(fairlead.ManualClock)
	clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	machines := &lifecycle.MemBackend{Clock: clock}
	etcd := &quorum.MemBackend{Machines: machines, Clock: clock}
	runner, err := quorum.NewRunner(etcd, nil, &fairlead.RunnerOptions{Clock: clock})
	if err != nil {
		fmt.Println(err)
	}
	for i := range 3 {
		if err := etcd.AddVoter(master(machines, i)); err != nil {
			fmt.Println(err)
		}
	}
	etcd.Changed = func(a quorum.Action) { fmt.Println(clock.Now().Format(time.TimeOnly), a) }
	for i := range 200 {
		switch i {
		case 10:
			_ = machines.Delete("master-0")
		case 20:
			master(machines, 3)
		}
		if _, err := runner.Reconcile(ctx, "etcd"); err != nil {
			fmt.Println(err)
		}
		clock.Advance(time.Second)
	}
	// Output:
	// 12:00:00 set hook master-0
	// 12:00:00 set hook master-1
	// 12:00:00 set hook master-2
	// 12:00:20 set hook master-3
	// 12:00:21 add learner node-3
	// 12:02:21 promote member node-3
	// 12:02:22 remove member node-0: its machine is being deleted
	// 12:02:23 remove hook master-0
}
