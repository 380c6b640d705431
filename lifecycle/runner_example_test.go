package lifecycle_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
)

// cloud is a backend in memory: one machine that never became a node, and its
// instance.
type cloud struct {
	machine  *lifecycle.Machine
	instance lifecycle.Instance
}

func (c *cloud) Observe(context.Context, string) (*lifecycle.World, error) {
	w := &lifecycle.World{Instance: c.instance}
	if c.machine != nil {
		m := *c.machine
		w.Machine = &m
	}
	return w, nil
}

func (c *cloud) Apply(_ context.Context, _ string, action lifecycle.Action) error {
	fmt.Println(action)
	switch a := action.(type) {
	case lifecycle.UpdateStatus:
		c.machine.Status.Phase, c.machine.Status.Conditions = a.Phase, a.Conditions
	case lifecycle.DeleteInstance:
		c.instance = lifecycle.InstanceGone
	case lifecycle.RemoveFinalizer:
		c.machine.Finalizers = slices.DeleteFunc(c.machine.Finalizers, func(f string) bool { return f == a.Finalizer })
		c.machine = nil // the API server removes what has no finalizer
	}
	return nil
}

// A machine that is being deleted goes as soon as its instance has gone.
func ExampleRunner() {
	clock := new(fairlead.ManualClock)
	clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	now := clock.Now()
	c := &cloud{machine: new(lifecycle.Machine), instance: lifecycle.InstanceExists}
	c.machine.Name, c.machine.UID, c.machine.DeletionTimestamp = "worker-1", "u1", &now
	c.machine.Finalizers = []string{lifecycle.Finalizer}

	runner, err := lifecycle.NewRunner(c, nil, &fairlead.RunnerOptions{Clock: clock, Store: new(fairlead.MemStore)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for c.machine != nil { // as a reconciler does; runner.Run(ctx) does it by itself
		d, err := runner.Reconcile(context.Background(), "worker-1")
		if err != nil {
			fmt.Println(err)
			return
		}
		if len(d.Actions) == 0 && d.Wake.After(clock.Now()) {
			clock.Set(d.Wake)
		}
	}
	// Output:
	// tell DrainSkipped: Node drain skipped: the machine has no node
	// write status: Deleting Drainable=True Drained=True Terminable=True
	// delete the instance
	// remove finalizer machine.machine.openshift.io
}
