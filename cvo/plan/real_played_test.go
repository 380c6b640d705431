package plan_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/long"
)

// Every plan on real data, played, ends as planned: each node restarts as often as it says, no
// other plan is made on the way, and it takes about as long.
func TestRealPlayed(t *testing.T) {
	divided, operators := long.N(20, 1), long.N(0, 50)
	for seed := range uint64(long.N(1, 10)) {
		s := real(t, seed, operators, divided)
		for _, goal := range []*plan.Goal{{Minor: "4.8"}, {Minor: "4.9", PauseWorkers: true}} {
			p, err := plan.Make(t.Context(), s, goal, nil)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if err := plan.Check(t.Context(), s, goal, nil, p); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			got, err := plan.Play(t.Context(), s, goal, nil, p, nil)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			took := got.Ended.Sub(got.Began)
			if !got.Done || got.Replans > 0 || len(got.Restarts) != p.Cost.Restarts {
				t.Errorf("seed %d: %d replans, %d restarts of %d\n%v", seed, got.Replans, len(got.Restarts), p.Cost.Restarts, got)
			}
			if took > got.Planned+time.Hour || took < got.Planned/2 {
				t.Errorf("seed %d: %s planned, %s played\n%v", seed, got.Planned, took, got)
			}
			t.Logf("seed %d: %d nodes, %d pods, %d operators: %d steps to %s, %d restarts, %s planned, %s played", seed, len(s.Nodes), len(s.Pods), len(s.Operators), p.Cost.Steps, p.To, p.Cost.Restarts, got.Planned, took)
		}
	}
}

// With faults none ends in a state from which there is no plan.
func TestRealFaults(t *testing.T) {
	faults := 0
	for seed := range uint64(long.N(2, 1000)) {
		s := real(t, seed, 0, 20)
		goal := &plan.Goal{Minor: "4.8"}
		if seed%4 == 3 {
			goal = &plan.Goal{Minor: "4.9", PauseWorkers: true}
		}
		p, err := plan.Make(t.Context(), s, goal, nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got, err := plan.Play(t.Context(), s, goal, nil, p, &plan.PlayOptions{Faults: true, Seed: seed})
		if err != nil || !got.Done {
			t.Fatalf("seed %d: %v, %v", seed, got, err)
		}
		faults += got.Faults
	}
	t.Logf("%d faults", faults)
	if faults == 0 {
		t.Error("nothing went wrong")
	}
}
