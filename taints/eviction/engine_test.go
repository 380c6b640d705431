package eviction_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/taints/eviction"
)

// meadow is two nodes in memory, and those who taint them and run pods there.
type meadow struct {
	*rand.Rand
	*eviction.MemBackend
	clock     *fairlead.ManualClock
	pods      int
	condemned map[string]bool // UIDs of pods that a taint has ever made leave
	seen      map[string]int  // what was done, by kind
	wrong     error
}

var meadowNodes = []string{"a", "b"}

func openMeadow(r *rand.Rand, clock *fairlead.ManualClock, seen map[string]int) *meadow {
	m := &meadow{Rand: r, clock: clock, condemned: map[string]bool{}, seen: seen}
	m.MemBackend = &eviction.MemBackend{Clock: clock, Changed: m.did}
	for _, name := range meadowNodes {
		m.PutNode(fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name, UID: "node-" + name, CreationTimestamp: clock.Now()}})
		for range 2 {
			m.pod(name)
		}
	}
	return m
}

func (m *meadow) pod(node string) {
	m.pods++
	p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "d", Name: fmt.Sprint("p", m.pods), UID: fmt.Sprint("pod-", m.pods), CreationTimestamp: m.clock.Now()}}
	p.Spec.NodeName = node
	grace := int64(m.IntN(40))
	p.Spec.TerminationGracePeriodSeconds = &grace
	p.Status.Phase = fairlead.PodRunning
	for _, key := range []string{"x", "y"} {
		if m.IntN(2) == 0 {
			continue
		}
		t := fairlead.Toleration{Key: key, Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute}
		if n := int64(m.IntN(300)); m.IntN(2) == 0 {
			t.TolerationSeconds = &n
		}
		p.Spec.Tolerations = append(p.Spec.Tolerations, t)
	}
	m.PutPod(p)
}

// leaves reports whether a taint of its node makes a pod leave, now or later.
func leaves(n *fairlead.Node, p *fairlead.Pod) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(t fairlead.Taint) bool {
		return t.Effect == fairlead.NoExecute && !slices.ContainsFunc(p.Spec.Tolerations, func(o fairlead.Toleration) bool {
			return o.Key == t.Key && o.TolerationSeconds == nil
		})
	})
}

// Change implements fairlead.Trial.
func (m *meadow) Change() {
	name := meadowNodes[m.IntN(len(meadowNodes))]
	n, there := m.Node(name)
	switch m.IntN(5) {
	case 0, 1:
		key := []string{"x", "y"}[m.IntN(2)]
		if !there || slices.ContainsFunc(n.Spec.Taints, func(t fairlead.Taint) bool { return t.Key == key }) {
			return
		}
		at := m.clock.Now()
		n.Spec.Taints = append(slices.Clone(n.Spec.Taints), fairlead.Taint{Key: key, Effect: fairlead.NoExecute, TimeAdded: &at})
		m.PutNode(n)
	case 2:
		n.Spec.Taints = nil
		if there {
			m.PutNode(n)
		}
	case 3:
		if there && len(m.Pods(name)) < 5 {
			m.pod(name)
		}
	case 4:
		switch {
		case there && m.IntN(4) == 0:
			m.DeleteNode(name)
		case !there:
			m.PutNode(fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name, UID: fmt.Sprint("node-", name, m.pods), CreationTimestamp: m.clock.Now()}})
		}
	}
	for _, name := range meadowNodes {
		if n, there := m.Node(name); there {
			for _, p := range m.Pods(name) {
				m.condemned[p.UID] = m.condemned[p.UID] || leaves(&n, &p)
			}
		}
	}
}

// did checks that no pod is evicted that might have stayed.
func (m *meadow) did(a eviction.Action) {
	m.seen[a.Key().Kind]++
	if e, is := a.(eviction.Evict); is && !m.condemned[e.Pod.UID] {
		m.wrong = fmt.Errorf("pod %s tolerates all taints that its node ever had, and is evicted", e.Pod.Name)
	}
}

// Check implements fairlead.Trial.
func (m *meadow) Check() error { return m.wrong }

// Settled implements fairlead.Trial.
func (m *meadow) Settled(name string) error {
	n, there := m.Node(name)
	if !there {
		return nil
	}
	for _, p := range m.Pods(name) {
		if leaves(&n, &p) && p.DeletionTimestamp == nil {
			return fmt.Errorf("pod %s does not tolerate %v, and stays", p.Name, n.Spec.Taints)
		}
	}
	return nil
}

// TestEngine taints nodes with faults of all kinds.
func TestEngine(t *testing.T) {
	seen := map[string]int{}
	open := func(r *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[*eviction.World, eviction.Action] {
		return openMeadow(r, clock, seen)
	}
	engine, err := eviction.NewEngine(new(eviction.MemBackend), &eviction.Policy{MaxBackoff: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: long.N(60, 10_000), Names: meadowNodes}); err != nil {
		t.Fatal(err)
	}
	if t.Log(seen); seen["Evict"] == 0 {
		t.Errorf("nothing was evicted: %v", seen)
	}
}
