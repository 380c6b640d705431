package diagnosis

import (
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
)

// namespacesEnd adds the namespaces whose deletion waits for finalizers of their own: what is in a
// namespace, and holds it, its conditions tell.
func (b *builder) namespacesEnd() {
	for i := range b.held {
		n := &b.held[i]
		if b.age(*n.DeletionTimestamp) < startTime || b.have[ID("Namespace", "", n.Name)] {
			continue
		}
		noun := "finalizer"
		if len(n.Finalizers) > 1 {
			noun = "finalizers"
		}
		x := Node{Kind: "Namespace", Name: n.Name, State: Faulty, Reason: NamespaceHeld, Since: *n.DeletionTimestamp, Sure: Derived, Owner: "owner of the finalizer"}
		x.Says = "namespace " + n.Name + " cannot be deleted: it has the " + noun + " " + words.List(n.Finalizers, "and", 3) + " itself, and no object in it is known to hold it"
		x.do = "bring back the controller of its finalizer; remove the finalizer only if that controller is gone for good"
		x.command = shell.Command("kubectl get namespace %s -o yaml", n.Name)
		b.add(x)
	}
}
