package fairlead_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
)

// Step is told what the last attempts came to: failures until the action went
// well or was crowded out, successes only on demand.
func TestOutcomes(t *testing.T) {
	for _, successes := range []bool{false, true} {
		var seen []fairlead.Outcome
		fail := map[int]bool{2: true, 3: true}
		f := funcs[int, int]{
			Name: "outcomes", Version: 1,
			Observe: func(context.Context, string) (int, error) { return 0, nil },
			Step: func(int, int, time.Time) (d fairlead.Decision[int, climb]) {
				d.Actions = []climb{{1}, {2}, {3}}
				return d
			},
			Apply: func(_ context.Context, _ string, a climb) error {
				if fail[a.To] {
					return errors.New("slipped")
				}
				return nil
			},
			Outcomes: func(w int, o []fairlead.Outcome) int { seen = o; return w },
		}
		r := runnerKeeping(t, f, 2, successes)
		want := func(keys ...string) {
			t.Helper()
			_, _ = r.Reconcile(t.Context(), "a")
			var got []string
			for _, o := range seen {
				got = append(got, o.Key.ID+map[bool]string{true: "-", false: "+"}[o.Failed])
			}
			if !slices.Equal(got, keys) {
				t.Errorf("successes %v: told of %q, want %q", successes, got, keys)
			}
		}
		want()
		want("2-", "3-")
		fail[2] = false
		want("2-", "3-")
		if successes {
			want("2+", "3-")
		} else {
			want("3-")
		}
	}
}

// runnerKeeping returns a Runner that remembers so many outcomes.
func runnerKeeping(t *testing.T, f funcs[int, int], most int, successes bool) *fairlead.Runner[int, int, climb] {
	t.Helper()
	r, err := fairlead.NewRunner(fairlead.Engine[int, int, climb]{
		Name: f.Name, Version: f.Version, Step: f.Step, Backend: backend[int, int]{f},
		Outcomes: f.Outcomes, MaxOutcomes: most, Successes: successes,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// An engine that cannot be run is refused, with what it lacks.
func TestNewRunner(t *testing.T) {
	good := func() fairlead.Engine[int, int, climb] {
		return fairlead.Engine[int, int, climb]{
			Name: "x", Version: 1, Backend: backend[int, int]{},
			Step: func(int, int, time.Time) (d fairlead.Decision[int, climb]) { return d },
		}
	}
	if _, err := fairlead.NewRunner(good(), nil); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(e *fairlead.Engine[int, int, climb]){
		`engine "": its Name must consist of the letters a to z`:                   func(e *fairlead.Engine[int, int, climb]) { e.Name = "" },
		`engine "a.b": its Name must consist of the letters a to z`:                func(e *fairlead.Engine[int, int, climb]) { e.Name = "a.b" },
		`engine x: its Version is 0: begin with 1`:                                 func(e *fairlead.Engine[int, int, climb]) { e.Version = 0 },
		`engine x: it is at version 2 and has no Upgrade to read older state with`: func(e *fairlead.Engine[int, int, climb]) { e.Version = 2 },
		`engine x: it has no Step`:                                                 func(e *fairlead.Engine[int, int, climb]) { e.Step = nil },
		`engine x: it has no Backend`:                                              func(e *fairlead.Engine[int, int, climb]) { e.Backend = nil },
	} {
		e := good()
		spoil(&e)
		if _, err := fairlead.NewRunner(e, nil); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A clock that is set back delays no pass: what was to come in ten minutes comes
// in ten minutes, whatever the clock says then.
func TestClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock fairlead.ManualClock
		clock.Set(noon)
		passes := 0
		f := funcs[int, int]{
			Name: "back", Version: 1,
			Observe: func(context.Context, string) (int, error) { passes++; return 0, nil },
			Step: func(_, _ int, now time.Time) (d fairlead.Decision[int, climb]) {
				d.Wake = now.Add(10 * time.Minute)
				return d
			},
		}
		r := runner(t, f, &fairlead.RunnerOptions{Clock: &clock})
		stop := run(t, r)
		r.Trigger("a")
		synctest.Wait()
		clock.Advance(4 * time.Minute) // nothing is due
		synctest.Wait()
		clock.Set(noon.Add(-24 * time.Hour))
		synctest.Wait()
		if passes != 1 {
			t.Fatalf("%d passes before the time", passes)
		}
		clock.Advance(10 * time.Minute)
		synctest.Wait()
		if passes != 2 {
			t.Errorf("%d passes ten minutes after the clock was set back by a day, want 2", passes)
		}
		clock.Set(noon.Add(24 * time.Hour))
		synctest.Wait()
		if passes != 3 {
			t.Errorf("%d passes after the clock was set forward, want 3", passes)
		}
		stop()
	})
}
