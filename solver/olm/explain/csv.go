package explain

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/solver/olm/gate"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// cleanupFinalizer is what OLM sets on CSVs, and removes once it has cleaned up after them.
const cleanupFinalizer = "operators.coreos.com/csv-cleanup"

// ReasonUnknownPhase means that nothing is known of the phase of a CSV.
const ReasonUnknownPhase = "UnknownPhase"

// csvWaits adds what a CSV waits for. OLM's own reason is kept.
func (c *Cluster) csvWaits(v *View, csv *resource.ClusterServiceVersion) {
	w := Wait{Block: fairlead.Block{Subject: "csv " + csv.Namespace + "/" + csv.Name, Reason: csv.Status.Reason, Since: csv.Status.LastTransitionTime, Message: fmt.Sprintf("%s is %s", csv.Name, csv.Status.Phase)}}
	if text := clause(csv.Status.Message); text != "" {
		w.Message += ": " + text
	}
	switch phase := csv.Status.Phase; {
	case csv.DeletionTimestamp != nil:
		c.deleting(v, csv)
		return
	case phase == resource.PhaseSucceeded:
		return
	case phase == "":
		w.Message = fmt.Sprintf("%s has no phase: OLM has not processed it", csv.Name)
		w.Reason, w.Owner, w.Unblock = ReasonUnknownPhase, "OLM", "wait; if it stays so, look at the pods of olm-operator"
		w.Unknown = true
	case phase == resource.PhaseReplacing || phase == "Deleting":
		w.Reason = cmp.Or(w.Reason, string(phase))
		w.Passing, w.Owner, w.Unblock = true, "OLM", "wait until the newer version is installed"
	default:
		c.csvReason(&w, csv)
		v.Waits = slices.DeleteFunc(v.Waits, func(o Wait) bool { return o.Reason == w.Reason }) // the CSV says it better
	}
	v.add(w)
}

