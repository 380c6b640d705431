package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// deleteMachine deletes a machine in virtual time. Its hook keeps the node from
// being drained until an application has moved.
func deleteMachine(ctx context.Context, w io.Writer) error {
	clock := new(fairlead.ManualClock)
	clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	cluster := &lifecycle.MemBackend{Clock: clock, Changed: func(_ string, a lifecycle.Action) {
		switch a := a.(type) {
		case drain.Cordon:
			say(w, clock, "node "+a.Node+" is cordoned")
		case lifecycle.DeleteInstance:
			say(w, clock, "the cloud is asked to delete the instance")
		case lifecycle.DeleteNode:
			say(w, clock, "node "+a.Name+" is deleted")
		case lifecycle.RemoveFinalizer:
			say(w, clock, "the machine is gone")
		}
	}}
	var node lifecycle.Node
	node.Name = "pier-1"
	cluster.PutNode(node)
	var m lifecycle.Machine
	m.Name = "worker-1"
	m.Spec.ProviderSpec = json.RawMessage(`{}`)
	m.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{{Name: "MigrateImportantApp", Owner: "my-app-migration-controller"}}
	m.Status.NodeRef = &lifecycle.NodeRef{Name: node.Name}
	if err := cluster.PutMachine(m); err != nil {
		return err
	}
	runner, err := lifecycle.NewRunner(cluster, nil, &fairlead.RunnerOptions{Clock: clock})
	if err != nil {
		return err
	}
	say(w, clock, "you delete machine "+m.Name)
	if err := cluster.Delete(m.Name); err != nil {
		return err
	}
	if err := passes(ctx, w, runner, clock, m.Name, 5*time.Minute); err != nil {
		return err
	}
	say(w, clock, "the application has moved, and its controller removes the hook")
	if err := cluster.Release(m.Name, lifecycle.PreDrain, "MigrateImportantApp", "my-app-migration-controller"); err != nil {
		return err
	}
	return passes(ctx, w, runner, clock, m.Name, 5*time.Minute)
}

// passes runs the runner for a while, whenever it wants to wake, and reports why the
// machine waits.
func passes(ctx context.Context, w io.Writer, runner *lifecycle.Runner, clock *fairlead.ManualClock, machine string, d time.Duration) error {
	end, told := clock.Now().Add(d), ""
	for {
		decision, err := runner.Reconcile(ctx, machine)
		if err != nil {
			return err
		}
		next := decision.Wake
		if len(decision.Actions) > 0 {
			next = clock.Now().Add(time.Second)
		} else {
			for _, b := range decision.Blocks() {
				if told != b.Message {
					told = b.Message
					indent(w, fmt.Sprintf("%s waits: %s; to unblock: %s", b.Subject, b.Message, b.Unblock))
				}
			}
		}
		if next.IsZero() || !next.Before(end) {
			clock.Set(end)
			return nil
		}
		clock.Set(next)
	}
}

func say(w io.Writer, clock fairlead.Clock, text string) {
	fmt.Fprintf(w, "   %s  %s\n", clock.Now().Format(time.TimeOnly), text)
}
