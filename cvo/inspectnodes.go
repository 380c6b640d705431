package cvo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
)

// pools evaluates the pools and their nodes.
func (i *inspection) pools() {
	if i.d.Pools == nil {
		i.gap("the machine config pools, and whether any is paused", "oc get machineconfigpools -o yaml")
	}
	if i.d.Nodes == nil {
		i.gap("the nodes, and which release they run", "oc get nodes -o yaml")
	}
	if i.d.Configs == nil && i.d.Pools != nil {
		i.gap("which release the rendered configurations of the nodes belong to", "oc get machineconfigs -o yaml")
	}
	list := slices.Clone(i.d.Pools)
	slices.SortFunc(list, func(a, b Pool) int {
		return cmp.Or(cmp.Compare(rank(a.Name), rank(b.Name)), strings.Compare(a.Name, b.Name))
	})
	members := map[string][]*fairlead.Node{}
	for k := range i.d.Nodes {
		n := &i.d.Nodes[k]
		p, err := rollout.PrimaryPool(list, n)
		name := ""
		switch {
		case err != nil:
			i.find(Finding{Subject: "node " + n.Name, Severity: SeverityWarning, Reason: "Pools", Message: err.Error(), Owner: "administrator", Next: "make one pool select the node"})
		case p != nil:
			name = p.Name
		}
		members[name] = append(members[name], n)
	}
	for k := range list {
		i.pool(&list[k], members[list[k].Name])
	}
	for _, n := range members[""] {
		i.poolless(n)
	}
}

// poolless evaluates a node without a pool, as on clusters without a machine config operator.
func (i *inspection) poolless(n *fairlead.Node) {
	r := NodeReport{Name: n.Name, State: "unknown", Message: down(n), Since: notReadySince(n)}
	r.Down = r.Message != "" || i.d.Pools == nil && n.Annotations[rollout.AnnotationCurrent] == ""
	if rollout.Stuck(n) {
		r.State, r.Message = "degraded", stuckWhy(n, r.Message)
	}
	if r.Message != "" {
		i.nodeFinding(r)
	}
	i.out.Nodes = append(i.out.Nodes, r)
}

// rank puts the control plane first.
func rank(pool string) int {
	if pool == rollout.PoolMaster {
		return 0
	}
	return 1
}

// pool evaluates one pool.
func (i *inspection) pool(p *Pool, nodes []*fairlead.Node) {
	r := PoolReport{Name: p.Name, State: "updated", Total: len(nodes)}
	var reports []NodeReport
	for _, n := range nodes {
		x := i.node(n, p)
		switch x.State {
		case "updated":
			r.Updated++
		case "unknown":
			r.Unknown++
		case "draining":
			r.Draining++
		case "degraded":
			r.Degraded++
			if rollout.Draining(n) {
				r.Draining++
			}
		}
		if x.Down {
			r.Down++
		}
		if x.Cordoned {
			r.Cordoned++
		}
		reports = append(reports, x)
	}
	reported := r.Degraded == 0 && i.poolDegraded(p)
	if i.d.Nodes == nil {
		r.State, r.Total = "unknown", -1
		if reported {
			r.State = "degraded"
		}
		if waits := p.Status.MachineCount - p.Status.UpdatedMachineCount; p.Spec.Paused && waits > 0 {
			i.paused(p, waits, p.Status.MachineCount)
		}
		i.out.Pools = append(i.out.Pools, r)
		return
	}
	pending := i.pending(p, nodes)
	switch {
	case r.Degraded > 0, reported:
		r.State = "degraded"
	case r.Total == 0 && p.Status.MachineCount == 0:
		r.State = "empty"
	case p.Spec.Paused && pending > 0 && r.Unknown > 0: // which release it waits for is unknown, that it waits is not
		r.State, r.Updated, r.Unknown = "paused", r.Total-pending, 0
		i.paused(p, pending, r.Total)
	case r.Updated == r.Total:
	case r.Unknown > 0 && !p.Spec.Paused:
		r.State = "unknown"
	case p.Spec.Paused:
		r.State = "paused"
		i.paused(p, r.Total-r.Updated, r.Total)
	case r.Draining > 0 || slices.ContainsFunc(reports, func(x NodeReport) bool { return x.State == "updating" }):
		r.State = "updating"
	default:
		r.State = "pending"
	}
	slices.SortFunc(reports, func(a, b NodeReport) int {
		return cmp.Or(cmp.Compare(urgency(a), urgency(b)), strings.Compare(a.Name, b.Name))
	})
	for _, x := range reports {
		i.nodeFinding(x)
	}
	i.out.Pools = append(i.out.Pools, r)
	i.out.Nodes = append(i.out.Nodes, reports...)
}