// csvReason fills in owner and next step of a wait, by OLM's reason.
func (c *Cluster) csvReason(w *Wait, csv *resource.ClusterServiceVersion) {
	ns := csv.Namespace
	w.Reason = cmp.Or(w.Reason, string(csv.Status.Phase))
	switch reason := csv.Status.Reason; reason {
	case string(group.ReasonNoOperatorGroup), string(group.ReasonTooManyOperatorGroups), string(group.ReasonNoTargetNamespaces),
		string(group.ReasonUnsupportedOperatorGroup), string(group.ReasonInterOperatorGroupOwnerConflict), string(group.ReasonCannotModifyStatic), string(group.ReasonInvalidInstallModes):
		c.csvGroup(w, csv)
	case "RequirementsNotMet", "RequirementsUnknown":
		c.requirements(w, csv)
	case gate.ReasonNotUpgradeable:
		w.Owner, w.Unblock = "csv "+csv.Spec.Replaces, "wait until the operator allows it, or override it"
		w.Commands = override(ns, csv.Spec.Replaces)
	case "InstallWaiting", "InstallCheckFailed", "ComponentUnhealthy", "AllRequirementsMet", "InstallSucceeded":
		w.Owner, w.Unblock = "the deployments of "+csv.Name, "find out why its pods are not ready"
		w.Passing = csv.Status.Phase != resource.PhaseFailed && reason != "InstallCheckFailed"
		c.deployments(w, csv)
	case "OwnerConflict":
		w.Owner, w.Unblock = "whoever owns the other operator", "delete the operator that owns the same API; of two, only one can be installed"
		w.Commands = []string{shell.Command("kubectl get csv -n %s", ns)}
	case "NeedsReinstall":
		w.Passing, w.Owner, w.Unblock = true, "OLM", "wait: OLM installs it again"
		if slices.ContainsFunc(csv.Status.Requirements, func(r resource.Requirement) bool { return r.Status != "" && r.Status != "Present" }) {
			w.Passing = false
			c.requirements(w, csv)
		}
	case "NeedsCertRotation", "APIServiceResourcesNeedReinstall", "DetectedClusterChange", "BeingReplaced", "Replaced":
		w.Passing, w.Owner, w.Unblock = true, "OLM", "wait: OLM installs it again"
	case "APIServiceResourceIssue", "APIServiceInstallFailed":
		w.Owner, w.Unblock = "whoever owns the API service", "see why its API service is not available"
		w.Commands = []string{shell.Command("kubectl get apiservices")}
	case "InvalidWebhookDescription":
		w.Owner, w.Unblock = "the authors of "+csv.Name, "correct spec.webhookdefinitions, or choose another version"
	case "InvalidInstallStrategy":
		w.Owner, w.Unblock = "the authors of "+csv.Name, "correct spec.install, or choose another version"
	case "WaitingOnCleanup":
		w.Owner, w.Unblock = csv.Name, "delete the custom resources that it cleans up"
	case "InstallComponentFailed", "InstallComponentFailedNoRetry":
		w.Owner, w.Unblock = "whoever owns the namespace", "remove the cause; OLM tries again by itself"
		if d, ok := readDenial(csv.Status.Message); ok {
			w.Unblock = fmt.Sprintf("allow %s to %s; OLM tries again by itself", d.who, d.what())
			w.Commands = []string{d.command()}
			break
		}
		if m := csvImmutable.FindStringSubmatch(csv.Status.Message); m != nil {
			w.Unblock = fmt.Sprintf("deployment %s cannot be changed to what %s wants: delete it; OLM creates it again by itself", m[1], csv.Name)
			w.Commands = []string{shell.Command("kubectl delete deployment -n %s %s", ns, m[1])}
			break
		}
		if what := refusalCause(csv.Status.Message); what.unblock != "" {
			w.Owner, w.Unblock, w.Commands = cmp.Or(what.owner, w.Owner), what.unblock+"; OLM tries again by itself", what.commands
			break
		}
		c.deployments(w, csv)
	default:
		w.Owner, w.Unblock = "OLM", "look at its conditions"
		w.Passing = csv.Status.Phase != resource.PhaseFailed && csv.Status.Phase != "Unknown"
		w.Commands = []string{shell.Command("kubectl describe csv -n %s %s", ns, csv.Name)}
	}
}

// csvImmutable is an answer of an API server to a changed selector.
var csvImmutable = regexp.MustCompile(`Deployment\.apps "([^"]+)" is invalid: spec\.selector: .*field is immutable`)

// csvGroup is the next step for a CSV that does not fit its operator group.
func (c *Cluster) csvGroup(w *Wait, csv *resource.ClusterServiceVersion) {
	w.Owner = ownsGroups
	g, err := group.Sole(c.Groups, csv.Namespace)
	var sole *group.SoleError
	modes := &Next{CSV: csv.Name, Modes: csv.Spec.InstallModes, ModesKnown: len(csv.Spec.InstallModes) > 0}
	if errors.As(err, &sole) {
		one := c.notOne(sole, modes)
		w.Unblock, w.Commands, w.Changes, w.Unknown = one.Unblock, one.Commands, one.Changes, one.Unknown
		return
	}
	w.Message += fmt.Sprintf(" (operator group %s)", g.Name)
	targets, known := c.targets(g)
	known = known && modes.ModesKnown
	suits := known && modes.Modes.Supports(csv.Namespace, targets) == nil
	switch group.Reason(csv.Status.Reason) {
	case group.ReasonUnsupportedOperatorGroup:
		if suits {
			w.Passing, w.Owner, w.Unblock = true, "OLM", "wait: the group now selects what it supports, and OLM tries again"
			return
		}
		c.reselect(w, g, csv.Namespace, csv.Spec.InstallModes)
	case group.ReasonInterOperatorGroupOwnerConflict:
		w.Unblock = "delete the operator that provides the same API in the other namespace, or make the groups select namespaces that do not overlap"
		if op, err := csv.Member(); err == nil {
			if v := group.Evaluate(&op, c.Groups); len(v.Conflicts) > 0 {
				var who []string
				for _, x := range v.Conflicts {
					who = append(who, x.String())
				}
				w.Message += ": " + strings.Join(who, "; ")
			}
		}
		w.Commands = []string{shell.Command("kubectl get operatorgroups -A")}
	case group.ReasonCannotModifyStatic:
		if !g.Spec.StaticProvidedAPIs {
			w.Passing, w.Owner, w.Unblock = true, "OLM", "wait: OLM may write the annotation of the group now, and tries again"
			return
		}
		w.Unblock = "add its APIs to the annotation " + group.ProvidedAPIsAnnotation + " of the group, or set spec.staticProvidedAPIs to false"
		w.does(Change{Kind: KindOperatorGroup, Namespace: csv.Namespace, Name: g.Name, Patch: map[string]any{"spec": map[string]any{"staticProvidedAPIs": false}}})
	case group.ReasonNoTargetNamespaces:
		w.Unblock = "label a namespace so that spec.selector matches it, or name some in spec.targetNamespaces"
		w.Commands = []string{shell.Command("kubectl edit operatorgroup -n %s %s", csv.Namespace, g.Name)}
	default:
		if known && !suits && len(targets) > 0 {
			c.reselect(w, g, csv.Namespace, csv.Spec.InstallModes)
			return
		}
		w.Unblock = "wait: there is one operator group now, and OLM tries again"
		w.Passing, w.Owner = true, "OLM"
	}
}

