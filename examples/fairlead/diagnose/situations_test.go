package diagnose

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
)

// when is when the clusters of the situations were looked at.
const when = "2026-03-01T12:00:00Z"

// TestSituations shows the first screens of clusters from public reports. Each names a cause and a
// command, in at most 15 lines; no message is cut at both ends, and no step is only a state.
func TestSituations(t *testing.T) {
	cut := regexp.MustCompile(`(?:…|\.\.\.)[^\n]*(?:…|\.\.\.)`)
	step := regexp.MustCompile(`(?m)^DO \d+  (.*)$`)
	state := regexp.MustCompile(`^(?:See why: )?\S+ \S+ is (?:not ready|not available|degraded|down|cordoned)`)
	program := Command().Program("fairlead diagnose")
	seen := 0
	golden.Run(t, "testdata/situations.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			if c.Name != "situation" {
				t.Fatalf("%s: there is no command %s", c.Pos, c.Name)
			}
			seen++
			var out, errs strings.Builder
			status := program(t.Context(), []string{"testdata/situations/" + c.Args[0].Key + ".json", "-at", when}, strings.NewReader(""), &out, &errs)
			text := out.String()
			if n := strings.Count(text, "\n"); n > lines+4 { // commands and what is not known are never cut
				t.Errorf("%s: %d lines", c.Pos, n)
			}
			if !strings.Contains(text, "Cause: ") || !step.MatchString(text) {
				t.Errorf("%s: no cause, or no step", c.Pos)
			}
			if cut.MatchString(text) {
				t.Errorf("%s: a message is cut at both ends", c.Pos)
			}
			for _, m := range step.FindAllStringSubmatch(text, -1) {
				if state.MatchString(m[1]) {
					t.Errorf("%s: %q is a state", c.Pos, m[1])
				}
			}
			return text + errs.String() + fmt.Sprintf("exit status %d\n", status)
		}
	})
	if seen < 60 {
		t.Errorf("%d situations, want 60", seen)
	}
}
