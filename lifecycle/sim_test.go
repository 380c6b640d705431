package lifecycle_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/lifecycle"
)

// TestSimulation deletes fleets of machines while whatever can go wrong does,
// and checks after each change at the backend, and after each pass, what always
// holds: I1 to I4 and I6 to I9 of the package documentation. At last all faults
// end, and every deletion must finish, or name the owner that keeps it.
func TestSimulation(t *testing.T) {
	size := func(s *sim.Sim) int { return 2 + s.IntN(1+s.IntN(19)) }
	simulate(t, long.N(200, 10_000), size, append(faults(), "other runner", "runners met", "unfair is named", "hook skipped"))
}

// TestSimulationOfLargeFleets is the same for ten thousand machines.
func TestSimulationOfLargeFleets(t *testing.T) {
	if !long.Enabled() {
		t.Skipf("fleets of 10,000 machines take minutes; %s=1 runs five", long.Variable)
	}
	simulate(t, 5, func(*sim.Sim) int { return 10_000 }, faults())
}

// faults are what every run must come by, and what it must have seen done.
func faults() []string {
	return []string{
		"crash", "delay", "again", "stale", "observe fails", "unconfirmed", "409", "429", "500",
		"event lost", "event twice", "owner dies", "node flaps", "node reborn", "touch", "clock jumps ahead", "clock jumps back",
		"put fails", "drained again", "put is not confirmed", "finished", "late hook", "act: Evict", "act: DeleteInstance", "act: DeleteObject",
		"act: DeleteNode", "act: RemoveFinalizer", "act: Cordon", "act: UpdateStatus",
	}
}

// simulate runs seeds. What is expected must have come up in one of them, unless
// a single one is asked for.
func simulate(t *testing.T, seeds int, size func(*sim.Sim) int, expected []string) {
	counts := sim.Run(t, seeds, func(s *sim.Sim) error {
		n := size(s)
		p := newPlay(t, s, n)
		moves := p.script(100 + 10*n)
		err := p.run(moves)
		if err != nil {
			return fmt.Errorf("%w\n%s", err, shrink(t, s.Seed, size, moves))
		}
		return nil
	})
	if os.Getenv(sim.SeedVariable) == "" {
		sim.Reached(t, counts, expected...)
	}
	t.Logf("%d seeds: %v", seeds, counts)
}

// shrink finds a short script that fails, too, and tells what happens in it.
func shrink(t *testing.T, seed uint64, size func(*sim.Sim) int, moves []move) string {
	try := func(moves []move) (*sim.Sim, error) {
		s := sim.New(seed)
		return s, newPlay(t, s, size(s)).run(moves)
	}
	for chunk := len(moves) / 2; chunk > 0; chunk /= 2 {
		for at := 0; at+chunk <= len(moves); {
			fewer := slices.Concat(moves[:at], moves[at+chunk:])
			if _, err := try(fewer); err != nil {
				moves = fewer
			} else {
				at += chunk
			}
		}
	}
	s, err := try(moves)
	return fmt.Sprintf("shrunk to %d moves: %v\n%s", len(moves), err, strings.Join(s.Notes(), "\n"))
}

// pass lets one runner look at a machine once, and replaces it if it crashed.
func (p *play) pass(i int, machine string) {
	if !p.two {
		i = 0
	}
	d, err := p.runners[i].Reconcile(p.t.Context(), machine)
	sim.Waited(p.Sim, d.Blocked)
	p.Note("runner %d, %s: %s, %d actions, %d waits, wake %s, %v", i, machine, d.State.Stage, len(d.Actions), len(d.Blocked), d.Wake.Format(time.TimeOnly), err)
	switch {
	case err != nil:
		p.plan(machine, p.Clock.Now().Add(time.Second))
	case !d.Wake.IsZero():
		p.plan(machine, d.Wake)
	case len(d.Actions) > 0:
		p.plan(machine, p.Clock.Now().Add(time.Second))
	}
	if err == nil {
		p.checkDecision(machine, &d)
	}
	if p.crashed {
		p.crashed = false
		p.runners[i] = p.runner()
	}
}

