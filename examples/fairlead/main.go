// Fairlead answers questions about the software of clusters: which operators to
// install, what is wrong with a catalog, what taints mean for pods, why a machine
// is not gone yet, which update to take and how far it is. "fairlead help" lists
// its verbs.
//
// The exit status is 0 if all is well, 1 if there are findings or no solution,
// and 2 if the arguments are wrong or something cannot be read.
package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/fairlead/fairlead/examples/fairlead/fbc"
	"github.com/fairlead/fairlead/examples/fairlead/machine"
	"github.com/fairlead/fairlead/examples/fairlead/resolve"
	"github.com/fairlead/fairlead/examples/fairlead/taint"
	"github.com/fairlead/fairlead/examples/fairlead/update"
	"github.com/fairlead/fairlead/examples/internal/args"
)

// verb is what stands behind the program's name. It gets the words behind
// its own, and returns the exit status.
type verb struct {
	name  string
	about string
	run   func(ctx context.Context, words []string, stdin io.Reader, stdout, stderr io.Writer) int
}

// verbs are listed in the order in which help tells them.
var verbs = []verb{
	{"resolve", "which operators to install or update, or why there is no solution", resolve.Run},
	{"catalog", "validate, list, draw, compare, edit and release catalogs of operators", fbc.Run},
	{"taints", "what taints mean for pods: where they go, when they must leave, what is odd", taint.Run},
	{"machine", "why a machine is not gone yet, how a drain would go, deletions played", machine.Run},
	{"update", "which update to take, how far one is, what a release holds, updates played", update.Run},
}

func main() { args.Main(run) }

// run is the program but for the process around it.
func run(ctx context.Context, words []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(words) == 0 {
		help(stderr)
		return args.StatusBad
	}
	name, rest := words[0], words[1:]
	if slices.Contains([]string{"help", "-h", "-help", "--help"}, name) {
		if len(rest) == 0 {
			help(stdout)
			return args.StatusFine
		}
		name, rest = rest[0], append(slices.Clip(rest[1:]), "-h")
	}
	for _, v := range verbs {
		if v.name == name {
			return v.run(ctx, rest, stdin, stdout, stderr)
		}
	}
	fmt.Fprintf(stderr, "fairlead: there is no verb %q; \"fairlead help\" lists them\n", name)
	return args.StatusBad
}

func help(w io.Writer) {
	fmt.Fprint(w, "fairlead answers questions about the software of clusters.\n\nusage: fairlead VERB ...\n\n")
	for _, v := range verbs {
		fmt.Fprintf(w, "  %-8s  %s\n", v.name, v.about)
	}
	fmt.Fprint(w, "\n\"fairlead help VERB\" tells more.\nexit status: 0 all is well, 1 findings or no solution, 2 bad arguments or input\n")
}
