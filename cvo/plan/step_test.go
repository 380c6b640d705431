package plan_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/long"
)

// scene is a small world in which the engine and everybody else act.
type scene struct {
	w     plan.World
	now   time.Time
	taken []string
}

func newScene(w *world) (*scene, *plan.Policy) {
	s, goal, policy := w.situation()
	policy.GoUnseen = true
	return &scene{w: plan.World{Situation: *s, Goal: *goal}, now: s.At}, policy
}

// do carries out an action.
func (x *scene) do(a plan.Action) {
	s := &x.w.Situation
	x.taken = append(x.taken, a.String())
	switch a := a.(type) {
	case plan.SetRelease:
		s.Cluster.Status.History = append([]cvo.History{{State: cvo.Partial, Version: a.Release, StartedTime: x.now}}, s.Cluster.Status.History...)
	case plan.SetPaused:
		for i := range s.Pools {
			if s.Pools[i].Name == a.Pool {
				s.Pools[i].Spec.Paused = a.Paused
			}
		}
	case plan.Acknowledged:
		if s.Gates.Acks == nil {
			s.Gates.Acks = map[string]string{}
		}
		s.Gates.Acks[a.Gate] = "true"
	case plan.Approve:
		for i := range s.Operators {
			if s.Operators[i].Package == a.Package {
				s.Operators[i].Installed = a.CSV
			}
		}
	case plan.DrainNode:
		for i := range s.Nodes {
			if s.Nodes[i].Name == a.Node {
				s.Nodes[i].Spec.Unschedulable = true
			}
		}
		s.Pods = slices.DeleteFunc(s.Pods, func(p fairlead.Pod) bool { return p.Spec.NodeName == a.Node })
	}
}

// others do what the engine waits for.
func (x *scene) others(d *plan.Decision) {
	s := &x.w.Situation
	h := s.Cluster.Status.History
	if h[0].State == cvo.Partial {
		h[0].State = cvo.Completed
		done := x.now
		h[0].CompletionTime = &done
		return
	}
	for _, b := range d.Blocked {
		if len(d.State.Steps) == 0 {
			return
		}
		step := d.State.Steps[0]
		switch {
		case b.Reason == plan.ReasonUnderWay && step.Kind == plan.Roll:
			s.Configs["rendered-"+step.Subject] = step.To
			x.taken = append(x.taken, step.String())
		case b.Reason == plan.ReasonPeople:
			x.work(step)
		}
	}
}

// work is what people do.
func (x *scene) work(step plan.PlanStep) {
	s := &x.w.Situation
	x.taken = append(x.taken, step.String())
	switch step.Kind {
	case plan.FixBudget:
		for i := range s.Budgets {
			if b := &s.Budgets[i]; b.Namespace+"/"+b.Name == step.Subject {
				b.Spec.MinAvailable, b.Spec.MaxUnavailable = nil, &fairlead.IntOrString{Int: 1}
			}
		}
	case plan.FreeRoom:
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprint("new-", len(s.Nodes))}}
		n.Status.Allocatable = map[string]string{"cpu": "10", "memory": "16Gi", "pods": "100"}
		s.Nodes = append(s.Nodes, n)
	case plan.ChangeClients:
		each(s.Removed, func(a *plan.RemovedAPI) { a.Users = nil })
	case plan.ReplaceMember:
		for i := range s.Members {
			if s.Members[i].Name == step.Subject {
				s.Members[i].Healthy = fairlead.ConditionTrue
			}
		}
	}
}

// play lets the engine act until nothing is left to do. It returns the last decision.
func (x *scene) play(t *testing.T, policy *plan.Policy, disturb func(round int, state *plan.State)) plan.Decision {
	var state plan.State
	for round := range 200 {
		if disturb != nil {
			disturb(round, &state)
		}
		saved, err := json.Marshal(state)
		if err != nil {
			t.Fatal(err)
		}
		state = plan.State{}
		if err := json.Unmarshal(saved, &state); err != nil {
			t.Fatal(err)
		}
		before, _ := json.Marshal(x.w)
		d := plan.Step(state, &x.w, x.now, policy)
		if after, _ := json.Marshal(x.w); string(after) != string(before) {
			t.Fatal("Step has changed its arguments")
		}
		state = d.State
		if len(d.Actions) == 0 && len(d.Blocked) == 0 {
			return d
		}
		if slices.ContainsFunc(d.Blocked, func(b fairlead.Block) bool { return b.Reason == plan.ReasonNoPlan }) && disturb == nil {
			return d
		}
		for _, a := range d.Actions {
			x.do(a)
		}
		x.others(&d)
		x.now = x.now.Add(time.Minute)
		if d.Wake.After(x.now) && len(d.Actions) == 0 {
			x.now = d.Wake
		}
	}
	t.Fatalf("it does not come to an end: %v", x.taken)
	return plan.Decision{}
}

