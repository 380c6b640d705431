package plan

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
)

// What the cluster itself says against updates. A reason counts as cured only if the model
// found that very blocker, and a step of every plan ends it; see claim.

// claim is one reason against another minor version, as the ClusterVersion or an operator
// reports it.
type claim struct {
	operator string // that reports it; "" for the ClusterVersion
	reason   string // a word, without the prefix that operators put before it
	message  string
}

// readReports finds what the cluster reports against updates.
func (m *model) readReports() {
	m.unhealthy()
	m.overrides()
	if len(m.stages) < 2 {
		return
	}
	for _, c := range m.claims() {
		if !m.cures(c) {
			m.crossings[0] = append(m.crossings[0], m.against(c))
		}
	}
}

// unhealthy finds what forbids every update.
func (m *model) unhealthy() {
	cv := m.Situation.Cluster
	bad := func(kind string, reason FactReason, text, help string) {
		if c := cv.Says(kind); c != nil {
			m.broken = append(m.broken, m.once(reason, c.Reason, text+clip(cmp.Or(c.Message, c.Reason), 140), fix{"RepairCluster", kind, help, func(in *input) { set(in.Situation.Cluster.Status.Conditions, kind, fairlead.ConditionFalse) }, costWork}))
		}
	}
	bad("Failing", FactFailing, "the cluster is already failing: ", "fix what the ClusterVersion reports as failing")
	if !m.invalidRequest() {
		bad("Invalid", FactInvalid, "the ClusterVersion is invalid: ", "correct the field of the ClusterVersion that it names")
	}
	m.changing()
	for i := range m.Situation.ClusterOperators {
		o := &m.Situation.ClusterOperators[i]
		if c := fairlead.FindCondition(o.Status.Conditions, "Available"); c != nil && c.Status == fairlead.ConditionFalse {
			m.broken = append(m.broken, m.once(FactNotAvailable, o.Name, fmt.Sprintf("the operator %s is not available: %s", o.Name, clip(cmp.Or(c.Message, c.Reason), 140)),
				fix{"RepairOperator", o.Name, "repair the operator " + o.Name, func(in *input) {
					set(in.Situation.ClusterOperators[i].Status.Conditions, "Available", fairlead.ConditionTrue)
				}, costWork}))
		}
	}
}

// overrides finds what spec.overrides forbids: by the rules of the running release every
// update, or those to another minor version.
func (m *model) overrides() {
	cv := m.Situation.Cluster
	names := cvo.Overridden(cv)
	if names == "" {
		return
	}
	remove := fix{"RemoveOverrides", "", "remove spec.overrides: " + cvo.OverridesCommand(), func(in *input) {
		in.Situation.Cluster.Spec.Overrides = nil
		drop(in.Situation.Cluster, cvo.ReasonOverrides)
	}, costWork}
	if rules := cvo.RulesOf(m.start); rules.OverridesBlockAll {
		m.broken = append(m.broken, m.once(FactOverrides, names, fmt.Sprintf("spec.overrides leaves %s unmanaged, and releases of %s refuse every update while it does", names, m.stages[0]), remove))
	} else if len(m.stages) > 1 {
		m.crossings[0] = append(m.crossings[0], m.once(FactOverrides, names, fmt.Sprintf("spec.overrides leaves %s unmanaged, which blocks updates to another minor version", names), remove))
	}
}

// drop takes a reason out of the condition Upgradeable of a ClusterVersion.
func drop(cv *cvo.ClusterVersion, reason string) {
	c := fairlead.FindCondition(cv.Status.Conditions, "Upgradeable")
	if c == nil {
		return
	}
	var left []string
	for _, r := range reasonsOf(c) {
		if r != reason {
			left = append(left, r)
		}
	}
	switch {
	case len(left) == 0:
		c.Status = fairlead.ConditionTrue
	case len(left) == 1:
		c.Reason = left[0]
	default:
		c.Message = strings.Replace(c.Message, reason+",", "", 1)
		c.Message = strings.Replace(c.Message, ","+reason, "", 1)
	}
}

