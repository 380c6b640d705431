package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/rollout"
)

// A cluster that is being updated gets there first, whatever speaks against it by now, and goes
// on from there: what is offered is offered from there.
func TestUnderWay(t *testing.T) {
	s := shop()
	s.Cluster.Status.Desired.Version = "4.19.4"
	s.Cluster.Status.History = []cvo.History{
		{State: cvo.Partial, Version: "4.19.4", StartedTime: s.At.Add(-time.Minute)},
		{State: cvo.Completed, Version: "4.18.1", StartedTime: s.At.Add(-time.Hour), CompletionTime: &s.At},
	}
	moves := s.Moves[1:]
	for _, tt := range []struct {
		moves []plan.Move
		goal  plan.Goal
		want  string // the releases that the cluster moves to, or the error
	}{
		{moves, plan.Goal{Release: "4.20.2"}, "4.19.4 4.20.2"},
		{moves, plan.Goal{Newest: true}, "4.19.4 4.20.2"},
		{append([]plan.Move{{From: "4.18.1", To: "4.19.4", Risks: []string{"Late"}}}, moves...), plan.Goal{Release: "4.20.2"}, "4.19.4 4.20.2"},
		{moves, plan.Goal{Release: "4.19.4"}, "4.19.4"},
		{nil, plan.Goal{Release: "4.19.4"}, "4.19.4"},
		{[]plan.Move{}, plan.Goal{Newest: true}, "4.19.4"},
		{moves, plan.Goal{Minor: "4.21"}, "the ClusterVersion lists only the next hop"},
		{nil, plan.Goal{Release: "4.20.2"}, "the available updates are unknown"},
	} {
		s.Moves = tt.moves
		s.Risks = []plan.Risk{{Name: "SlowDNS", Applies: "False"}, {Name: "Late", Applies: "True"}}
		p, err := plan.Make(t.Context(), s, &tt.goal, nil)
		if err != nil {
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v of %v: %v, want %s", tt.goal, tt.moves, err, tt.want)
			}
			continue
		}
		var got []string
		for _, x := range p.Steps {
			if x.Kind == plan.MoveCluster {
				got = append(got, x.To)
				if first := len(got) == 1; first != strings.Contains(x.Why, "under way") || first != strings.Contains(x.Command, "oc wait clusterversion") {
					t.Errorf("%s: %s; %s", x, x.Why, x.Command)
				}
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%v of %v: %v, want %s", tt.goal, tt.moves, got, tt.want)
		}
		if err := plan.Check(t.Context(), s, &tt.goal, nil, p); err != nil {
			t.Errorf("%v of %v: %v", tt.goal, tt.moves, err)
		}
		played, err := plan.Play(t.Context(), s, &tt.goal, nil, p, nil)
		if err != nil || !played.Done {
			t.Errorf("%v of %v: played %v, %v", tt.goal, tt.moves, played, err)
		}
	}
}

// underWay is the little shop on its way to a release.
func underWay(to string) *plan.Situation {
	s := shop()
	s.Cluster.Status.Desired.Version = to
	s.Cluster.Status.History = []cvo.History{
		{State: cvo.Partial, Version: to, StartedTime: s.At.Add(-time.Minute)},
		{State: cvo.Completed, Version: "4.18.1", StartedTime: s.At.Add(-time.Hour), CompletionTime: &s.At},
	}
	s.Risks = []plan.Risk{{Name: "SlowDNS", Applies: "False"}}
	return s
}

// steps are those of the best plan, and what is wrong with it.
func steps(t *testing.T, s *plan.Situation, goal *plan.Goal) []string {
	t.Helper()
	p, err := plan.Make(t.Context(), s, goal, nil)
	if err != nil {
		return strings.Split(strings.TrimSpace(err.Error()), "\n")
	}
	if err := plan.Check(t.Context(), s, goal, nil, p); err != nil {
		t.Error(err)
	}
	if played, err := plan.Play(t.Context(), s, goal, nil, p, nil); err != nil || !played.Done || played.Replans > 0 {
		t.Errorf("played %v, %v", played, err)
	}
	var all []string
	for _, x := range p.Steps {
		all = append(all, x.String())
	}
	return all
}

