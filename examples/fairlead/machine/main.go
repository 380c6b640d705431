// Package machine is the verb machine: it tells why machines that are being deleted
// are not gone yet, plans drains, and plays deletions in virtual time.
package machine

import "github.com/fairlead/fairlead/examples/internal/args"

// Command is the verb.
func Command() *args.Command {
	return &args.Command{
		Name:  "machine",
		About: "why a machine is not gone yet, how a drain would go, deletions played",
		Help: `FILE of explain and plan is what kubectl get -o yaml (or json) prints: machines,
nodes, pods, poddisruptionbudgets; machinesets, machinehealthchecks, daemonsets,
replicasets, statefulsets, namespaces and machinedrainrules add to the picture.
It may be - for standard input.
exit status: 0 done, 1 a deletion did not finish, or something is in its way, 2 bad input`,
		Examples: `kubectl get machines,nodes,pods,pdb -A -o yaml | fairlead machine explain -
			kubectl get nodes,pods,pdb -A -o yaml | fairlead machine plan - -at-once 2
			fairlead machine simulate examples/fairlead/machine/scenarios/etcd-replacement.yaml`,
		Commands: []*args.Command{
			{
				Name: "explain", Usage: "FILE [-machine NAME]... [-at TIME] [-o text|json|yaml]",
				About: "tell why a machine is being deleted and what keeps it from going: who, since when, and what would end that",
				Help:  "  -at TIME  when the dump was made, as in 2026-01-02T15:04:05Z; now if it is not given",
				Run:   explain,
			},
			{
				Name: "plan", Usage: "FILE [-node NAME]... [-at-once N] [-at TIME] [-keep-unmanaged] [-keep-local-storage] [-disable-eviction] [-o text|json|yaml]",
				About: "tell how the drain of nodes would go: those of machines that are being deleted, else all; which pods in which round, and what budgets allow",
				Help:  "  -at TIME  when the dump was made, as in 2026-01-02T15:04:05Z; now if it is not given",
				Run:   plan,
			},
			{
				Name: "simulate", Usage: "FILE [-o text|json|yaml|svg|mermaid]",
				About: "play a scenario in virtual time: a YAML file with machines, nodes, pods and budgets, and a Scenario that says what happens when",
				Help:  "Scenarios to begin with are in examples/fairlead/machine/scenarios.",
				Run:   simulate,
			},
		},
	}
}

// findings is what a command ends with that has printed what it had to, where
// something is stuck.
func findings(err error, stuck bool) error {
	if err == nil && stuck {
		return args.ErrFindings
	}
	return err
}
