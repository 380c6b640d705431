package explore

import (
	"os"
	"strconv"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/internal/long"
)

// statesVariable is the environment variable for the maximum number of states of
// each model to visit, in short and long runs.
const statesVariable = "FAIRLEAD_STATES"

// Test explores models, and fails with a script for each rule that is broken. In
// a short run each kind of fault is explored by itself, so that all states are
// visited; in a long run, all kinds together, up to longest states of a model.
func Test[W, S, A any](t *testing.T, longest int, models ...*Model[W, S, A]) {
	t.Helper()
	for _, m := range models {
		kinds := m.Faults.singles()
		if long.Enabled() || len(kinds) == 0 {
			kinds = []Faults{m.Faults}
		}
		for _, faults := range kinds {
			one := *m
			one.Faults = faults
			one.Max = long.N(m.Max, longest)
			if n, err := strconv.Atoi(os.Getenv(statesVariable)); err == nil && n > 0 {
				one.Max = n
			}
			r, err := Run(&one)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s %+v: %s", m.Name, faults, r)
			if r.Violation != nil {
				t.Errorf("%s: %s", m.Name, r.Violation.Script(m.Name))
				break
			}
			if r.Rest == 0 && r.Complete {
				t.Errorf("%s: no state is at rest", m.Name)
			}
		}
	}
}

// Scripts replays the traces in the scripts that match a pattern.
func Scripts[W, S, A any](t *testing.T, pattern string, models ...*Model[W, S, A]) {
	t.Helper()
	golden.Run(t, pattern, func(*testing.T) golden.Handler {
		return func(c *golden.Command) string {
			for _, m := range models {
				if m.Name == c.Value("model") {
					return Replay(m, World(c.Value("world")), c.Input)
				}
			}
			return "there is no such model"
		}
	})
}
