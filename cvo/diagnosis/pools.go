package diagnosis

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
)

// poolsWait adds the pools with nodes that do not run what they should.
func (b *builder) poolsWait() {
	for i := range b.pools {
		p := &b.pools[i]
		var nodes []*fairlead.Node
		for k := range b.nodes {
			if of, err := rollout.PrimaryPool(b.pools, &b.nodes[k]); err == nil && of != nil && of.Name == p.Name {
				nodes = append(nodes, &b.nodes[k])
			}
		}
		switch {
		case b.poolFails(p, nodes):
		case len(nodes) > 0:
			b.poolWaits(p, nodes)
		default:
			b.poolSays(p)
		}
	}
}

// poolFails adds a pool that says that it is degraded while none of its nodes says so: its configuration
// cannot be rendered or built. It returns whether it does.
func (b *builder) poolFails(p *cvo.Pool, nodes []*fairlead.Node) bool {
	c := rollout.Trouble(p)
	if c == nil || c.Type == rollout.ConditionNodeDegraded && len(nodes) == 0 || slices.ContainsFunc(nodes, rollout.Stuck) {
		return false
	}
	x := Node{
		Kind: "MachineConfigPool", Name: p.Name, State: Faulty, Reason: PoolDegraded, Says: "pool " + p.Name + " is degraded", Quote: c.Message, Since: c.LastTransitionTime, Sure: Seen, Owner: "administrator",
		do: "repair what it reports", command: shell.Command("oc get machineconfigpool %s -o yaml", p.Name),
	}
	x.because(failure.Sign{Type: c.Type, Reason: c.Reason, Message: c.Message}, 120)
	b.add(x)
	return true
}

// poolSays adds a pool whose nodes are not known, as far as it says itself what is wrong with them.
func (b *builder) poolSays(p *cvo.Pool) {
	st := &p.Status
	id := ID("MachineConfigPool", "", p.Name)
	x := Node{Kind: "MachineConfigPool", Name: p.Name, State: Waiting, Reason: PoolUpdating, Owner: "machine-config operator", Sure: Seen}
	x.Says = fmt.Sprintf("pool %s: %d of %s updated", p.Name, st.UpdatedMachineCount, words.Count(st.MachineCount, "node is", "nodes are"))
	switch c := fairlead.FindCondition(st.Conditions, "NodeDegraded"); {
	case p.Spec.Paused && st.UpdatedMachineCount < st.MachineCount:
		b.paused(p, x, st.MachineCount-st.UpdatedMachineCount)
		return
	case c != nil && c.Status == fairlead.ConditionTrue:
		x.Quote, x.Since = c.Message, c.LastTransitionTime
		for _, n := range b.reported(c) {
			b.wait(id, b.add(n), "Updates", Seen)
		}
	case st.DegradedMachineCount == 0:
		return
	}
	b.add(x)
}

// reported returns the nodes that a pool reports as degraded, each with what it says.
func (b *builder) reported(c *fairlead.Condition) (all []Node) {
	for _, r := range rollout.NodeReports(c.Message) {
		x, _ := stuckNode(r.Node, r.Message)
		x.Since = c.LastTransitionTime
		all = append(all, x)
	}
	return all
}

// poolWaits adds a pool, if any of its nodes is outdated.
func (b *builder) poolWaits(p *cvo.Pool, nodes []*fairlead.Node) {
	id := ID("MachineConfigPool", "", p.Name)
	x := Node{Kind: "MachineConfigPool", Name: p.Name, Owner: "machine-config operator", Sure: Seen}
	var outdated, busy, closed []*fairlead.Node
	for _, n := range nodes {
		if !rollout.Updated(p, n) {
			outdated = append(outdated, n)
		}
		switch {
		case rollout.Away(n) || b.have[ID("Node", "", n.Name)] && !b.ahead(n.Name):
			busy = append(busy, n)
		case n.Spec.Unschedulable:
			closed = append(closed, n)
		}
	}
	if len(outdated) == 0 {
		if r := b.poolReport(p.Name); r != nil && b.report.Target != "" && r.Updated < r.Total && r.Unknown == 0 {
			if p.Spec.Paused {
				b.paused(p, x, r.Total-r.Updated)
				return
			}
			x.State, x.Reason, x.Says = Waiting, PoolWaiting, "pool "+p.Name+" has no configuration of "+b.report.Target+" yet"
			b.add(x)
			b.wait(id, ID("ClusterOperator", "", "machine-config"), "Renders", Derived)
		}
		return
	}
	x.Says = fmt.Sprintf("pool %s: %d of %s updated", p.Name, len(nodes)-len(outdated), words.Count(len(nodes), "node is", "nodes are"))
	if p.Spec.Paused {
		b.paused(p, x, len(outdated))
		return
	}
	x.State, x.Reason = Waiting, PoolUpdating
	most, err := rollout.MaxUnavailable(p, len(nodes))
	full := err == nil && len(busy)+len(closed) >= most
	for _, n := range busy {
		b.wait(id, ID("Node", "", n.Name), "Updates", Seen)
	}
	if full {
		x.Reason = PoolFull
		for _, n := range closed {
			b.wait(id, b.cordon(n), "CountsAgainst", Derived)
		}
	}
	for _, n := range outdated {
		if b.ahead(n.Name) {
			b.wait(id, ID("Node", "", n.Name), "UpdatesLater", Derived)
		}
	}
	if len(busy) == 0 && !full { // the next node starts at any moment
		x.State = Going
	}
	b.add(x)
}

// paused adds a pool that is paused and has nodes that should be updated.
func (b *builder) paused(p *cvo.Pool, x Node, outdated int) {
	x.State, x.Reason, x.Owner = Faulty, PoolPaused, "administrator"
	x.Says = fmt.Sprintf("pool %s is paused, and %s outdated", p.Name, words.Count(outdated, "of its nodes is", "of its nodes are"))
	b.add(x)
}

// ahead reports whether all that is known of a node is that its drain would not complete.
func (b *builder) ahead(name string) bool {
	return b.reasons[ID("Node", "", name)] == NodeDrainAhead
}

func (b *builder) poolReport(name string) *cvo.PoolReport {
	for i := range b.report.Pools {
		if b.report.Pools[i].Name == name {
			return &b.report.Pools[i]
		}
	}
	return nil
}
