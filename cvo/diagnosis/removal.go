package diagnosis

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// removals adds the nodes that Karpenter removes, and what their drains wait for: budgets, and pods
// that it must not disrupt. It finds room for their pods itself.
func (b *builder) removals() {
	var names []string
	for _, name := range b.index.nodes {
		n := b.node(name)
		if !drain.KarpenterDrains(n) || b.down[name] || b.have[ID("Node", "", name)] {
			continue
		}
		b.add(Node{
			Kind: "Node", Name: name, State: Going, Reason: NodeRemoved, Says: "node " + name + " is being removed by Karpenter" + b.patience(n), Since: *n.DeletionTimestamp, Sure: Seen, Owner: "Karpenter",
		})
		names = append(names, name)
		for _, i := range b.index.podsOn[name] {
			b.undisrupted(n, &b.pods[i])
		}
	}
	if b.pods != nil && len(names) > 0 {
		b.drainsWait(names, removal)
	}
	for i := range b.g.Nodes { // what waits for nothing goes on, and what has a limit ends by itself
		n := &b.g.Nodes[i]
		if n.Reason == NodeRemoved && b.age(n.Since) >= handTime && b.waits(n.ID) && b.patience(b.node(n.Name)) == "" {
			n.State = Waiting
		}
	}
}

// waits reports whether something waits for anything.
func (b *builder) waits(id string) bool {
	for i := range b.g.Edges {
		if b.g.Edges[i].From == id {
			return true
		}
	}
	return false
}

// patience says until when Karpenter waits for the pods of a node, if that is yet to come.
func (b *builder) patience(n *fairlead.Node) string {
	at, err := time.Parse(time.RFC3339, n.Annotations["karpenter.sh/nodeclaim-termination-timestamp"])
	if err != nil || !at.After(b.now) {
		return ""
	}
	return ", which deletes what is left there at " + at.UTC().Format(time.RFC3339)
}

// undisrupted adds a pod that Karpenter must not disrupt, so that it waits until the pod has ended.
func (b *builder) undisrupted(n *fairlead.Node, p *fairlead.Pod) {
	if _, waits := drain.KarpenterWaits(n, p); !waits {
		return
	}
	x := Node{
		ID: ID("Pod", p.Namespace, p.Name) + "#disrupt", Kind: "Pod", Namespace: p.Namespace, Name: p.Name, State: Faulty, Reason: PodUndisrupted, Since: *n.DeletionTimestamp,
		Says: "pod " + p.ObjectMeta.String() + " must not be disrupted (karpenter.sh/do-not-disrupt), so Karpenter waits until it has ended", Sure: Seen, Owner: "owner of the pod",
		do:      "Wait until pod " + p.ObjectMeta.String() + " has ended, or let Karpenter evict it",
		command: shell.Command("kubectl -n %s annotate pod %s karpenter.sh/do-not-disrupt-", p.Namespace, p.Name), Alike: workload(p),
	}
	if b.age(x.Since) < handTime || b.patience(n) != "" {
		x.State = Going
	}
	b.wait(ID("Node", "", n.Name), b.add(x), "Drains", Seen)
}
