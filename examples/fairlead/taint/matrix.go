package taint

import (
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/fleet"
)

// matrix shows which pods can be placed on which nodes, with similar ones grouped,
// ordered by the first of each group.
type matrix struct {
	Nodes []nodeClass `json:"nodes"`
	Pods  []podClass  `json:"pods"`
}

// nodeClass is a group of nodes with the same taints.
type nodeClass struct {
	Names  []string         `json:"names"`
	Taints []fairlead.Taint `json:"taints,omitempty"`
}

// podClass is a group of pods whose tolerations match the same taints.
type podClass struct {
	Names       []string              `json:"names"`
	Tolerations []fairlead.Toleration `json:"tolerations,omitempty"`
	// Nodes has a cell for each class of nodes.
	Nodes []cell `json:"nodes"`
}

// cell is what a class of nodes means for a class of pods.
type cell struct {
	Schedulable bool `json:"schedulable"`
	Stays       bool `json:"stays"`
	Avoided     int  `json:"avoided"`
}

// mark returns the cell as a letter.
func (c cell) mark() string {
	switch {
	case c.Schedulable && c.Avoided > 0:
		return "~"
	case c.Schedulable:
		return "+"
	case c.Stays:
		return "-"
	}
	return "x"
}

// placements is the command matrix.
func placements(c *args.Call) error {
	in := newInput(c)
	format := c.Choice("o", "text", "json")
	if err := in.parse(); err != nil {
		return err
	}
	in.source.Kinds = []string{"Node", "Pod", "PodDisruptionBudget"}
	cluster, err := in.cluster()
	if err != nil {
		return err
	}
	if len(cluster.Nodes) == 0 || len(cluster.Pods) == 0 {
		return fmt.Errorf("the input has %d nodes and %d pods, and both are needed; dump them: %s", len(cluster.Nodes), len(cluster.Pods), dumpCommand)
	}
	x := newMatrix(cluster, in.options())
	if *format == "json" {
		in.beside("Node", "Pod")
		err = c.JSON(x)
	} else {
		printMatrix(c.Stdout, x)
	}
	return findings(err, in.unknown(*format, "Node", "Pod"))
}

func newMatrix(cluster *taints.Cluster, o *taints.Options) matrix {
	m := fleet.NewMatcher(&fleet.Options{Options: *o})
	x := matrix{Nodes: []nodeClass{}, Pods: []podClass{}}
	nodes, pods := map[int]int{}, map[int]int{}
	for i := range cluster.Nodes {
		n := &cluster.Nodes[i]
		m.SetNode(n.Name, n.Spec.Taints, n.Spec.Unschedulable)
		at, there := nodes[m.NodeClass(n.Name)]
		if !there {
			at = len(x.Nodes)
			nodes[m.NodeClass(n.Name)] = at
			class := nodeClass{Taints: n.Spec.Taints}
			if n.Spec.Unschedulable && taints.Find(class.Taints, taints.KeyUnschedulable, fairlead.NoSchedule) == nil {
				class.Taints = append(class.Taints[:len(class.Taints):len(class.Taints)], fairlead.Taint{Key: taints.KeyUnschedulable, Effect: fairlead.NoSchedule})
			}
			x.Nodes = append(x.Nodes, class)
		}
		x.Nodes[at].Names = append(x.Nodes[at].Names, n.Name)
	}
	for i := range cluster.Pods {
		p := &cluster.Pods[i]
		name := p.ObjectMeta.String()
		m.SetPod(name, p.Spec.Tolerations)
		at, there := pods[m.PodClass(name)]
		if !there {
			at = len(x.Pods)
			pods[m.PodClass(name)] = at
			x.Pods = append(x.Pods, podClass{Tolerations: p.Spec.Tolerations})
		}
		x.Pods[at].Names = append(x.Pods[at].Names, name)
	}
	for i := range x.Pods {
		row, _ := m.Row(x.Pods[i].Names[0])
		x.Pods[i].Nodes = make([]cell, len(x.Nodes))
		for j := range x.Nodes {
			v, _ := row.Verdict(x.Nodes[j].Names[0])
			x.Pods[i].Nodes[j] = cell{Schedulable: v.Schedulable(), Stays: v.Stays(), Avoided: v.Avoided()}
		}
	}
	return x
}

// printMatrix writes a legend, the classes of nodes with numbers, and a line for
// each class of pods.
func printMatrix(w io.Writer, x matrix) {
	fmt.Fprintln(w, "+ can be scheduled   ~ as a second choice   - not scheduled, stays   x not scheduled, evicted")
	fmt.Fprintln(w)
	width := len(fmt.Sprint(len(x.Nodes)))
	for j, n := range x.Nodes {
		what := "no taints"
		if len(n.Taints) > 0 {
			what = taintList(n.Taints)
		}
		words.Fprintf(w, "%*d  %s: %s\n", width, j+1, some(n.Names, "node"), what)
	}
	fmt.Fprintln(w)
	var head strings.Builder
	for j := range x.Nodes {
		fmt.Fprintf(&head, "%*d ", width, j+1)
	}
	words.Fprintf(w, "%s pods\n", head.String())
	for _, p := range x.Pods {
		for _, cell := range p.Nodes {
			fmt.Fprintf(w, "%*s ", width, cell.mark())
		}
		words.Fprintf(w, " %s\n", some(p.Names, "pod"))
	}
}

// some lists the first of many names.
func some(names []string, what string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more %ss", strings.Join(names[:most], ", "), len(names)-most, what)
}
