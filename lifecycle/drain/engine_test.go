package drain_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// site is a node in a cluster in memory, and those who change it.
type site struct {
	*rand.Rand
	*drain.MemBackend
	clock  *fairlead.ManualClock
	admin  bool // the node was cordoned by somebody else from the beginning
	serial int
	wrong  error
	seen   map[string]int // what was done, by kind
}

func openSite(r *rand.Rand, clock *fairlead.ManualClock, seen map[string]int) *site {
	s := &site{Rand: r, clock: clock, MemBackend: &drain.MemBackend{Clock: clock}, seen: seen}
	s.Changed = s.did
	s.join()
	s.admin = r.IntN(4) == 0
	s.edit(func(n *drain.Node) { n.Spec.Unschedulable = s.admin })
	for range r.IntN(4) {
		s.pod()
	}
	return s
}

// edit changes the node, if it is there.
func (s *site) edit(change func(*drain.Node)) {
	if n := s.Node("n"); n != nil {
		c := *n
		change(&c)
		s.PutNode(c)
	}
}

func (s *site) next(prefix string) string {
	s.serial++
	return fmt.Sprint(prefix, s.serial)
}

func (s *site) join() {
	n := drain.Node{ObjectMeta: drain.ObjectMeta{Name: "n", UID: s.next("node-")}}
	n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True", LastTransitionTime: s.clock.Now()}}
	s.PutNode(n)
	s.admin = false
}

func (s *site) pod() {
	yes := true
	p := drain.Pod{ObjectMeta: drain.ObjectMeta{Namespace: "d", Name: s.next("p"), Labels: map[string]string{"app": "a"}}}
	p.OwnerReferences = []drain.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "r", Controller: &yes}}
	p.Spec.NodeName = "n"
	p.Status.Phase = "Running"
	p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: "True"}}
	s.PutPod(p)
}

// Change implements fairlead.Trial.
func (s *site) Change() {
	n, requests := s.Node("n"), s.Requests("n")
	change := func(do func(*drain.Request)) {
		if len(requests) > 0 {
			q := requests[s.IntN(len(requests))]
			do(&q)
			s.PutRequest("n", q)
		}
	}
	switch s.IntN(14) {
	case 0, 1:
		if len(requests) < 3 {
			q := drain.Request{
				Name: s.next("r"), Requester: "somebody",
				Purpose: []drain.Purpose{drain.Maintenance, drain.Reboot, drain.Removal}[s.IntN(3)],
			}
			if s.IntN(4) == 0 {
				q.Until = s.clock.Now().Add(time.Duration(s.IntN(3600)) * time.Second)
			}
			s.PutRequest("n", q)
		}
	case 2, 3:
		change(func(q *drain.Request) { q.Cancelled = true })
	case 4:
		change(func(q *drain.Request) { q.Paused = !q.Paused })
	case 5:
		for _, q := range requests {
			if q.Cancelled || q.Status.Phase == drain.PhaseOver {
				s.RemoveRequest("n", q.Name)
			}
		}
	case 6:
		if n != nil && s.IntN(3) == 0 {
			s.join() // registered again
		}
	case 7:
		if n != nil && s.IntN(4) == 0 {
			s.RemoveNode("n")
		} else if n == nil {
			s.join()
		}
	case 8:
		s.Boot("n")
	case 9:
		s.ready([]fairlead.ConditionStatus{"True", "Unknown", "False"}[s.IntN(3)])
	case 10:
		if n != nil {
			_, silent := drain.Silence(n)
			w, _ := s.Observe(context.Background(), "n")
			s.Fence("n", silent && !w.Fenced)
		}
	case 11:
		if n != nil && !n.Spec.Unschedulable {
			s.pod()
		}
	case 12:
		if n != nil && !s.admin {
			s.edit(func(n *drain.Node) { n.Spec.Unschedulable = false }) // somebody lets pods on again
		}
	case 13:
		// Perhaps while our own cordon is on its way. One that was lifted and set again
		// without a look between cannot be told from ours.
		if n != nil && !n.Spec.Unschedulable && n.Annotations[drain.CordonAnnotation] == "" {
			s.edit(func(n *drain.Node) { n.Spec.Unschedulable = true })
			s.admin = true
		}
	}
}

func (s *site) ready(is fairlead.ConditionStatus) {
	s.edit(func(n *drain.Node) {
		n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: is, LastTransitionTime: s.clock.Now()}}
	})
	if is != "Unknown" {
		s.Fence("n", false)
	}
}

// did notes what was done to the node.
func (s *site) did(_ string, action drain.Action) {
	s.seen[action.Key().Kind]++
	switch a := action.(type) {
	case drain.Uncordon:
		if s.admin {
			s.wrong = fmt.Errorf("the node was cordoned by somebody else, and is uncordoned")
		}
	case drain.DeletePod:
		s.wrong = fmt.Errorf("pod %s is deleted by force", a.Name)
	}
}

// Check implements fairlead.Trial.
func (s *site) Check() error { return s.wrong }

// Heal implements fairlead.Healer: the node comes back in the end.
func (s *site) Heal(string) {
	if n := s.Node("n"); n != nil && drain.Unreachable(n) {
		s.ready("True")
	}
}

// Settled implements fairlead.Trial.
func (s *site) Settled(string) error {
	w, err := s.Observe(context.Background(), "n")
	if err != nil || w.Node == nil {
		return err
	}
	active := false
	for _, q := range w.Requests {
		switch {
		case q.Cancelled && q.Status.Phase != drain.PhaseOver:
			return fmt.Errorf("request %s was cancelled, and is told to be %s", q.Name, q.Status.Phase)
		case q.Status.Phase == drain.PhaseOver:
		case q.Paused:
			return nil // whatever others ask for, it may stay as it is
		default:
			active = true
			if q.Status.Phase != drain.PhaseDrained {
				return fmt.Errorf("request %s is told to be %s", q.Name, q.Status.Phase)
			}
		}
	}
	tainted := slices.ContainsFunc(w.Node.Spec.Taints, func(t fairlead.Taint) bool { return t.Key == drain.OutOfServiceTaint })
	switch {
	case active && (len(w.Pods) > 0 || !w.Node.Spec.Unschedulable):
		return fmt.Errorf("a request is there, the node is unschedulable: %v, pods: %d", w.Node.Spec.Unschedulable, len(w.Pods))
	case !active && w.Node.Spec.Unschedulable != s.admin:
		return fmt.Errorf("no request is left, and the node is unschedulable: %v; somebody else has cordoned it: %v", w.Node.Spec.Unschedulable, s.admin)
	case !active && tainted:
		return fmt.Errorf("no request is left, the node is back, and it is tainted")
	}
	return nil
}

// TestEngine plays requests for a node with faults of all kinds, and checks that a
// node is uncordoned when, and only when, the last request is over and it was
// cordoned for one; that no pod is deleted by force; and that it always ends.
func TestEngine(t *testing.T) {
	seen := map[string]int{}
	engine, err := drain.NewEngine(new(drain.MemBackend), nil)
	if err != nil {
		t.Fatal(err)
	}
	open := func(r *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[*drain.World, drain.Action] {
		return openSite(r, clock, seen)
	}
	if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: long.N(150, 10_000), Names: []string{"n"}}); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"Cordon", "Uncordon", "Evict", "Report", "TaintOutOfService", "UntaintOutOfService"} {
		if seen[what] == 0 {
			t.Errorf("there was no %q", what)
		}
	}
	t.Log(seen)
}
