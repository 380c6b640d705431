package quorum_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/quorum"
)

// TestSimulation replaces machines of control planes while whatever can go wrong
// does, with two runners on one Store in some seeds, and checks at the backend
// what always holds. At last all is well, and every machine that is being
// deleted must lose its hook.
func TestSimulation(t *testing.T) {
	n := long.N(60, 10_000)
	counts := sim.Run(t, n, func(s *sim.Sim) error { return newPlay(t, s).run() })
	sim.Reached(t, counts,
		"crash", "delay", "again", "stale", "observe fails", "unconfirmed", "refused", "other runner", "node falls silent", "put fails",
		"act: add learner", "act: promote", "act: remove member", "act: set hook", "act: remove hook", "too late", "replaced",
	)
	t.Logf("%d seeds: %v", n, counts)
}

// play is one simulation of a control plane.
type play struct {
	*sim.Sim
	t        *testing.T
	store    *fairlead.MemStore
	machines *lifecycle.MemBackend
	etcd     *quorum.MemBackend
	runners  []*quorum.Runner
	past     []*quorum.World
	late     []quorum.Action
	crashed  bool
	nested   bool
	masters  int
	wrong    error
}

func newPlay(t *testing.T, s *sim.Sim) *play {
	p := &play{Sim: s, t: t, store: new(fairlead.MemStore), machines: &lifecycle.MemBackend{Clock: s.Clock}}
	p.etcd = &quorum.MemBackend{Machines: p.machines, Clock: s.Clock, Desired: []int{1, 3, 5}[s.IntN(3)], CatchUp: time.Duration(1+s.IntN(100)) * time.Second}
	p.etcd.Changed = p.check
	for range p.etcd.Desired {
		if err := p.etcd.AddVoter(p.master()); err != nil {
			t.Fatal(err)
		}
	}
	p.runners = []*quorum.Runner{p.runner(), p.runner()}
	return p
}

func (p *play) master() string {
	p.masters++
	return master(p.machines, p.masters)
}

func (p *play) runner() *quorum.Runner {
	r, err := quorum.NewRunner(p, nil, &fairlead.RunnerOptions{Store: p.Store(p.store), Clock: p.Clock})
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

func (p *play) fail(format string, args ...any) {
	if p.wrong == nil {
		p.wrong = fmt.Errorf(format, args...)
		p.Note("WRONG: %v", p.wrong)
	}
}

func (p *play) run() error {
	for range 120 {
		switch p.IntN(10) {
		case 0:
			p.deleteOne()
		case 1:
			if p.OneIn(3) && len(p.machines.List()) < p.etcd.Desired+2 {
				p.Note("machine %s joins", p.master())
			}
		case 2:
			p.silence()
		case 3:
			p.Pass()
		case 4:
			p.deliver()
		case 5:
			p.bury()
		default:
			p.pass(p.IntN(2))
		}
		if p.wrong != nil {
			return p.wrong
		}
	}
	return p.settle()
}

// deleteOne deletes a machine that has the hook; there are never more of these
// than replacements can be had for.
func (p *play) deleteOne() {
	all := p.machines.List()
	m := all[p.IntN(len(all))]
	if m.Deleting() || len(m.Spec.LifecycleHooks.PreDrain) == 0 || !p.OneIn(2) {
		return
	}
	p.Note("delete %s", m.Name)
	if err := p.machines.Delete(m.Name); err != nil {
		p.fail("%v", err)
	}
}

// silence lets the node of a machine fall silent, or be heard again.
func (p *play) silence() {
	all := p.machines.List()
	m := all[p.IntN(len(all))]
	n := p.machines.Node(m.Status.NodeRef.Name)
	if n == nil || !p.Fault("node falls silent", 2) {
		return
	}
	c := *n
	c.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: []fairlead.ConditionStatus{"True", "True", "Unknown"}[p.IntN(3)]}}
	p.machines.PutNode(c)
	p.Note("node %s: Ready is %s", c.Name, c.Status.Conditions[0].Status)
}

// bury takes machines away that have lost their hook, with their nodes.
func (p *play) bury() {
	for _, m := range p.machines.List() {
		if !m.Deleting() || len(m.Spec.LifecycleHooks.PreDrain) > 0 {
			continue
		}
		p.Note("%s is gone", m.Name)
		p.Reach("replaced")
		if n := p.machines.Node(m.Status.NodeRef.Name); n != nil {
			_ = p.machines.Apply(p.t.Context(), m.Name, lifecycle.DeleteNode{Name: n.Name, UID: n.UID})
		}
		if err := p.machines.Edit(m.Name, func(m *lifecycle.Machine) { m.Finalizers = nil }); err != nil {
			p.fail("%v", err)
		}
	}
}

