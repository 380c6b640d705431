package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// Reasons of waits about resolution.
const (
	ReasonResolutionFailed = "ResolutionFailed" // OLM cannot choose an operator
	ReasonNotSatisfiable   = "ConstraintsNotSatisfiable"
	ReasonNoPackage        = "PackageMissing"       // the subscription names none
	ReasonNotYet           = "NotYetInstalled"      // nothing prevents it
	ReasonNotKnown         = "CauseNotKnown"        // nothing that is known says why it is not installed
	ReasonTerminating      = "NamespaceTerminating" // its namespace is being deleted
)

// Subscription is the view of one subscription; nil if the cluster does not have
// it.
func (c *Cluster) Subscription(namespace, name string) *View {
	for _, sub := range c.subscriptions(namespace) {
		if sub.Name == name {
			return c.subscription(sub)
		}
	}
	return nil
}

// subscription goes through what OLM does for a subscription, in its order:
// catalogs, resolution, unpacking, operator group, install plan, CSV, and the
// update that comes next.
func (c *Cluster) subscription(sub *resource.Subscription) *View {
	v := &View{Kind: KindSubscription, Namespace: sub.Namespace, Name: sub.Name, Installed: sub.Status.InstalledCSV}
	if n := c.next(sub.Namespace, sub.Name); n != nil {
		v.Next = n.CSV
		v.Notes = append(v.Notes, n.Deprecated...)
	} else if now := sub.Status.CurrentCSV; now != v.Installed {
		v.Next = now
	}
	c.namespaceGoes(v, v.Namespace, "subscription")
	c.goes(v, sub)
	if sub.Spec.Package == "" {
		v.add(Wait{Block: fairlead.Block{Reason: ReasonNoPackage, Message: "the subscription names no package", Owner: "whoever owns the subscription",
			Unblock: "write the package's name as spec.name"}, Commands: []string{shell.Command("kubectl edit subscriptions.operators.coreos.com -n %s %s", sub.Namespace, sub.Name)}})
	}
	c.catalogs(v, sub)
	c.resolution(v, sub)
	c.groups(v, sub)
	c.unpacked(v, sub)
	c.operator(v, sub)
	c.upgradeable(v, sub)
	c.deprecated(v, sub)
	c.leave(v, sub)
	c.nothing(v, "OLM", shell.Command("kubectl describe subscriptions.operators.coreos.com -n %s %s", sub.Namespace, sub.Name))
	v.Phase = c.phase(sub)
	return c.late(v)
}

// nothing adds, where nothing is installed and nothing says why, that OLM comes to
// it, or that it is not known.
func (c *Cluster) nothing(v *View, owner, command string) {
	switch {
	case v.Installed != "" || len(v.Waits) > 0:
	case v.Next != "" || c.retried[v.Namespace]:
		next := cmp.Or(v.Next, "OLM resolves its namespace again")
		if v.Next != "" {
			next += " is next"
		}
		v.add(Wait{Passing: true, Block: fairlead.Block{Reason: ReasonNotYet, Message: "nothing prevents it: " + next, Owner: owner,
			Unblock: "wait until " + owner + " installs it"}})
	default:
		v.add(Wait{Unknown: true, Block: fairlead.Block{Reason: ReasonNotKnown, Message: "nothing is installed, and nothing that is known says why", Owner: owner,
			Unblock: "look at its status and events, and whether " + owner + " runs"}, Commands: []string{command}})
	}
}

// namespaceGoes says that the namespace of an operator is being deleted: nothing can be
// created in it any more. What else is in it has to be created again, too.
func (c *Cluster) namespaceGoes(v *View, namespace, what string) {
	for i := range c.Namespaces {
		n := &c.Namespaces[i]
		if n.Name != namespace || n.DeletionTimestamp == nil {
			continue
		}
		v.add(Wait{Block: fairlead.Block{Subject: "namespace " + n.Name, Reason: ReasonTerminating, Since: *n.DeletionTimestamp,
			Message: fmt.Sprintf("namespace %s is being deleted, and nothing can be created in it any more", n.Name), Owner: "whoever deleted the namespace",
			Unblock: "see what keeps the namespace; to install the operator again, create the namespace and the " + what + " again once it is gone"},
			Commands: []string{shell.Command("kubectl get namespace %s -o %s", n.Name, "jsonpath={.status.conditions}")}})
	}
}

// unpacked adds what the plan waits for, and what is known of unpacking.
func (c *Cluster) unpacked(v *View, sub *resource.Subscription) {
	at := len(v.Waits)
	c.plans(v, sub)
	planned := v.Waits[at:]
	v.Waits = v.Waits[:at:at]
	rest := &View{Kind: v.Kind, Namespace: v.Namespace, Name: v.Name, Waits: planned}
	c.unpackConditions(rest, sub)
	if n := len(rest.Waits); n > len(planned) { // it comes before the plan
		v.Waits = append(v.Waits, rest.Waits[n-1])
		rest.Waits = rest.Waits[:n-1]
	}
	v.Waits = append(v.Waits, rest.Waits...)
}

