package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// Reasons of waits about install plans.
const (
	ReasonRequiresApproval = "RequiresApproval"            // somebody has to approve it
	ReasonPlanFailed       = "InstallPlanFailed"           // OLM does not try it again
	ReasonPlanInstalling   = "InstallPlanInstalling"       // its steps are being applied
	ReasonPlanMissing      = "InstallPlanMissing"          // the subscription names one that does not exist
	ReasonPlanUnknown      = "InstallPlanUnknown"          // the subscription names one that is not known
	ReasonManual           = "ManualApproval"              // the plan to come will need approval
	ReasonUnpackFailed     = "BundleUnpackFailed"          // a bundle could not be unpacked
	ReasonUnpacking        = "BundleUnpacking"             // a bundle is being unpacked
	ReasonPermission       = "PermissionDenied"            // the service account may not do what the plan needs
	ReasonPlanEmpty        = "InstallPlanEmpty"            // OLM does not process it
	ReasonCSVGone          = "InstalledCSVMissing"         // what was installed is not there any more
	ReasonCRDLoss          = "CustomResourceStoredVersion" // the plan would drop a version in which objects are stored
)

// The labels and annotations by which OLM finds the jobs that unpack bundles, and
// tries them again (bundle_unpacker.go of OLM).
const (
	unpackLabel      = "operatorframework.io/bundle-unpack-ref"
	unpackRetry      = "operatorframework.io/bundle-unpack-min-retry-interval"
	unpackRetryValue = "5m"
)

// plans adds what the install plan of a subscription waits for.
func (c *Cluster) plans(v *View, sub *resource.Subscription) {
	ref := sub.Status.InstallPlanRef
	if ref == nil {
		c.manual(v, sub)
		return
	}
	p := c.plan(sub.Namespace, ref.Name)
	if p == nil {
		c.noPlan(v, sub, ref.Name)
		return
	}
	c.planWaits(v, p)
	if p.Status.Phase == "Complete" {
		c.undone(v, sub, p)
		c.manual(v, sub)
	}
	n := 0
	for i := range c.Plans {
		if c.Plans[i].Namespace == sub.Namespace {
			n++
		}
	}
	if n > manyPlans {
		v.Notes = append(v.Notes, fmt.Sprintf("namespace %s has %d InstallPlans, of which OLM keeps few: something makes it resolve again and again", sub.Namespace, n))
	}
}

// manyPlans are more plans than OLM leaves in a namespace: it deletes old ones above
// five, which it does not where it is older than 0.16 or has no time.
const manyPlans = 20

// undone adds that a plan is complete, and what it installed is gone: OLM neither
// repeats the plan nor makes another one.
func (c *Cluster) undone(v *View, sub *resource.Subscription, p *resource.InstallPlan) {
	name := sub.Status.CurrentCSV
	if name == "" || name == sub.Status.InstalledCSV || c.csv(sub.Namespace, name) != nil || !c.known(KindCSV, sub.Namespace) {
		return
	}
	v.add(Wait{Block: fairlead.Block{Reason: ReasonCSVGone, Message: fmt.Sprintf("InstallPlan %s is complete, but its CSV %s does not exist: somebody deleted it", p.Name, name), Owner: "whoever owns the subscription",
		Unblock: "create the subscription again: OLM makes no other plan for this one" + c.pause(sub)}, Commands: c.recreate(sub)})
}

// manual says that the plan to come needs approval.
func (c *Cluster) manual(v *View, sub *resource.Subscription) {
	who := c.manuals(sub.Namespace)
	if len(who) == 0 {
		return
	}
	next := c.next(sub.Namespace, sub.Name)
	if v.Installed != "" && next == nil {
		return // nothing is known to come
	}
	text := "the InstallPlan that OLM makes needs approval"
	if next != nil {
		text = fmt.Sprintf("the InstallPlan that OLM makes for %s needs approval", next.CSV)
	}
	v.add(Wait{Block: fairlead.Block{Reason: ReasonManual, Message: text + ": installPlanApproval is Manual in subscription " + strings.Join(who, ", "),
		Owner: "whoever may approve install plans", Unblock: "approve it once it is there, or set installPlanApproval to Automatic"},
		Commands: []string{shell.Command("kubectl get installplans -n %s", sub.Namespace)}})
}

