package diagnosis

import (
	"strings"
)

// served adds what services, the APIs behind them, and whoever waits for these APIs wait for: pods of the
// service that are in trouble.
func (b *builder) served() {
	for i := range b.g.Nodes {
		switch n := &b.g.Nodes[i]; n.Kind {
		case "Service":
			b.servedBy(n, n.Namespace, n.Name)
		case "APIService":
			for k := range b.apis {
				if a := &b.apis[k]; a.Name == n.Name && a.Spec.Service != nil {
					b.servedBy(n, a.Spec.Service.Namespace, a.Spec.Service.Name)
				}
			}
		case "Namespace":
			b.discovers(n)
		}
	}
}

// servedBy adds the pods in trouble that a service seems to have: those of its namespace that begin with its
// name.
func (b *builder) servedBy(n *Node, namespace, service string) {
	for i := range b.g.Nodes {
		p := &b.g.Nodes[i]
		if p.Kind == "Pod" && p.Namespace == namespace && strings.HasPrefix(p.Name, service) && p.State != Going && !strings.Contains(p.ID, "#") {
			b.wait(n.ID, p.ID, "Serves", Assumed)
			n.State = Waiting
		}
	}
}

// discovers adds the APIs that do not answer to a namespace that waits for them.
func (b *builder) discovers(n *Node) {
	if n.Reason != "NamespaceDiscovery" {
		return
	}
	for i := range b.apis {
		a := &b.apis[i]
		if id := ID("APIService", "", a.Name); b.have[id] && strings.Contains(n.Quote, a.Spec.Group+"/"+a.Spec.Version) {
			b.wait(n.ID, id, "Discovers", Derived)
			n.State = Waiting
		}
	}
}
