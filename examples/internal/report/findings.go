package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/taints"
)

// Group is one cause with all its effects.
type Group struct {
	Tone    Tone   `json:"tone"`              // how bad it is
	Title   string `json:"title"`             // what is wrong
	Owner   string `json:"owner,omitempty"`   // who can do something about it
	Next    string `json:"next,omitempty"`    // what to do
	Command string `json:"command,omitempty"` // the command for that
	Count   int    `json:"count"`             // of the effects; at least 1
	Items   []Item `json:"items,omitempty"`   // the first of them

	planned bool // a plan, if there is one, has steps for it
}

// Item is an effect of a cause.
type Item struct {
	Subject string `json:"subject"` // what it is about
	Text    string `json:"text"`    // what is wrong
}

// mostItems is how many items of a group are listed.
const mostItems = 100

// add adds an item, if there is room for it.
func (g *Group) add(subject, text string) {
	g.Count++
	if len(g.Items) < mostItems {
		g.Items = append(g.Items, Item{subject, text})
	}
}

// TaintClass is a set of nodes with the same taints.
type TaintClass struct {
	Taints []string `json:"taints"`
	Nodes  int      `json:"nodes"`
	First  []string `json:"first"`          // some of them
	Kept   int      `json:"kept"`           // workloads whose pods cannot be placed there
	Runs   int      `json:"runs,omitempty"` // pods that run there and would have to leave, or would not be placed there again
}

// findings groups the problems by cause, worst first.
func (r *Report) findings(in *Input, status *cvo.Report) error {
	s := in.Situation
	for i := range status.Findings {
		f := &status.Findings[i]
		g := Group{Tone: toneOf(f.Severity), Title: f.Message, Owner: f.Owner, Next: f.Next}
		for _, x := range f.Explains {
			g.add(x.Subject, x.Message)
		}
		g.Count = max(g.Count, 1)
		r.Findings = append(r.Findings, g)
	}
	if s.Cluster != nil {
		r.Gaps = status.Gaps
	}
	r.machinesGap(s)
	r.nodesGap(s)
	deleted, err := r.machines(in)
	if err != nil {
		return err
	}
	waiting, rest := r.dependents(deleted)
	r.blocked(waiting)
	r.blockedMachines(rest)
	r.lint(s)
	slices.SortStableFunc(r.Findings, func(a, b Group) int { return cmp.Compare(severity(b.Tone), severity(a.Tone)) })
	return nil
}

func toneOf(s cvo.Severity) Tone {
	switch s {
	case cvo.SeverityError:
		return Bad
	case cvo.SeverityWarning:
		return Warning
	}
	return Note
}

// nodesGap reports the nodes that pods are on and the dump does not contain.
func (r *Report) nodesGap(s *plan.Situation) {
	if r.Workloads == nil || r.Workloads.Elsewhere == nil {
		return
	}
	known := map[string]bool{"": true}
	for i := range s.Nodes {
		known[s.Nodes[i].Name] = true
	}
	var absent []string
	for i := range s.Pods {
		if name := s.Pods[i].Spec.NodeName; !known[name] {
			known[name] = true
			absent = append(absent, name)
		}
	}
	slices.Sort(absent)
	r.Gaps = append(slices.Clip(r.Gaps), cvo.Gap{What: words.Plural(len(absent), "the node ", "the nodes ") + words.List(absent, "and", 3) + ", where pods of this dump run", How: "kubectl get nodes -o yaml"})
}

