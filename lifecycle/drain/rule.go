package drain

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead"
)

// Label is a label by which a pod itself says how drains treat it: skip, or
// wait-completed. Case and one dash do not matter; other values are ignored. It
// takes precedence over all rules.
const Label = "cluster.x-k8s.io/drain"

// Behavior is what a drain does with the pods of a rule.
type Behavior string

// The behaviours of cluster-api.
const (
	BehaviorDrain         Behavior = "Drain"         // evicts them, in the turn of their order
	BehaviorSkip          Behavior = "Skip"          // leaves them alone
	BehaviorWaitCompleted Behavior = "WaitCompleted" // waits until they have completed
)

// Rule says how the drains of some machines treat some pods: cluster-api's
// MachineDrainRule. If several rules apply to a pod, the first by name counts.
type Rule struct {
	ObjectMeta `json:"metadata"` // its name; names are unique among the rules of a policy
	Spec       RuleSpec          `json:"spec"` // its content
}

// RuleSpec is the content of a rule.
type RuleSpec struct {
	Drain RuleBehavior `json:"drain"` // what happens to the pods
	// Machines are those whose drains it applies to: machines that match any
	// entry. Empty means all machines; at most 32.
	Machines []RuleMachines `json:"machines,omitempty"`
	// Pods are those that it applies to: pods that match any entry. Empty means
	// all pods; at most 32.
	Pods []RulePods `json:"pods,omitempty"`
}

// RuleBehavior is what happens to the pods of a rule.
type RuleBehavior struct {
	Behavior Behavior `json:"behavior"` // which treatment
	// Order is when they are evicted: pods of a lower order are gone before those
	// of a higher one are evicted. Only with Drain; nil means 0.
	Order *int32 `json:"order,omitempty"`
}

// RuleMachines selects machines: both selectors must match.
type RuleMachines struct {
	Selector        *LabelSelector `json:"selector,omitempty"`        // by the machine's labels; nil or empty means all
	ClusterSelector *LabelSelector `json:"clusterSelector,omitempty"` // by the cluster's labels; nil or empty means all
}

// RulePods selects pods: both selectors must match.
type RulePods struct {
	Selector          *LabelSelector `json:"selector,omitempty"`          // by the pod's labels; nil or empty means all
	NamespaceSelector *LabelSelector `json:"namespaceSelector,omitempty"` // by the labels of its namespace; nil or empty means all
}

// maxRuleEntries is the API's limit on the entries of a rule.
const maxRuleEntries = 32

// check adds the errors in a rule.
func (r *Rule) check(path string, errs *fairlead.FieldErrors) {
	if r.Name == "" {
		errs.Add(path+".metadata.name", "is empty; give the rule a name, by which rules are ordered")
	}
	b := &r.Spec.Drain
	switch b.Behavior {
	case BehaviorDrain:
	case BehaviorSkip, BehaviorWaitCompleted:
		if b.Order != nil {
			errs.Add(path+".spec.drain.order", "is only for behavior %s; leave it out", BehaviorDrain)
		}
	default:
		errs.Add(path+".spec.drain.behavior", "there is no behavior %q; write %s, %s or %s", b.Behavior, BehaviorDrain, BehaviorSkip, BehaviorWaitCompleted)
	}
	entries := func(field string, n int, selectors func(i int) (names [2]string, of [2]*LabelSelector)) {
		if n > maxRuleEntries {
			errs.Add(path+field, "has %d entries; at most %d are allowed", n, maxRuleEntries)
		}
		seen := map[string]int{}
		for i := range n {
			names, of := selectors(i)
			at := fmt.Sprintf("%s%s[%d]", path, field, i)
			for j, s := range of {
				if err := s.Check(); err != nil {
					errs.Add(at+names[j], "%v", err)
				}
			}
			key := fmt.Sprintf("%+v %+v", deref(of[0]), deref(of[1]))
			if first, twice := seen[key]; twice {
				errs.Add(at, "is the same as entry %d; leave one out", first)
			} else {
				seen[key] = i
			}
		}
	}
	entries(".spec.machines", len(r.Spec.Machines), func(i int) (names [2]string, of [2]*LabelSelector) {
		e := &r.Spec.Machines[i]
		return [2]string{".selector", ".clusterSelector"}, [2]*LabelSelector{e.Selector, e.ClusterSelector}
	})
	entries(".spec.pods", len(r.Spec.Pods), func(i int) (names [2]string, of [2]*LabelSelector) {
		e := &r.Spec.Pods[i]
		return [2]string{".selector", ".namespaceSelector"}, [2]*LabelSelector{e.Selector, e.NamespaceSelector}
	})
}

// deref returns what s points to; for comparing by text. A nil and an empty
// selector are the same.
func deref(s *LabelSelector) LabelSelector {
	if s == nil {
		return LabelSelector{}
	}
	return *s
}

// sound reports whether the rule can be evaluated: one that cannot must not
// decide about pods.
func (r *Rule) sound() bool {
	for i := range r.Spec.Machines {
		if e := &r.Spec.Machines[i]; e.Selector.Check() != nil || e.ClusterSelector.Check() != nil {
			return false
		}
	}
	for i := range r.Spec.Pods {
		if e := &r.Spec.Pods[i]; e.Selector.Check() != nil || e.NamespaceSelector.Check() != nil {
			return false
		}
	}
	return true
}

// forMachine reports whether the rule applies to the drains of a machine.
func (r *Rule) forMachine(machine, cluster map[string]string) bool {
	for i := range r.Spec.Machines {
		if e := &r.Spec.Machines[i]; e.Selector.Matches(machine) && e.ClusterSelector.Matches(cluster) {
			return true
		}
	}
	return len(r.Spec.Machines) == 0
}

// forPod reports whether the rule applies to a pod. unknown is true if that
// depends on the labels of the pod's namespace, and those are unknown.
func (r *Rule) forPod(p *Pod, namespaces []ObjectMeta) (applies, unknown bool) {
	for i := range r.Spec.Pods {
		e := &r.Spec.Pods[i]
		if !e.Selector.Matches(p.Labels) {
			continue
		}
		if e.NamespaceSelector.Empty() {
			return true, false
		}
		labels, known := namespaceLabels(p.Namespace, namespaces)
		if !known {
			unknown = true
		} else if e.NamespaceSelector.Matches(labels) {
			return true, false
		}
	}
	return len(r.Spec.Pods) == 0, unknown
}

// namespaceLabels returns the labels of a namespace, and whether it is listed.
func namespaceLabels(name string, namespaces []ObjectMeta) (labels map[string]string, known bool) {
	for i := range namespaces {
		if namespaces[i].Name == name {
			return namespaces[i].Labels, true
		}
	}
	return nil, false
}

// labelBehavior returns the behaviour that a pod's own label requests, or "".
func labelBehavior(p *Pod) Behavior {
	value, there := p.Labels[Label]
	if !there {
		return ""
	}
	switch value = strings.ToLower(strings.Replace(value, "-", "", 1)); value {
	case "skip":
		return BehaviorSkip
	case "waitcompleted":
		return BehaviorWaitCompleted
	}
	return ""
}
