package resolution_test

import (
	"context"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/internal/bench/resolution"
	"github.com/fairlead/fairlead/internal/long"
)

// TestAgainstOLM gives random namespaces to both resolvers. It fails if ours breaks
// the documented rules in any of them.
func TestAgainstOLM(t *testing.T) {
	ctx := context.Background()
	tally, err := resolution.Run(ctx, long.N(600, 100_000), 3)
	if tally != nil {
		t.Logf("\n%s", tally)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestDeepConflict: on this task OLM's resolver sometimes breaks a rule without an
// error; ours never does. If a later version of OLM's resolver no longer does, the
// tables must be regenerated.
func TestDeepConflict(t *testing.T) {
	ctx := context.Background()
	task, err := resolution.DeepConflict(ctx)
	if err != nil {
		t.Fatal(err)
	}
	j, err := resolution.Judge(ctx, task, 200)
	if err != nil {
		t.Fatal(err)
	}
	if !j.Satisfiable || !j.Proven || !j.Unstable || !slices.Contains(j.Peer, resolution.Verdict(resolution.Unserved)) {
		t.Errorf("%+v", j)
	}
}