// checkDecision: I7, I8, I9, and that each hook that is waited for is named.
func (p *play) checkDecision(machine string, d *lifecycle.Decision) {
	w := p.seen[machine]
	if w == nil || w.Machine == nil || !w.Machine.Deleting() || p.nested {
		return
	}
	if most := 2*len(w.Pods) + 12; len(d.Actions) > most {
		p.fail("I7: %s: %d actions at once for %d pods", machine, len(d.Actions), len(w.Pods))
	}
	now := p.Clock.Now().UTC()
	again := lifecycle.Step(d.State, w, now, p.policy)
	for range w.Pods { // pods may be asked to go one after the other
		again = lifecycle.Step(again.State, w, now, p.policy)
	}
	last := lifecycle.Step(again.State, w, now, p.policy)
	for _, a := range slices.Concat(again.Actions, last.Actions) {
		if slices.ContainsFunc(d.Actions, func(b lifecycle.Action) bool { return a.Key() == b.Key() }) {
			p.fail("I8: %s: the same again decides on %s again", machine, describe(a))
		}
	}
	if len(last.Actions) > 0 || !reflect.DeepEqual(again.State, last.State) {
		p.fail("I8: %s: the same again and again decides on %v", machine, last)
	}
	for _, a := range d.Actions {
		o, object := a.(lifecycle.DeleteObject)
		if _, is := a.(lifecycle.DeleteInstance); (is || object && o.Kind == "DockerMachine") && w.Node != nil && d.State.DrainedNode != w.Node.UID {
			p.fail("I2: %s: the instance is deleted, and node %s (%s) is not drained: %q was", machine, w.Node.Name, w.Node.UID, d.State.DrainedNode)
		}
	}
	if d.State.Stage != lifecycle.StageDone && len(d.Blocked) == 0 && len(d.Actions) == 0 && d.Wake.IsZero() {
		p.fail("I9: %s waits at %s in silence", machine, d.State.Stage)
	}
	for _, b := range d.Blocks() {
		if b.Since.IsZero() || b.Unblock == "" || b.Subject == "" || b.Reason == "" || b.Message == "" || b.Since.After(now) {
			p.fail("I9: a block says too little: %+v", b)
		}
	}
	var point lifecycle.Point
	switch d.State.Stage {
	case lifecycle.StagePreDrain:
		point = lifecycle.PreDrain
	case lifecycle.StagePreTerminate:
		point = lifecycle.PreTerminate
	}
	for _, h := range w.Machine.Spec.LifecycleHooks.At(point) {
		if !slices.ContainsFunc(d.Blocked, func(x fairlead.Block) bool {
			return x.Point == string(point) && x.Name == h.Name && x.Owner == h.Owner
		}) {
			p.fail("I9: %s waits for %s of %s and does not say so: %v", machine, h.Name, h.Owner, d.Blocked)
		}
	}
}

// Observe implements lifecycle.Backend.
func (p *play) Observe(ctx context.Context, machine string) (*lifecycle.World, error) {
	if p.Fault("observe fails", 30) {
		return nil, sim.ErrFault
	}
	w, err := p.backend.Observe(ctx, machine)
	if err != nil {
		return nil, err
	}
	p.past[machine] = append(p.past[machine], w)
	if len(p.past[machine]) > 4 {
		p.past[machine] = p.past[machine][1:]
	}
	if p.Fault("stale", 10) {
		w = p.past[machine][p.IntN(len(p.past[machine]))]
	}
	copied := *w
	p.other(machine)
	if !p.nested {
		p.seen[machine] = &copied
	}
	return &copied, nil
}

// other lets the other runner work in the middle of a pass.
func (p *play) other(machine string) {
	if !p.two || p.nested || !p.Fault("other runner", 8) {
		return
	}
	p.nested = true
	crashed := p.crashed
	p.crashed = false
	fresh := p.runner()
	for range 1 + p.IntN(4) {
		_, err := fresh.Reconcile(p.t.Context(), machine)
		p.Note("  meanwhile: %v", err)
		p.Reach("runners met")
	}
	p.nested, p.crashed = false, crashed
}

// Apply implements lifecycle.Backend.
func (p *play) Apply(ctx context.Context, machine string, a lifecycle.Action) error {
	if p.crashed {
		return sim.ErrFault
	}
	p.Note("  %s", describe(a))
	p.other(machine)
	switch {
	case p.force, p.Fault("crash", 30):
		if p.force {
			p.force = false
			p.Reach("crash")
		}
		p.crashed = true
		p.crashes++
		return sim.ErrFault
	case p.Fault("409", 25):
		return &fairlead.RefusedError{Code: 409, Message: "simulated conflict"}
	case p.Fault("429", 25):
		return &fairlead.RefusedError{Code: 429, Message: "simulated pressure", RetryAfter: time.Duration(p.IntN(20)) * time.Second}
	case p.Fault("500", 25):
		return &fairlead.RefusedError{Code: 500, Message: "simulated failure"}
	case p.Fault("delay", 30):
		p.late = append(p.late, act{machine, a})
		return sim.ErrFault
	case p.Fault("again", 30):
		p.late = append(p.late, act{machine, a})
	}
	if err := p.put(machine, a); err != nil {
		p.Note("    refused: %v", err)
		return err
	}
	if p.Fault("unconfirmed", 30) {
		return sim.ErrFault
	}
	return nil
}

// saved is told of each state that is saved: I4.
func (p *play) saved(value []byte) {
	var e struct {
		Name  string
		State lifecycle.State
	}
	if err := json.Unmarshal(value, &e); err != nil {
		p.fail("a state cannot be read: %v", err)
		return
	}
	r := p.records[e.Name]
	if r.finalized > 0 {
		return // it is gone, and was seen once more by a look that came late
	}
	if e.State.Stage != r.stage && !e.State.Stage.Past(r.stage) {
		notes := e.State.Notes
		drains := slices.ContainsFunc(e.State.Began, func(b lifecycle.Beginning) bool { // now, even if that is over at once
			return b.Stage == lifecycle.StageDrain && b.At.Equal(p.Clock.Now())
		})
		if drains && len(notes) > 0 && notes[len(notes)-1].Reason == "DrainAgain" {
			p.Reach("drained again")
			r.stage = e.State.Stage
			return
		}
		p.fail("I4: %s goes from %s back to %s", e.Name, r.stage, e.State.Stage)
	}
	r.stage = e.State.Stage
}
