package diagnosis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver/olm/explain"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// olmWaits adds the operators that wait for something, and what for: of what an operator waits for, the
// first that does not pass by itself decides, and what has to be changed elsewhere is needed, too; the
// others follow from it, or come later.
func (b *builder) olmWaits() {
	for _, v := range b.operatorViews() {
		at := slices.IndexFunc(v.Waits, func(w explain.Wait) bool { return !w.Passing && !untold(v, &w) })
		if at < 0 {
			b.untold(v)
			at = slices.IndexFunc(v.Waits, func(w explain.Wait) bool { return w.Passing })
		}
		if at < 0 {
			continue
		}
		w := &v.Waits[at]
		full := strings.TrimPrefix(v.Namespace+"/"+v.Name, "/")
		x := Node{
			Kind: string(v.Kind), Namespace: v.Namespace, Name: v.Name, State: Waiting, Reason: OtherWaiting, Since: w.Since,
			Says: strings.ToLower(string(v.Kind)) + " " + full + ": " + cmp.Or(v.Phase, "it waits"), Owner: w.Owner,
		}
		id := b.add(x)
		for i := at; i < len(v.Waits); i++ {
			if w := &v.Waits[i]; i == at || !w.Passing && !untold(v, w) && (w.About != nil || len(w.Changes) > 0) {
				cause := olmCause(v, w)
				cause.or(v.Waits[i+1:])
				b.wait(id, b.add(cause), w.Reason, Derived)
				b.below(&cause)
			}
		}
	}
}

// untold reports whether a wait is only that something is not known, of an operator that is installed or has
// something else to wait for.
func untold(v *explain.View, w *explain.Wait) bool {
	return w.Unknown && (w.Reason != explain.ReasonNotKnown || v.Installed != "")
}

// untold adds what is not known of an operator to the gaps.
func (b *builder) untold(v *explain.View) {
	for i := range v.Waits {
		if w := &v.Waits[i]; untold(v, w) {
			g := cvo.Gap{What: v.Subject() + ": " + w.Message}
			if len(w.Commands) > 0 {
				g.How = b.program(w.Commands[0])
			}
			b.olmGaps = append(b.olmGaps, g)
			return
		}
	}
}

// or is what helps if a change alone does not: what the operator waits for next.
func (n *Node) or(later []explain.Wait) {
	for i := range later {
		if w := &later[i]; n.changes != nil && !w.Passing && len(w.Changes) == 0 && w.About == nil && len(w.Commands) > 0 {
			n.do, n.command = w.Unblock, w.Commands[0]
			return
		}
	}
}

// olmCause returns what an operator waits for: a fact about it, or about what its owner has to change.
func olmCause(v *explain.View, w *explain.Wait) Node {
	kind, namespace, name := v.Kind, v.Namespace, v.Name
	switch {
	case w.About != nil:
		kind, namespace, name = w.About.Kind, w.About.Namespace, w.About.Name
	case len(w.Changes) > 0:
		kind, namespace, name = w.Changes[0].Kind, w.Changes[0].Namespace, w.Changes[0].Name
	}
	n := Node{
		Kind: string(kind), Namespace: namespace, Name: name, State: Faulty, Reason: w.Reason, Says: w.Message, Since: w.Since, Owner: w.Owner,
		do: w.Unblock, changes: w.Changes,
	}
	n.ID = ID(n.Kind, n.Namespace, n.Name) + "#" + w.Reason
	n.Alike = n.ID
	if len(w.Commands) > 0 {
		n.command = w.Commands[0]
	}
	if w.Passing {
		n.State = Going
	}
	if w.Unknown {
		n.Sure = Assumed
	}
	if !strings.Contains(n.Says, v.Name) && !strings.Contains(n.Says, cmp.Or(v.Namespace, v.Name)) {
		n.Says = v.Subject() + ": " + w.Message
	}
	return n
}

// operatorViews returns the operators that wait for something.
func (w *world) operatorViews() []*explain.View {
	if w.olm != nil && w.views == nil {
		w.views = slices.DeleteFunc(w.olm.Operators(), func(v *explain.View) bool { return len(v.Waits) == 0 })
	}
	return w.views
}

