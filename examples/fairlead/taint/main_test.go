package taint

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/golden"
)

// TestRun runs the program on command lines. Words are separated by blanks, and
// quoted words may contain blanks; the text after the first line is standard input.
func TestRun(t *testing.T) {
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			line, input, _ := strings.Cut(c.Input, "\n")
			var out, problems bytes.Buffer
			status := program(t.Context(), split(line), strings.NewReader(input), &out, &problems)
			text := out.String()
			if problems.Len() > 0 {
				text += "stderr: " + problems.String()
			}
			return strings.TrimRight(text, "\n") + "\nstatus " + string(rune('0'+status)) + "\n"
		}
	})
}

// program is the verb at the time of the scripts.
var program = verb(func() time.Time { return time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC) }).Program("fairlead taints")

func split(line string) []string {
	var words []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}

// TestBrokenInput checks that every command reports an error in the input.
func TestBrokenInput(t *testing.T) {
	for _, words := range []string{"explain", "matrix", "lint", "whatif -event x", "parse -node n a-"} {
		var out, problems bytes.Buffer
		status := program(t.Context(), strings.Fields(words), iotest.ErrReader(errors.New("the pipe broke")), &out, &problems)
		if status != args.StatusBad || out.Len() > 0 || problems.Len() == 0 {
			t.Errorf("%s: status %d, printed %q, told %q", words, status, &out, &problems)
		}
	}
}
