package plan_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
)

// Plans of random small worlds, played, end as planned: every step is taken, in its
// order, and no other. Pools restart by themselves.
func TestPlay(t *testing.T) {
	played := 0
	for seed := range uint64(long.N(50, 2000)) {
		w := draw(rand.New(rand.NewPCG(20, seed)))
		s, goal, policy := w.situation()
		for i := range s.Operators { // subscriptions are played as they are
			s.Operators[i].Automatic = seed%2 == 0
		}
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

// An operator is updated when its new version has succeeded, and not as soon as that
// exists.
func TestOperatorOnItsWay(t *testing.T) {
	catalogs := map[string]*catalog.Catalog{"": samples.Text(t, `{schema: olm.package, name: a, defaultChannel: stable}
---
{schema: olm.channel, package: a, name: stable, entries: [{name: a.v1}]}
---
{schema: olm.bundle, package: a, name: a.v1, image: i, properties: [{type: olm.package, value: {packageName: a, version: 1.0.0}}]}
`)}
	sub := olm.Subscription{ObjectMeta: olm.ObjectMeta{Namespace: "ops", Name: "a"}, Spec: olm.SubscriptionSpec{Package: "a"}, Status: olm.SubscriptionStatus{InstalledCSV: "a.v2"}}
	v1 := olm.ClusterServiceVersion{ObjectMeta: olm.ObjectMeta{Namespace: "ops", Name: "a.v1"}, Status: olm.CSVStatus{Phase: olm.PhaseReplacing}}
	v2 := olm.ClusterServiceVersion{ObjectMeta: olm.ObjectMeta{Namespace: "ops", Name: "a.v2"}, Spec: olm.CSVSpec{Replaces: "a.v1"}}
	for _, c := range []struct {
		csvs  []olm.ClusterServiceVersion
		phase olm.Phase
		want  string
	}{
		{[]olm.ClusterServiceVersion{v1, v2}, "Installing", "a.v1"},
		{[]olm.ClusterServiceVersion{v1, v2}, olm.PhaseFailed, "a.v1"},
		{[]olm.ClusterServiceVersion{v1, v2}, olm.PhaseSucceeded, "a.v2"},
		{[]olm.ClusterServiceVersion{v2}, olm.PhaseFailed, "a.v2"}, // it had succeeded
	} {
		c.csvs[len(c.csvs)-1].Status.Phase = c.phase
		got, err := plan.ReadOperators(catalogs, &plan.Installed{Subscriptions: []olm.Subscription{sub}, CSVs: c.csvs})
		if err != nil || len(got) != 1 || got[0].Installed != c.want {
			t.Errorf("%d CSVs, the newest %s: %+v, %v; want %s", len(c.csvs), c.phase, got, err, c.want)
		}
	}
}

// What no engine can carry out is estimated, and that is said.
func TestPlayEstimated(t *testing.T) {
	q := newQuestion()
	q.s.Operators[0].Subscription = ""
	p, err := plan.Make(t.Context(), q.s, q.goal, q.policy)
	if err != nil {
		t.Fatal(err)
	}
	got, err := plan.Play(t.Context(), q.s, q.goal, q.policy, p, nil)
	if err != nil || !got.Done || len(got.Estimated) != 1 || !strings.Contains(got.String(), `only estimated, and not carried out: operators of namespace "shop": queue has no subscription`) {
		t.Errorf("%v, %v", err, got)
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
	hop := slices.IndexFunc(got.Steps, func(s plan.PlayedStep) bool { return s.Step.Kind == plan.MoveOperator })
	if s := got.Steps[hop]; len(got.Estimated) > 0 || s.Ended.Sub(s.Began) < 4*time.Minute {
		t.Errorf("the deployment of the operator takes 4 minutes until it is ready: %s until %s, %q", s.Began, s.Ended, got.Estimated)
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