// requirements says which requirements of a CSV are not met, and who could meet
// them.
func (c *Cluster) requirements(w *Wait, csv *resource.ClusterServiceVersion) {
	w.Owner, w.Unblock = "whoever provides what it requires", "provide it, or wait until its operator is installed"
	var missing []string
	for i := range csv.Status.Requirements {
		r := &csv.Status.Requirements[i]
		if r.Status == "Present" || r.Status == "" {
			continue
		}
		missing = append(missing, lacks(r))
		c.provide(w, csv, r)
	}
	if missing != nil {
		w.Message = fmt.Sprintf("%s is %s: %s", csv.Name, csv.Status.Phase, strings.Join(missing, "; "))
		return
	}
	w.Commands = []string{shell.Command("kubectl get csv -n %s %s -o %s", csv.Namespace, csv.Name, "jsonpath={.status.requirementStatus}")}
}

// lacks says in which way a requirement is not met.
func lacks(r *resource.Requirement) string {
	if versions, ok := strings.CutPrefix(r.Message, kubeTooOld); ok {
		return "Kubernetes is too old: minKubeVersion " + clause(versions)
	}
	text := strings.TrimSpace(r.Kind + " " + r.Name)
	served := r.Message == crdNotServed && r.Version != ""
	if r.Version != "" && r.Kind == "CustomResourceDefinition" && !served {
		text += " in version " + r.Version
	}
	switch {
	case served:
		text += " does not serve version " + r.Version
	case r.Status == "NotPresent":
		text += " does not exist"
	case r.Status == "PresentNotAvailable":
		text += " is not established"
	default:
		if text += " does not satisfy"; r.Message != "" {
			text += " (" + clause(r.Message) + ")"
		}
	}
	for _, d := range r.Dependents {
		if d.Status == "NotSatisfied" {
			text += "; it lacks the permission " + clause(d.Message)
		}
	}
	return text
}

// What OLM writes about requirements (olm/requirements.go).
const (
	crdNotServed = "CRD version not served"
	crdAlongside = "CRD installed alongside other CSV(s): "
	kubeTooOld   = "CSV version requirement not met: minKubeVersion "
	othersOwn    = "Service account is owned by another ClusterServiceVersion"
	othersOwned  = "Service account is not owned by this ClusterServiceVersion" // in older versions
)

