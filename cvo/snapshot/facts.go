package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/rollout"
)

// NodeFacts is how a node is.
type NodeFacts struct {
	Ready    fairlead.ConditionStatus `json:"ready"`              // its condition; Unknown if it has none
	Why      string                   `json:"why,omitempty"`      // why it is not ready
	Cordoned bool                     `json:"cordoned,omitempty"` // no new pods are placed on it
	Draining bool                     `json:"draining,omitempty"` // the machine config operator has it drained
	Updating bool                     `json:"updating,omitempty"` // it does not run the configuration that it should
}

// FactsOf returns how a node is.
func FactsOf(n *fairlead.Node) NodeFacts {
	f := NodeFacts{Ready: fairlead.ConditionUnknown, Why: "the Ready condition is missing", Cordoned: n.Spec.Unschedulable, Draining: rollout.Draining(n), Updating: rollout.Updating(n)}
	if c := n.Condition("Ready"); c != nil {
		if f.Ready, f.Why = c.Status, ""; c.Status != fairlead.ConditionTrue {
			f.Why = cmp.Or(c.Message, c.Reason, "it does not say why")
		}
	}
	return f
}

// String says how the node is, in a few words.
func (f *NodeFacts) String() string {
	parts := []string{"ready"}
	if f.Ready != fairlead.ConditionTrue {
		parts[0] = "not ready (" + f.Why + ")"
	}
	for _, is := range [...]struct {
		so   bool
		word string
	}{{f.Cordoned, "cordoned"}, {f.Draining, "being drained"}, {f.Updating, "being updated"}} {
		if is.so {
			parts = append(parts, is.word)
		}
	}
	return strings.Join(parts, ", ")
}

// Fact is something that is known of an object.
type Fact struct {
	Subject string `json:"subject"` // as in "node worker-0"
	What    string `json:"what"`    // which property; empty for how it is as a whole
	Is      string `json:"is"`      // its value, in words

	kind, namespace, name string // of the subject
}

// Facts returns what the snapshot shows of the cluster: the update as [cvo.Inspect] sees it, operators, pools,
// nodes, machines, pods, budgets, and the operators of OLM. They are in this order, and by name; subjects and
// properties are unique.
func (s *Snapshot) Facts() []Fact {
	var all []Fact
	add := func(kind, namespace, name, what, is string) {
		if is != "" {
			all = append(all, Fact{one(kind) + key(namespace, name), what, is, kind, namespace, name})
		}
	}
	s.updateFacts(add)
	s.runningFacts(add)
	for i := range s.Subscriptions.Items {
		sub := &s.Subscriptions.Items[i]
		add("Subscription", sub.Namespace, sub.Name, "", cmp.Or(sub.Status.InstalledCSV, "nothing installed"))
	}
	for i := range s.CSVs.Items {
		if c := &s.CSVs.Items[i]; !c.Copied() {
			add("ClusterServiceVersion", c.Namespace, c.Name, "", cmp.Or(string(c.Status.Phase), "not processed"))
		}
	}
	return all
}

// one is what one object of a kind is called.
func one(kind string) string {
	switch kind {
	case "ClusterOperator":
		return "operator "
	case "MachineConfigPool":
		return "pool "
	case "PodDisruptionBudget":
		return "budget "
	case "ClusterServiceVersion":
		return "CSV "
	}
	return strings.ToLower(kind) + " "
}

type adder = func(kind, namespace, name, what, is string)

// updateFacts are those of the update.
func (s *Snapshot) updateFacts(add adder) {
	r := cvo.Inspect(s.UpdateDump(), s.Clock.At)
	if v := s.Version(); v != nil {
		update := func(what, is string) { add("ClusterVersion", "", v.Name, what, is) }
		update("release", v.Status.Desired.Version)
		update("", string(r.Assessment))
		update("channel", v.Spec.Channel)
		for _, c := range v.Status.Conditions {
			update(string(c.Type), said(c.Status, c.Reason))
		}
	}
	for _, o := range r.Operators {
		add("ClusterOperator", "", o.Name, "", o.State+", "+o.Health)
		add("ClusterOperator", "", o.Name, "version", o.Version)
	}
	for _, p := range r.Pools {
		add("MachineConfigPool", "", p.Name, "", fmt.Sprintf("%s, %d of %d nodes updated", p.State, p.Updated, p.Total))
	}
}

