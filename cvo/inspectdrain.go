package cvo

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
)

// holder is a budget that holds the drain of a node, with the pods there that it selects.
type holder struct {
	budget *fairlead.PodDisruptionBudget
	pods   []string
}

// holders returns the budgets that hold the drain of a node: those that allow no disruption
// and select a pod that is still there, in the order of the dump.
func (i *inspection) holders(node string) (list []holder) {
	for k := range i.d.Budgets {
		b := i.measured(&i.d.Budgets[k])
		if b.Status.DisruptionsAllowed > 0 {
			continue
		}
		h := holder{budget: b}
		for n := range i.d.Pods {
			if p := &i.d.Pods[n]; p.Spec.NodeName == node && p.Status.Phase != fairlead.PodSucceeded && p.Status.Phase != fairlead.PodFailed && b.Selects(p) {
				h.pods = append(h.pods, p.Namespace+"/"+p.Name)
			}
		}
		if slices.Sort(h.pods); len(h.pods) > 0 {
			list = append(list, h)
		}
	}
	return list
}

// measured returns a budget with its numbers, which are computed if it has no status.
func (i *inspection) measured(b *fairlead.PodDisruptionBudget) *fairlead.PodDisruptionBudget {
	if b.Status.ObservedGeneration >= b.Generation && b.Status.ExpectedPods > 0 {
		return b
	}
	pods := make([]*fairlead.Pod, len(i.d.Pods))
	for k := range i.d.Pods {
		pods[k] = &i.d.Pods[k]
	}
	own := *b
	if s, err := b.Measure(pods, nil, i.now); err == nil {
		own.Status = s
	}
	return &own
}

// downFor returns the nodes that are not ready and have pods that the budgets select.
func (i *inspection) downFor(list []holder) (names []string) {
	for k := range i.d.Nodes {
		n := &i.d.Nodes[k]
		if n.NotReady() == nil {
			continue
		}
		if slices.ContainsFunc(i.d.Pods, func(p fairlead.Pod) bool {
			return p.Spec.NodeName == n.Name && slices.ContainsFunc(list, func(h holder) bool { return h.budget.Selects(&p) })
		}) {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	return names
}

// stuckDrain says which budgets hold the drain of a node, and what helps; "" if none is known.
func (i *inspection) stuckDrain(n *NodeReport) (why, next, command string) {
	list := i.holders(n.Name)
	if len(list) == 0 {
		return "", "", ""
	}
	if down := i.downFor(list); len(down) > 0 {
		var budgets []string
		for _, h := range list {
			budgets = append(budgets, h.budget.Namespace+"/"+h.budget.Name)
		}
		names := words.List(down, "and", 3)
		why = fmt.Sprintf("it cannot be drained: %s %s not ready, and %s %s pods there", names, words.Plural(len(down), "is", "are"), words.Plural(len(list), "the budget "+budgets[0]+" needs", "the budgets "+words.List(budgets, "and", 3)+" need"), words.Plural(len(list), "its", "their"))
		return why, "repair " + names + " first: when the pods there are healthy again, the drain goes on", shell.Command("oc describe node %s", down[0])
	}
	var said []string
	for _, h := range list {
		said = append(said, fmt.Sprintf("%s/%s (%s)", h.budget.Namespace, h.budget.Name, words.List(h.pods, "and", 2)))
	}
	b := list[0].budget
	why = "its drain waits for " + words.Plural(len(list), "the budget ", "the budgets ") + words.List(said, "and", 3) + words.Plural(len(list), ", which allows no disruption", ", which allow no disruption")
	next = fmt.Sprintf("%d of %d pods of %s/%s are healthy and %d must be: ", b.Status.CurrentHealthy, b.Status.ExpectedPods, b.Namespace, b.Name, b.Status.DesiredHealthy)
	if b.Status.CurrentHealthy < b.Status.ExpectedPods {
		return why, next + "make the other pods healthy, and the drain goes on", shell.Command("oc -n %s get pods -o wide", b.Namespace)
	}
	return why, next + "run one more; or allow one disruption until the node is back", LoosenCommand(b)
}

// LoosenCommand makes a budget allow one disruption more than it does now, as its status
// counts pods.
func LoosenCommand(b *fairlead.PodDisruptionBudget) string {
	spec := map[string]any{"maxUnavailable": max(b.Status.ExpectedPods-b.Status.CurrentHealthy, 0) + 1}
	if b.Spec.MinAvailable != nil {
		spec = map[string]any{"minAvailable": max(b.Status.CurrentHealthy-1, 0)}
	}
	return shell.Command("oc -n %s patch pdb %s --type merge -p %s", b.Namespace, b.Name, shell.JSON(map[string]any{"spec": spec}))
}
