package diagnose

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
)

// TestStart asks whether updates may be started, and explains objects, in the situations of
// TestSituations and in a cluster that is given.
func TestStart(t *testing.T) {
	golden.Run(t, "testdata/start.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			var words []string
			for _, a := range c.Args {
				words = append(words, a.Key)
			}
			stdin := ""
			if words[0] == "-" {
				stdin = c.Input
			}
			for i, word := range words { // a situation is a file
				if file := "testdata/situations/" + word + ".json"; stdin == "" {
					if _, err := os.Stat(file); err == nil {
						words[i] = file
					}
				}
			}
			program := Command().Program("fairlead diagnose")
			if c.Name == "explain" {
				program = Explain().Program("fairlead explain")
			}
			var out, errs strings.Builder
			status := program(t.Context(), append(words, "-at", when), strings.NewReader(stdin), &out, &errs)
			return out.String() + errs.String() + fmt.Sprintf("exit status %d\n", status)
		}
	})
}
