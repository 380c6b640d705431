// Package machine is the verb machine: it tells why machines that are being deleted are not gone yet, plans
// drains, and plays deletions in virtual time.
//
//	kubectl get machines,nodes,pods,pdb -A -o yaml | fairlead machine explain -
//	kubectl get nodes,pods,pdb -A -o yaml | fairlead machine plan -
//	fairlead machine simulate examples/fairlead/machine/scenarios/etcd-replacement.yaml
package machine

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

const usage = `usage: fairlead machine explain FILE [-machine NAME]... [-at TIME] [-o text|json]
       fairlead machine plan FILE [-node NAME]... [-at-once N] [-at TIME] [-o text|json]
                    [-keep-unmanaged] [-keep-local-storage] [-disable-eviction]
       fairlead machine simulate FILE [-o text|json|svg|mermaid]

  explain   tells why a machine is being deleted and what keeps it from going: who,
            since when, and what would end that
  plan      tells how the drain of nodes would go: those of machines that are being
            deleted, else all; which pods in which round, and what budgets allow
  simulate  plays a scenario in virtual time: a YAML file with machines, nodes,
            pods and budgets, and a Scenario that says what happens when; see
            examples/fairlead/machine/scenarios

FILE of explain and plan is what kubectl get -o yaml (or json) prints: machines,
nodes, pods, poddisruptionbudgets; machinesets, machinehealthchecks, daemonsets,
replicasets, statefulsets, namespaces and machinedrainrules add to the picture.
It may be - for the standard input. TIME is that of the dump, now if it is not
given.

exit status: 0 done, 1 a deletion did not finish, or something is in its way, 2 bad input
`

// Exit statuses.
const (
	statusDone  = 0
	statusStuck = 1
	statusBad   = 2
)

// Run runs the verb with its words, and returns the exit status.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return statusBad
	}
	command, known := map[string]func(context.Context, []string, io.Reader, io.Writer) (int, error){
		"explain": explain, "plan": plan, "simulate": simulate,
	}[args[0]]
	if !known {
		if args[0] == "-h" || args[0] == "--help" || args[0] == "help" {
			fmt.Fprint(stdout, usage)
			return statusDone
		}
		fmt.Fprintf(stderr, "fairlead machine: there is no command %q\n%s", args[0], usage)
		return statusBad
	}
	status, err := command(ctx, args[1:], stdin, stdout)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return statusDone
	}
	if err != nil {
		fmt.Fprintln(stderr, "fairlead machine:", err)
		return statusBad
	}
	return status
}

// open opens a file, or the standard input for "-".
func open(name string, stdin io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(stdin), nil
	}
	return os.Open(name)
}
