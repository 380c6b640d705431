package explain

import (
	"cmp"
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/solver/olm/gate"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// Blocking are the operators that block an update of the cluster from one version of
// OpenShift to another, "" meaning the next minor one, with what frees each: by OLM's
// rules those whose property olm.maxOpenShiftVersion is below it. The answer is only
// about the CSVs that are known. The error says that a version is none.
func (c *Cluster) Blocking(current, target string) ([]*View, error) {
	decide := func() (gate.Verdict, []gate.Incompatible, error) { return gate.ClusterUpdate(current, target, c.CSVs) }
	if target == "" {
		decide = func() (gate.Verdict, []gate.Incompatible, error) { return gate.NextMinor(current, c.CSVs) }
		target = "the next minor version"
	}
	_, found, err := decide()
	if err != nil {
		return nil, err
	}
	var views []*View
	for i := range found {
		csv := c.csv(found[i].Operator.Namespace, found[i].Operator.Name)
		v := &View{Kind: KindCSV, Namespace: csv.Namespace, Name: csv.Name, Phase: cmp.Or(string(csv.Status.Phase), "not processed yet")}
		c.frees(v, csv, &found[i], target)
		views = append(views, v)
	}
	sortViews(views)
	return views, nil
}

// frees adds why an operator blocks an update of the cluster, and what ends that.
func (c *Cluster) frees(v *View, csv *resource.ClusterServiceVersion, found *gate.Incompatible, target string) {
	w := Wait{Block: fairlead.Block{Reason: gate.ReasonIncompatible, Owner: "whoever owns the operator",
		Message: fmt.Sprintf("%s supports OpenShift up to %s, so the cluster may not be updated to %s", csv.Name, found.Max, target)}}
	if found.Max == "" {
		w.Message = fmt.Sprintf("%s does not say up to which OpenShift it works: %s", csv.Name, found.Problem)
	}
	sub := c.owner(csv)
	switch {
	case sub == nil:
		w.Unblock = "no subscription updates it: delete it, and subscribe to its package, or do without it"
		w.Commands = []string{shell.Command("kubectl delete csv -n %s %s", csv.Namespace, csv.Name)}
		v.add(w)
		return
	case c.Answers[csv.Namespace] == nil:
		w.Unblock = fmt.Sprintf("update it through subscription %s to a version that supports more (with -catalog it is shown whether there is one)", sub.Name)
		w.Commands = []string{c.listHeads(sub)}
	case c.next(sub.Namespace, sub.Name) == nil:
		w.Unblock = fmt.Sprintf("channel %s has no update for it: change spec.channel of subscription %s to one whose operator supports more, or do without it", sub.Spec.Channel, sub.Name)
		w.Commands = []string{c.listHeads(sub)}
	default:
		next := c.next(sub.Namespace, sub.Name)
		w.Unblock = fmt.Sprintf("let subscription %s update it to %s, %s", sub.Name, next.CSV, next.supports())
	}
	v.add(w)
	v.Waits = append(v.Waits, c.subscription(sub).Waits...) // what keeps it from being updated
}

// supports says up to which OpenShift a version works, as far as its catalog states it.
func (n *Next) supports() string {
	if n.MaxOpenShift == "" {
		return "which states no limit"
	}
	return "which works up to " + n.MaxOpenShift
}

// listHeads lists the channels of a subscription's package, each with its newest
// version.
func (c *Cluster) listHeads(sub *resource.Subscription) string {
	path := `jsonpath={range .items[?(@.metadata.name=="` + sub.Spec.Package + `")].status.channels[*]}{.name}{"\t"}{.currentCSV}{"\n"}{end}`
	return shell.Command("kubectl get packagemanifests -n %s -l %s -o %s", sub.Namespace, "catalog="+sub.Spec.Source, path)
}
