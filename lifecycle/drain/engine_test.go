package drain_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// site is a node with its pods and the requests about it.
type site struct {
	*rand.Rand
	clock    *fairlead.ManualClock
	node     *drain.Node
	pods     []drain.Pod
	requests []drain.Request
	admin    bool // the node was cordoned by somebody else from the beginning
	fenced   bool
	boot     int
	serial   int
	wrong    error
	seen     map[string]int // what was done, by kind
}

func openSite(r *rand.Rand, clock *fairlead.ManualClock) *site {
	s := &site{Rand: r, clock: clock, seen: map[string]int{}}
	s.join()
	s.admin = r.IntN(4) == 0
	s.node.Spec.Unschedulable = s.admin
	for range r.IntN(4) {
		s.pod()
	}
	return s
}

func (s *site) next(prefix string) string {
	s.serial++
	return fmt.Sprint(prefix, s.serial)
}

func (s *site) join() {
	n := drain.Node{ObjectMeta: drain.ObjectMeta{Name: "n", UID: s.next("node-")}}
	n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True", LastTransitionTime: s.clock.Now()}}
	s.node, s.admin, s.fenced = &n, false, false
}

func (s *site) pod() {
	yes := true
	p := drain.Pod{ObjectMeta: drain.ObjectMeta{Namespace: "d", Name: s.next("p"), UID: s.next("pod-"), Labels: map[string]string{"app": "a"}}}
	p.OwnerReferences = []drain.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "r", Controller: &yes}}
	p.Spec.NodeName = "n"
	p.Status.Phase = "Running"
	p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: "True"}}
	s.pods = append(s.pods, p)
}

// Change implements fairlead.Trial.
func (s *site) Change() {
	r := func() *drain.Request {
		if len(s.requests) == 0 {
			return &drain.Request{}
		}
		return &s.requests[s.IntN(len(s.requests))]
	}
	switch s.IntN(14) {
	case 0, 1:
		if len(s.requests) < 3 {
			q := drain.Request{
				Name: s.next("r"), UID: s.next("request-"), Requester: "somebody", Asked: s.clock.Now(),
				Purpose: []drain.Purpose{drain.Maintenance, drain.Reboot, drain.Removal}[s.IntN(3)],
			}
			if s.IntN(4) == 0 {
				q.Until = s.clock.Now().Add(time.Duration(s.IntN(3600)) * time.Second)
			}
			s.requests = append(s.requests, q)
		}
	case 2, 3:
		r().Cancelled = true
	case 4:
		q := r()
		q.Paused = !q.Paused
	case 5:
		s.requests = slices.DeleteFunc(s.requests, func(q drain.Request) bool { return q.Cancelled || q.Status.Phase == drain.PhaseOver })
	case 6:
		if s.node != nil && s.IntN(3) == 0 {
			s.join() // registered again
		}
	case 7:
		if s.node != nil && s.IntN(4) == 0 {
			s.node, s.pods = nil, nil
		} else if s.node == nil {
			s.join()
		}
	case 8:
		s.boot++
	case 9:
		s.ready([]fairlead.ConditionStatus{"True", "Unknown", "False"}[s.IntN(3)])
	case 10:
		if s.node != nil {
			_, silent := drain.Silence(s.node)
			s.fenced = silent && !s.fenced
		}
	case 11:
		if s.node != nil && !s.node.Spec.Unschedulable {
			s.pod()
		}
	case 12:
		if s.node != nil && !s.admin {
			s.node.Spec.Unschedulable = false // somebody lets pods on again
		}
	case 13:
		// Perhaps while our own cordon is on its way. One that was lifted and set again
		// without a look between cannot be told from ours.
		if s.node != nil && !s.node.Spec.Unschedulable && s.node.Annotations == nil {
			n := *s.node
			n.Spec.Unschedulable = true
			s.node, s.admin = &n, true
		}
	}
	s.kubelet()
}

func (s *site) ready(is fairlead.ConditionStatus) {
	if s.node == nil {
		return
	}
	n := *s.node
	n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: is, LastTransitionTime: s.clock.Now()}}
	s.node = &n
	if is != "Unknown" {
		s.fenced = false
	}
}

// kubelet ends pods whose grace is over, if it is alive; those of a node that is
// out of service go by force.
func (s *site) kubelet() {
	if s.node == nil {
		return
	}
	out := s.tainted()
	s.pods = slices.DeleteFunc(s.pods, func(p drain.Pod) bool {
		over := p.DeletionTimestamp != nil && !p.DeletionTimestamp.After(s.clock.Now())
		return over && !drain.Unreachable(s.node) || out
	})
}

