package plan_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/long"
)

// A plan over two minor versions, with workers paused and a budget that must be
// changed first, is carried out by the engines on one cluster. It ends as planned: the
// steps in their order, every budget kept.
func TestPlayed(t *testing.T) {
	played(t, 1, false)
}

// With faults of every call, lost states and processes that die it ends likewise.
func TestPlayedWithFaults(t *testing.T) {
	for seed := range uint64(long.N(1, 1000)) {
		played(t, seed, true)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func played(t *testing.T, seed uint64, faults bool) {
	y := newStage(t, seed, faults)
	for range 12 * 30 { // it begins with a cluster at rest
		y.cluster()
		y.clock.Set(y.clock.Now().Add(10 * time.Second))
	}
	y.goal = plan.Goal{Release: "4.20.3", PauseWorkers: true}
	y.policy.GoUnseen = true // what 4.19 asks is seen there
	s := y.situation()
	p, err := plan.Make(t.Context(), &s, &y.goal, &y.policy)
	if err != nil {
		t.Fatal(err)
	}
	began, left := y.clock.Now(), len(p.Steps)+1
	for rounds := 0; ; rounds++ {
		d := y.round()
		for n := len(d.State.Steps); n < left && !faults; left-- {
			if i := len(p.Steps) - left; i >= 0 {
				t.Logf("%s  %-50s planned to end %s", y.clock.Now().Sub(began).Round(time.Minute), p.Steps[i], p.Steps[i].Begins.Add(p.Steps[i].Takes).Sub(s.At).Round(time.Minute))
			}
			if i := len(p.Steps) - n; n > 0 && left == n+1 && d.State.Steps[0].String() != p.Steps[i].String() {
				t.Errorf("the next step is to %s, and not to %s", d.State.Steps[0], p.Steps[i])
			}
		}
		if len(d.State.Steps) == 0 && len(d.Blocked) == 0 {
			break
		}
		if rounds > 6*60*20 {
			t.Fatalf("seed %d: after 20 hours: %v", seed, d.Blocked)
		}
		for _, b := range d.Blocked {
			if b.Reason == plan.ReasonNoPlan {
				t.Fatalf("seed %d: %v", seed, b)
			}
		}
	}
	took := y.clock.Now().Sub(began)
	t.Logf("planned %s, took %s; web: never fewer than %d of 4, %s with fewer than 4; db: %d of 1, %s", p.Takes, took, y.least["web"], y.short["web"], y.least["db"], y.short["db"])
	cv := y.releases.Version("version")
	if h := cv.Status.History[0]; h.Version != "4.20.3" || h.State != cvo.Completed {
		t.Errorf("the cluster runs %s, %s", h.Version, h.State)
	}
	for _, pool := range y.pools.List() {
		if y.configs[pool.Status.Configuration.Name] != "4.20.3" || pool.Spec.Paused {
			t.Errorf("pool %s runs %s, paused: %v", pool.Name, pool.Status.Configuration.Name, pool.Spec.Paused)
		}
	}
	if y.least["web"] < 3 {
		t.Errorf("%d of web were ready, and its budget asks for 3", y.least["web"])
	}
	if now, err := plan.Make(t.Context(), new(y.situation()), &y.goal, &y.policy); err != nil || len(now.Steps) > 0 {
		t.Errorf("more is to be done: %v, %v", now, err)
	}
}
