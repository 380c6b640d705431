package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fairlead/fairlead/internal/golden"
)

// TestStory: the whole output is as checked in, and fits into a terminal.
func TestStory(t *testing.T) {
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			var out strings.Builder
			if err := tell(t.Context(), &out); err != nil {
				t.Fatalf("%s: %v", c.Pos, err)
			}
			for line := range strings.Lines(out.String()) {
				if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 {
					t.Errorf("wider than 80 columns: %s", line)
				}
			}
			return out.String()
		}
	})
}
