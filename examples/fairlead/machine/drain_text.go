package machine

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fairlead/fairlead/examples/internal/diagnosing"
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// planText prints a plan as text: first what is not known, if all else is well. For many
// nodes it names only the pods that are stuck or have no other node, and of many budgets
// only those that do not allow all evictions.
func planText(w io.Writer, p *drain.Plan, req *drain.PlanRequest, o *options, why *diagnosing.Advice) {
	known := ""
	if len(p.Unknown) > 0 {
		known = ", as far as is known"
	}
	text := fmt.Sprintf("drain of %s, %d at a time%s: %s evicted in %s", words.Count(len(p.Nodes), "node", "nodes"), max(1, req.AtOnce), known,
		words.Count(p.Evicted, "pod", "pods"), words.Count(p.Rounds, "round", "rounds"))
	if p.Stuck > 0 || p.Homeless == 0 {
		text += "; " + words.Count(p.Stuck, "pod", "pods") + " stuck"
	}
	if p.Homeless > 0 {
		text += "; " + words.Count(p.Homeless, "pod", "pods") + " without another node"
	}
	if o.blind && len(req.Pods) == 0 {
		text = "drain of " + words.Count(len(p.Nodes), "node", "nodes") + ": not known, because the dump has no pods"
	}
	page.Fold(w, "", text)
	why.Tell(w, o.all)
	fails := p.Stuck+p.Homeless > 0
	if !fails {
		unknownText(w, p, o)
	}
	brief := !o.all && o.order == nil && len(p.Nodes) > mostMachines
	before := true // a blank line is due
	said := map[string]bool{}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		short := brief && n.Stuck+n.Homeless == 0
		if !short || before {
			fmt.Fprintln(w)
		}
		before = !short
		headline(w, n, o.blind)
		if text := command(n, o); !short && text != "" {
			page.Fold(w, "  command  ", text)
		}
		if !short {
			nodeText(w, n, o.all, brief, said)
		}
	}
	budgetsText(w, p, o)
	if fails && len(p.Unknown) > 0 {
		fmt.Fprintln(w)
		unknownText(w, p, o)
	}
	if p.Evicted > 0 {
		fmt.Fprintln(w)
		page.Fold(w, "assumed  ", assumed(p, req, o))
	}
}

// unknownText prints what the prediction rests on and is not known.
func unknownText(w io.Writer, p *drain.Plan, o *options) {
	for i, u := range p.Unknown {
		if left := len(p.Unknown) - i; !o.all && i == mostNames && left > 1 {
			fmt.Fprintf(w, "  unknown  and %d more; -v lists them\n", left)
			break
		}
		page.Fold(w, "  unknown  ", u)
	}
}

// assumed says what a prediction takes for granted.
func assumed(p *drain.Plan, req *drain.PlanRequest, o *options) string {
	text := "evicted pods end, and those that replace them become ready on the nodes for which there is room"
	if len(p.Nodes) > 1 && req.Returns {
		text += "; drained nodes are in service again before the next ones are drained"
	} else if len(p.Nodes) > 1 {
		text += "; drained nodes stay out of service"
	}
	return text
}

// budgetsText prints what budgets allow.
func budgetsText(w io.Writer, p *drain.Plan, o *options) {
	brief := !o.all && len(p.Budgets) > mostMachines
	left := 0
	for i := range p.Budgets {
		if i == 0 {
			fmt.Fprintln(w, "\nbudgets")
		}
		if b := &p.Budgets[i]; !brief || b.Evicted < b.Pods {
			budgetText(w, b)
		} else {
			left++
		}
	}
	if left > 0 {
		words.Fprintf(w, "  %s, which %s these evictions; -v lists %s\n", words.Count(left, "more budget", "more budgets"), words.Plural(left, "allows", "allow"), words.Plural(left, "it", "them"))
	}
}

// budgetText prints what a budget allows.
func budgetText(w io.Writer, b *drain.BudgetPlan) {
	text := fmt.Sprintf("requires %d of %s healthy and has %d: it ", b.Desired, words.Count(b.Expected, "pod", "pods"), b.Healthy)
	switch {
	case b.Never && b.SyncFailed == "":
		text += "never allows a disruption"
	case b.SyncFailed != "":
		text += "allows none: its numbers cannot be computed"
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
	case b.SyncFailed != "":
	case b.Never && b.MoreReplicas == 0:
		text += "; more replicas do not help: relax the budget"
	case b.Never:
		text += "; run " + words.Count(b.MoreReplicas, "more replica", "more replicas") + ", or relax the budget"
	}
	if b.Unmanaged > 0 {
		text += fmt.Sprintf("; no controller replaces %d of these", b.Unmanaged)
	}
	page.Fold(w, "  "+b.Namespace+"/"+b.Name+"  ", text)
}

