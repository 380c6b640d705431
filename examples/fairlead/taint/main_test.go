package taint

import (
	"bytes"
	"errors"
	"fmt"
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

// Many pods without a node and nodes with taints of their own: as a summary each group of pods
// is explained on some kinds of nodes; a list of all would have millions of lines, and is refused.
func TestManyPending(t *testing.T) {
	var input strings.Builder
	for i := range 500 {
		fmt.Fprintf(&input, `{"kind": "Node", "metadata": {"name": "n%d"}, "spec": {"taints": [{"key": "k%d", "effect": "NoSchedule"}]}}`+"\n", i, i)
		fmt.Fprintf(&input, `{"kind": "Pod", "metadata": {"name": "p%d", "namespace": "shop"}}`+"\n", i)
	}
	for words, want := range map[string]struct {
		status int
		text   string
		lines  int
	}{
		"explain":                     {args.StatusFindings, "  490 more kinds of nodes; -pod shop/p0 explains each\n", 52},
		"explain -pod shop/p0":        {args.StatusFindings, "pod/shop/p0 on node/n499: it is not scheduled there", 2500},
		"explain -v":                  {args.StatusBad, "500 pods, and those without a node are explained on 500 kinds of nodes: more than 200000 explanations; select with -pod or -node", 2},
		"explain -o json":             {args.StatusBad, "more than 200000 explanations", 1},
		"explain -node n7 -o json -v": {args.StatusFindings, `"pod/shop/p499"`, 0},
	} {
		var out bytes.Buffer
		status := program(t.Context(), append(strings.Fields(words), "-A"), strings.NewReader(input.String()), &out, &out)
		text := out.String()
		if lines := strings.Count(text, "\n"); status != want.status || !strings.Contains(text, want.text) || want.lines > 0 && lines > want.lines {
			t.Errorf("%s: status %d, %d lines, begins %.300q", words, status, lines, text)
		}
	}
}
