// Upgrade looks at updates of a cluster: which ones are offered, what a release
// holds, in which order it is applied, what changes from one release to the
// next, how far an update is, and how one would go. "upgrade help" lists its
// commands.
//
// The exit status is 0 if all is well, 1 if there are findings, and 2 if the
// arguments are wrong or something cannot be read.
package main

import (
	"context"
	"io"

	"github.com/fairlead/fairlead/examples/internal/args"
)

func main() { args.Main(run) }

// run is the program but for the process around it. Each command has a file of
// its own.
func run(ctx context.Context, words []string, stdout, stderr io.Writer) int {
	program := &args.Program{
		Name:  "upgrade",
		About: "upgrade looks at updates of a cluster.",
		Notes: "The exit status is 0 if all is well, 1 for findings, 2 for bad arguments or input.",
		Commands: []*args.Command{
			graphCommand(),
			serveCommand(),
			planCommand(),
			statusCommand(),
			recommendCommand(),
			diffCommand(),
			simulateCommand(),
		},
	}
	return program.Run(ctx, words, stdout, stderr)
}
