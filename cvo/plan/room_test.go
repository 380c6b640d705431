package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/rollout"
)

// A budget that keeps its pods only while a replacement becomes ready is no work for
// people; one whose pods stay unready is, and so is one that never lets a pod go.
func TestBudgetsThatRecover(t *testing.T) {
	at := time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		need string // how many pods the budget needs
		made time.Duration
		lost time.Duration // how long ago the pod stopped being ready; 0: it never was
		fix  bool
	}{
		{"it was made a minute ago", "1", time.Minute, 0, false},
		{"it stopped being ready a minute ago", "1", time.Hour, time.Minute, false},
		{"it has not been ready for an hour", "1", 2 * time.Hour, time.Hour, true},
		{"it was never ready", "1", time.Hour, 0, true},
		{"the budget needs both", "2", time.Minute, 0, true},
	} {
		q := newQuestion()
		q.s.At = at
		for _, line := range [][]string{{"pod", "db-1", "worker-0", "100m"}, {"pod", "db-2", "worker-1", "100m"}, {"budget", "db", "db", c.need}} {
			if err := q.change(line); err != nil {
				t.Fatal(err)
			}
		}
		p := &q.s.Pods[len(q.s.Pods)-1]
		p.CreationTimestamp = at.Add(-c.made)
		p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionFalse}}
		if c.lost > 0 {
			p.Status.Conditions[0].LastTransitionTime = at.Add(-c.lost)
		}
		got, err := plan.Make(t.Context(), q.s, q.goal, q.policy)
		if err != nil {
			t.Fatal(err)
		}
		if fix := slices.ContainsFunc(got.Steps, func(s plan.PlanStep) bool { return s.Kind == plan.FixBudget }); fix != c.fix {
			t.Errorf("%s: a step for the budget %v, want %v\n%s", c.name, fix, c.fix, got)
		}
	}
}

// TestRoomAmidRestart has the only node that a pod fits on restart into a release, so that
// the pod waits for it: room for it is lacking all the same, since it comes back there and
// the node restarts again.
func TestRoomAmidRestart(t *testing.T) {
	q := newQuestion()
	for _, line := range []string{"pod big-1 worker-0 3", "pod big-2 worker-1 3", "pod big-3 worker-2 3"} {
		if err := q.change(strings.Fields(line)); err != nil {
			t.Fatal(err)
		}
	}
	for _, amid := range []bool{false, true} {
		if n := &q.s.Nodes[3]; amid {
			n.Spec.Unschedulable = true
			n.Annotations[rollout.AnnotationDesired], n.Annotations[rollout.AnnotationState] = "new", rollout.StateWorking
			q.s.Pods[0].Spec.NodeName, q.s.Pods[0].Status.Phase, q.s.Pods[0].Status.Conditions = "", fairlead.PodPending, nil
		}
		p, err := plan.Make(t.Context(), q.s, q.goal, q.policy)
		if err != nil {
			t.Fatal(err)
		}
		if n := slices.IndexFunc(p.Steps, func(s plan.PlanStep) bool { return s.Kind == plan.FreeRoom && s.Subject == "pool worker" }); n < 0 {
			t.Errorf("amid a restart %v: no room is made: %v", amid, p.Steps)
		}
	}
}

// A budget of one pod that requires all of its pods, or lets none be missing, is changed: a second
// replica would not help.
func TestBudgetOfAll(t *testing.T) {
	for _, c := range []struct {
		least, most *fairlead.IntOrString
		command     string
	}{
		{&fairlead.IntOrString{Int: 1}, nil, "oc -n shop scale --replicas=2 replicaset/db"},
		{&fairlead.IntOrString{Text: "100%"}, nil, `oc -n shop patch pdb db --type merge -p '{"spec":{"minAvailable":0}}'`},
		{nil, &fairlead.IntOrString{}, `oc -n shop patch pdb db --type merge -p '{"spec":{"maxUnavailable":1}}'`},
	} {
		q := newQuestion()
		for _, line := range [][]string{{"pod", "db-1", "worker-0", "100m"}, {"budget", "db", "db", "1"}} {
			if err := q.change(line); err != nil {
				t.Fatal(err)
			}
		}
		b := &q.s.Budgets[len(q.s.Budgets)-1]
		b.Spec.MinAvailable, b.Spec.MaxUnavailable = c.least, c.most
		p, no := made(t, q)
		if no != nil || p.Steps[0].Kind != plan.FixBudget || p.Steps[0].Command != c.command {
			t.Errorf("%v: %v %v", c.command, p, no)
		}
	}
}
