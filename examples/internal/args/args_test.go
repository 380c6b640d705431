package args_test

import (
	"flag"
	"fmt"
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

// The flag -o as other tools spell it; what has the same beginning is not taken for it.
func TestOutputFlag(t *testing.T) {
	for line, want := range map[string]string{
		"-o json a":        "json [a]",
		"a -ojson":         "json [a]",
		"a --output json":  "json [a]",
		"--output=json a":  "json [a]",
		"-output yaml":     "yaml []",
		"-out x -o json":   "json []",
		"-n --output":      " []",
		"-- -ojson":        " [-ojson]",
		"-v --output json": "json []",
	} {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		o := flags.String("o", "", "")
		flags.String("out", "", "")
		flags.String("n", "", "")
		flags.Bool("v", false, "")
		rest, err := args.Parse(flags, strings.Fields(line))
		if got := fmt.Sprint(*o, " ", rest); got != want || err != nil {
			t.Errorf("%q: %s, want %s; %v", line, got, want, err)
		}
	}
}
