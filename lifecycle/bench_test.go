package lifecycle_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/deadlines"
	"github.com/fairlead/fairlead/lifecycle"
)

// waiting are worlds in which nothing changes, with their states.
func waiting(t testing.TB) map[string]func() lifecycle.Decision {
	all := make(map[string]func() lifecycle.Decision)
	for name, f := range map[string]func(m *lifecycle.Machine, w *lifecycle.World){
		"hooks": func(m *lifecycle.Machine, _ *lifecycle.World) {
			m.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{{Name: "MigrateImportantApp", Owner: "my-app-migration-controller"}}
			m.Spec.LifecycleHooks.PreTerminate = []lifecycle.Hook{{Name: "BackupFileSystem", Owner: "my-backup-controller"}, {Name: "WaitForStorageDetach", Owner: "my-custom-storage-detach-controller"}}
		},
		"instance": func(m *lifecycle.Machine, _ *lifecycle.World) {},
		"live":     func(m *lifecycle.Machine, _ *lifecycle.World) { m.DeletionTimestamp = nil },
	} {
		now := start
		w := &lifecycle.World{Machine: new(lifecycle.Machine), Instance: lifecycle.InstanceExists}
		m := w.Machine
		m.Name, m.UID, m.ResourceVersion = "m", "u", "1"
		m.Status.Phase = lifecycle.PhaseRunning
		m.DeletionTimestamp = &now
		m.Finalizers = []string{lifecycle.Finalizer}
		f(m, w)
		var state lifecycle.State
		for range 10 { // until what it decides on is done
			d := lifecycle.Step(state, w, now, nil)
			state = d.State
			for _, a := range d.Actions {
				if u, ok := a.(lifecycle.UpdateStatus); ok {
					m.Status.Phase, m.Status.Conditions = u.Phase, u.Conditions
				}
			}
		}
		text, err := json.Marshal(state)
		if err != nil {
			t.Fatal(err)
		}
		state = lifecycle.State{}
		if err := json.Unmarshal(text, &state); err != nil {
			t.Fatal(err)
		}
		all[name] = func() lifecycle.Decision { return lifecycle.Step(state, w, now, nil) }
	}
	return all
}

// When nothing has changed a Step allocates nothing, also on a state that was
// saved and read.
func TestStepAllocatesNothing(t *testing.T) {
	for name, step := range waiting(t) {
		if d := step(); len(d.Actions) > 0 {
			t.Errorf("%s: it does not wait: %v", name, d.Actions)
		}
		if n := testing.AllocsPerRun(100, func() { step() }); n > 0 {
			t.Errorf("%s: a Step allocates %v times", name, n)
		}
	}
}

// BenchmarkStep is a look at a machine about which nothing has changed.
func BenchmarkStep(b *testing.B) {
	for name, step := range waiting(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
		})
	}
}

// BenchmarkFleet takes 10,000 machines with hooks and pods through their
// deletion: owners remove their hooks, pods end, instances go. Once Step drives
// them alone, once a Runner does, which saves every state as JSON.
func BenchmarkFleet(b *testing.B) {
	for _, durable := range []bool{false, true} {
		b.Run(map[bool]string{false: "step", true: "runner"}[durable], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				passes, acts := fleet(b, 10_000, durable)
				b.ReportMetric(float64(passes), "passes")
				b.ReportMetric(float64(acts), "acts")
			}
		})
	}
}

// A fleet comes through either way, in as many acts.
func TestFleet(t *testing.T) {
	_, acts := fleet(t, 50, false)
	if _, again := fleet(t, 50, true); again != acts || acts < 50*6 {
		t.Errorf("%d acts with a runner, %d without", again, acts)
	}
}

// fleet deletes n machines, and returns how many passes and changes that took.
func fleet(t testing.TB, n int, durable bool) (passes, acts int) {
	clock := new(fairlead.ManualClock)
	clock.Set(start)
	backend := &lifecycle.MemBackend{Clock: clock, Changed: func(string, lifecycle.Action) { acts++ }}
	y := &yard{Rand: rand.New(rand.NewPCG(1, 1)), MemBackend: backend, size: n, records: map[string]*record{}}
	for i := range n + 1 {
		y.addMachine(i)
	}
	if y.wrong != nil {
		t.Fatal(y.wrong)
	}
	pass := stepper(backend, clock)
	if durable {
		runner, err := lifecycle.NewRunner(backend, nil, &fairlead.RunnerOptions{Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		pass = runner.Reconcile
	}
	var due deadlines.Queue[string]
	for i := range n {
		if err := backend.Delete(name(i)); err != nil {
			t.Fatal(err)
		}
		due.Add(name(i), clock.Now())
	}
	for left := n; left > 0; {
		at, ok := due.Next()
		if !ok {
			t.Fatalf("%d machines are left", left)
		}
		if at.After(clock.Now()) {
			clock.Set(at)
		}
		machine, _ := due.Pop(clock.Now())
		d, err := pass(t.Context(), machine)
		if err != nil {
			t.Fatal(err)
		}
		if passes++; passes > 100*n {
			t.Fatalf("after %d passes %d machines are left", passes, left)
		}
		wake := d.Wake
		switch m := backend.Machine(machine); {
		case m == nil:
			left--
			continue
		case answer(t, backend, m, d.State.Stage), len(d.Actions) > 0:
			wake = clock.Now().Add(time.Second)
		}
		due.Add(machine, wake)
	}
	return passes, acts
}

// stepper makes passes without a runner.
func stepper(b *lifecycle.MemBackend, clock fairlead.Clock) func(ctx context.Context, machine string) (lifecycle.Decision, error) {
	states := make(map[string]lifecycle.State)
	return func(ctx context.Context, machine string) (lifecycle.Decision, error) {
		w, err := b.Observe(ctx, machine)
		if err != nil {
			return lifecycle.Decision{}, err
		}
		d := lifecycle.Step(states[machine], w, clock.Now(), nil)
		states[machine] = d.State
		for _, a := range d.Actions {
			if err := b.Apply(ctx, machine, a); err != nil {
				return d, err
			}
		}
		return d, nil
	}
}

// answer lets the owners of the hooks that a machine waits for remove them.
func answer(t testing.TB, b *lifecycle.MemBackend, m *lifecycle.Machine, stage lifecycle.Stage) (any bool) {
	point := map[lifecycle.Stage]lifecycle.Point{lifecycle.StagePreDrain: lifecycle.PreDrain, lifecycle.StagePreTerminate: lifecycle.PreTerminate}[stage]
	for _, h := range slices.Clone(m.Spec.LifecycleHooks.At(point)) {
		if err := b.Release(m.String(), point, h.Name, h.Owner); err != nil {
			t.Fatal(fmt.Errorf("%s: %w", m, err))
		}
		any = true
	}
	return any
}