// noneLeft ends what a ClusterVersion only repeats of its operators, once none of them reports it.
func noneLeft(s *Situation) {
	for i := range s.ClusterOperators {
		if c := fairlead.FindCondition(s.ClusterOperators[i].Status.Conditions, "Upgradeable"); c != nil && c.Status == fairlead.ConditionFalse {
			return
		}
	}
	if c := fairlead.FindCondition(s.Cluster.Status.Conditions, "Upgradeable"); c != nil && c.Reason == "ClusterOperatorsNotUpgradeable" && joined.FindString(c.Message) == "" {
		c.Status = fairlead.ConditionTrue
	}
}

// joined finds the reasons that a ClusterVersion joins in its message.
var joined = regexp.MustCompile(`for multiple reasons: ([A-Za-z0-9_:]+(?:, ?[A-Za-z0-9_:]+)*)`)

// reasonsOf returns the reasons of a condition Upgradeable=False, each without prefix:
// operators join those of their parts as in A::B_C, and a ClusterVersion lists several in
// its message.
func reasonsOf(c *fairlead.Condition) (list []string) {
	texts := []string{c.Reason}
	if c.Reason == "MultipleReasons" || c.Reason == "ClusterOperatorsNotUpgradeable" {
		if m := joined.FindStringSubmatch(c.Message); m != nil {
			texts = strings.Split(m[1], ",")
		}
	}
	for _, t := range texts {
		for _, r := range strings.Split(strings.TrimSpace(t), "::") {
			if _, after, ok := strings.Cut(r, "_"); ok && after != "" {
				r = after
			}
			if r != "" && !slices.Contains(list, r) {
				list = append(list, r)
			}
		}
	}
	return list
}

// claims returns all reasons against another minor version: those of operators, and those of
// the ClusterVersion that no operator in the situation reports.
func (m *model) claims() (list []claim) {
	said := map[string]bool{}
	for i := range m.Situation.ClusterOperators {
		o := &m.Situation.ClusterOperators[i]
		c := fairlead.FindCondition(o.Status.Conditions, "Upgradeable")
		if c == nil || c.Status != fairlead.ConditionFalse {
			continue
		}
		said[c.Reason] = true
		for _, r := range reasonsOf(c) {
			said[r] = true
			list = append(list, claim{o.Name, r, c.Message})
		}
	}
	c := fairlead.FindCondition(m.Situation.Cluster.Status.Conditions, "Upgradeable")
	if c == nil || c.Status != fairlead.ConditionFalse {
		return list
	}
	for _, r := range reasonsOf(c) {
		switch {
		case said[r], r == cvo.ReasonOverrides && cvo.Overridden(m.Situation.Cluster) != "":
		case (r == "ClusterOperatorsNotUpgradeable" || r == "MultipleReasons") && len(said) > 0: // only says that there are several
		default:
			list = append(list, claim{"", r, c.Message})
		}
	}
	return list
}

// cures reports whether a step of every plan ends what a claim is about: the model has found
// the blocker that it names.
func (m *model) cures(c claim) bool {
	switch c.reason {
	case "KubeletMinorVersionUnsupportedNextUpgrade", "KubeletMinorVersionUnsupported", "KubeletSkewUnsupportedNextUpgrade", "KubeletSkewUnsupported":
		return m.rollsFirst(func(p *pool) bool { return !p.unknown && p.at != "" && p.stage < 0 })
	case "PoolUpdating", "One or more machine config pools are updating, please see `oc get mcp` for further details":
		return m.rollsFirst(func(p *pool) bool { return !p.unknown && p.at != m.start })
	case "AdminAckRequired":
		return slices.ContainsFunc(m.gates, func(g adminGate) bool { return g.stage == 0 })
	case "IncompatibleOperatorsInstalled":
		return m.foundIncompatible(c.message)
	case "UpdateInProgress", "ClusterVersionUpdating":
		_, moving := onItsWay(m.Situation)
		return moving
	case "ClusterVersionOverridesSet":
		return cvo.Overridden(m.Situation.Cluster) != "" // it is a fact of its own
	}
	return false
}

