package plan_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/long"
)

// Plans of random small worlds, played, end as planned: every step is taken, in its
// order, and no other. Pools restart by themselves.
func TestPlay(t *testing.T) {
	played := 0
	for seed := range uint64(long.N(50, 2000)) {
		w := draw(rand.New(rand.NewPCG(20, seed)))
		s, goal, policy := w.situation()
		p, err := plan.Make(t.Context(), s, goal, policy)
		var no *plan.NoPlanError
		if errors.As(err, &no) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		played++
		got, err := plan.Play(t.Context(), s, goal, policy, p, nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !got.Done || got.Replans > 0 || len(got.Steps) != len(p.Steps) {
			t.Fatalf("seed %d: %v\n%v%+v", seed, got, p, w)
		}
		var planned, came []string
		rolls := map[string]int{}
		for i, x := range got.Steps {
			if x.Began.IsZero() || x.Ended.IsZero() {
				t.Fatalf("seed %d: %s is not taken\n%v", seed, x.Step, got)
			}
			for k, step := range []plan.PlanStep{x.Step, p.Steps[i]} {
				switch {
				case step.Kind == plan.Roll: // by itself, as soon as it can, beside others
					rolls[step.String()] += 1 - 2*k
				case k == 0:
					came = append(came, step.String())
				default:
					planned = append(planned, step.String())
				}
			}
		}
		for step, n := range rolls {
			if n != 0 {
				t.Errorf("seed %d: %s: %+d\n%v", seed, step, n, got)
			}
		}
		if !slices.Equal(planned, came) {
			t.Errorf("seed %d: the order was %q\n%v\n%v", seed, came, p, got)
		}
	}
	if played < 20 {
		t.Errorf("only %d were played", played)
	}
}

// With faults none ends in a state from which there is no plan.
func TestPlayFaults(t *testing.T) {
	played, faults := 0, 0
	for seed := range uint64(long.N(30, 1000)) {
		w := draw(rand.New(rand.NewPCG(21, seed)))
		s, goal, policy := w.situation()
		p, err := plan.Make(t.Context(), s, goal, policy)
		if err != nil {
			continue
		}
		got, err := plan.Play(t.Context(), s, goal, policy, p, &plan.PlayOptions{Faults: true, Seed: seed})
		if err != nil || !got.Done {
			t.Fatalf("seed %d: %v, %v\n%v%+v", seed, got, err, p, w)
		}
		played++
		faults += got.Faults
	}
	t.Logf("%d played, %d faults", played, faults)
	if faults == 0 {
		t.Error("nothing went wrong")
	}
}

// What a play tells, of a cluster whose budget has to be changed first.
func TestPlayTold(t *testing.T) {
	q := newQuestion()
	for _, line := range []string{"pause-workers", "pod web-1 worker-0 1", "pod web-2 worker-1 1", "pod web-3 worker-2 1", "pod db-1 worker-0 100m", "budget web web 2", "budget db db 1"} {
		if err := q.change(strings.Fields(line)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := plan.Make(t.Context(), q.s, q.goal, q.policy)
	if err != nil {
		t.Fatal(err)
	}
	got, err := plan.Play(t.Context(), q.s, q.goal, q.policy, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v\n%v", p, got)
	if !got.Done || len(got.Restarts) != 9 || len(got.Disruptions) != 2 || got.Took() < 3*time.Hour {
		t.Errorf("%+v", got)
	}
	for _, d := range got.Disruptions {
		if d.Workload == "replicaset/web" && (d.Least != 2 || d.None > 0) || d.Workload == "replicaset/db" && d.Least != 0 || d.Short <= 0 || d.Longest > d.Short {
			t.Errorf("%+v", d)
		}
	}
	var chart strings.Builder
	if err := got.WriteMermaid(&chart); err != nil || !strings.HasPrefix(chart.String(), "gantt") || !strings.Contains(chart.String(), "node worker-2") {
		t.Errorf("%v\n%s", err, chart.String())
	}
}
