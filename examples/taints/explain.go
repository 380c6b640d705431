package main

import (
	"flag"
	"fmt"
	"strings"

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
	for _, p := range pods {
		nodes, err := c.explain.nodes(cluster, p)
		if err != nil {
			return 0, err
		}
		for _, n := range nodes {
			x := taints.Explain(p, n, &taints.ExplainOptions{Options: *c.options(), Redact: c.explain.redact})
			if !x.Schedulable {
				status = statusFound
			}
			all = append(all, x)
		}
	}
	if len(all) == 0 {
		return 0, fmt.Errorf("explain: the input has %d nodes and %d pods, and no pod with a node to look at: both are needed, as kubectl get nodes,pods -A -o json prints them", len(cluster.Nodes), len(cluster.Pods))
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
func (e *explainFlags) pods(cluster *taints.Cluster) ([]*taints.Pod, error) {
	var found []*taints.Pod
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
		return nil, fmt.Errorf("-pod %s: there is no such pod in the input", e.pod)
	case len(found) > 1:
		return nil, fmt.Errorf("-pod %s: there are several: %s; name one with its namespace", e.pod, strings.Join(names, ", "))
	}
	return found, nil
}

// nodes returns the nodes that are asked about for a pod.
func (e *explainFlags) nodes(cluster *taints.Cluster, p *taints.Pod) ([]*taints.Node, error) {
	want := e.node
	if want == "" && e.pod == "" {
		want = p.Spec.NodeName
	}
	var found []*taints.Node
	for i := range cluster.Nodes {
		if n := &cluster.Nodes[i]; want == "" || want == n.Name {
			found = append(found, n)
		}
	}
	if len(found) == 0 && e.node != "" {
		return nil, fmt.Errorf("-node %s: there is no such node in the input", e.node)
	}
	return found, nil
}