// rollsFirst makes pools restart before the minor version changes, and reports whether there
// is one.
func (m *model) rollsFirst(is func(*pool) bool) (any bool) {
	for i := range m.pools {
		if p := &m.pools[i]; is(p) {
			p.first, any = true, true
		}
	}
	return any
}

// incompatible finds a CSV in what OLM's operator reports: namespace/name, or a name.
var incompatible = regexp.MustCompile(`([a-z0-9][-a-z0-9.]*/)?([a-z0-9][-a-z0-9.]*[a-z0-9]) is incompatible with OpenShift`)

// foundIncompatible reports whether each CSV that OLM's operator names is an operator of the
// model that does not support the next minor version.
func (m *model) foundIncompatible(message string) bool {
	named := incompatible.FindAllStringSubmatch(message, -1)
	for _, x := range named {
		if !slices.ContainsFunc(m.operators, func(o operator) bool {
			return o.Installed == x[2] && (x[1] == "" || x[1] == o.Namespace+"/") && m.isLimited(&o, o.installed, 1)
		}) {
			return false
		}
	}
	return len(named) > 0
}

// against is a claim as a fact.
func (m *model) against(c claim) *fact {
	text := clip(c.message, 200)
	if c.operator == "" {
		help := "fix what the ClusterVersion reports, until its condition Upgradeable is True"
		if c.reason == "AdminAckRequired" {
			help = "read what it asks for, and acknowledge it in the ConfigMap openshift-config/admin-acks by the key that this shows: oc -n openshift-config-managed get configmap admin-gates -o yaml"
		}
		return m.once(FactClusterNotUpgradeable, c.reason, fmt.Sprintf("the ClusterVersion blocks minor updates (%s): %s", c.reason, text),
			fix{"FixUpgradeable", c.reason, help, func(in *input) { drop(in.Situation.Cluster, c.reason) }, costWork})
	}
	help := "fix what the operator " + c.operator + " reports (" + c.reason + "), until its condition Upgradeable is True"
	if c.reason == "MissingUpgradeableAnnotation" && m.target != "" { // openshift/cloud-credential-operator pkg/operator/status
		help = "give the cloud credentials the permissions that " + m.target + " needs, as with ccoctl, and then say so: " +
			shell.Command("oc annotate cloudcredential cluster cloudcredential.openshift.io/upgradeable-to=%s --overwrite", m.target)
	}
	return m.once(FactNotUpgradeable, c.operator, fmt.Sprintf("the operator %s blocks minor updates (%s): %s", c.operator, c.reason, text),
		fix{"FixUpgradeable", c.operator, help, func(in *input) {
			for i := range in.Situation.ClusterOperators {
				if o := &in.Situation.ClusterOperators[i]; o.Name == c.operator {
					set(o.Status.Conditions, "Upgradeable", fairlead.ConditionTrue)
				}
			}
			drop(in.Situation.Cluster, c.reason)
			noneLeft(in.Situation)
		}, costWork})
}

// readRefusal finds what the cluster has refused: the update to that release needs a
// signature, or cannot be taken.
func (m *model) readRefusal(x *Move, e *move) {
	r := cvo.RefusedUpdate(m.Situation.Cluster)
	if r == nil || x.From != m.start || r.Check == "InvalidClusterVersion" || !r.Of(m.releaseOf(x.To)) {
		return
	}
	if r.Signature {
		e.signature = cmp.Or(r.SignatureCommand(), shell.Command("oc adm release info --pullspecs %s", x.To))
		return
	}
	if r.Check == "PreconditionChecks" && m.explained(r.Reasons) {
		return // they are facts of their own
	}
	e.risky = append(e.risky, m.once(FactRefused, x.To, fmt.Sprintf("the cluster has refused %s: %s", x.To, clip(r.Cause, 200)), fix{"RepairRelease", x.To, "fix the cause, and withdraw the request until then: oc adm upgrade --clear", func(in *input) {
		set(in.Situation.Cluster.Status.Conditions, "ReleaseAccepted", fairlead.ConditionTrue)
	}, costWork}))
}

