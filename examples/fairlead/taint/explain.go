package taint

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/taints"
)

// dumpCommand prints what the verb reads.
const dumpCommand = "kubectl get nodes,pods,pdb -A -o json"

// explain explains what nodes' taints mean for pods.
func explain(c *args.Call, now time.Time) error {
	in := newInput(c)
	format := c.Choice("o", "text", "json")
	var asked question
	c.Flags.StringVar(&asked.pod, "pod", "", "")
	c.Flags.StringVar(&asked.node, "node", "", "")
	redact := c.Flags.Bool("redact", false, "")
	if err := in.parse(); err != nil {
		return err
	}
	cluster, err := in.cluster()
	if err != nil {
		return err
	}
	pods, err := asked.pods(cluster)
	if err != nil {
		return err
	}
	all, refused := []*taints.Explanation{}, false
	var missing []string // pods whose nodes are not in the input
	for _, p := range pods {
		nodes, err := asked.nodes(cluster, p)
		if err != nil {
			return err
		}
		if len(nodes) == 0 && p.Spec.NodeName != "" {
			missing = append(missing, p.ObjectMeta.String()+" on "+p.Spec.NodeName)
		}
		for _, n := range nodes {
			x := taints.Explain(p, n, &taints.ExplainOptions{Options: *in.options(), Redact: *redact, Now: now})
			refused = refused || !x.Schedulable
			all = append(all, x)
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("the input has %d nodes and %d pods, and no pod with a node to look at; dump both: %s", len(cluster.Nodes), len(cluster.Pods), dumpCommand)
	}
	if len(missing) > 0 {
		fmt.Fprintf(c.Stderr, "%s: the nodes of %s are not in the input; dump them, too: %s\n", c.Name, some(missing, "pod"), dumpCommand)
	}
	if *format == "json" {
		return findings(c.JSON(all), refused)
	}
	for _, x := range all {
		fmt.Fprint(c.Stdout, x)
	}
	return findings(nil, refused)
}

// question is which pods and nodes are asked about; empty means all.
type question struct{ pod, node string }

// pods returns the pods that are asked about.
func (e *question) pods(cluster *taints.Cluster) ([]*fairlead.Pod, error) {
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
		return nil, fmt.Errorf("-pod %s: there is no such pod in the input, which has %d pods; dump it: %s", e.pod, len(cluster.Pods), dumpCommand)
	case len(found) > 1:
		return nil, fmt.Errorf("-pod %s: there are several: %s; name one with its namespace", e.pod, strings.Join(names, ", "))
	}
	return found, nil
}

// nodes returns the nodes that are asked about for a pod.
func (e *question) nodes(cluster *taints.Cluster, p *fairlead.Pod) ([]*fairlead.Node, error) {
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
		return nil, fmt.Errorf("-node %s: there is no such node in the input, which has %d nodes; dump it: %s", e.node, len(cluster.Nodes), dumpCommand)
	}
	return found, nil
}
