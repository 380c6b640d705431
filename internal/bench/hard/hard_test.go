package hard

import (
	"context"
	"strings"
	"testing"
)

// TestVerdicts gives a few problems of each kind to all solvers: the verdicts are
// equal, and ours are proven.
func TestVerdicts(t *testing.T) {
	var out strings.Builder
	if err := report(context.Background(), &out, len(kinds)); err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds {
		if !strings.Contains(out.String(), "| "+k.name) {
			t.Errorf("no row of %s", k.name)
		}
	}
	t.Log("\n" + out.String())
}