// explained reports whether each reason of preconditions is one that the model knows from
// elsewhere: a condition Upgradeable, overrides, or a risk.
func (m *model) explained(reasons []string) bool {
	known := []string{cvo.ReasonOverrides, "MultipleReasons", "ClusterOperatorsNotUpgradeable", "NoChannel", "UnknownUpdate", "UnknownConditionType"}
	if c := fairlead.FindCondition(m.Situation.Cluster.Status.Conditions, "Upgradeable"); c != nil && c.Status == fairlead.ConditionFalse {
		known = append(known, c.Reason)
	}
	for _, r := range m.Situation.Risks {
		known = append(known, r.Name)
	}
	return !slices.ContainsFunc(reasons, func(r string) bool { return !slices.Contains(known, r) })
}

// releaseOf is a release with its image, if the ClusterVersion lists it.
func (m *model) releaseOf(version string) cvo.Release {
	for _, r := range m.Situation.Cluster.Status.AvailableUpdates {
		if r.Version == version {
			return r
		}
	}
	for _, u := range m.Situation.Cluster.Status.ConditionalUpdates {
		if u.Release.Version == version {
			return u.Release
		}
	}
	return cvo.Release{Version: version}
}

// darkNode returns a node that is not ready and has a pod that a budget selects: that is what
// holds the budget; "" if there is none. A node that is restarting comes back.
func darkNode(s *Situation, b *fairlead.PodDisruptionBudget, but []string) string {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.NotReady() == nil || slices.Contains(but, n.Name) || rollout.Draining(n) {
			continue
		}
		if slices.ContainsFunc(s.Pods, func(p fairlead.Pod) bool { return p.Spec.NodeName == n.Name && b.Selects(&p) }) {
			return n.Name
		}
	}
	return ""
}

// dark is why a drain waits for a node that is not ready.
func (m *model) dark(node string, budgets []string) *fact {
	return m.once(FactNodeDown, node, fmt.Sprintf("the node %s is not ready, and %s %s pods there to be healthy", node, words.Plural(len(budgets), "the budget "+budgets[0]+" needs", "the budgets "+words.List(budgets, "and", 3)+" need"), words.Plural(len(budgets), "its", "their")),
		fix{"RepairNodes", node, "repair the node " + node + ", so that its pods are healthy again", func(in *input) { heal(in, node) }, costWork})
}

// heal makes a node ready, and its pods.
func heal(in *input, node string) {
	nodes := in.ownNodes()
	for i := range nodes {
		if nodes[i].Name != node {
			continue
		}
		nodes[i].Status.Conditions = slices.Clone(nodes[i].Status.Conditions)
		if c := nodes[i].Condition("Ready"); c != nil {
			c.Status = fairlead.ConditionTrue
		}
		nodes[i].Spec.Taints = slices.DeleteFunc(slices.Clone(nodes[i].Spec.Taints), func(t fairlead.Taint) bool {
			return t.Key == "node.kubernetes.io/unreachable" || t.Key == "node.kubernetes.io/not-ready"
		})
	}
	pods := in.ownPods()
	for i := range pods {
		if p := &pods[i]; p.Spec.NodeName == node && !p.Ready() {
			p.Status.Conditions = fairlead.SetCondition(slices.Clone(p.Status.Conditions), fairlead.Condition{Type: "Ready", Status: fairlead.ConditionTrue})
			p.Status.Phase, p.DeletionTimestamp = fairlead.PodRunning, nil
		}
	}
	in.Situation.Budgets = slices.Clone(in.Situation.Budgets)
	for i := range in.Situation.Budgets {
		b := &in.Situation.Budgets[i]
		b.Status.ObservedGeneration, b.Generation = 0, max(b.Generation, 0)+1 // its numbers are computed
	}
}