// manuals are the subscriptions of a namespace whose approval is Manual: one of
// them makes all plans of the namespace wait.
func (c *Cluster) manuals(namespace string) []string {
	var who []string
	for _, s := range c.subscriptions(namespace) {
		if s.Spec.InstallPlanApproval == resource.ApprovalManual {
			who = append(who, s.Name)
		}
	}
	return who
}

// noPlan says that the plan of a subscription is not there.
func (c *Cluster) noPlan(v *View, sub *resource.Subscription, name string) {
	failed, pending := holds(sub.Status.Conditions, "InstallPlanFailed"), holds(sub.Status.Conditions, "InstallPlanPending")
	switch {
	case holds(sub.Status.Conditions, "InstallPlanMissing") != nil || c.known(KindInstallPlan, sub.Namespace):
		v.add(Wait{Block: fairlead.Block{Reason: ReasonPlanMissing, Message: fmt.Sprintf("the subscription names InstallPlan %s, which does not exist", name),
			Since: since(fairlead.FindCondition(sub.Status.Conditions, "InstallPlanMissing")), Owner: "whoever owns the subscription",
			Unblock: "create the subscription again: OLM makes no other plan for this one" + c.pause(sub)}, Commands: c.recreate(sub)})
	case failed != nil:
		v.add(Wait{Block: fairlead.Block{Reason: ReasonPlanFailed, Message: fmt.Sprintf("InstallPlan %s failed: %s", name, detail(failed.Reason, failed.Message)),
			Since: failed.LastTransitionTime, Owner: "whoever owns the subscription", Unblock: "find out why"},
			Commands: []string{shell.Command("kubectl describe installplan -n %s %s", sub.Namespace, name)}})
	case pending != nil && pending.Reason == ReasonRequiresApproval:
		v.add(c.approval(sub.Namespace, name, nil, pending))
	case c.csv(sub.Namespace, sub.Status.CurrentCSV) != nil: // it has done its part
	case pending != nil || sub.Status.State == resource.StateUpgradePending:
		v.add(Wait{Unknown: true, Block: fairlead.Block{Reason: ReasonPlanUnknown, Message: fmt.Sprintf("InstallPlan %s is under way, and nothing more is known of it", name),
			Since: since(pending), Owner: "OLM", Unblock: "look at it"}, Commands: []string{shell.Command("kubectl describe installplan -n %s %s", sub.Namespace, name)}})
	}
}

// approval is the wait of a plan for approval.
func (c *Cluster) approval(namespace, name string, csvs []string, at *fairlead.Condition) Wait {
	text := fmt.Sprintf("InstallPlan %s waits for approval", name)
	if len(csvs) > 0 {
		text += " to install " + strings.Join(csvs, ", ")
	}
	if who := c.manuals(namespace); len(who) > 0 {
		text += fmt.Sprintf(" (installPlanApproval is Manual in subscription %s)", strings.Join(who, ", "))
	}
	w := Wait{Block: fairlead.Block{Reason: ReasonRequiresApproval, Message: text, Since: since(at), Owner: "whoever may approve install plans", Unblock: "approve it"}}
	w.does(Change{Kind: KindInstallPlan, Namespace: namespace, Name: name, Patch: map[string]any{"spec": map[string]any{"approved": true}}})
	return w
}

// planWaits adds what a plan waits for.
func (c *Cluster) planWaits(v *View, p *resource.InstallPlan) {
	c.unpacking(v, p)
	installed := fairlead.FindCondition(p.Status.Conditions, "Installed")
	switch p.Status.Phase {
	case "RequiresApproval":
		if p.Spec.Approved {
			break // OLM has not seen it yet
		}
		v.add(c.approval(p.Namespace, p.Name, p.Spec.ClusterServiceVersionNames, nil))
		c.lostVersions(v, p)
	case "Failed":
		v.add(c.failedPlan(p, installed))
	case "Complete":
	case "":
		v.add(Wait{Block: fairlead.Block{Reason: ReasonPlanEmpty, Message: fmt.Sprintf("InstallPlan %s has no status, and OLM processes none that has none", p.Name), Owner: "whoever owns the namespace", Since: p.CreationTimestamp,
			Unblock: "if it stays so for a minute, delete it: OLM makes another one"}, Commands: []string{shell.Command("kubectl delete installplan -n %s %s", p.Namespace, p.Name)}})
	default:
		if installed != nil && installed.Status == fairlead.ConditionFalse {
			v.add(c.stuckPlan(p, installed))
			return
		}
		text := fmt.Sprintf("OLM is carrying out InstallPlan %s", p.Name)
		if p.Status.Message != "" {
			text += ": " + clause(p.Status.Message)
		}
		v.add(Wait{Passing: p.Status.Message == "", Block: fairlead.Block{Reason: ReasonPlanInstalling, Message: text, Since: p.Status.StartTime, Owner: "OLM",
			Unblock: "wait until it is complete"}, Commands: []string{shell.Command("kubectl get installplan -n %s %s -o yaml", p.Namespace, p.Name)}})
	}
}

