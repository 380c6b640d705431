package lifecycle_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// yard is a fleet of machines in memory, and those who work on it.
type yard struct {
	*rand.Rand
	*lifecycle.MemBackend
	ended map[string]bool // machines whose instance is deleted, or about to be
	seen  map[string]int  // what was done, by kind
	wrong error
}

// steady is the time of the world, which goes on when the clock of a process is set back.
type steady struct {
	clock    *fairlead.ManualClock
	seen, at time.Time
}

// Now implements fairlead.Clock.
func (s *steady) Now() time.Time {
	now := s.clock.Now()
	s.at = s.at.Add(max(0, now.Sub(s.seen)))
	s.seen = now
	return s.at
}

var yardMachines = []string{"fleet/a", "fleet/b"}

func openYard(r *rand.Rand, clock *fairlead.ManualClock, seen map[string]int) *yard {
	y := &yard{Rand: r, ended: map[string]bool{}, seen: seen}
	y.MemBackend = &lifecycle.MemBackend{Clock: &steady{clock, clock.Now(), clock.Now()}, InstanceDelay: time.Duration(1+r.IntN(120)) * time.Second, Changed: y.did}
	y.note(y.budget(r.IntN(2)))
	for _, key := range yardMachines {
		name := strings.TrimPrefix(key, "fleet/")
		n := lifecycle.Node{}
		n.Name, n.UID, n.Spec.ProviderID = name, "node-"+name, "cloud:///"+name
		n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True"}}
		y.PutNode(n)
		for k := range r.IntN(3) {
			y.pod(name, k)
		}
		var m lifecycle.Machine
		m.Namespace, m.Name, m.UID = "fleet", name, "machine-"+name
		m.Spec.ProviderSpec, m.Spec.ProviderID = json.RawMessage(`{}`), n.Spec.ProviderID
		m.Spec.LifecycleHooks = lifecycle.LifecycleHooks{PreDrain: y.hooks(), PreTerminate: y.hooks()}
		m.Status.NodeRef = &lifecycle.NodeRef{Kind: "Node", Name: n.Name, UID: n.UID}
		y.note(y.PutMachine(m))
	}
	return y
}

func (y *yard) note(err error) {
	if y.wrong == nil {
		y.wrong = err
	}
}

func (y *yard) hooks() (list []lifecycle.Hook) {
	for k := range y.IntN(3) {
		list = append(list, lifecycle.Hook{Name: fmt.Sprint("Hook", k+1), Owner: "somebody"})
	}
	return list
}

func (y *yard) pod(node string, k int) {
	controller, grace := true, int64(y.IntN(40))
	var p lifecycle.Pod
	p.Namespace, p.Name, p.UID = "shop", fmt.Sprint(node, k), fmt.Sprint("pod-", node, k)
	p.Labels = map[string]string{"app": "a"}
	p.OwnerReferences = []lifecycle.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "r", Controller: &controller}}
	p.Spec.NodeName, p.Spec.TerminationGracePeriodSeconds = node, &grace
	p.Status.Phase = fairlead.PodRunning
	p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: "True"}}
	y.PutPod(p)
}

func (y *yard) budget(allowed int) error {
	var b lifecycle.PodDisruptionBudget
	b.Namespace, b.Name = "shop", "budget"
	b.Spec.Selector = &lifecycle.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
	b.Spec.MaxUnavailable = &lifecycle.IntOrString{Int: allowed}
	return y.PutBudget(b)
}

// release removes a hook in the name of its owner.
func (y *yard) release(machine string, point lifecycle.Point) (any bool) {
	m := y.Machine(machine)
	if m == nil || len(m.Spec.LifecycleHooks.At(point)) == 0 {
		return false
	}
	h := m.Spec.LifecycleHooks.At(point)[0]
	y.note(y.Release(machine, point, h.Name, h.Owner))
	return true
}

func (y *yard) ready(machine string, is fairlead.ConditionStatus) {
	if n := y.Node(strings.TrimPrefix(machine, "fleet/")); n != nil {
		c := *n
		c.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: is}}
		y.PutNode(c)
	}
}

// Change implements fairlead.Trial.
func (y *yard) Change() {
	name := yardMachines[y.IntN(len(yardMachines))]
	m := y.Machine(name)
	switch y.IntN(6) {
	case 0:
		if m != nil && !m.Deleting() {
			y.note(y.Delete(name))
		}
	case 1:
		y.note(y.budget(y.IntN(2)))
	case 2:
		y.ready(name, []fairlead.ConditionStatus{"True", "Unknown", "False"}[y.IntN(3)])
	case 3, 4:
		if m != nil && m.Deleting() {
			y.release(name, []lifecycle.Point{lifecycle.PreDrain, lifecycle.PreTerminate}[y.IntN(2)])
		}
	case 5:
		if m != nil {
			y.note(y.Edit(name, func(m *lifecycle.Machine) { m.Labels = map[string]string{"touched": fmt.Sprint(y.IntN(9))} }))
		}
	}
}

// did checks what was done.
func (y *yard) did(machine string, a lifecycle.Action) {
	y.seen[a.Key().Kind]++
	switch a.(type) {
	case lifecycle.DeleteInstance:
		y.ended[machine] = true
	case lifecycle.DeleteNode, lifecycle.RemoveFinalizer:
		if !y.ended[machine] {
			y.note(fmt.Errorf("%s: %s, and its instance is there", machine, a))
		}
	case drain.DeletePod, lifecycle.RemoveHook:
		y.note(fmt.Errorf("%s: %s, and nobody has allowed that", machine, a))
	}
}

// Check implements fairlead.Trial: no pod is evicted and no instance is deleted before the
// hooks that protect it are gone.
func (y *yard) Check() error {
	for _, name := range yardMachines {
		m := y.Machine(name)
		if m == nil || y.wrong != nil {
			continue
		}
		drained := lifecycle.FindCondition(m.Status.Conditions, lifecycle.ConditionDrained)
		if y.ended[name] && (len(m.Spec.LifecycleHooks.PreDrain)+len(m.Spec.LifecycleHooks.PreTerminate) > 0 || drained == nil || drained.Status != "True") {
			return fmt.Errorf("the instance of %s is deleted, its hooks are %v, and it is drained: %v", name, m.Spec.LifecycleHooks, drained)
		}
	}
	return y.wrong
}

// Settled implements fairlead.Trial. Owners of hooks do their part in the end, and nothing
// holds a pod.
func (y *yard) Settled(name string) error {
	y.note(y.budget(1))
	m := y.Machine(name)
	if m == nil || !m.Deleting() {
		return nil
	}
	if m.Status.NodeRef != nil {
		y.ready(name, "True")
	}
	if !y.release(name, lifecycle.PreDrain) {
		y.release(name, lifecycle.PreTerminate)
	}
	return fmt.Errorf("machine %s is not deleted", name)
}

// TestEngine deletes machines with faults of all kinds.
func TestEngine(t *testing.T) {
	seen := map[string]int{}
	open := func(r *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[*lifecycle.World, lifecycle.Action] {
		return openYard(r, clock, seen)
	}
	engine, err := lifecycle.NewEngine(new(lifecycle.MemBackend), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: long.N(60, 10_000), Names: yardMachines}); err != nil {
		t.Fatal(err)
	}
	t.Log(seen)
	sim.Reached(t, seen, "Cordon", "Evict", "UpdateStatus", "DeleteInstance", "DeleteNode", "RemoveFinalizer")
}
