// Package update is the verb update: which updates of a cluster are offered, what
// a release holds, in which order it is applied, what changes from one release to
// the next, how far an update is, and how one would go.
//
// The exit status is 0 if all is well, 1 if there are findings, and 2 if the
// arguments are wrong or something cannot be read.
package update

import (
	"context"
	"io"

	"github.com/fairlead/fairlead/examples/internal/args"
)

// Run runs the verb with its words, and returns the exit status. Each command has
// a file of its own.
func Run(ctx context.Context, words []string, _ io.Reader, stdout, stderr io.Writer) int {
	program := &args.Program{
		Name:  "fairlead update",
		About: "fairlead update looks at updates of a cluster.",
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
