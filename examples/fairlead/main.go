// Fairlead answers questions about the software of clusters: what a cluster waits
// for and what to do next, which operators to install, what is wrong with a
// catalog, what taints mean for pods, why a machine still exists, which update to
// choose and how far it is. "fairlead help" lists its verbs.
//
// The exit status is 0 if all is well, 1 if there are findings or no solution,
// and 2 if the arguments are wrong or something cannot be read.
package main

import (
	"os"

	"github.com/fairlead/fairlead/examples/fairlead/changes"
	"github.com/fairlead/fairlead/examples/fairlead/diagnose"
	"github.com/fairlead/fairlead/examples/fairlead/fbc"
	"github.com/fairlead/fairlead/examples/fairlead/fleet"
	"github.com/fairlead/fairlead/examples/fairlead/machine"
	"github.com/fairlead/fairlead/examples/fairlead/plan"
	"github.com/fairlead/fairlead/examples/fairlead/redact"
	"github.com/fairlead/fairlead/examples/fairlead/report"
	"github.com/fairlead/fairlead/examples/fairlead/resolve"
	"github.com/fairlead/fairlead/examples/fairlead/taint"
	"github.com/fairlead/fairlead/examples/fairlead/update"
	"github.com/fairlead/fairlead/examples/internal/args"
)

func main() {
	t := tool()
	t.Called(os.Args[0])
	t.Settings.Getenv = os.Getenv
	args.Main(t.WithCompletion())
}

// tool is the program.
func tool() *args.Command {
	settings := &args.Settings{List: []args.Setting{
		{Flag: "catalog", Many: true, Example: []string{"community=/srv/catalogs/community", "certified=/srv/catalogs/certified,priority=10"}, About: "for resolve: the catalogs"},
		{Flag: "global", Example: []string{"openshift-marketplace"}, About: "for resolve -cluster and operators: the namespace of the global catalogs"},
		{Flag: "graph", Example: []string{"/srv/graph.json"}, About: "for plan and report: the update graph"},
		{Flag: "wasm", Example: []string{"/usr/share/fairlead/fairlead.wasm"}, About: "for report -live: the engines"},
	}}
	return &args.Command{
		Settings: settings,

		Name:  "fairlead",
		About: "answer questions about the software of clusters from files",
		Help: `exit status of every command:
  0  success
  1  findings, or no solution; they were printed
  2  wrong arguments or unreadable input
Flags may appear anywhere; - is standard input; -o yaml prints the same data as -o json.`,
		Examples: `fairlead diagnose MUST-GATHER
			kubectl get machines,nodes,pods,pdb -A -o yaml | fairlead machine explain -
			fairlead update status MUST-GATHER
			fairlead catalog validate PATH
			fairlead resolve -catalog community=PATH -subscribe etcd`,
		Commands: []*args.Command{
			diagnose.Command(),
			diagnose.Explain(),
			resolve.Command(),
			resolve.Operators(),
			fbc.Command(),
			taint.Command(),
			machine.Drain(),
			machine.Command(),
			update.Command(),
			plan.Command(),
			fleet.Command(),
			report.Command(),
			changes.Command(),
			redact.Command(),
			settings.Command(),
			args.Version(),
		},
	}
}