// The engine carries out what Make plans, step by step, and nothing else; where there
// is no plan it says so.
func TestStepCarriesOut(t *testing.T) {
	carried := 0
	for seed := range uint64(long.N(70, 2000)) {
		w := draw(rand.New(rand.NewPCG(21, seed)))
		x, policy := newScene(w)
		p, err := plan.Make(t.Context(), &x.w.Situation, &x.w.Goal, policy)
		d := x.play(t, policy, nil)
		if err != nil {
			if len(d.Blocked) != 1 || d.Blocked[0].Reason != plan.ReasonNoPlan || len(x.taken) > 0 {
				t.Fatalf("seed %d: %v: %v, %v", seed, err, d.Blocked, x.taken)
			}
			continue
		}
		carried++
		rooms := 0
		for _, s := range p.Steps {
			if s.Kind == plan.FreeRoom {
				rooms++
			}
		}
		spared := max(rooms-1, 0) // a node that was added for one pool has room for another
		if n := len(x.taken); n > len(p.Steps) || n < len(p.Steps)-spared || d.State.Replans > 0 {
			t.Fatalf("seed %d: %d steps were taken, planned again %d times:\n%v\n%v", seed, n, d.State.Replans, strings.Join(x.taken, "\n"), p)
		}
		if again, err := plan.Make(t.Context(), &x.w.Situation, &x.w.Goal, policy); err != nil || len(again.Steps) > 0 {
			t.Fatalf("seed %d: the goal is not reached: %v %v", seed, again, err)
		}
	}
	if carried < 20 {
		t.Errorf("only %d plans were carried out", carried)
	}
}

// Others change the cluster, and the state is lost, at any time: the engine still
// comes to the goal, or says why not, and never moves the cluster while that is
// impossible.
func TestStepIsDisturbed(t *testing.T) {
	reached, replanned := 0, 0
	for seed := range uint64(long.N(100, 1000)) {
		r := rand.New(rand.NewPCG(22, seed))
		w := draw(r)
		x, policy := newScene(w)
		if _, err := plan.Make(t.Context(), &x.w.Situation, &x.w.Goal, policy); err != nil {
			continue
		}
		d := x.play(t, policy, func(round int, state *plan.State) {
			s := &x.w.Situation
			if round > 30 {
				x.w.Paused = false // and they leave it alone
				return
			}
			if r.IntN(4) > 0 {
				return
			}
			switch r.IntN(5) {
			case 0:
				*state = plan.State{}
			case 1:
				for i := range s.Pools {
					if s.Pools[i].Name != "master" {
						s.Pools[i].Spec.Paused = !s.Pools[i].Spec.Paused
					}
				}
			case 2:
				s.Gates.Acks = nil
			case 3:
				for i := range s.Members[:min(1, len(s.Members))] {
					if w.Sick < 2 && !policy.KeepMembers {
						s.Members[i].Healthy = fairlead.ConditionFalse
					}
				}
			case 4:
				x.w.Paused = r.IntN(2) == 0
			}
		})
		reached++
		replanned += d.State.Replans
		if again, err := plan.Make(t.Context(), &x.w.Situation, &x.w.Goal, policy); err != nil || len(again.Steps) > 0 {
			t.Fatalf("seed %d: the goal is not reached: %v %v", seed, again, err)
		}
	}
	if reached < 20 || replanned == 0 {
		t.Errorf("%d reached their goal, planned again %d times", reached, replanned)
	}
}

// A step begins in a window that it fits into, or not at all.
func TestStepWindows(t *testing.T) {
	q := newQuestion()
	from := q.s.At.Add(3 * time.Hour)
	policy := &plan.Policy{Windows: []plan.Window{{From: from, Until: from.Add(12 * time.Hour)}}}
	w := &plan.World{Situation: *q.s, Goal: *q.goal}
	d := plan.Step(plan.State{}, w, q.s.At, policy)
	if len(d.Actions) > 0 || !d.Wake.Equal(from) || len(d.Blocked) != 1 || d.Blocked[0].Reason != plan.ReasonWindow {
		t.Errorf("before the window: %v, %v, wake %v", d.Actions, d.Blocked, d.Wake)
	}
	if d = plan.Step(d.State, w, from, policy); len(d.Actions) != 1 || d.Actions[0].String() != "request release 4.19.4" {
		t.Errorf("in the window: %v, %v", d.Actions, d.Blocked)
	}
	w.Situation.Gates = nil
	if d = plan.Step(plan.State{}, w, from, policy); len(d.Actions) > 0 || d.Blocked[0].Reason != plan.ReasonUnseen {
		t.Errorf("with gates that nobody has looked at: %v, %v", d.Actions, d.Blocked)
	}
	w.Situation.Gates, w.Paused = &cvo.AdminGates{}, true
	if d = plan.Step(plan.State{}, w, from, policy); len(d.Actions) > 0 || d.Blocked[0].Reason != plan.ReasonPaused {
		t.Errorf("paused: %v, %v", d.Actions, d.Blocked)
	}
}