// poolDegraded reports what a pool says of itself while none of its nodes says it: a
// configuration that cannot be rendered, or nodes that the dump lacks. It returns whether it does.
func (i *inspection) poolDegraded(p *Pool) bool {
	c := rollout.Trouble(p)
	if c == nil {
		return false
	}
	f := Finding{
		Subject: "pool " + p.Name, Severity: SeverityError, Reason: "PoolDegraded", Since: c.LastTransitionTime, Owner: "machine-config operator",
		Message: fmt.Sprintf("the pool %s is degraded", p.Name), Next: "its nodes are not updated until that is repaired",
		Command: shell.Command("oc get machineconfigpool %s -o yaml", p.Name),
	}
	if said := clauseOf(cmp.Or(c.Message, c.Reason), most); said != "" {
		f.Message += ": " + said
	}
	i.find(f)
	return true
}

// paused reports the nodes that a paused pool holds back.
func (i *inspection) paused(p *Pool, pending, total int) {
	i.find(Finding{
		Subject: "pool " + p.Name, Severity: SeverityWarning, Reason: "Paused",
		Message: fmt.Sprintf("the pool %s is paused: %d of its %s %s not updated", p.Name, pending, words.Count(total, "node", "nodes"), words.Plural(pending, "is", "are")),
		Owner:   "administrator", Next: "unpause it when its nodes may restart", Command: PauseCommand(p.Name, false),
	})
}

// pending counts the nodes of a pool that do not run its configuration: as the nodes say, and
// if there are others than the dump has, as the pool counts them.
func (i *inspection) pending(p *Pool, nodes []*fairlead.Node) (n int) {
	for _, x := range nodes {
		if !rollout.Updated(p, x) {
			n++
		}
	}
	if p.Status.MachineCount > len(nodes) {
		n = max(n, p.Status.MachineCount-p.Status.UpdatedMachineCount)
	}
	return n
}

// urgency orders nodes by how much they need attention.
func urgency(n NodeReport) int {
	switch {
	case n.State == "degraded":
		return 0
	case n.Down:
		return 1
	}
	return 2 + slices.Index([]string{"draining", "updating", "unknown", "pending", "paused", "updated"}, n.State)
}

// node evaluates one node.
func (i *inspection) node(n *fairlead.Node, p *Pool) NodeReport {
	current, state := n.Annotations[rollout.AnnotationCurrent], n.Annotations[rollout.AnnotationState]
	r := NodeReport{Name: n.Name, Pool: p.Name, Version: i.d.Configs[current], Message: down(n), Since: notReadySince(n)}
	switch {
	case rollout.Updated(p, n) && r.Version != "" && r.Version == i.out.Target:
		r.State = "updated"
	case rollout.Stuck(n):
		r.State, r.Message = "degraded", stuckWhy(n, r.Message)
	case rollout.Draining(n):
		r.State = "draining"
	case current == "":
		r.State, r.Message = "updating", cmp.Or(r.Message, "the machine config daemon has not reported yet")
	case rollout.Updating(n):
		r.State = "updating"
	case rollout.Updated(p, n) && (r.Version == "" || i.out.Target == ""):
		r.State = "unknown" // the release of its configuration is unknown
	case p.Spec.Paused:
		r.State = "paused"
	default:
		r.State = "pending"
	}
	if r.Message == "" && state == rollout.StateWorking && r.State != "draining" {
		r.Message = "the machine config daemon is working on it"
	}
	r.Down, r.Cordoned = down(n) != "" || current == "", false
	if r.Down && current != "" && down(n) == unschedulable && !rollout.Draining(n) {
		r.Down, r.Cordoned = false, true
	}
	return r
}