// provide names who provides a requirement.
func (c *Cluster) provide(w *Wait, csv *resource.ClusterServiceVersion, r *resource.Requirement) {
	if strings.HasPrefix(r.Message, kubeTooOld) {
		w.Owner, w.Unblock = "whoever owns the cluster", "update Kubernetes, or choose a version of the operator that supports this one"
		w.Commands = append(w.Commands, shell.Command("kubectl version"))
		return
	}
	if strings.HasPrefix(r.Message, crdAlongside) {
		w.Owner, w.Unblock = "OLM", "see why the InstallPlan of "+csv.Name+" has not written its CRD: it still is that of the other CSV"
		w.Commands = append(w.Commands, shell.Command("kubectl get installplans -n %s", csv.Namespace))
		return
	}
	if r.Kind == "ServiceAccount" {
		w.Owner = "whoever owns namespace " + csv.Namespace
		switch {
		case r.Message == othersOwn || r.Message == othersOwned:
			w.Unblock = "remove the owner references to another CSV from the account: OLM then takes it for both; nothing deletes the account with that CSV any more"
			w.Commands = append(w.Commands, shell.Command("kubectl patch serviceaccount -n %s %s --type json -p %s", csv.Namespace, r.Name, shell.JSON([]any{map[string]any{"op": "remove", "path": "/metadata/ownerReferences"}})))
			return
		case r.Status == "NotPresent":
			w.Unblock = "create the account again: OLM does so only when it carries out an InstallPlan; role bindings that name it hold again"
			w.Commands = append(w.Commands, shell.Command("kubectl create serviceaccount -n %s %s", csv.Namespace, r.Name))
			return
		}
		w.Unblock = "give the account what it lacks; OLM does so when it carries out an InstallPlan, so a CSV that was created by hand needs it by hand"
		w.Commands = append(w.Commands, shell.Command("kubectl get serviceaccounts,rolebindings -n %s", csv.Namespace))
		return
	}
	if r.Kind != "CustomResourceDefinition" {
		return
	}
	for i := range c.CSVs {
		other := &c.CSVs[i]
		if other.Copied() || other.Name == csv.Name && other.Namespace == csv.Namespace {
			continue
		}
		for _, owned := range other.Spec.CustomResourceDefinitions.Owned {
			if owned.Name == r.Name {
				w.Owner = "csv " + other.Namespace + "/" + other.Name
				w.Unblock = fmt.Sprintf("see why %s, which provides it, is %s", other.Name, other.Status.Phase)
				return
			}
		}
	}
	w.Commands = append(w.Commands, shell.Command("kubectl get crd %s", r.Name))
}

// deployments are the commands that look at the deployments of a CSV.
func (c *Cluster) deployments(w *Wait, csv *resource.ClusterServiceVersion) {
	for _, d := range csv.Spec.Install.Spec.Deployments {
		w.Commands = append(w.Commands, shell.Command("kubectl describe deployment -n %s %s", csv.Namespace, d.Name))
	}
	if len(csv.Spec.Install.Spec.Deployments) == 0 {
		w.Commands = append(w.Commands, shell.Command("kubectl get deployments,pods -n %s -o wide", csv.Namespace))
	}
}

// deleting says what keeps a CSV that is being deleted.
func (c *Cluster) deleting(v *View, csv *resource.ClusterServiceVersion) {
	w := Wait{Passing: true, Block: fairlead.Block{Subject: "csv " + csv.Namespace + "/" + csv.Name, Reason: "Deleting", Since: *csv.DeletionTimestamp,
		Message: csv.Name + " is being deleted", Owner: "OLM", Unblock: "wait until it is gone"}}
	if len(csv.Finalizers) > 0 {
		w.Passing = false
		w.Message = fmt.Sprintf("%s is being deleted, and waits for finalizers %s", csv.Name, strings.Join(csv.Finalizers, ", "))
		w.Owner, w.Unblock = "whoever set the finalizers", "see why its controller does not remove them; with spec.cleanup the custom resources go first"
		w.Commands = []string{shell.Command("kubectl get csv -n %s %s -o %s", csv.Namespace, csv.Name, "jsonpath={.status.cleanup}")}
		if !csv.Spec.Cleanup.Enabled && len(csv.Finalizers) == 1 && csv.Finalizers[0] == cleanupFinalizer {
			w.Owner, w.Unblock = "OLM", "see whether OLM runs, which removes the finalizer; if it was uninstalled, remove the finalizer by hand"
			w.Commands = []string{shell.Command("kubectl get deployments -A -l %s", "app=olm-operator"),
				shell.Command("kubectl patch csv -n %s %s --type merge -p %s", csv.Namespace, csv.Name, shell.JSON(map[string]any{"metadata": map[string]any{"finalizers": nil}}))}
		}
	}
	v.add(w)
}

