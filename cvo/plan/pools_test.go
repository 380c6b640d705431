package plan_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/long"
)

// The proof of a plan grows with the number of pools, not with the number of ways in
// which each can be paused and restarted.
func TestManyPools(t *testing.T) {
	s := shop()
	s.Moves = nil
	for minor := 18; minor < 21; minor++ {
		for patch := 1; patch < 8; patch++ {
			from := fmt.Sprintf("4.%d.%d", minor, patch)
			for next := patch + 1; next < 8; next++ {
				s.Moves = append(s.Moves, plan.Move{From: from, To: fmt.Sprintf("4.%d.%d", minor, next)})
			}
			if minor < 20 {
				s.Moves = append(s.Moves, plan.Move{From: from, To: fmt.Sprintf("4.%d.%d", minor+1, patch)})
			}
		}
	}
	extra := long.N(12, 60)
	for i := range extra {
		p := s.Pools[1]
		p.Name = fmt.Sprint("pool-", i)
		p.Spec.NodeSelector = &fairlead.LabelSelector{MatchLabels: map[string]string{"pool": p.Name}}
		p.Spec.Paused = i%4 == 3
		p.Status.Configuration.Name = "rendered-" + p.Name
		s.Pools, s.Configs["rendered-"+p.Name] = append(s.Pools, p), "4.18.1"
		for k := range 1 + i%3 {
			n := s.Nodes[1]
			n.Name, n.Labels = fmt.Sprint(p.Name, "-", k), map[string]string{"pool": p.Name}
			s.Nodes = append(s.Nodes, n)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, pause := range []bool{true, false} {
		for _, prefer := range []plan.Preference{plan.FewestSteps, plan.LeastDisruption} {
			goal, policy := &plan.Goal{Minor: "4.20", PauseWorkers: pause}, &plan.Policy{Prefer: prefer}
			p, err := plan.Make(ctx, s, goal, policy)
			if err != nil {
				t.Fatalf("%d pools, workers paused: %v, %v: %v", len(s.Pools), pause, prefer, err)
			}
			if err := plan.Check(ctx, s, goal, policy, p); err != nil {
				t.Error(err)
			}
			t.Logf("workers paused: %v, %v: %d steps, %d restarts", pause, prefer, p.Cost.Steps, p.Cost.Restarts)
			p.Proof[0].Certificate.Payments[1] = p.Proof[0].Certificate.Payments[1][1:]
			if plan.Check(ctx, s, goal, policy, p) == nil {
				t.Error("a proof that pays for less than the plan costs was accepted")
			}
		}
	}
}

// Pools restart at the same time: a plan takes as long as the slowest of them, and the next
// step waits for all.
func TestPoolsAtTheSameTime(t *testing.T) {
	q := newQuestion()
	p, err := plan.Make(t.Context(), q.s, q.goal, q.policy)
	if err != nil {
		t.Fatal(err)
	}
	var ends, began time.Duration // of the steps so far, and of the last pool
	beside := 0
	for i, s := range p.Steps {
		want := ends
		if i > 0 && s.Kind == plan.Roll && p.Steps[i-1].Kind == plan.Roll {
			want = began
			beside++
			if !strings.Contains(p.String(), s.String()+" ("+fmt.Sprint(s.Takes.Minutes())+"m, at the same time as step ") {
				t.Errorf("%s is not told to be at the same time:\n%v", s, p)
			}
		}
		if s.Offset != want {
			t.Errorf("%s begins after %s, want %s", s, s.Offset, want)
		}
		began, ends = s.Offset, max(ends, s.Offset+s.Takes)
	}
	if p.Takes != ends || beside == 0 {
		t.Errorf("%d steps beside others, %s; want %s", beside, p.Takes, ends)
	}
}