// stuckPlan is a plan that OLM tries again and again.
func (c *Cluster) stuckPlan(p *resource.InstallPlan, installed *fairlead.Condition) Wait {
	return Wait{Block: fairlead.Block{Reason: cmp.Or(installed.Reason, ReasonPlanInstalling),
		Message: fmt.Sprintf("InstallPlan %s does not proceed: %s", p.Name, clause(cmp.Or(installed.Message, p.Status.Message))),
		Since:   since(installed), Owner: "whoever owns the namespace", Unblock: "remove the cause; OLM tries again by itself"},
		Commands: []string{shell.Command("kubectl get operatorgroups,serviceaccounts -n %s", p.Namespace)}}
}

// failedPlan is a plan that OLM does not try again.
func (c *Cluster) failedPlan(p *resource.InstallPlan, installed *fairlead.Condition) Wait {
	message, reason := p.Status.Message, ""
	if installed != nil {
		message, reason = cmp.Or(installed.Message, message), installed.Reason
	}
	w := Wait{Block: fairlead.Block{Reason: ReasonPlanFailed, Since: since(installed), Owner: "whoever owns the namespace",
		Message: fmt.Sprintf("InstallPlan %s failed: %s", p.Name, detail(reason, message))}}
	if len(p.Spec.ClusterServiceVersionNames) > 0 {
		w.Message = fmt.Sprintf("InstallPlan %s for %s failed: %s", p.Name, strings.Join(p.Spec.ClusterServiceVersionNames, ", "), detail(reason, message))
	}
	cause := c.planCause(message)
	w.Owner, w.Commands = cmp.Or(cause.owner, w.Owner), cause.commands
	if cause.reason != "" {
		w.Reason = cause.reason
	}
	then, commands := c.again(p)
	w.Unblock = cmp.Or(cause.unblock, "remove the cause") + "; then " + then
	w.Commands = append(w.Commands, commands...)
	return w
}

// again is what makes OLM resolve again after a plan that it does not repeat. It
// clears the reference of a subscription whose plan is gone, if the subscription is
// UpgradePending (subscription/state.go of OLM); a CSV that exists ends that state.
func (c *Cluster) again(p *resource.InstallPlan) (text string, commands []string) {
	var stuck []*resource.Subscription
	for _, sub := range c.subscriptions(p.Namespace) {
		if ref := sub.Status.InstallPlanRef; ref != nil && ref.Name == p.Name && !c.resolvesWithout(sub) {
			stuck = append(stuck, sub)
		}
	}
	if stuck == nil {
		return "delete the plan: OLM makes another one, because it does not repeat one that failed", []string{shell.Command("kubectl delete installplan -n %s %s", p.Namespace, p.Name)}
	}
	for _, sub := range stuck {
		commands = append(commands, c.recreate(sub)...)
	}
	return "create the subscription again, because OLM does not repeat a plan that failed" + c.pause(stuck[0]), commands
}

// resolvesWithout reports whether OLM resolves a subscription again once its plan is
// gone.
func (c *Cluster) resolvesWithout(sub *resource.Subscription) bool {
	return (sub.Status.State == resource.StateUpgradePending || sub.Status.State == "") && c.csv(sub.Namespace, sub.Status.CurrentCSV) == nil
}

// pause says what it means to create a subscription again whose operator runs.
func (c *Cluster) pause(sub *resource.Subscription) string {
	if c.csv(sub.Namespace, sub.Status.InstalledCSV) == nil {
		return ""
	}
	return "; the operator does not run meanwhile, and its CRDs and custom resources stay"
}

