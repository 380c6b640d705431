package taint

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/fairlead/fairlead/internal/golden"
)

// TestRun runs the program on command lines. Words are parted by blanks, and those
// in quotes hold some; what stands behind the first line is standard input.
func TestRun(t *testing.T) {
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			line, input, _ := strings.Cut(c.Input, "\n")
			var out, problems bytes.Buffer
			status := run(split(line), now, strings.NewReader(input), &out, &problems)
			text := out.String()
			if problems.Len() > 0 {
				text += "stderr: " + problems.String()
			}
			return strings.TrimRight(text, "\n") + "\nstatus " + string(rune('0'+status)) + "\n"
		}
	})
}

// now is when the scripts are played.
var now = time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)

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

// TestBrokenInput: an error of the input is told, whatever the command.
func TestBrokenInput(t *testing.T) {
	for _, words := range []string{"explain", "matrix", "lint", "whatif -event x", "parse -node n a-"} {
		var out, problems bytes.Buffer
		status := run(strings.Fields(words), now, iotest.ErrReader(errors.New("the pipe broke")), &out, &problems)
		if status != statusBadInput || out.Len() > 0 || problems.Len() == 0 {
			t.Errorf("%s: status %d, printed %q, told %q", words, status, &out, &problems)
		}
	}
}
