// Package update is the verb update: it shows which updates of a cluster are offered,
// what a release contains, in which order it is applied, what changes from one release
// to the next, how far an update is, and how an update would proceed.
//
// The exit status is 0 if all is well, 1 if there are findings, and 2 if the
// arguments are wrong or something cannot be read.
package update

import "github.com/fairlead/fairlead/examples/internal/args"

// Command is the verb. Each of its commands has its own file.
func Command() *args.Command {
	return &args.Command{
		Name:  "update",
		About: "choose an update, follow its progress, inspect releases, simulate and serve updates",
		Help:  "exit status: 0 success, 1 findings, 2 bad arguments or input",
		Examples: `fairlead update status MUST-GATHER
			fairlead update graph GRAPH.json -from 4.18.20 -to 4.19.3
			fairlead update plan PAYLOAD -o svg >plan.svg
			fairlead update simulate examples/fairlead/update/scenarios/degraded.yaml`,
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
}
