package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/cvo/plan"
)

// In a graph that is too large to be left to the solver as a whole, too, a way round a
// risk of which nobody knows is better than the short one through it.
func TestLargeGraph(t *testing.T) {
	s := shop()
	s.Moves = []plan.Move{{From: "4.18.1", To: "4.18.40", Risks: []string{"SlowDNS"}}}
	for i := 2; i < 40; i++ { // every release to every later one, but none from 4.18.1 past 4.18.2
		for j := i + 1; j <= 40; j++ {
			s.Moves = append(s.Moves, plan.Move{From: fmt.Sprintf("4.18.%d", i), To: fmt.Sprintf("4.18.%d", j)})
		}
	}
	s.Moves = append(s.Moves, plan.Move{From: "4.18.1", To: "4.18.2"})
	s.Risks = []plan.Risk{{Name: "SlowDNS"}}
	p, err := plan.Make(t.Context(), s, &plan.Goal{Release: "4.18.40"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var way []string
	for _, step := range p.Steps {
		if step.Kind == plan.MoveCluster {
			way = append(way, step.To)
		}
	}
	if want := []string{"4.18.2", "4.18.40"}; !slices.Equal(way, want) || p.Cost.Unknown != 0 {
		t.Errorf("by way of %q, with %d unknown risks, want %q", way, p.Cost.Unknown, want)
	}
}
