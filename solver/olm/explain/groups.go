package explain

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// ReasonAccountMissing means that the service account that the operator group names
// does not exist.
const ReasonAccountMissing = "ServiceAccountMissing"

const ownsGroups = "whoever owns the operator groups"

// groups adds what the operator groups of a namespace mean for a subscription:
// without exactly one nothing is installed, and the operator that comes next must
// support what it selects.
func (c *Cluster) groups(v *View, sub *resource.Subscription) {
	next := c.next(sub.Namespace, sub.Name)
	g, err := group.Sole(c.Groups, sub.Namespace)
	var sole *group.SoleError
	if errors.As(err, &sole) {
		v.add(c.notOne(sole, next))
		return
	}
	if a := g.Spec.ServiceAccountName; a != "" && g.Status.ServiceAccountRef == nil && len(g.Status.Namespaces) > 0 {
		v.add(Wait{Block: fairlead.Block{Reason: ReasonAccountMissing, Owner: ownsGroups,
			Message: fmt.Sprintf("operator group %s names service account %s, which OLM has not found: it installs nothing meanwhile", g.Name, a),
			Unblock: "create it, with the permissions that the operator needs"},
			Commands: []string{shell.Command("kubectl create serviceaccount -n %s %s", sub.Namespace, a)}})
	}
	targets, known := c.targets(g)
	switch {
	case !known:
		return
	case len(targets) == 0:
		v.add(Wait{Block: fairlead.Block{Reason: string(group.ReasonNoTargetNamespaces), Owner: ownsGroups,
			Message: fmt.Sprintf("operator group %s selects no namespaces, so OLM fails every operator of namespace %s", g.Name, sub.Namespace),
			Unblock: "label a namespace so that spec.selector matches it, or name some in spec.targetNamespaces"},
			Commands: []string{shell.Command("kubectl edit operatorgroup -n %s %s", sub.Namespace, g.Name)}})
	}
	for _, n := range c.chain(sub.Namespace, sub.Name) {
		if !n.ModesKnown || len(targets) == 0 {
			continue
		}
		if err := n.Modes.Supports(sub.Namespace, targets); err != nil {
			w := c.unsupported(g, sub.Namespace, n, err)
			if n != next {
				w.Message = fmt.Sprintf("%s requires %s: ", next.CSV, n.CSV) + w.Message
			}
			v.add(w)
		}
	}
}

// targets are the namespaces that a group selects; known is false if that depends
// on labels of namespaces that are not known.
func (c *Cluster) targets(g *group.OperatorGroup) (targets []string, known bool) {
	if len(g.Spec.TargetNamespaces) == 0 && g.Spec.Selector != nil && !c.known(KindNamespace, "") {
		return g.Status.Namespaces, len(g.Status.Namespaces) > 0
	}
	targets, err := g.Targets(c.Namespaces)
	return targets, err == nil
}

// notOne is the wait of a namespace without exactly one operator group.
func (c *Cluster) notOne(e *group.SoleError, next *Next) Wait {
	w := Wait{Block: fairlead.Block{Reason: string(e.Reason()), Owner: ownsGroups}}
	if len(e.Found) > 0 {
		found := slices.Sorted(slices.Values(e.Found))
		w.Message = fmt.Sprintf("namespace %s has %d operator groups, %s: OLM installs nothing there until there is exactly one", e.Namespace, len(found), strings.Join(found, ", "))
		keep := c.keep(e.Namespace, found, next)
		w.Unblock = fmt.Sprintf("delete all but one; %s can stay", keep)
		var others []Change
		for _, name := range found {
			if name != keep {
				others = append(others, Change{Kind: KindOperatorGroup, Namespace: e.Namespace, Name: name})
			}
		}
		w.does(others...)
		return w
	}
	w.Message = fmt.Sprintf("namespace %s has no operator group: OLM installs nothing there without one", e.Namespace)
	w.Unknown = !c.known(KindOperatorGroup, e.Namespace)
	if w.Unknown {
		w.Message = fmt.Sprintf("no operator group of namespace %s is known, nor any other one: without one OLM installs nothing there", e.Namespace)
	}
	spec, what := groupFor(e.Namespace, next)
	w.Unblock = fmt.Sprintf("create one; this one selects %s", what)
	w.does(Change{Kind: KindOperatorGroup, Namespace: e.Namespace, Name: e.Namespace, Create: spec})
	if w.Unknown { // there may be one
		w.Changes = nil
	}
	return w
}

