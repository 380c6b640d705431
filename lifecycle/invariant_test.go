package lifecycle_test

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// looked notes the hooks of a machine: I3.
func (p *play) looked(machine string) {
	m, r := p.backend.Machine(machine), p.records[machine]
	if m == nil || !m.Deleting() {
		return
	}
	left := len(m.Spec.LifecycleHooks.PreDrain) + len(m.Spec.LifecycleHooks.PreTerminate)
	if r.hooks >= 0 && left > r.hooks {
		p.fail("I3: %s is being deleted, and has %d hooks after %d", machine, left, r.hooks)
	}
	r.hooks = left
}

// check is told of each action that has changed something, while the backend is
// locked; what it needs to know of the machine it asks the truth that the play
// keeps beside: the worlds are snapshots, and hooks only ever go.
func (p *play) check(machine string, a lifecycle.Action) {
	p.Reach("act: " + a.Key().Kind)
	r := p.records[machine]
	if _, event := a.(lifecycle.RecordEvent); r.finalized > 0 && !event {
		p.fail("I6: %s is done with, and %s is applied", machine, describe(a))
	}
	m := p.truth
	switch a := a.(type) {
	case drain.Cordon, drain.Evict, drain.DeletePod:
		if m != nil && len(m.Spec.LifecycleHooks.PreDrain) > 0 {
			p.fail("I1: %s has preDrain hooks %v, and %s is applied", machine, m.Spec.LifecycleHooks.PreDrain, describe(a))
		}
	case lifecycle.RemoveHook:
		if a.Owner != p.unfair || len(p.policy.Deadlines) == 0 {
			p.fail("%s: hook %s of %s is removed in its owner's stead", machine, a.Name, a.Owner)
		}
		p.Reach("hook skipped")
	case lifecycle.DeleteObject:
		if a.Kind == "KubeadmConfig" {
			if !r.terminated {
				p.fail("%s: %s, and the infrastructure is there", machine, a)
			}
			return
		}
		p.ends(machine, m, r)
	case lifecycle.DeleteInstance:
		p.ends(machine, m, r)
	case lifecycle.DeleteNode:
		if !r.terminated || !r.nodes[a.UID] {
			p.fail("%s: node %s (%s) is deleted, and its own are %v, its instance deleted: %v", machine, a.Name, a.UID, r.nodes, r.terminated)
		}
	case lifecycle.RemoveFinalizer:
		if r.finalized++; r.finalized > 1 || !r.terminated {
			p.fail("I6: the finalizer of %s is removed %d times, its instance deleted: %v", machine, r.finalized, r.terminated)
		}
	}
}

// ends: I2, whatever ends the instance.
func (p *play) ends(machine string, m *lifecycle.Machine, r *record) {
	r.terminated = true
	drained := lifecycle.FindCondition(m.Status.Conditions, lifecycle.ConditionDrained)
	if p.arrives && drained != nil && drained.Reason == "DrainAgain" {
		p.Reach("order overtaken") // a node that joins after the order was given cannot take it back
		return
	}
	if len(m.Spec.LifecycleHooks.PreTerminate) > 0 || drained == nil || drained.Status != "True" {
		p.fail("I2: %s has hooks %v and condition %v, and its instance is deleted", machine, m.Spec.LifecycleHooks.PreTerminate, drained)
	}
}

// settle ends all faults, and lets everything come to rest.
func (p *play) settle() error {
	p.delete(name(0))
	p.force = p.crashes == 0
	for k := 0; p.crashes == 0 && p.wrong == nil; k++ {
		switch {
		case k > 1000:
			return fmt.Errorf("no action was decided on for %s", name(0))
		case k == 500: // a budget or a silent node may keep it until then
			p.fix(0)
		}
		p.pass(0, name(0))
		p.release(name(0))
		p.Clock.Advance(10 * time.Second)
	}
	p.Heal()
	for o := range p.dead {
		if o != p.unfair {
			delete(p.dead, o)
		}
	}
	for i := range p.size {
		p.fix(i)
	}
	p.arrives = true
	for _, a := range p.late { // whatever is still on its way arrives
		_ = p.put(a.machine, a.action)
	}
	p.late, p.arrives = nil, false
	end := p.Clock.Now().Add(12 * time.Hour)
	for k := 1; p.Clock.Now().Before(end) && p.wrong == nil; k++ {
		p.tick()
		if k%(1+p.size/10) == 0 && p.atRest() {
			break
		}
	}
	if p.wrong == nil {
		p.checkRest()
	}
	return p.wrong
}

