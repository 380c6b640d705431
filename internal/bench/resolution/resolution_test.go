package resolution_test

import (
	"context"
	"testing"

	"github.com/fairlead/fairlead/internal/bench/resolution"
	"github.com/fairlead/fairlead/internal/long"
)

// TestAgainstOLM gives random namespaces to both resolvers. It fails if ours is
// wrong by the documented rules in any.
func TestAgainstOLM(t *testing.T) {
	ctx := context.Background()
	tally, err := resolution.Run(ctx, long.N(300, 100_000), 3)
	if tally != nil {
		t.Logf("\n%s", tally)
	}
	if err != nil {
		t.Fatal(err)
	}
}