// phase says where a subscription stands.
func (c *Cluster) phase(sub *resource.Subscription) string {
	installed := sub.Status.InstalledCSV
	if installed == "" {
		return "not installed"
	}
	csv := c.csv(sub.Namespace, installed)
	switch {
	case csv != nil:
		return fmt.Sprintf("%s is %s", installed, cmp.Or(string(csv.Status.Phase), "not processed yet"))
	case c.known(KindCSV, sub.Namespace):
		return installed + " is gone"
	}
	return installed + " is installed"
}

// commands are those of the steps of an advice.
func commands(namespace string, steps []olm.Step) (list []string) {
	for _, s := range steps {
		x := Change{Kind: KindSubscription, Namespace: namespace, Name: s.Subscription}
		switch {
		case s.CSV != "":
			x.Kind, x.Name = KindCSV, s.CSV
		case s.Spec != nil:
			x.Patch = map[string]any{"spec": s.Spec}
		}
		list = append(list, x.Command())
	}
	return list
}

// resolution adds why OLM cannot choose an operator.
func (c *Cluster) resolution(v *View, sub *resource.Subscription) {
	a := c.Answers[sub.Namespace]
	failed := holds(sub.Status.Conditions, "ResolutionFailed")
	if a != nil && a.Refused != nil {
		w := Wait{Block: fairlead.Block{Reason: ReasonNotSatisfiable, Message: strings.Join(a.Refused, "; "), Since: since(failed),
			Owner: "whoever owns the subscriptions of namespace " + sub.Namespace, Unblock: cmp.Or(a.Advice, "no change of one thing helps: see what resolve says")}, Commands: commands(sub.Namespace, a.Steps)}
		if failed != nil {
			if what := c.unsatisfied(sub, failed.Message); what.owner != "" { // OLM says it, with a command
				w.Owner, w.Unblock, w.Commands = what.owner, what.unblock, what.commands
				w.does(what.changes...)
			}
		}
		v.add(w)
		return
	}
	if failed == nil {
		return
	}
	w := c.resolutionFailed(sub, failed, cmp.Or(failed.Reason, ReasonResolutionFailed))
	if a != nil {
		w.Unblock = "nothing prevents it with the catalogs given here: wait until OLM resolves again, or compare them with what the cluster has"
		w.Commands = []string{c.listPackages(sub.Namespace, sub.Name)}
	}
	v.add(w)
}

// operator adds what the CSV waits for that OLM has chosen last.
func (c *Cluster) operator(v *View, sub *resource.Subscription) {
	names := []string{sub.Status.CurrentCSV}
	if sub.Status.InstalledCSV != sub.Status.CurrentCSV {
		names = append(names, sub.Status.InstalledCSV)
	}
	for _, name := range names {
		if csv := c.csv(sub.Namespace, name); csv != nil {
			c.csvWaits(v, csv)
		}
	}
	switch gone := sub.Status.InstalledCSV; {
	case gone == "" || c.csv(sub.Namespace, gone) != nil || c.planned(sub):
	case !c.known(KindCSV, sub.Namespace):
		v.add(Wait{Unknown: true, Block: fairlead.Block{Reason: ReasonNotKnown, Message: "how " + gone + " is: its ClusterServiceVersion is not known", Owner: "whoever looks",
			Unblock: "look at it"}, Commands: []string{shell.Command("kubectl get csv -n %s %s -o yaml", sub.Namespace, gone)}})
	default:
		v.add(Wait{Block: fairlead.Block{Reason: ReasonCSVGone, Message: fmt.Sprintf("the subscription says that %s is installed, but there is no such CSV", gone),
			Owner: "whoever owns the subscription", Unblock: "create the subscription again, so that OLM installs it"}, Commands: c.recreate(sub)})
	}
}

// planned reports whether a plan of the subscription is still under way.
func (c *Cluster) planned(sub *resource.Subscription) bool {
	if sub.Status.InstallPlanRef == nil {
		return false
	}
	p := c.plan(sub.Namespace, sub.Status.InstallPlanRef.Name)
	return p != nil && p.Status.Phase != "Complete"
}

// deprecated notes the deprecations that a subscription's status has.
func (c *Cluster) deprecated(v *View, sub *resource.Subscription) {
	for _, kind := range []string{"PackageDeprecated", "ChannelDeprecated", "BundleDeprecated"} {
		if at := holds(sub.Status.Conditions, kind); at != nil {
			v.Notes = append(v.Notes, kind+": "+clause(at.Message))
		}
	}
}

// Operators are the views of all subscriptions, of the CSVs that have none, and of
// all extensions: the blocked first, then those that wait, then the others.
func (c *Cluster) Operators() []*View {
	var all []*View
	for i := range c.Subscriptions {
		all = append(all, c.subscription(&c.Subscriptions[i]))
	}
	for i := range c.CSVs {
		csv := &c.CSVs[i]
		if !csv.Copied() && csv.Labels["olm.copiedFrom"] == "" && c.owner(csv) == nil {
			all = append(all, c.CSV(csv.Namespace, csv.Name))
		}
	}
	for i := range c.Extensions {
		all = append(all, c.extension(&c.Extensions[i]))
	}
	sortViews(all)
	return all
}