// What an update must wait for before it begins does not hold one that is under way.
func TestUnderWayPassedGates(t *testing.T) {
	s := underWay("4.19.4")
	want := steps(t, s, &plan.Goal{Release: "4.19.4"})
	s.Gates = &cvo.AdminGates{Gates: map[string]string{"ack-4.18-apis": "APIs go away"}}
	keeps := cvo.ClusterOperator{ObjectMeta: cvo.ObjectMeta{Name: "network"}}
	keeps.Status.Conditions = []fairlead.Condition{{Type: "Upgradeable", Status: fairlead.ConditionFalse, Reason: "Old"}}
	s.ClusterOperators = append(s.ClusterOperators, keeps)
	s.Removed = []plan.RemovedAPI{{API: "flows.v1", In: "1.32", Users: []string{"shop"}}}
	if got := steps(t, s, &plan.Goal{Release: "4.19.4"}); !slices.Equal(got, want) || len(want) != 3 {
		t.Errorf("%q, want %q", got, want)
	}
	s.Gates.Gates["ack-4.19-apis"] = "APIs go away" // that is the next one
	if got := steps(t, s, &plan.Goal{Release: "4.20.2"}); !slices.Contains(got, "acknowledge ack-4.19-apis") || slices.Contains(got, "acknowledge ack-4.18-apis") {
		t.Errorf("%q", got)
	}
}

// The update that is under way is the only one from its release, and its release is the goal
// where nothing else is known.
func TestUnderWayAlone(t *testing.T) {
	s := underWay("4.19.4")
	s.Moves = []plan.Move{{From: "4.18.1", To: "4.19.3"}, {From: "4.18.1", To: "4.19.4"}, {From: "4.19.3", To: "4.20.2"}}
	if got := steps(t, s, &plan.Goal{Release: "4.20.2"}); !strings.Contains(got[0], "there is no plan") {
		t.Errorf("%q", got)
	}
	s.Moves = nil
	got := strings.Join(steps(t, s, &plan.Goal{Newest: true}), "\n")
	if !strings.Contains(got, "the cluster is being updated to 4.19.4, and no updates from there are known") || !strings.Contains(got, "set the goal to 4.19.4 (then 3 steps") {
		t.Error(got)
	}
}

// Nodes that run a release of an update that the next one has overtaken need not restart into an
// older one.
func TestOvertaken(t *testing.T) {
	s := underWay("4.19.4")
	s.Configs["rendered-worker"], s.Configs["rendered-master"] = "4.18.9", "4.19.4"
	want := []string{"update the cluster from 4.18.1 to 4.19.4", "restart the nodes of pool worker into 4.19.4"}
	if got := steps(t, s, &plan.Goal{Release: "4.19.4"}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A pool without nodes has nothing to restart, and need not be paused.
func TestEmptyPool(t *testing.T) {
	s := shop()
	s.Operators = nil
	s.Risks = []plan.Risk{{Name: "SlowDNS", Applies: "False"}}
	s.Nodes = s.Nodes[:1]
	for _, goal := range []plan.Goal{{Release: "4.20.2"}, {Release: "4.20.2", PauseWorkers: true}} {
		if got := steps(t, s, &goal); len(got) != 4 || strings.Contains(strings.Join(got, "\n"), "worker") {
			t.Errorf("%q", got)
		}
	}
	s.Pools[1].Status.MachineCount = 2 // which are not in the dump
	if got := steps(t, s, &plan.Goal{Release: "4.20.2"}); !strings.Contains(strings.Join(got, "\n"), "worker") {
		t.Errorf("%q", got)
	}
}

// However many nodes of a pool have failed: to repair them is one thing to do.
func TestFailedNodes(t *testing.T) {
	s := shop()
	s.Nodes[0].Spec.Unschedulable = false
	for i := range 9 {
		n := s.Nodes[1]
		n.Name = fmt.Sprint("w", i)
		n.Spec.Unschedulable = true
		n.Annotations = map[string]string{rollout.AnnotationCurrent: "old", rollout.AnnotationDesired: "rendered-worker", rollout.AnnotationState: rollout.StateDegraded, rollout.AnnotationReason: "failed to drain node",
			rollout.AnnotationDesiredDrain: "drain-rendered-worker"}
		s.Nodes = append(s.Nodes[:1+i:1+i], n)
	}
	got := steps(t, s, &plan.Goal{Release: "4.19.4"})
	if want := []string{
		"there is no plan from 4.18.1 to 4.19.4:", "- nodes w0, w1, w2 and 6 more of pool worker failed to update; w0 reports: failed to drain node",
		"Each of these was tried and leads to a plan:", "- repair the nodes w0, w1, w2 and 6 more (then 3 steps, about 2h40m)",
	}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