// upgradeable adds that the operator may not be replaced by the next version. OLM
// creates the next CSV nevertheless, and keeps it Pending.
func (c *Cluster) upgradeable(v *View, sub *resource.Subscription) {
	next := c.next(sub.Namespace, sub.Name)
	if next == nil || next.Updates == "" {
		return
	}
	o := c.condition(sub.Namespace, next.Updates)
	verdict, at := gateOf(o)
	if verdict.Open {
		if verdict.Message != "" {
			v.Notes = append(v.Notes, fmt.Sprintf("OperatorCondition %s: %s", o.Name, verdict.Message))
		}
		return
	}
	w := Wait{Block: fairlead.Block{Reason: gate.ReasonNotUpgradeable, Owner: "operator " + next.Updates, Since: since(at),
		Message: fmt.Sprintf("OLM creates %s, and keeps it Pending: OperatorCondition %s says that %s may not be replaced%s", next.CSV, o.Name, next.Updates, after(": ", reported(at))),
		Unblock: "wait until the operator allows it, or override it"}, Commands: override(sub.Namespace, next.Updates)}
	if ov := fairlead.FindCondition(o.Spec.Overrides, gate.UpgradeableCondition); ov != nil && ov.Status == fairlead.ConditionFalse {
		w.Owner, w.Unblock = "an administrator, who forbids it in spec.overrides", "remove the override"
		w.Commands = []string{shell.Command("kubectl edit operatorconditions.operators.coreos.com -n %s %s", sub.Namespace, o.Name)}
	}
	v.add(w)
}

// gateOf is the verdict of an OperatorCondition, and the condition that decides.
// What its spec says counts even if OLM has not observed it yet.
func gateOf(o *gate.OperatorCondition) (gate.Verdict, *fairlead.Condition) {
	if o == nil {
		return gate.Upgradeable(nil), nil
	}
	seen := *o
	if fairlead.FindCondition(seen.Status.Conditions, gate.UpgradeableCondition) == nil {
		seen.Status = o.Observe()
		for i := range seen.Status.Conditions {
			seen.Status.Conditions[i].ObservedGeneration = o.Generation
		}
	}
	at := fairlead.FindCondition(seen.Spec.Overrides, gate.UpgradeableCondition)
	if at == nil || at.Status == fairlead.ConditionUnknown {
		at = fairlead.FindCondition(seen.Status.Conditions, gate.UpgradeableCondition)
	}
	return gate.Upgradeable(&seen), at
}

func reported(c *fairlead.Condition) string {
	if c == nil {
		return ""
	}
	return detail(c.Reason, c.Message)
}

// override is the command that lets an operator be replaced although it says no.
func override(namespace, csv string) []string {
	return []string{shell.Command("kubectl patch operatorconditions.operators.coreos.com -n %s %s --type merge -p %s", namespace, csv, shell.JSON(map[string]any{
		"spec": map[string]any{"overrides": []any{map[string]any{"type": gate.UpgradeableCondition, "status": "True", "reason": "override", "message": "allowed by an administrator"}}}}))}
}

