package taint

import (
	"flag"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
)

type explainFlags struct {
	pod, node string
	redact    bool
}

func (e *explainFlags) add(flags *flag.FlagSet) {
	flags.StringVar(&e.pod, "pod", "", "")
	flags.StringVar(&e.node, "node", "", "")
	flags.BoolVar(&e.redact, "redact", false, "")
}

// dump is how what the program reads is got.
const dump = "kubectl get nodes,pods,pdb -A -o json"

// runExplain explains what nodes' taints mean for pods.
func (c *command) runExplain() (int, error) {
	cluster, err := c.cluster()
	if err != nil {
		return 0, err
	}
	pods, err := c.explain.pods(cluster)
	if err != nil {
		return 0, err
	}
	status := statusGood
	all := []*taints.Explanation{}
	var missing []string // pods whose nodes are not in the input
	for _, p := range pods {
		nodes, err := c.explain.nodes(cluster, p)
		if err != nil {
			return 0, err
		}
		if len(nodes) == 0 && p.Spec.NodeName != "" {
			missing = append(missing, p.ObjectMeta.String()+" on "+p.Spec.NodeName)
		}
		for _, n := range nodes {
			x := taints.Explain(p, n, &taints.ExplainOptions{Options: *c.options(), Redact: c.explain.redact, Now: c.now})
			if !x.Schedulable {
				status = statusFound
			}
			all = append(all, x)
		}
	}
	if len(all) == 0 {
		return 0, fmt.Errorf("explain: the input has %d nodes and %d pods, and no pod with a node to look at; dump both: %s", len(cluster.Nodes), len(cluster.Pods), dump)
	}
	if len(missing) > 0 {
		fmt.Fprintf(c.stderr, "fairlead taints explain: the nodes of %s are not in the input; dump them, too: %s\n", some(missing, "pod"), dump)
	}
	if c.format == "json" {
		return status, c.printJSON(all)
	}
	for _, x := range all {
		fmt.Fprint(c.stdout, x)
	}
	return status, nil
}

// pods returns the pods that are asked about.
func (e *explainFlags) pods(cluster *taints.Cluster) ([]*fairlead.Pod, error) {
	var found []*fairlead.Pod
	var names []string
	for i := range cluster.Pods {
		p := &cluster.Pods[i]
		title := p.ObjectMeta.String()
		if e.pod == "" || e.pod == title || e.pod == p.Name {
			found, names = append(found, p), append(names, title)
		}
	}
	switch {
	case e.pod == "":
		return found, nil
	case len(found) == 0:
		return nil, fmt.Errorf("-pod %s: there is no such pod in the input, which has %d pods; dump it: %s", e.pod, len(cluster.Pods), dump)
	case len(found) > 1:
		return nil, fmt.Errorf("-pod %s: there are several: %s; name one with its namespace", e.pod, strings.Join(names, ", "))
	}
	return found, nil
}

// nodes returns the nodes that are asked about for a pod.
func (e *explainFlags) nodes(cluster *taints.Cluster, p *fairlead.Pod) ([]*fairlead.Node, error) {
	want := e.node
	if want == "" && e.pod == "" {
		want = p.Spec.NodeName
	}
	var found []*fairlead.Node
	for i := range cluster.Nodes {
		if n := &cluster.Nodes[i]; want == "" || want == n.Name {
			found = append(found, n)
		}
	}
	if len(found) == 0 && e.node != "" {
		return nil, fmt.Errorf("-node %s: there is no such node in the input, which has %d nodes; dump it: %s", e.node, len(cluster.Nodes), dump)
	}
	return found, nil
}
