package machine

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// planDrain is the verb drain.
func planDrain(c *args.Call) error {
	var policy drain.Policy
	atOnce := c.Flags.Int("at-once", 1, "")
	c.Flags.BoolVar(&policy.KeepUnmanaged, "keep-unmanaged", false, "")
	c.Flags.BoolVar(&policy.KeepLocalStorage, "keep-local-storage", false, "")
	c.Flags.BoolVar(&policy.DisableEviction, "disable-eviction", false, "")
	d, o, err := readArguments(c, "node")
	if err != nil {
		return err
	}
	if len(d.Nodes) == 0 {
		return errors.New("there is no Node in the dump")
	}
	if err := d.checkNodes(o.order); err != nil {
		return err
	}
	policy.Rules = d.Rules
	req := &drain.PlanRequest{
		Nodes: d.Nodes, Drain: o.order, AtOnce: *atOnce, Pods: d.Pods, Budgets: d.Budgets, Replicas: d.replicas,
		DaemonSets: d.DaemonSets, DaemonSetsListed: d.Listed, Namespaces: d.Namespaces, ClusterLabels: d.ClusterLabels(),
	}
	for i := range d.Machines {
		m := &d.Machines[i]
		if ref := m.Status.NodeRef; ref != nil {
			if req.Labels == nil {
				req.Labels = map[string]map[string]string{}
			}
			req.Labels[ref.Name] = m.Labels
		}
		if n := d.Node(m); n != nil && o.order == nil && m.Deleting() {
			req.Drain = append(req.Drain, n.Name)
		}
	}
	p, err := drain.NewPlan(req, o.at, &policy)
	if err != nil {
		return err
	}
	if o.json {
		err = c.JSON(p)
	} else {
		planText(c.Stdout, p, max(1, *atOnce), o)
	}
	return findings(err, p.Stuck > 0)
}

// checkNodes returns an error about the first name that is not a node of the dump.
func (d *dumped) checkNodes(names []string) error {
	known := make([]string, len(d.Nodes))
	for i := range d.Nodes {
		known[i] = d.Nodes[i].Name
	}
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		hint := "it has " + words.List(known, "and", 5)
		if nearest := words.Nearest(name, known); nearest != "" {
			hint = "did you mean " + nearest + "?"
		}
		return fmt.Errorf("-node %s: there is no such node in the dump; %s", name, hint)
	}
	return nil
}

// planText prints a plan as text. For many nodes it names only the pods that are stuck,
// and of many budgets only those that do not allow all evictions.
func planText(w io.Writer, p *drain.Plan, atOnce int, o *options) {
	fmt.Fprintf(w, "drain of %s, %d at a time: %s evicted in %s; %s stuck\n",
		words.Count(len(p.Nodes), "node", "nodes"), atOnce, words.Count(p.Evicted, "pod", "pods"), words.Count(p.Rounds, "round", "rounds"), words.Count(p.Stuck, "pod", "pods"))
	brief := !o.all && o.order == nil && len(p.Nodes) > mostMachines
	before := true // a blank line is due
	for i := range p.Nodes {
		n := &p.Nodes[i]
		short := brief && n.Stuck == 0
		if !short || before {
			fmt.Fprintln(w)
		}
		before = !short
		headline(w, n)
		if !short {
			nodeText(w, n, o.all, brief)
		}
	}
	brief = !o.all && len(p.Budgets) > mostMachines
	left := 0
	for i, b := range p.Budgets {
		if i == 0 {
			fmt.Fprintln(w, "\nbudgets")
		}
		if brief && b.Evicted == b.Pods {
			left++
			continue
		}
		budgetText(w, &b)
	}
	if left > 0 {
		fmt.Fprintf(w, "  %s, which %s these evictions; -v lists %s\n", words.Count(left, "more budget", "more budgets"), words.Plural(left, "allows", "allow"), words.Plural(left, "it", "them"))
	}
}

// budgetText prints what a budget allows.
func budgetText(w io.Writer, b *drain.BudgetPlan) {
	text := fmt.Sprintf("requires %d of %s healthy and has %d: it ", b.Desired, words.Count(b.Expected, "pod", "pods"), b.Healthy)
	switch {
	case b.Never:
		text += "never allows a disruption"
	case b.Allowed == 0:
		text += "allows no disruptions at present"
	default:
		text += "allows " + words.Count(b.Allowed, "disruption", "disruptions") + " at a time"
	}
	if b.Computed {
		text += " (computed from the pods)"
	}
	text += fmt.Sprintf("; %d of %s evicted", b.Evicted, words.Count(b.Pods, "pod", "pods"))
	if b.Evicted > 0 {
		text += " in " + words.Count(b.Rounds, "round", "rounds")
	}
	switch {
	case b.Never:
		text += "; run more replicas, or relax the budget"
	case b.Evicted < b.Pods && b.Healthy <= b.Desired:
		text += fmt.Sprintf("; it needs %d more healthy", b.Desired+1-b.Healthy)
	}
	if b.Unmanaged > 0 {
		text += fmt.Sprintf("; no controller replaces %d of these", b.Unmanaged)
	}
	page.Fold(w, "  "+b.Namespace+"/"+b.Name+"  ", text)
}

// headline prints the outcome for a node.
func headline(w io.Writer, n *drain.NodePlan) {
	head := "node " + n.Node
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
}

// nodeText prints the outcome for the pods of a node, or only for those that are stuck,
// and how many are not. Many pods with the same outcome share a line, unless all must be
// listed.
func nodeText(w io.Writer, n *drain.NodePlan, all, stuck bool) {
	names := map[string][]string{}
	for i := range n.Pods {
		text := podText(&n.Pods[i])
		names[text] = append(names[text], n.Pods[i].Namespace+"/"+n.Pods[i].Name)
	}
	evicted, alone := 0, 0
	for i := range n.Pods {
		p := &n.Pods[i]
		name, text := p.Namespace+"/"+p.Name, podText(p)
		switch like := names[text]; {
		case stuck && p.Why == "" && p.Round > 0:
			evicted++
		case stuck && p.Why == "":
			alone++
		case all || len(like) <= mostNames+1:
			page.Fold(w, "  "+name+"  ", text)
		case name == like[0]:
			page.Fold(w, "  ", some(like)+": "+text)
		}
	}
	if stuck {
		fmt.Fprintf(w, "  %s evicted, %d left alone; -v lists them\n", words.Count(evicted, "pod", "pods"), alone)
	}
}

// podText returns the outcome for a pod.
func podText(p *drain.PodPlan) string {
	var notes []string
	for _, r := range p.Reasons {
		notes = append(notes, r.Text)
	}
	because := strings.Join(notes, "; ")
	switch {
	case p.Why == drain.ReasonLaterOrder:
		return fmt.Sprintf("stuck: it has order %d, and pods before it are stuck", p.Order)
	case p.Why != "":
		text := "stuck: " + p.Why
		if len(p.Budgets) > 0 {
			text += ": " + strings.Join(p.Budgets, ", ")
		}
		return joined(text, because)
	case p.Round == 0:
		return joined("left alone", because)
	}
	text := fmt.Sprintf("round %d", p.Round)
	if p.Order != 0 {
		text += fmt.Sprintf(", order %d", p.Order)
	}
	if p.Fate == drain.FateWait {
		text += ", waits until it has completed"
	}
	return joined(text, because)
}

func joined(text, because string) string {
	if because == "" {
		return text
	}
	return text + "; " + because
}
