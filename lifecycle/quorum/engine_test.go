package quorum_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/quorum"
)

// controlPlane is a control plane in memory, and those who delete its machines.
type controlPlane struct {
	*rand.Rand
	*quorum.MemBackend
	machines *lifecycle.MemBackend
	masters  int
	wrong    error
	seen     map[string]int // what was done, by kind
}

func openControlPlane(r *rand.Rand, clock *fairlead.ManualClock, seen map[string]int) *controlPlane {
	p := &controlPlane{Rand: r, machines: &lifecycle.MemBackend{Clock: clock}, seen: seen}
	p.MemBackend = &quorum.MemBackend{Machines: p.machines, Clock: clock, Desired: []int{1, 3, 5}[r.IntN(3)], CatchUp: time.Duration(1+r.IntN(100)) * time.Second, Changed: p.did}
	for range p.Desired {
		if err := p.AddVoter(p.join()); err != nil {
			p.wrong = err
		}
	}
	return p
}

func (p *controlPlane) join() string {
	p.masters++
	return master(p.machines, p.masters)
}

// Change implements fairlead.Trial.
func (p *controlPlane) Change() {
	all := p.machines.List()
	m := all[p.IntN(len(all))]
	switch p.IntN(5) {
	case 0:
		if !m.Deleting() && len(m.Spec.LifecycleHooks.PreDrain) > 0 {
			_ = p.machines.Delete(m.Name)
		}
	case 1:
		if len(all) < p.Desired+2 {
			p.join()
		}
	case 2:
		p.ready(m, []fairlead.ConditionStatus{"True", "True", "Unknown"}[p.IntN(3)])
	case 3:
		p.bury()
	}
}

func (p *controlPlane) ready(m *lifecycle.Machine, is fairlead.ConditionStatus) {
	if n := p.machines.Node(m.Status.NodeRef.Name); n != nil {
		c := *n
		c.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: is}}
		p.machines.PutNode(c)
	}
}

// bury takes machines away that have lost their hook, with their nodes.
func (p *controlPlane) bury() {
	for _, m := range p.machines.List() {
		if !m.Deleting() || len(m.Spec.LifecycleHooks.PreDrain) > 0 {
			continue
		}
		if n := p.machines.Node(m.Status.NodeRef.Name); n != nil {
			_ = p.machines.Apply(context.Background(), m.Name, lifecycle.DeleteNode{Name: n.Name, UID: n.UID})
		}
		_ = p.machines.Edit(m.Name, func(m *lifecycle.Machine) { m.Finalizers = nil })
	}
}

// did checks what was done: no hook goes before its member, and there are never more than
// one voter too many.
func (p *controlPlane) did(a quorum.Action) {
	p.seen[a.Key().Kind]++
	if a, is := a.(quorum.SetHook); is && p.machines.Machine(a.Machine).Deleting() {
		p.wrong = fmt.Errorf("%s is being deleted, and gets the hook", a.Machine)
	}
	voters := 0
	for _, x := range p.Members() {
		if x.Learner {
			continue
		}
		voters++
		if a, is := a.(quorum.RemoveHook); is && slices.Contains(x.Addresses, p.machines.Machine(a.Machine).Status.Addresses[0].Address) {
			p.wrong = fmt.Errorf("the hook of %s is removed, and its member votes", a.Machine)
		}
	}
	if voters > p.Desired+1 {
		p.wrong = fmt.Errorf("there are %d voters, and %d are desired", voters, p.Desired)
	}
}

// Check implements fairlead.Trial.
func (p *controlPlane) Check() error { return p.wrong }

// Heal implements fairlead.Healer. All members are well in the end, and there are
// machines enough.
func (p *controlPlane) Heal(string) {
	p.bury()
	live := 0
	for _, m := range p.machines.List() {
		p.ready(m, "True")
		if !m.Deleting() {
			live++
		}
	}
	for ; live < p.Desired; live++ {
		p.join()
	}
}

// Settled implements fairlead.Trial.
func (p *controlPlane) Settled(string) error {
	for _, m := range p.machines.List() {
		if m.Deleting() {
			return fmt.Errorf("machine %s is being deleted, and is not gone", m.Name)
		}
	}
	return nil
}

// TestEngine replaces the machines of control planes with faults of all kinds.
func TestEngine(t *testing.T) {
	seen := map[string]int{}
	open := func(r *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[*quorum.World, quorum.Action] {
		return openControlPlane(r, clock, seen)
	}
	engine, err := quorum.NewEngine(new(quorum.MemBackend), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: long.N(100, 10_000), Names: []string{"etcd"}}); err != nil {
		t.Fatal(err)
	}
	for _, kind := range strings.Fields("AddLearner Promote RemoveMember SetHook RemoveHook") {
		if seen[kind] == 0 {
			t.Errorf("there was no %s", kind)
		}
	}
	t.Log(seen)
}