// fix takes away what would keep a deletion for good: a silent node, a budget
// that allows nothing.
func (p *play) fix(i int) {
	if n := p.backend.Node(fmt.Sprint("n", i)); n != nil && p.backend.Machine(name(i)) != nil {
		c := *n
		c.Status.Conditions = nil
		p.backend.PutNode(c)
	}
	p.budget(i/10, 1)
	if m := p.backend.Machine(name(i)); m != nil && m.Deleting() {
		p.plan(name(i), p.Clock.Now().Add(3*time.Minute)) // a resync: what was lost is lost
	}
}

// tick moves on to the next instant at which something is due.
func (p *play) tick() {
	next := p.Clock.Now().Add(time.Minute)
	if at, ok := p.wakes.Next(); ok && at.Before(next) {
		next = at
	}
	if at, ok := p.backend.Next(); ok && at.Before(next) {
		next = at
	}
	if next.After(p.Clock.Now()) {
		p.Clock.Set(next)
	}
	for p.wrong == nil {
		machine, ok := p.due()
		if !ok {
			return
		}
		p.release(machine)
		p.pass(p.IntN(2), machine)
	}
}

// atRest reports whether no deletion is under way that could go on.
func (p *play) atRest() bool {
	for i := range p.size {
		m := p.backend.Machine(name(i))
		if m != nil && m.Deleting() && !p.kept(m) {
			return false
		}
	}
	return true
}

// kept reports whether the owner that does nothing keeps a machine.
func (p *play) kept(m *lifecycle.Machine) bool {
	if p.unfair == "" || len(p.policy.Deadlines) > 0 {
		return false
	}
	for _, h := range append(p.policy.InTurn(m, lifecycle.PreDrain), p.policy.InTurn(m, lifecycle.PreTerminate)...) {
		if h.Owner == p.unfair {
			return true
		}
	}
	return false
}

// checkRest: every deletion is over, or its Blocks name the owner that keeps it.
func (p *play) checkRest() {
	for i := range p.size {
		m := p.backend.Machine(name(i))
		if m == nil || !m.Deleting() {
			if m == nil {
				p.Reach("finished")
			}
			continue
		}
		if !p.kept(m) {
			p.fail("%s is not gone after hours without faults: it is at %s", name(i), p.records[name(i)].stage)
			return
		}
		p.checkNamed(name(i))
	}
}

// checkNamed: the machine comes to the hook that keeps it, and a single Step
// then names the owner.
func (p *play) checkNamed(machine string) {
	for range 2000 {
		w, err := p.backend.Observe(p.t.Context(), machine)
		if err != nil {
			p.fail("%v", err)
			return
		}
		at := p.records[machine].stage
		point := map[lifecycle.Stage]lifecycle.Point{lifecycle.StagePreDrain: lifecycle.PreDrain, lifecycle.StagePreTerminate: lifecycle.PreTerminate}[at]
		for _, h := range w.Machine.Spec.LifecycleHooks.At(point) {
			if h.Owner != p.unfair {
				continue
			}
			state := lifecycle.State{UID: w.Machine.UID, Stage: at}
			if w.Node != nil {
				state.DrainedNode = w.Node.UID
			}
			d := lifecycle.Step(state, w, p.Clock.Now().UTC(), p.policy)
			for _, b := range d.Blocks() {
				if b.Owner == p.unfair {
					p.Reach("unfair is named")
					return
				}
			}
			p.fail("%s is kept by %s, and a Step does not name it: %v", machine, p.unfair, d.Blocked)
			return
		}
		p.tick()
	}
	p.fail("%s never comes to the hook that keeps it, and is at %s", machine, p.records[machine].stage)
}