// runningFacts are those of nodes, machines, and what runs on them.
func (s *Snapshot) runningFacts(add adder) {
	for i := range s.Nodes.Items {
		n := &s.Nodes.Items[i]
		f := FactsOf(n)
		add("Node", "", n.Name, "", f.String())
		var taints []string
		for _, t := range n.Spec.Taints {
			taints = append(taints, t.String())
		}
		slices.Sort(taints)
		add("Node", "", n.Name, "taints", strings.Join(taints, " "))
	}
	for i := range s.Machines.Items {
		m := &s.Machines.Items[i]
		is := cmp.Or(string(m.Status.Phase), "without a phase")
		if m.Deleting() {
			is += ", being deleted"
		}
		add("Machine", m.Namespace, m.Name, "", is)
	}
	for i := range s.Pods.Items {
		p := &s.Pods.Items[i]
		is := cmp.Or(string(p.Status.Phase), "without a phase")
		switch {
		case p.DeletionTimestamp != nil:
			is += ", being deleted"
		case p.Status.Phase == fairlead.PodRunning && !p.Ready():
			is += ", not ready"
		}
		add("Pod", p.Namespace, p.Name, "", is)
		add("Pod", p.Namespace, p.Name, "node", p.Spec.NodeName)
	}
	for i := range s.Budgets.Items {
		b := &s.Budgets.Items[i]
		if b.Status.ObservedGeneration == 0 && b.Status.ExpectedPods == 0 {
			add("PodDisruptionBudget", b.Namespace, b.Name, "", "not counted yet")
			continue
		}
		add("PodDisruptionBudget", b.Namespace, b.Name, "", fmt.Sprintf("%d of %d pods healthy, %d disruptions allowed", b.Status.CurrentHealthy, b.Status.ExpectedPods, b.Status.DisruptionsAllowed))
	}
}

func said(status fairlead.ConditionStatus, reason string) string {
	if reason == "" {
		return string(status)
	}
	return string(status) + " (" + reason + ")"
}

// Change is a fact that differs between two snapshots.
type Change struct {
	Subject string `json:"subject"`        // see Fact
	What    string `json:"what,omitempty"` // see Fact
	Was     string `json:"was,omitempty"`  // empty: there was none
	Is      string `json:"is,omitempty"`   // empty: there is none any more
}

// Changes returns which facts differ between two snapshots, in the order of the facts; those that are
// gone come last. What one of them does not know is no change: an object is new, or gone, only if both
// looked for it.
func Changes(before, after *Snapshot) []Change {
	type key struct{ subject, what string }
	index := func(facts []Fact) (is map[key]string, there map[string]bool) {
		is, there = map[key]string{}, map[string]bool{}
		for _, f := range facts {
			is[key{f.Subject, f.What}], there[f.Subject] = f.Is, true
		}
		return is, there
	}
	old, now := before.Facts(), after.Facts()
	was, had := index(old)
	is, has := index(now)
	changes := []Change{}
	for _, f := range now {
		k := key{f.Subject, f.What}
		if was[k] != f.Is && (had[f.Subject] || f.What == "" && before.looked(&f)) {
			changes = append(changes, Change{f.Subject, f.What, was[k], f.Is})
		}
	}
	for _, f := range old {
		if _, still := is[key{f.Subject, f.What}]; !still && (has[f.Subject] || f.What == "" && after.looked(&f)) {
			changes = append(changes, Change{Subject: f.Subject, What: f.What, Was: f.Is})
		}
	}
	return changes
}

// looked reports whether it is known if the subject of a fact exists.
func (s *Snapshot) looked(f *Fact) bool {
	return f.kind != "" && byName[f.kind].list(s).scope().Has(f.namespace, f.name)
}