// recreate are the commands that create a subscription again. Its CSVs go before: one
// that no subscription names would make every resolution of the namespace fail.
func (c *Cluster) recreate(sub *resource.Subscription) []string {
	commands := []string{shell.Command("kubectl delete subscriptions.operators.coreos.com -n %s %s", sub.Namespace, sub.Name)}
	start := sub.Spec.StartingCSV
	for _, name := range c.chosen(sub) {
		commands = append(commands, shell.Command("kubectl delete csv -n %s --ignore-not-found %s", sub.Namespace, name))
	}
	if old := c.csv(sub.Namespace, sub.Status.InstalledCSV); old != nil && old.Status.Phase == resource.PhaseSucceeded {
		start = old.Name // it updates from there, as before
	}
	spec := map[string]any{"name": sub.Spec.Package}
	for key, value := range map[string]string{"channel": sub.Spec.Channel, "source": sub.Spec.Source, "sourceNamespace": sub.Spec.SourceNamespace,
		"startingCSV": start, "installPlanApproval": string(sub.Spec.InstallPlanApproval)} {
		if value != "" {
			spec[key] = value
		}
	}
	if sub.Spec.Config != nil {
		spec["config"] = sub.Spec.Config
	}
	return append(commands, create("operators.coreos.com/v1alpha1", "Subscription", sub.Namespace, sub.Name, spec))
}

// chosen are the CSVs of a subscription that exist, or may exist: the one that was
// chosen last, the one that is installed, and those that they replace.
func (c *Cluster) chosen(sub *resource.Subscription) []string {
	var names []string
	for _, name := range []string{sub.Status.CurrentCSV, sub.Status.InstalledCSV} {
		for name != "" && !slices.Contains(names, name) {
			csv := c.csv(sub.Namespace, name)
			if csv == nil && c.known(KindCSV, sub.Namespace) {
				break
			}
			names = append(names, name)
			if csv == nil {
				break
			}
			if name = csv.Spec.Replaces; c.csv(sub.Namespace, name) == nil {
				break
			}
		}
	}
	return names
}

// unpacking adds what is wrong with the bundles that a plan unpacks.
func (c *Cluster) unpacking(v *View, p *resource.InstallPlan) {
	for i := range p.Status.BundleLookups {
		l := &p.Status.BundleLookups[i]
		failed, pending := holds(l.Conditions, "BundleLookupFailed"), holds(l.Conditions, "BundleLookupPending")
		switch {
		case failed != nil:
			v.add(c.unpackFailed(p.Namespace, lookupSource(l), fmt.Sprintf("the bundle of %s cannot be unpacked: %s", cmp.Or(l.Identifier, l.Path), detail(failed.Reason, failed.Message)), failed))
		case pending != nil && waitsForImage(pending.Message):
			v.add(c.unpackFailed(p.Namespace, lookupSource(l), fmt.Sprintf("the bundle of %s is not unpacked: %s", cmp.Or(l.Identifier, l.Path), clause(pending.Message)), pending))
		case pending != nil:
			v.add(Wait{Passing: true, Block: fairlead.Block{Reason: ReasonUnpacking, Message: fmt.Sprintf("the bundle of %s is being unpacked", cmp.Or(l.Identifier, l.Path)),
				Since: pending.LastTransitionTime, Owner: "OLM", Unblock: "wait until its job has ended"}})
		}
	}
}

func lookupSource(l *resource.BundleLookup) resource.SourceKey {
	if l.Source == nil {
		return resource.SourceKey{}
	}
	return *l.Source
}

// waitsForImage reports whether a message says that a pod cannot pull its image.
func waitsForImage(message string) bool {
	return slices.ContainsFunc([]string{"ImagePull", "ErrImage", "InvalidImageName"}, func(s string) bool { return strings.Contains(message, s) })
}