// CSV is the view of one ClusterServiceVersion; nil if the cluster does not have
// it. A copy leads to the original.
func (c *Cluster) CSV(namespace, name string) *View {
	csv := c.csv(namespace, name)
	if csv == nil {
		return c.uncopied(namespace, name)
	}
	v := &View{Kind: KindCSV, Namespace: namespace, Name: name, Phase: cmp.Or(string(csv.Status.Phase), "not processed yet")}
	if from := csv.Labels[group.CopiedFromLabel]; csv.Copied() || from != "" {
		v.Phase += ", a copy"
		v.Notes = append(v.Notes, fmt.Sprintf("it is a copy of the CSV in namespace %s: its phase is that of the original; change that one", cmp.Or(from, "of its operator")))
		if original := c.csv(from, name); original != nil {
			c.csvWaits(v, original)
		}
		return v
	}
	c.csvWaits(v, csv)
	for _, d := range csv.Spec.CustomResourceDefinitions.Owned {
		c.terminating(v, d.Name)
	}
	if csv.Status.Phase == resource.PhaseSucceeded {
		if verdict, at := gateOf(c.condition(namespace, name)); !verdict.Open {
			v.Notes = append(v.Notes, "its OperatorCondition does not let it be replaced: "+reported(at))
		}
	}
	if c.owner(csv) == nil && c.known(KindSubscription, csv.Namespace) {
		v.Notes = append(v.Notes, "no subscription names it, so OLM never updates it")
	}
	return c.late(v)
}

// uncopied is the view of a copy that is not there.
func (c *Cluster) uncopied(namespace, name string) *View {
	if c.Config == nil || !c.Config.DisableCopiedCSVs {
		return nil
	}
	for i := range c.CSVs {
		if o := &c.CSVs[i]; o.Name == name && !o.Copied() {
			return &View{Kind: KindCSV, Namespace: namespace, Name: name, Phase: "not copied",
				Notes: []string{fmt.Sprintf("OLMConfig cluster disables copies (spec.features.disableCopiedCSVs), so only namespace %s shows it; it works here all the same, if its operator group selects this namespace", o.Namespace)}}
		}
	}
	return nil
}

// owner is the subscription that a CSV belongs to, or nil.
func (c *Cluster) owner(csv *resource.ClusterServiceVersion) *resource.Subscription {
	subs := c.subscriptions(csv.Namespace)
	at := slices.IndexFunc(subs, func(s *resource.Subscription) bool {
		return s.Status.InstalledCSV == csv.Name || s.Status.CurrentCSV == csv.Name
	})
	if at < 0 {
		return nil
	}
	return subs[at]
}

// goes says what keeps a subscription that is being deleted.
func (c *Cluster) goes(v *View, sub *resource.Subscription) {
	if sub.DeletionTimestamp == nil {
		return
	}
	v.add(Wait{Passing: len(sub.Finalizers) == 0, Block: fairlead.Block{Reason: "Deleting", Since: *sub.DeletionTimestamp,
		Message: "the subscription is being deleted" + after(", and waits for finalizers ", strings.Join(sub.Finalizers, ", ")), Owner: "whoever set the finalizers",
		Unblock: "see why its controller does not remove them"},
		Commands: []string{shell.Command("kubectl get subscriptions.operators.coreos.com -n %s %s -o %s", sub.Namespace, sub.Name, "jsonpath={.metadata.finalizers}")}})
}

// terminating says what keeps a definition that is being deleted.
func (c *Cluster) terminating(v *View, name string) {
	for i := range c.Definitions {
		d := &c.Definitions[i]
		if d.Name != name || d.DeletionTimestamp == nil {
			continue
		}
		v.add(Wait{Block: fairlead.Block{Subject: "crd " + name, Reason: "Terminating", Since: *d.DeletionTimestamp,
			Message: fmt.Sprintf("CRD %s is being deleted, and waits for its objects, which finalizers keep", name), Owner: "whoever set the finalizers of the objects",
			Unblock: "run the operator until it has removed them; without it they have to be removed by hand"},
			Commands: []string{shell.Command("kubectl get %s -A -o %s", name, "custom-columns=NS:.metadata.namespace,NAME:.metadata.name,FINALIZERS:.metadata.finalizers")}})
	}
}