func (s *site) tainted() bool {
	return slices.ContainsFunc(s.node.Spec.Taints, func(t fairlead.Taint) bool { return t.Key == drain.OutOfServiceTaint })
}

// Observe implements drain.Backend.
func (s *site) Observe(context.Context, string) (*drain.World, error) {
	s.kubelet()
	w := &drain.World{Name: "n", Requests: slices.Clone(s.requests), Fenced: s.fenced, BootID: fmt.Sprint("boot-", s.boot)}
	if s.node != nil {
		n := *s.node
		w.Node, w.Pods = &n, slices.Clone(s.pods)
	}
	return w, nil
}

// Apply implements drain.Backend.
func (s *site) Apply(_ context.Context, _ string, action drain.Action) error {
	s.seen[action.Key().Kind]++
	refused := func(uid string) error {
		if s.node == nil || s.node.UID != uid {
			return &fairlead.RefusedError{Code: 409, Message: "it is another node"}
		}
		n := *s.node
		n.Spec.Taints, n.Annotations = slices.Clone(n.Spec.Taints), maps.Clone(n.Annotations)
		s.node = &n
		return nil
	}
	switch a := action.(type) {
	case drain.Cordon:
		if err := refused(a.UID); err != nil {
			return err
		}
		if !s.node.Spec.Unschedulable {
			s.node.Spec.Unschedulable, s.node.Annotations = true, map[string]string{drain.CordonAnnotation: a.Mark}
		}
	case drain.Uncordon:
		if err := refused(a.UID); err != nil {
			return err
		}
		if s.admin {
			s.wrong = fmt.Errorf("the node was cordoned by somebody else, and is uncordoned")
		}
		s.node.Spec.Unschedulable, s.node.Annotations = false, nil
	case drain.TaintOutOfService:
		if err := refused(a.UID); err != nil {
			return err
		}
		s.node.Spec.Taints = append(s.node.Spec.Taints, fairlead.Taint{Key: drain.OutOfServiceTaint, Value: "nodeshutdown", Effect: "NoExecute"})
	case drain.UntaintOutOfService:
		if err := refused(a.UID); err != nil {
			return err
		}
		s.node.Spec.Taints = nil
	case drain.Evict:
		for i := range s.pods {
			if p := &s.pods[i]; p.UID == a.UID && p.DeletionTimestamp == nil {
				at := s.clock.Now().Add(10 * time.Second).Truncate(time.Second)
				p.DeletionTimestamp = &at
			}
		}
	case drain.DeletePod:
		s.wrong = fmt.Errorf("pod %s is deleted by force", a.Name)
	case drain.Report:
		for i := range s.requests {
			if s.requests[i].UID == a.UID {
				s.requests[i].Status = a.Status
			}
		}
	}
	return nil
}

// Check implements fairlead.Trial.
func (s *site) Check() error { return s.wrong }

// Settled implements fairlead.Trial.
func (s *site) Settled(string) error {
	s.kubelet()
	if s.node == nil {
		return nil
	}
	if drain.Unreachable(s.node) {
		s.ready("True") // it comes back in the end
	}
	active := false
	for _, q := range s.requests {
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
	switch {
	case active && (len(s.pods) > 0 || !s.node.Spec.Unschedulable):
		return fmt.Errorf("a request is there, the node is unschedulable: %v, pods: %d", s.node.Spec.Unschedulable, len(s.pods))
	case !active && s.node.Spec.Unschedulable != s.admin:
		return fmt.Errorf("no request is left, and the node is unschedulable: %v; somebody else has cordoned it: %v", s.node.Spec.Unschedulable, s.admin)
	case !active && s.tainted():
		return fmt.Errorf("no request is left, the node is back, and it is tainted")
	}
	return nil
}

// TestEngine plays requests for a node with faults of all kinds, and checks that a
// node is uncordoned when, and only when, the last request is over and it was
// cordoned for one; that no pod is deleted by force; and that it always ends.
func TestEngine(t *testing.T) {
	seen := map[string]int{}
	var last *site
	engine, err := drain.NewEngine(openSite(rand.New(rand.NewPCG(1, 1)), new(fairlead.ManualClock)), nil)
	if err != nil {
		t.Fatal(err)
	}
	open := func(r *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[*drain.World, drain.Action] {
		if last != nil {
			for k, n := range last.seen {
				seen[k] += n
			}
		}
		last = openSite(r, clock)
		return last
	}
	if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: long.N(150, 10_000), Names: []string{"n"}}); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"Cordon", "Uncordon", "Evict", "Report", "TaintOutOfService", "UntaintOutOfService"} {
		if seen[kind] == 0 {
			t.Errorf("there was no %s: %v", kind, seen)
		}
	}
	t.Log(seen)
}
