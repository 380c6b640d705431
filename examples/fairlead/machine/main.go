// Package machine contains the verbs machine and drain: they explain why machines that are
// being deleted still exist, simulate deletions in virtual time, and plan drains of nodes,
// with or without machines.
package machine

import "github.com/fairlead/fairlead/examples/internal/args"

// Command is the verb.
func Command() *args.Command {
	return &args.Command{
		Name:  "machine",
		About: "explain why machines are stuck in deletion, and simulate deletions",
		Help:  "exit status: 0 nothing is stuck, 1 a deletion is blocked or did not finish, 2 bad input",
		Examples: `kubectl get machines,nodes,pods,pdb -A -o yaml | fairlead machine explain -
			fairlead machine simulate examples/fairlead/machine/scenarios/etcd-replacement.yaml`,
		Commands: []*args.Command{
			{
				Name: "explain", Usage: "FILE [-machine NAME]... [-v] [-at TIME] [-o text|json|yaml]",
				About: "explain why a machine is being deleted and what blocks the deletion: who, since when, and what would unblock it",
				Help: `FILE is the output of kubectl get -o yaml (or json) for machines, nodes, pods and
poddisruptionbudgets, - for standard input, or a directory with such files, such as a
must-gather. For better answers, include machinesets, machinehealthchecks, daemonsets,
replicasets, statefulsets, namespaces and machinedrainrules.

  -machine NAME  explain this machine; may be repeated (default: the machines that are
                 being deleted, or if there are none, all machines)
  -v             list every machine, wait and pod`,
				Run: explain,
			},
			{
				Name: "simulate", Usage: "FILE [-o text|json|yaml|svg|mermaid]",
				About: "simulate a scenario in virtual time: a YAML file with machines, nodes, pods and budgets, and a Scenario that defines what happens when",
				Help:  "Example scenarios are in examples/fairlead/machine/scenarios.",
				Run:   simulate,
			},
		},
	}
}

// Drain is the verb drain.
func Drain() *args.Command {
	return &args.Command{
		Name: "drain", Usage: "FILE [-node NAME]... [-at-once N] [-v] [-at TIME] [-keep-unmanaged] [-keep-local-storage] [-disable-eviction] [-none budgets] [-o text|json|yaml]",
		About: "predict the drain of nodes: which pods go in which round, what budgets allow, and what blocks it",
		Help: `FILE is the output of kubectl get -o yaml (or json) for nodes, pods and
poddisruptionbudgets, - for standard input, or a directory with such files, such as a
must-gather. For better answers, include machines, daemonsets, replicasets, statefulsets,
namespaces and machinedrainrules.

  -node NAME           drain this node; may be repeated (default: the nodes that are removed,
                       with their machines or by Karpenter, or if there are none, all nodes)
  -at-once N           how many nodes are drained at the same time (default: 1)
  -none budgets        the cluster has no disruption budgets: a dump without any cannot say so
  -keep-unmanaged      do not evict pods that no controller replaces, as kubectl drain without --force
  -keep-local-storage  do not evict pods whose emptyDir volumes would be lost, as kubectl drain
                       without --delete-emptydir-data
  -disable-eviction    delete pods instead of evicting them, which ignores budgets
  -v                   list every node, pod and budget

exit status: 0 the drain completes, 1 it is blocked, 2 bad input`,
		Examples: `kubectl get nodes,pods,pdb -A -o yaml | fairlead drain - -at-once 2
			fairlead drain MUST-GATHER -node worker-1`,
		Run: planDrain,
	}
}

// findings returns the error of a command that has printed its output: ErrFindings if
// something is stuck.
func findings(err error, stuck bool) error {
	if err == nil && stuck {
		return args.ErrFindings
	}
	return err
}
