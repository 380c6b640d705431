package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
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
		{nil, plan.Goal{Release: "4.20.2"}, "the offered updates are unknown"},
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
				if first := len(got) == 1; first != strings.Contains(x.Why, "under way") || first != strings.Contains(x.Command, "status") {
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