// headline prints the outcome for a node. That nothing is to be done there is not known if
// the dump may lack pods.
func headline(w io.Writer, n *drain.NodePlan, blind bool) {
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
	case n.First == 0 && blind:
		head += ": not known"
	case n.First == 0:
		head += ": nothing to do"
	case n.First == n.Last:
		head += fmt.Sprintf(": round %d", n.First)
	default:
		head += fmt.Sprintf(": rounds %d to %d", n.First, n.Last)
	}
	if n.Stuck == 0 && n.Homeless > 0 {
		head += ", and then " + words.Count(n.Homeless, "pod", "pods") + " without another node"
	}
	words.Fprintf(w, "%v\n", head)
	for _, m := range n.Marks {
		page.Fold(w, "  mark     ", m.Key+"="+m.Value+": "+m.Text)
	}
}

// command returns the command that drains a node; "" if there is none, or if whoever deletes its machine
// drains it.
func command(n *drain.NodePlan, o *options) string {
	if o.deleting[n.Node] {
		return ""
	}
	return n.Command()
}

// commands returns the commands that drain nodes.
func commands(p *drain.Plan, o *options) (all []string) {
	for i := range p.Nodes {
		if text := command(&p.Nodes[i], o); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// nodeText prints the outcome for the pods of a node: first those that are stuck or have
// no other node, with what helps, which is said once. For a brief text the others are
// counted. Many pods with the same outcome share a line, unless all must be listed.
func nodeText(w io.Writer, n *drain.NodePlan, all, brief bool, said map[string]bool) {
	names := map[string][]string{}
	for i := range n.Pods {
		text := podText(&n.Pods[i])
		names[text] = append(names[text], n.Pods[i].Namespace+"/"+n.Pods[i].Name)
	}
	evicted, alone := 0, 0
	for _, bad := range [...]bool{true, false} {
		for i := range n.Pods {
			p := &n.Pods[i]
			b, trouble := p.Block(n.Node)
			if trouble != bad {
				continue
			}
			name, text := p.Namespace+"/"+p.Name, podText(p)
			switch like := names[text]; {
			case brief && !trouble && p.Round > 0:
				evicted++
				continue
			case brief && !trouble:
				alone++
				continue
			case all || len(like) <= mostNames+1:
				page.Fold(w, "  "+name+"  ", text)
			case name == like[0]:
				page.Fold(w, "  ", some(like)+": "+text)
			default:
				continue
			}
			if trouble && !said[b.Unblock] {
				said[b.Unblock] = true
				page.Fold(w, "    to unblock: ", b.Unblock)
			}
		}
	}
	if brief {
		words.Fprintf(w, "  %s evicted, %d left alone; -v lists them\n", words.Count(evicted, "pod", "pods"), alone)
	}
}

// podText returns the outcome for a pod.
func podText(p *drain.PodPlan) string {
	parts := []string{outcome(p)}
	if p.NoRoom != nil {
		parts = append(parts, "it has no other node while this one is out of service: "+strings.Join(p.NoRoom, ", "))
	}
	if len(p.Preempts) > 0 {
		parts = append(parts, "its replacement preempts "+some(p.Preempts)+" on node "+p.To)
	}
	for _, r := range p.Reasons {
		parts = append(parts, r.Text)
	}
	for _, m := range p.Marks {
		parts = append(parts, m.Key+"="+m.Value+": "+m.Text)
	}
	return strings.Join(parts, "; ")
}

// outcome says whether a pod goes, and when, or why not.
func outcome(p *drain.PodPlan) string {
	switch {
	case p.Why == drain.ReasonLaterOrder:
		return "stuck: " + p.Detail
	case p.Why == drain.ReasonPodStranded:
		return "stuck: " + p.Why + ": its node is silent, so it stays Terminating until the node reports again, is deleted, or is tainted out-of-service"
	case p.Why != "":
		text := "stuck: " + p.Why
		if len(p.Budgets) > 0 {
			text += ": " + strings.Join(p.Budgets, ", ")
		}
		if p.Detail != "" {
			text += ": " + p.Detail
		}
		return text
	case p.Round == 0:
		return "left alone"
	}
	text := fmt.Sprintf("round %d", p.Round)
	if p.Order != 0 {
		text += fmt.Sprintf(", order %d", p.Order)
	}
	if p.Fate == drain.FateWait {
		text += ", waits until it has completed"
	}
	if !p.Until.IsZero() {
		text += ", is being deleted, and has until " + p.Until.UTC().Format(time.RFC3339)
	}
	return text
}