func (p *play) deliver() {
	for len(p.late) > 0 && p.OneIn(2) {
		i := p.IntN(len(p.late))
		a := p.late[i]
		p.late = slices.Delete(p.late, i, i+1)
		p.Note("late: %s", spoken(a))
		if err := p.etcd.Apply(p.t.Context(), "", a); err != nil {
			p.Reach("too late")
		}
	}
}

func (p *play) pass(i int) {
	if p.Seed%3 != 0 {
		i = 0
	}
	d, err := p.runners[i].Reconcile(p.t.Context(), "etcd")
	sim.Waited(p.Sim, d.Blocked)
	p.Note("runner %d: %d actions, %d blocks, %v", i, len(d.Actions), len(d.Blocked), err)
	if p.crashed {
		p.crashed = false
		p.runners[i] = p.runner()
	}
}

// Observe implements quorum.Backend.
func (p *play) Observe(ctx context.Context, cluster string) (*quorum.World, error) {
	if p.Fault("observe fails", 30) {
		return nil, sim.ErrFault
	}
	w, err := p.etcd.Observe(ctx, cluster)
	if err != nil {
		return nil, err
	}
	p.past = append(p.past, w)
	if p.Fault("stale", 10) {
		w = p.past[max(0, len(p.past)-1-p.IntN(5))]
	}
	p.other()
	copied := *w
	return &copied, nil
}

// other lets the other runner work in the middle of a pass.
func (p *play) other() {
	if p.nested || p.Seed%3 != 0 || !p.Fault("other runner", 8) {
		return
	}
	p.nested = true
	crashed := p.crashed
	p.crashed = false
	fresh := p.runner()
	for range 1 + p.IntN(4) {
		_, err := fresh.Reconcile(p.t.Context(), "etcd")
		p.Note("  meanwhile: %v", err)
	}
	p.nested, p.crashed = false, crashed
}

// Apply implements quorum.Backend.
func (p *play) Apply(ctx context.Context, cluster string, a quorum.Action) error {
	if p.crashed {
		return sim.ErrFault
	}
	p.Note("  %s", spoken(a))
	p.other()
	switch {
	case p.Fault("crash", 20):
		p.crashed = true
		return sim.ErrFault
	case p.Fault("refused", 20):
		return sim.ErrFault
	case p.Fault("delay", 15):
		p.late = append(p.late, a)
		return sim.ErrFault
	case p.Fault("again", 15):
		p.late = append(p.late, a)
	}
	if err := p.etcd.Apply(ctx, cluster, a); err != nil {
		p.Note("    refused: %v", err)
		return err
	}
	if p.Fault("unconfirmed", 20) {
		return sim.ErrFault
	}
	return nil
}

// check is told of each change: I5, and that no hook goes before its member.
func (p *play) check(a quorum.Action) {
	verb := spoken(a)
	for _, known := range []string{"add learner", "promote", "remove member", "set hook", "remove hook"} {
		if len(verb) > len(known) && verb[:len(known)] == known {
			p.Reach("act: " + known)
		}
	}
	switch a := a.(type) {
	case quorum.RemoveHook:
		m := p.machines.Machine(a.Machine)
		for _, x := range p.etcd.Members() {
			if !x.Learner && slices.Contains(x.Addresses, m.Status.Addresses[0].Address) {
				p.fail("the hook of %s is removed, and its member votes", a.Machine)
			}
		}
	case quorum.SetHook:
		if p.machines.Machine(a.Machine).Deleting() {
			p.fail("%s is being deleted, and gets the hook", a.Machine)
		}
	case quorum.Promote:
		voters := 0
		for _, x := range p.etcd.Members() {
			if !x.Learner {
				voters++
			}
		}
		if voters > p.etcd.Desired+1 {
			p.fail("I5: there are %d voters, and %d are desired", voters, p.etcd.Desired)
		}
	}
}

// settle ends all faults, gives what is needed, and lets everything come to rest.
func (p *play) settle() error {
	p.Heal()
	for _, m := range p.machines.List() {
		if n := p.machines.Node(m.Status.NodeRef.Name); n != nil {
			c := *n
			c.Status.Conditions = nil
			p.machines.PutNode(c)
		}
	}
	for i := range 3000 {
		p.deliver()
		p.pass(i % 2)
		p.bury()
		p.Clock.Advance(time.Second)
		deleting, live := 0, 0
		for _, m := range p.machines.List() {
			if m.Deleting() {
				deleting++
			} else {
				live++
			}
		}
		if deleting == 0 {
			return p.wrong
		}
		if live < p.etcd.Desired {
			p.master()
		}
	}
	return fmt.Errorf("all is well, and a machine keeps its hook: %v", p.etcd.Members())
}