// keep is the group that may stay: the first one that suits the next operator.
func (c *Cluster) keep(namespace string, found []string, next *Next) string {
	for _, name := range found {
		for i := range c.Groups {
			g := &c.Groups[i]
			if g.Namespace != namespace || g.Name != name {
				continue
			}
			targets, known := c.targets(g)
			if !known || len(targets) == 0 || next != nil && next.ModesKnown && next.Modes.Supports(namespace, targets) != nil {
				continue
			}
			return name
		}
	}
	return found[0]
}

// groupFor is the spec of an operator group that suits an operator.
func groupFor(namespace string, next *Next) (spec map[string]any, what string) {
	own := map[string]any{"targetNamespaces": []any{namespace}}
	if next == nil || !next.ModesKnown {
		return own, "the namespace itself, which suits operators with install mode OwnNamespace"
	}
	switch {
	case next.Modes.Supports(namespace, []string{namespace}) == nil:
		return own, fmt.Sprintf("the namespace itself, which %s supports", next.CSV)
	case next.Modes.Supports(namespace, []string{group.AllNamespaces}) == nil:
		return map[string]any{}, fmt.Sprintf("all namespaces, the only selection that %s supports without others", next.CSV)
	}
	return own, fmt.Sprintf("the namespace itself, which %s does not support: name other namespaces in spec.targetNamespaces", next.CSV)
}

// create is the command that creates an object.
func create(apiVersion, kind, namespace, name string, spec map[string]any) string {
	return shell.Print(shell.JSON(map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name, "namespace": namespace}, "spec": spec,
	})) + " | " + shell.Command("kubectl create -f -")
}

// unsupported is the wait of an operator that comes next and does not support what
// the group selects. OLM installs it nevertheless, and then fails it.
func (c *Cluster) unsupported(g *group.OperatorGroup, namespace string, next *Next, err error) Wait {
	w := Wait{Block: fairlead.Block{Reason: string(group.ReasonUnsupportedOperatorGroup), Owner: ownsGroups}}
	problem := err.Error()
	var mode *group.ModeError
	if errors.As(err, &mode) {
		problem = mode.Problem
	}
	w.Message = fmt.Sprintf("%s does not fit operator group %s: %s; OLM installs it nevertheless, and it fails", next.CSV, g.Name, problem)
	if next.Updates != "" {
		w.Message = fmt.Sprintf("the update of %s to %s does not fit operator group %s: %s; OLM updates it nevertheless, and it fails", next.Updates, next.CSV, g.Name, problem)
	}
	c.reselect(&w, g, namespace, next.Modes)
	return w
}

// reselect adds to a wait what makes a group suit install modes.
func (c *Cluster) reselect(w *Wait, g *group.OperatorGroup, namespace string, modes group.InstallModes) {
	patch := func(text string, spec map[string]any) {
		w.Unblock = text
		w.does(Change{Kind: KindOperatorGroup, Namespace: namespace, Name: g.Name, Patch: map[string]any{"spec": spec}})
	}
	others := 0
	for i := range c.CSVs {
		if c.CSVs[i].Namespace == namespace && !c.CSVs[i].Copied() {
			others++
		}
	}
	more := ""
	if others > 1 {
		more = fmt.Sprintf("; the group serves all %d operators of the namespace: all must support the selection, or move to a namespace of their own", others)
	}
	switch {
	case modes.Supports(namespace, []string{group.AllNamespaces}) == nil:
		patch("make the group select all namespaces"+more, map[string]any{"targetNamespaces": nil, "selector": nil})
	case modes.Supports(namespace, []string{namespace}) == nil:
		patch("make the group select its own namespace"+more, map[string]any{"targetNamespaces": []any{namespace}, "selector": nil})
	case modes.Supports(namespace, []string{"other"}) == nil:
		w.Unblock = "name one other namespace in spec.targetNamespaces" + more
		w.Commands = []string{shell.Command("kubectl edit operatorgroup -n %s %s", namespace, g.Name)}
	default:
		w.Unblock = "choose another version: this one supports no install mode that a group can select"
	}
}