// blocked reports what blocks drains: budgets that never allow an eviction, and the nodes
// that are stuck for other reasons, first those whose machine waits for the same.
func (r *Report) blocked(waiting *dependents) {
	never := Group{planned: true, Tone: Bad, Owner: "the owners of the pods", Next: "run one more replica than the budget requires, or change the budget"}
	if b := r.Budgets; b != nil {
		for i, is := range b.Never {
			if is {
				name := b.Namespace[i] + "/" + b.Name[i]
				never.add(name, fmt.Sprintf("requires %s of %d expected", words.Count(b.Desired[i], "healthy pod", "healthy pods"), b.Expected[i])+waitFor(waiting.budget[name]))
			}
		}
	}
	if never.Count > 0 {
		never.Title = words.Count(never.Count, "disruption budget never allows an eviction: nodes that run its pods cannot be drained",
			"disruption budgets never allow an eviction: nodes that run their pods cannot be drained")
		r.Findings = append(r.Findings, never)
	}
	if r.Nodes == nil {
		return
	}
	byWhy := map[string]*Group{}
	var order []string
	for _, waited := range []bool{true, false} {
		for i, name := range r.Nodes.Name {
			for _, why := range causes(r.Nodes.why, i) {
				text := plainReason(why)
				machines := waiting.node[nodeCause{name, text}]
				if why == drain.ReasonBudgetNever || len(machines) > 0 != waited {
					continue
				}
				g := byWhy[text]
				if g == nil {
					g = &Group{Tone: Warning, Next: help(why)}
					byWhy[text] = g
					order = append(order, text)
				}
				own := slices.DeleteFunc(slices.Clone(r.Nodes.why[i]), func(o obstacle) bool { return plainReason(o.why) != text })
				g.add(name, stuck(own)+waitFor(machines))
			}
		}
	}
	for _, text := range order {
		g := byWhy[text]
		g.Title = fmt.Sprintf("%s: %s", words.Count(g.Count, "node cannot be drained", "nodes cannot be drained"), text)
		r.Findings = append(r.Findings, *g)
	}
}

// causes returns the reasons, from package drain, why the drain of node i does not complete,
// each once. Pods of a later order only wait for the others.
func causes(why [][]obstacle, i int) (list []string) {
	if i >= len(why) {
		return nil // the pods are not known
	}
	for _, o := range why[i] {
		same := func(other string) bool { return plainReason(other) == plainReason(o.why) }
		if (o.why != drain.ReasonLaterOrder || len(why[i]) == 1) && !slices.ContainsFunc(list, same) {
			list = append(list, o.why)
		}
	}
	return list
}

// plainReason describes a reason of a drain.
func plainReason(why string) string {
	switch why {
	case drain.ReasonBudgetNever:
		return "a disruption budget never allows an eviction"
	case drain.ReasonBudgetSpent, drain.ReasonBudgetInUse:
		return "a disruption budget allows no eviction at present"
	case drain.ReasonBudgetUnhealthy, drain.ReasonBudgetNodeSilent:
		return "a disruption budget protects pods that are not ready"
	case drain.ReasonManyBudgets:
		return "more than one disruption budget selects the same pod, so the API refuses to evict it"
	case drain.ReasonBudgetUnobserved:
		return "the status of a disruption budget is missing or out of date"
	case drain.ReasonBudgetBroken:
		return "the status of a disruption budget is invalid"
	case drain.ReasonPodInvalid:
		return "pods have the same name as others"
	case drain.ReasonPodProtected:
		return "the policy protects pods"
	case drain.ReasonPodStranded:
		return "pods should have terminated, but their node has stopped reporting"
	case drain.ReasonLaterOrder:
		return "pods that must be evicted first are stuck"
	case drain.ReasonPodTerminating:
		return "pods do not terminate"
	case drain.ReasonNoRoom:
		return "pods have no other node to run on while theirs is out of service"
	case drain.ReasonBudgetSyncFailed:
		return "the disruption controller cannot compute a disruption budget, which then allows no eviction"
	}
	return why
}

// help returns what to do about a reason.
func help(why string) string {
	switch why {
	case drain.ReasonBudgetSpent, drain.ReasonBudgetInUse, drain.ReasonBudgetUnhealthy:
		return "find out why pods of the budget are not ready; with unhealthyPodEvictionPolicy AlwaysAllow those can be evicted"
	case drain.ReasonNoRoom:
		return "add a node on which they fit, or lower what they request or require"
	case drain.ReasonBudgetSyncFailed:
		return "correct what the budget's condition DisruptionAllowed names"
	case drain.ReasonManyBudgets:
		return "change the selectors so that at most one budget selects each pod"
	case drain.ReasonPodProtected:
		return "move the pods that no controller replaces, or allow them to be lost"
	case drain.ReasonPodStranded, drain.ReasonBudgetNodeSilent:
		return "make sure that the machine is powered off, then add the taint node.kubernetes.io/out-of-service to the node"
	case drain.ReasonBudgetUnobserved, drain.ReasonBudgetBroken:
		return "check the disruption controller, and status.disruptedPods of the budget"
	case drain.ReasonPodInvalid:
		return "delete these pods yourself"
	case drain.ReasonLaterOrder:
		return "resolve what blocks the pods that must be evicted first"
	}
	return ""
}

