package args_test

import (
	"flag"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/internal/args"
)

func TestParse(t *testing.T) {
	for line, want := range map[string]string{
		"":                 "",
		"a b":              "a b",
		"-n 1 a b":         "a b n=1",
		"a -n 1 b":         "a b n=1",
		"a b -n=1":         "a b n=1",
		"a -- -n 1":        "a -n 1",
		"a -n 1 -- b -- c": "a b -- c n=1",
		"-x":               "error",
		"a -n":             "error",
	} {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		n := flags.String("n", "", "")
		rest, err := args.Parse(flags, strings.Fields(line))
		if *n != "" {
			rest = append(rest, "n="+*n)
		}
		if err != nil {
			rest = []string{"error"}
		}
		if !slices.Equal(rest, strings.Fields(want)) {
			t.Errorf("%q: %q, want %q", line, rest, want)
		}
	}
}