// stuckWhy says why the machine config daemon of a node is stuck: its own reason, or else why the
// node is down.
func stuckWhy(n *fairlead.Node, down string) string {
	return cmp.Or(n.Annotations[rollout.AnnotationReason], down, "its machine config daemon is stuck and does not say why")
}

// notReadySince returns since when a node has not been ready; the zero time if it is.
func notReadySince(n *fairlead.Node) (since time.Time) {
	if c := n.NotReady(); c != nil {
		since = c.LastTransitionTime
	}
	return since
}

// What down returns, or begins with.
const (
	unschedulable = "marked unschedulable"
	notReady      = "not ready: "
)

// down says why no pods are placed on a node; empty if some may be.
func down(n *fairlead.Node) string {
	switch c := rollout.Against(n); {
	case rollout.Ready(n):
		return ""
	case c == nil:
		return unschedulable
	case c.Type == "Ready":
		return notReady + cmp.Or(c.Message, c.Reason, "it does not say why")
	default:
		return c.Type + ": " + cmp.Or(c.Message, c.Reason)
	}
}

// nodeFinding reports an unhealthy node, and what depends on it: the update of its pool, if it has
// one.
func (i *inspection) nodeFinding(n NodeReport) {
	f := Finding{Subject: "node " + n.Name, Since: n.Since, Owner: "machine-config operator", Message: fmt.Sprintf("node %s of pool %s: %s", n.Name, n.Pool, n.Message)}
	back, waits := "during an update a node", "; it counts against maxUnavailable of its pool"
	if n.Pool == "" {
		f.Owner, f.Message = "whoever runs the node", fmt.Sprintf("node %s: %s", n.Name, n.Message)
		back, waits = "a node that restarts", "; no pods are scheduled on it meanwhile"
	}
	why, next, command := "", "", ""
	if n.State == "draining" || n.State == "degraded" && strings.Contains(n.Message, "drain") {
		why, next, command = i.stuckDrain(&n)
	}
	switch {
	case why != "":
		f.Severity, f.Reason, f.Owner, f.Message, f.Next, f.Command = SeverityWarning, "DrainBlocked", "owner of the pods", fmt.Sprintf("node %s of pool %s: %s", n.Name, n.Pool, why), next, command
		if n.State == "degraded" {
			f.Severity = SeverityError
		}
	case n.State == "degraded":
		f.Severity, f.Reason, f.Owner = SeverityError, "NodeDegraded", "machine-config operator"
		f.Next = "its pool cannot complete until the node is healthy"
		if n.Pool == "" {
			f.Next = "read the log of its machine config daemon; it belongs to no pool: make a pool select it if the node should be updated"
		}
		if strings.Contains(n.Message, "drain") {
			f.Next = "a pod cannot be evicted: look for PodDisruptionBudgets that allow no disruption, and check the pods on the node"
			f.Owner = "owner of the pods"
		}
	case n.Down && (!n.Since.IsZero() || strings.HasPrefix(n.Message, notReady)):
		f.Severity, f.Reason = SeverityWarning, "NodeNotReady"
		f.Next = back + " is usually back within 30 minutes" + waits
		if i.now.Sub(n.Since) > 30*time.Minute {
			f.Next = "more than 30 minutes is not normal: check the machine and its console" + waits
		}
	case (n.Down || n.Cordoned) && n.State != "draining" && n.State != "updating":
		f.Severity, f.Reason = SeverityInfo, "NodeUnavailable"
		f.Next = "it counts against maxUnavailable of its pool until it is schedulable again"
		switch {
		case n.Pool != "":
		case n.Message == unschedulable:
			f.Next = "once the maintenance is done, allow pods on it again: " + shell.Command("kubectl uncordon %s", n.Name)
		default:
			f.Next = "no pods are scheduled on it until this is over"
		}
	default:
		return
	}
	i.find(f)
}