// lint reports taints and tolerations that are probably mistakes.
func (r *Report) lint(s *plan.Situation) {
	byCode := map[string]*Group{}
	var order []string
	for _, f := range taints.Lint(&taints.Cluster{Nodes: s.Nodes, Pods: s.Pods}, nil) {
		g := byCode[f.Code]
		if g == nil {
			g = &Group{Tone: Note, Next: f.Fix}
			byCode[f.Code] = g
			order = append(order, f.Code)
		}
		text := f.Field + ": " + f.Problem
		for _, object := range append([]string{f.Object}, f.Others...) {
			g.add(object, text)
		}
	}
	for _, code := range order {
		g := byCode[code]
		if code == taints.LintLoop {
			g.Tone = Warning
		}
		g.Title = lintTitle(code)
		r.Findings = append(r.Findings, *g)
	}
}

func lintTitle(code string) string {
	switch code {
	case taints.LintInvalid:
		return "Taints or tolerations that the API rejects"
	case taints.LintSeconds:
		return "tolerationSeconds without effect"
	case taints.LintDead:
		return "Tolerations that match no taint of this cluster"
	case taints.LintDominated:
		return "Redundant tolerations"
	case taints.LintOrder:
		return "Pods whose eviction time depends on the order of their tolerations"
	case taints.LintWildcard:
		return "Pods that are never evicted from a failed node"
	case taints.LintNumber:
		return "Values compared as numbers that are not numbers"
	case taints.LintLoop:
		return "Pods that are evicted after a while and may be scheduled to the same node again"
	case taints.LintMaster:
		return "Control plane nodes without the control plane taint"
	}
	return "Too many tolerations to compare all of them"
}

// classes groups nodes by their taints; order is that of Nodes.
func (r *Report) classes(s *plan.Situation, order []int) {
	var keys numbers
	for _, i := range order {
		n := &s.Nodes[i]
		list := n.Spec.Taints
		if n.Spec.Unschedulable && taints.Find(list, "node.kubernetes.io/unschedulable", fairlead.NoSchedule) == nil {
			list = append(slices.Clip(list), fairlead.Taint{Key: "node.kubernetes.io/unschedulable", Effect: fairlead.NoSchedule})
		}
		if len(list) == 0 {
			r.Nodes.Taints = append(r.Nodes.Taints, -1)
			continue
		}
		var of []string
		for _, t := range list {
			of = append(of, t.String())
		}
		slices.Sort(of)
		k := keys.number(strings.Join(of, "\n"))
		if k == len(r.Taints) {
			r.Taints = append(r.Taints, TaintClass{Taints: of})
		}
		c := &r.Taints[k]
		c.Nodes++
		if len(c.First) < 5 {
			c.First = append(c.First, n.Name)
		}
		r.Nodes.Taints = append(r.Nodes.Taints, k)
	}
}

// taintsOf counts for each class what its taints mean for the workloads.
func (r *Report) taintsOf(s *plan.Situation) {
	if len(r.Taints) == 0 || s.Pods == nil {
		return
	}
	classOf := make(map[string]int, len(s.Nodes))
	for i, name := range r.Nodes.Name {
		classOf[name] = r.Nodes.Taints[i]
	}
	node := make([]*fairlead.Node, len(r.Taints))
	for i := range s.Nodes {
		if k, ok := classOf[s.Nodes[i].Name]; ok && k >= 0 && node[k] == nil {
			node[k] = &s.Nodes[i]
		}
	}
	judged := map[workload]bool{}
	for i := range s.Pods {
		p := &s.Pods[i]
		if k, ok := classOf[p.Spec.NodeName]; ok && k >= 0 && !taints.Evaluate(p, node[k], nil).Schedulable() {
			r.Taints[k].Runs++
		}
		w := workloadOf(p)
		if judged[w] || w.kind == "DaemonSet" {
			continue
		}
		judged[w] = true
		for k := range r.Taints {
			if !taints.Evaluate(p, node[k], nil).Schedulable() {
				r.Taints[k].Kept++
			}
		}
	}
}