// changeOperators makes changes of OLM's objects, and lets OLM notice them; false if one cannot be made, or
// fails.
func (w *world) changeOperators(changes []explain.Change) bool {
	after, err := w.olm.After(changes...)
	if err != nil {
		return false
	}
	for _, x := range changes { // OLM does not try again what failed
		if x.Kind == explain.KindInstallPlan && slices.ContainsFunc(after.Plans, func(p resource.InstallPlan) bool {
			return p.Namespace == x.Namespace && p.Name == x.Name && p.Status.Phase == "Failed"
		}) {
			return false
		}
	}
	w.olm, w.views = after, nil
	return true
}

// answers is the change of a catalog that answers again.
func answers(n *Node) []explain.Change {
	ready := map[string]any{"status": map[string]any{"connectionState": map[string]any{"lastObservedState": "READY"}, "reason": nil, "message": nil}}
	return []explain.Change{{Kind: explain.KindCatalogSource, Namespace: n.Namespace, Name: n.Name, Patch: ready}}
}

// olmRemedies: what has to be changed is changed; a catalog is repaired.
func (w *world) olmRemedies(n *Node) []remedy {
	if n.Kind == string(explain.KindCatalogSource) && n.Reason == explain.ReasonCatalogUnhealthy {
		r := w.knownRemedy(n)
		r.play = func(c *world) bool { return c.changeOperators(answers(n)) }
		return []remedy{r}
	}
	var commands []string
	for _, x := range n.changes {
		commands = append(commands, w.program(x.Command()))
	}
	made := remedy{Step{Do: upper(n.doing()), Command: strings.Join(commands, " && "), Tried: true}, func(c *world) bool { return c.changeOperators(n.changes) }}
	if n.changes[0].Command() == n.command { // nothing else is known to help
		return []remedy{made}
	}
	return []remedy{made, w.knownRemedy(n)}
}

// doing says what has to be changed.
func (n *Node) doing() string {
	x := &n.changes[0]
	name := x.Namespace + "/" + x.Name
	switch {
	case x.Kind == explain.KindInstallPlan:
		return "approve InstallPlan " + name
	case x.Create != nil:
		return "create operator group " + name
	case x.Kind == explain.KindOperatorGroup && x.Patch == nil:
		var names []string
		for i := range n.changes {
			names = append(names, n.changes[i].Name)
		}
		return "delete operator " + words.Plural(len(names), "group ", "groups ") + words.List(names, "and", 6) + " of namespace " + x.Namespace + ": exactly one may be there"
	case x.Kind == explain.KindOperatorGroup:
		return "operator group " + name + ": " + n.do
	case x.Kind == explain.KindSubscription && x.Patch == nil:
		return "delete subscription " + name + ": " + n.do
	case x.Kind == explain.KindSubscription:
		return "subscription " + name + ": " + n.do
	}
	return n.do
}

// below lets a cause that is about a catalog or the deployment of an operator wait for what is wrong with
// their pods: the pods themselves, or why there are none.
func (b *builder) below(cause *Node) {
	for i := range b.g.Nodes {
		n := &b.g.Nodes[i]
		if n.State == Going || strings.Contains(n.ID, "#") || !(b.catalogs(n, cause) || b.deployed(n, cause) || b.manages(n, cause)) {
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

// manages reports whether a node of the graph is a pod of OLM itself, and a cause is that nobody knows why
// an operator is not installed.
func (b *builder) manages(n, cause *Node) bool {
	p := b.pod(n.Namespace, n.Name)
	return n.Kind == "Pod" && cause.Sure == Assumed && p != nil && (p.Labels["app"] == "catalog-operator" || p.Labels["app"] == "olm-operator")
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
	if cut := strings.LastIndexByte(base, '-'); n.Kind == "Pod" && cut > 0 { // without an owner: its ReplicaSet's hash, too
		base = base[:cut]
	}
	return base != "" && mentions(cause.command, base)
}