// unpackConditions adds what a subscription says about unpacking, unless its plan
// has said it.
func (c *Cluster) unpackConditions(v *View, sub *resource.Subscription) {
	if slices.ContainsFunc(v.Waits, func(w Wait) bool { return w.Reason == ReasonUnpackFailed }) {
		return
	}
	if failed := holds(sub.Status.Conditions, "BundleUnpackFailed"); failed != nil {
		text := "the bundle cannot be unpacked"
		if n := sub.Status.CurrentCSV; n != "" && n != sub.Status.InstalledCSV {
			text = fmt.Sprintf("the bundle of %s cannot be unpacked", n)
		}
		v.add(c.unpackFailed(sub.Namespace, sub.Source(), text+": "+cmp.Or(clause(failed.Message), failed.Reason), failed))
		return
	}
	if at := holds(sub.Status.Conditions, "BundleUnpacking"); at != nil {
		if waitsForImage(at.Message) {
			v.add(c.unpackFailed(sub.Namespace, sub.Source(), "the bundle is not unpacked: "+clause(at.Message), at))
			return
		}
		v.add(Wait{Passing: true, Block: fairlead.Block{Reason: ReasonUnpacking, Message: "the bundle is being unpacked" + after(": ", clause(at.Message)), Since: at.LastTransitionTime,
			Owner: "OLM", Unblock: "wait until its job has ended"}})
	}
}

func after(sep, text string) string {
	if text == "" {
		return ""
	}
	return sep + text
}

// unpackFailed is the wait for a bundle whose job failed or hangs.
func (c *Cluster) unpackFailed(namespace string, from resource.SourceKey, text string, at *fairlead.Condition) Wait {
	where := cmp.Or(from.Namespace, namespace)
	w := Wait{Block: fairlead.Block{Reason: ReasonUnpackFailed, Message: text, Since: since(at), Owner: "whoever owns the catalog's images"}}
	w.Unblock = "see why its pod in namespace " + where + " cannot pull the image (pull secret, mirror, proxy)"
	w.Commands = []string{shell.Command("kubectl describe pods -n %s -l %s", where, unpackLabel)}
	jobs := c.failedJobs(where)
	for _, name := range jobs {
		w.Commands = append(w.Commands, shell.Command("kubectl delete job,configmap -n %s %s", where, name))
	}
	if jobs != nil {
		w.Unblock += "; then delete the failed job and its ConfigMap, so that OLM unpacks it again"
		return w
	}
	for i := range c.Groups {
		if g := &c.Groups[i]; g.Namespace == namespace && g.Annotations[unpackRetry] == "" {
			w.Unblock += "; then let OLM try again"
			w.Commands = append(w.Commands, shell.Command("kubectl annotate operatorgroup -n %s %s "+unpackRetry+"="+unpackRetryValue, namespace, g.Name))
			return w
		}
	}
	return w
}

// failedJobs are the names of the failed jobs that unpack bundles in a namespace.
func (c *Cluster) failedJobs(namespace string) []string {
	var names []string
	for i := range c.Jobs {
		j := &c.Jobs[i]
		if j.Namespace == namespace && j.Labels[unpackLabel] != "" && holds(j.Status.Conditions, "Failed") != nil {
			names = append(names, j.Name)
		}
	}
	slices.Sort(names)
	return names
}

// InstallPlan is the view of one plan; nil if the cluster does not have it.
func (c *Cluster) InstallPlan(namespace, name string) *View {
	p := c.plan(namespace, name)
	if p == nil {
		return nil
	}
	v := &View{Kind: KindInstallPlan, Namespace: namespace, Name: name, Phase: cmp.Or(string(p.Status.Phase), "not processed yet"), Next: strings.Join(p.Spec.ClusterServiceVersionNames, ", ")}
	if by := c.superseded(p); by != "" {
		v.Phase += ", superseded"
		v.Next = ""
		v.Notes = append(v.Notes, fmt.Sprintf("no subscription names it any more: %s has taken its place; leave it alone, or delete it", by))
		return v
	}
	c.planWaits(v, p)
	return c.late(v)
}

// superseded returns the plan that subscriptions name in place of one, or "".
func (c *Cluster) superseded(p *resource.InstallPlan) string {
	by := ""
	for _, sub := range c.subscriptions(p.Namespace) {
		ref := sub.Status.InstallPlanRef
		if ref == nil {
			continue
		}
		if ref.Name == p.Name {
			return ""
		}
		if other := c.plan(p.Namespace, ref.Name); other != nil && other.Spec.Generation > p.Spec.Generation {
			by = other.Name
		}
	}
	return by
}
