package diagnosis

import (
	"cmp"
	"strings"

	"github.com/fairlead/fairlead"
)

// Options are what else is known. Nil means nothing.
type Options struct {
	// Others are objects that engines explain which this package does not ask, such as the
	// operators of OLM (solver/olm/explain). Their order does not matter.
	Others []Other
	// Drain are names of nodes that somebody wants to drain, AtOnce of them at a time (at least
	// one): what their drains would wait for is part of the graph.
	Drain  []string
	AtOnce int // see Drain
	// Of limits causes and steps to what these objects wait for; they are IDs, see [ID]. A CronJob
	// that is suspended is wrong only if it is one of them. Rest is
	// then whether nothing of theirs is stuck after the steps. Empty means everything.
	Of []string
}

// Other is an object, and what it waits for.
type Other struct {
	Kind      string // such as Subscription
	Namespace string // empty if it has none
	Name      string // of the object
	Phase     string // where it stands, as in "not installed"
	// Waits are what it waits for. The first one that does not pass by itself decides; the others
	// follow from it, or come later.
	Waits []OtherWait
}

// OtherWait is what an object waits for. Objects that wait for the same subject and reason have one
// cause.
type OtherWait struct {
	fairlead.Block
	Command string // that helps, or finds out more; runs as printed
	Passing bool   // it ends by itself
	Unknown bool   // it rests on something that is not known
}

// others adds what other engines explain.
func (b *builder) others() {
	for i := range b.more {
		o := &b.more[i]
		if len(o.Waits) == 0 {
			continue
		}
		w := &o.Waits[0]
		for k := range o.Waits {
			if !o.Waits[k].Passing {
				w = &o.Waits[k]
				break
			}
		}
		full := strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")
		x := Node{
			Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, State: Waiting, Reason: OtherWaiting, Since: w.Since,
			Says: strings.ToLower(o.Kind) + " " + full + ": " + cmp.Or(o.Phase, "it waits"), Owner: w.Owner,
		}
		id := b.add(x)
		state := Faulty
		if w.Passing {
			state = Going
		}
		cause := Node{
			ID: strings.ToLower(w.Subject) + "#" + w.Reason, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, State: state, Reason: w.Reason,
			Says: w.Message, Since: w.Since, Owner: w.Owner, Alike: w.Subject, do: w.Unblock, command: w.Command,
		}
		if !strings.Contains(cause.Says, o.Name) && !strings.Contains(cause.Says, o.Namespace) {
			cause.Says = strings.ToLower(o.Kind) + " " + full + ": " + w.Message
		}
		if w.Unknown {
			cause.Sure = Assumed
		}
		b.wait(id, b.add(cause), w.Reason, Derived)
		b.below(&cause)
	}
}

// below lets a cause that is about a catalog or the deployment of an operator wait for what is wrong with
// their pods: the pods themselves, or why there are none.
func (b *builder) below(cause *Node) {
	for i := range b.g.Nodes {
		n := &b.g.Nodes[i]
		if n.State == Going || strings.Contains(n.ID, "#") || !(b.catalogs(n, cause) || b.deployed(n, cause)) {
			continue
		}
		b.wait(cause.ID, n.ID, "Runs", Derived)
		for k := range b.g.Nodes {
			if b.g.Nodes[k].ID == cause.ID {
				b.g.Nodes[k].State = Waiting
			}
		}
	}
}

// catalogs reports whether a node of the graph is a pod of the catalog that a cause names.
func (b *builder) catalogs(n, cause *Node) bool {
	p := b.pod(n.Namespace, n.Name)
	if n.Kind != "Pod" || p == nil {
		return false
	}
	catalog := p.Labels["olm.catalogSource"]
	return catalog != "" && mentions(cause.Says, p.Namespace+"/"+catalog)
}

// deployed reports whether a node of the graph is the deployment that the command of a cause names, its
// ReplicaSet, or a pod of it; without owners, names decide.
func (b *builder) deployed(n, cause *Node) bool {
	if n.Namespace != cause.Namespace || !strings.Contains(cause.command, " deployment ") {
		return false
	}
	switch n.Kind {
	case "Pod":
		if p := b.pod(n.Namespace, n.Name); p != nil && p.ControllerOf() != nil {
			_, deployment, _ := strings.Cut(workload(p), "/")
			return mentions(cause.command, deployment)
		}
	case "ReplicaSet":
	case "Deployment":
		return mentions(cause.command, n.Name)
	default:
		return false
	}
	base := n.Name[:max(0, strings.LastIndexByte(n.Name, '-'))]
	return base != "" && mentions(cause.command, base)
}
