package diagnosis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// budgetsFail adds the budgets that the cluster cannot compute.
func (b *builder) budgetsFail() {
	for i := range b.budgets {
		if x := &b.budgets[i]; x.Status.SyncFailed() != "" {
			b.budgetWaits(x.Namespace, x.Name)
		}
	}
}

// drains asks how the drains that are under way go on, and how those go that an update still
// needs.
func (b *builder) drains() {
	if b.pods == nil || b.nodes == nil {
		return
	}
	under, later := b.drained(), b.outdated()
	if len(under) > 0 {
		b.drainsWait(under, forUpdate)
	}
	if len(later) > 0 {
		b.drainsWait(later, ahead)
	}
	if more := b.wantedDrains(); len(more) > 0 {
		b.drainsWait(more, wanted)
	}
}

// wantedDrains returns the nodes that somebody wants to drain, and that no update drains.
func (b *builder) wantedDrains() (names []string) {
	for _, name := range b.toDrain {
		if b.node(name) != nil && !b.have[ID("Node", "", name)] {
			names = append(names, name)
		}
	}
	return names
}

// drained returns the nodes that are being drained, and report.
func (b *builder) drained() (names []string) {
	for i := range b.nodes {
		if name := b.nodes[i].Name; b.draining[name] && !b.down[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// outdated returns the nodes of pools that are not paused that still have to be drained for the
// configuration of their pool.
func (b *builder) outdated() (names []string) {
	for i := range b.nodes {
		n := &b.nodes[i]
		if b.down[n.Name] || rollout.Away(n) || n.Annotations[rollout.AnnotationCurrent] == "" {
			continue
		}
		p, err := rollout.PrimaryPool(b.pools, n)
		if err == nil && p != nil && !p.Spec.Paused && p.Spec.Configuration.Name != "" && n.Annotations[rollout.AnnotationCurrent] != p.Spec.Configuration.Name {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	return names
}

// request returns the input of a plan of drains.
func (b *builder) request(names []string) *drain.PlanRequest {
	return &drain.PlanRequest{
		Nodes: b.nodes, Drain: names, Pods: b.pods, Budgets: b.budgets, Replicas: b.replicas, DaemonSets: b.daemonSets, DaemonSetsListed: b.listed,
	}
}

// mostRooms is for how many drains that are still to come the room for their pods is looked for:
// with many nodes, that takes long, and each is drained when others are back.
const mostRooms = 100

// drainsWait adds what drains wait for.
func (b *builder) drainsWait(names []string, w work) {
	req := b.request(names)
	switch req.Returns = true; w {
	case wanted:
		req.AtOnce = max(1, b.atOnce)
	case forUpdate, byHand, removal:
		req.AtOnce = len(names)
	}
	if req.IgnoreRoom = w == removal || (w == ahead || w == wanted) && len(names) > mostRooms; !req.IgnoreRoom {
		req.Cluster = b.places()
	}
	plan, err := drain.NewPlan(req, b.now, nil)
	if err != nil {
		return // what is wrong with objects is not a drain's wait
	}
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		id := ID("Node", "", n.Node)
		for k := range n.Pods {
			if p := &n.Pods[k]; !notWhy(p, w) {
				if !b.have[id] {
					b.add(b.drainAhead(n.Node, w))
				}
				b.podStays(id, n.Node, p)
			}
		}
		if w == forUpdate || b.have[id] {
			b.ending(id, n.Node)
		}
	}
	for i := range plan.Nodes {
		for k := range plan.Nodes[i].Pods {
			b.roomless(&plan.Nodes[i], &plan.Nodes[i].Pods[k], w)
		}
	}
	for i := range b.g.Nodes { // a drain that waits for nothing goes on
		if n := &b.g.Nodes[i]; w == forUpdate && n.Reason == NodeDraining && !slices.ContainsFunc(b.g.Edges, func(e Edge) bool { return e.From == n.ID }) {
			n.State = Going
		}
	}
}

// ending adds the pods of a node that is being drained that are ending.
func (b *builder) ending(id, node string) {
	for _, i := range b.index.podsOn[node] {
		p := &b.pods[i]
		if pod := ID("Pod", p.Namespace, p.Name); p.DeletionTimestamp != nil && b.have[pod] {
			b.wait(id, pod, "Drains", Seen)
		}
	}
}

// podStays adds a pod that a drain cannot remove, and why.
func (b *builder) podStays(id, node string, p *drain.PodPlan) {
	name := p.Namespace + "/" + p.Name
	x := Node{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, State: Waiting, Reason: PodNotEvicted, Says: "pod " + name + " cannot be evicted from node " + node, Owner: "owner of the pod"}
	pod := ID("Pod", p.Namespace, p.Name)
	switch p.Why {
	case drain.ReasonPodProtected, drain.ReasonPodInvalid:
		x.State, x.Reason, x.Says = Faulty, PodProtected, "pod "+name+" has no controller that replaces it, so the drain of node "+node+" leaves it alone"
	case drain.ReasonManyBudgets:
		x.State, x.Reason = Faulty, PodManyBudgets
		x.Says = fmt.Sprintf("pod %s is selected by %s, so it cannot be evicted", name, words.Count(len(p.Budgets), "budget", "budgets"))
	case drain.ReasonPodStranded, drain.ReasonPodTerminating:
		b.wait(id, pod, "Drains", Derived)
		return // the pod is known already
	}
	fact := pod
	if b.have[pod] && x.State == Waiting { // it is in trouble of its own, too
		fact = pod + "#eviction"
		x.ID = fact
	}
	if !b.have[fact] {
		b.add(x)
	}
	b.wait(id, fact, "Drains", Derived)
	if x.State == Faulty {
		return
	}
	for _, of := range p.Budgets {
		namespace, budget, _ := strings.Cut(of, "/")
		b.wait(fact, b.budgetWaits(namespace, budget), "Protects", Derived)
	}
}

// budgetWaits adds a budget that allows no eviction, and what it waits for; it returns its ID.
func (b *builder) budgetWaits(namespace, name string) string {
	id := ID("PodDisruptionBudget", namespace, name)
	if b.have[id] {
		return id
	}
	k, _ := b.guarded(namespace + "/" + name)
	budget := &b.budgets[k]
	s := budget.Status
	full := namespace + "/" + name
	x := Node{Kind: "PodDisruptionBudget", Namespace: namespace, Name: name, Owner: "owner of the pods"}
	if s.ExpectedPods == 0 && s.ObservedGeneration == 0 {
		s = b.measured(budget)
	}
	if why := s.SyncFailed(); why != "" {
		x.State, x.Quote = Faulty, why
		f := failure.Recognise(&failure.Sign{Kind: x.Kind, Namespace: namespace, Name: name, Type: "DisruptionAllowed", Reason: "SyncFailed", Message: why})
		x.is(f, "PodDisruptionBudget "+full+": ")
		return b.add(x)
	}
	if s.Never() {
		x.State, x.Reason = Faulty, BudgetNever
		x.Says = fmt.Sprintf("PodDisruptionBudget %s never allows an eviction: it requires %d of %d pods", full, s.DesiredHealthy, s.ExpectedPods)
		return b.add(x)
	}
	x.State, x.Reason = Waiting, BudgetSpent
	x.Says = fmt.Sprintf("PodDisruptionBudget %s allows no eviction: %d of the %d healthy pods that it requires are there", full, s.CurrentHealthy, s.DesiredHealthy)
	sick, all := 0, 0
	_, selected := b.guarded(full)
	for _, i := range selected {
		p := &b.pods[i]
		if p.Finished() {
			continue
		}
		all++
		if p.Ready() && p.DeletionTimestamp == nil {
			continue
		}
		sick++
		if pod := ID("Pod", p.Namespace, p.Name); b.have[pod] {
			b.wait(id, pod, "Counts", Seen)
		}
	}
	if sick == 0 && all < s.ExpectedPods {
		x.State, x.Reason = Faulty, BudgetShort
		x.Says = fmt.Sprintf("PodDisruptionBudget %s allows no eviction: %d of its %d pods exist", full, all, s.ExpectedPods)
	}
	return b.add(x)
}

// guarded returns the position of a budget, and the positions of its pods.
func (b *builder) guarded(budget string) (at int, pods []int) {
	namespace, name, _ := strings.Cut(budget, "/")
	at = b.index.budgetAt[objectKey{namespace, name}]
	return at, b.index.podsOf[at]
}

// measured computes the numbers of a budget.
func (b *builder) measured(budget *fairlead.PodDisruptionBudget) fairlead.BudgetStatus {
	var selected []*fairlead.Pod
	for _, i := range b.index.podsOf[b.index.budgetAt[objectKey{budget.Namespace, budget.Name}]] {
		selected = append(selected, &b.pods[i])
	}
	if budget.Check() != nil {
		return budget.Status
	}
	return budget.MeasureSelected(selected, b.scale(), b.now)
}

// roomless adds a pod whose replacement would have no node, if budgets that block drains wait for
// it, or if whoever wants the drain wants the pod to run elsewhere. Otherwise it is evicted all the same.
func (b *builder) roomless(n *drain.NodePlan, plan *drain.PodPlan, w work) {
	p := b.pod(plan.Namespace, plan.Name)
	if p == nil || len(plan.NoRoom) == 0 {
		return
	}
	id := ID("Pod", p.Namespace, p.Name) + "#room"
	for _, k := range b.budgetsOf(p) {
		budget := ID("PodDisruptionBudget", b.budgets[k].Namespace, b.budgets[k].Name)
		if !b.have[budget] {
			continue
		}
		if !b.have[id] {
			b.homeless(p, plan.NoRoom, Node{ID: id, Kind: "Pod", Namespace: p.Namespace, Name: p.Name, Owner: "administrator"})
		}
		b.wait(budget, id, "Counts", Derived)
	}
	if w == wanted {
		b.strandedBy(n.Node, p, plan.NoRoom, id)
	}
}

// strandedBy adds that a drain that is wanted leaves a pod without a node.
func (b *builder) strandedBy(node string, p *fairlead.Pod, why []string, id string) {
	if of := ID("Node", "", node); !b.have[of] {
		b.add(b.drainAhead(node, wanted))
	}
	if !b.have[id] {
		b.homeless(p, why, Node{ID: id, Kind: "Pod", Namespace: p.Namespace, Name: p.Name, Owner: "administrator"})
	}
	b.wait(ID("Node", "", node), id, "Drains", Derived)
}

// homeless adds a pod whose replacement would have no node, and why.
func (b *builder) homeless(p *fairlead.Pod, why []string, x Node) {
	says := "a replacement of pod " + p.ObjectMeta.String() + " has no node"
	if wait := b.shut(p); wait != "" {
		x.State, x.Reason, x.Says = Waiting, PodWaitsForNode, says+", and would fit on node "+wait
		b.add(x)
		b.wait(x.ID, b.shutBy(wait), "FitsOn", Derived)
		return
	}
	x.State, x.Reason, x.Says, x.Alike = Faulty, reasonOf(why), says+": "+words.First(why, 2), workload(p)
	b.add(x)
}
