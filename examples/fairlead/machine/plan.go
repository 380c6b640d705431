package machine

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// plan is the command of that name.
func plan(c *args.Call) error {
	var policy drain.Policy
	atOnce := c.Flags.Int("at-once", 1, "")
	c.Flags.BoolVar(&policy.KeepUnmanaged, "keep-unmanaged", false, "")
	c.Flags.BoolVar(&policy.KeepLocalStorage, "keep-local-storage", false, "")
	c.Flags.BoolVar(&policy.DisableEviction, "disable-eviction", false, "")
	d, o, err := readArguments(c, "node")
	if err != nil {
		return err
	}
	if len(d.nodes) == 0 {
		return errors.New("there is no Node in the dump")
	}
	policy.Rules = d.rules
	req := &drain.PlanRequest{
		Nodes: d.nodes, Drain: o.order, AtOnce: *atOnce, Pods: d.pods, Budgets: d.budgets, Replicas: d.replicas,
		DaemonSets: d.daemonSets, DaemonSetsListed: d.listed, Namespaces: d.namespaces,
	}
	for _, m := range d.machines {
		if ref := m.Machine.Status.NodeRef; ref != nil {
			if req.Labels == nil {
				req.Labels = map[string]map[string]string{}
			}
			req.Labels[ref.Name] = m.Machine.Labels
		}
		if n := d.node(&m.Machine); n != nil && o.order == nil && m.Machine.Deleting() {
			req.Drain = append(req.Drain, n.Name)
		}
	}
	if len(d.clusters) == 1 {
		req.ClusterLabels = d.clusters[0].Labels
	}
	p, err := drain.NewPlan(req, o.at, &policy)
	if err != nil {
		return err
	}
	if o.json {
		err = c.JSON(p)
	} else {
		planText(c.Stdout, p, max(1, *atOnce))
	}
	return findings(err, p.Stuck > 0)
}

// planText prints a plan for people.
func planText(w io.Writer, p *drain.Plan, atOnce int) {
	fmt.Fprintf(w, "drain of %s, %d at a time: %s evicted in %s; %s stuck\n",
		words.Count(len(p.Nodes), "node", "nodes"), atOnce, words.Count(p.Evicted, "pod", "pods"), words.Count(p.Rounds, "round", "rounds"), words.Count(p.Stuck, "pod", "pods"))
	for i := range p.Nodes {
		nodeText(w, &p.Nodes[i])
	}
	if len(p.Budgets) == 0 {
		return
	}
	fmt.Fprintln(w, "\nbudgets")
	for _, b := range p.Budgets {
		text := fmt.Sprintf("needs %d of %d healthy and has %d, so %d may go at a time", b.Desired, b.Expected, b.Healthy, b.Allowed)
		if b.Computed {
			text += " (computed)"
		}
		text += fmt.Sprintf("; %d of %s evicted in %s", b.Evicted, words.Count(b.Pods, "pod", "pods"), words.Count(b.Rounds, "round", "rounds"))
		switch {
		case b.Never:
			text += "; it never allows an eviction: run more replicas, or change the budget"
		case b.Evicted < b.Pods && b.Healthy <= b.Desired:
			text += fmt.Sprintf("; it takes %d more healthy", b.Desired+1-b.Healthy)
		}
		if b.Unmanaged > 0 {
			text += fmt.Sprintf("; no controller replaces %d of these", b.Unmanaged)
		}
		page.Fold(w, "  "+b.Namespace+"/"+b.Name+"  ", text)
	}
}

// nodeText prints what becomes of the pods of a node.
func nodeText(w io.Writer, n *drain.NodePlan) {
	head := "\nnode " + n.Node
	if n.Cordoned {
		head += ", cordoned"
	}
	if n.Unreachable {
		head += ", unreachable"
	}
	switch {
	case n.Stuck > 0:
		head += ": it cannot be drained"
	case n.First == 0:
		head += ": nothing to do"
	case n.First == n.Last:
		head += fmt.Sprintf(": round %d", n.First)
	default:
		head += fmt.Sprintf(": rounds %d to %d", n.First, n.Last)
	}
	fmt.Fprintln(w, head)
	for i := range n.Pods {
		p := &n.Pods[i]
		name := "  " + p.Namespace + "/" + p.Name + "  "
		var notes []string
		for _, r := range p.Reasons {
			notes = append(notes, r.Text)
		}
		because := strings.Join(notes, "; ")
		switch {
		case p.Why == drain.ReasonLaterOrder:
			page.Fold(w, name, fmt.Sprintf("stuck: it has order %d, and pods before it are stuck", p.Order))
		case p.Why != "":
			text := "stuck: " + p.Why
			if len(p.Budgets) > 0 {
				text += ": " + strings.Join(p.Budgets, ", ")
			}
			page.Fold(w, name, joined(text, because))
		case p.Round == 0:
			page.Fold(w, name, joined("left alone", because))
		default:
			text := fmt.Sprintf("round %d", p.Round)
			if p.Order != 0 {
				text += fmt.Sprintf(", order %d", p.Order)
			}
			if p.Fate == drain.FateWait {
				text += ", waits until it has completed"
			}
			page.Fold(w, name, joined(text, because))
		}
	}
}

func joined(text, because string) string {
	if because == "" {
		return text
	}
	return text + "; " + because
}
