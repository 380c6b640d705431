package lifecycle

import (
	"fmt"
	"strings"
)

// DrainLabel is a label by which a pod says itself how drains treat it: skip,
// or wait-completed. Case and one dash do not matter; other values do not
// count. It comes before all rules.
const DrainLabel = "cluster.x-k8s.io/drain"

// DrainBehavior is what a rule has a drain do about pods.
type DrainBehavior string

// The behaviours of cluster-api.
const (
	DrainEvict         DrainBehavior = "Drain"         // evicts them, when it is the turn of their order
	DrainSkip          DrainBehavior = "Skip"          // leaves them alone
	DrainWaitCompleted DrainBehavior = "WaitCompleted" // waits until they have run to their ends
)

// DrainRule says how the drains of some machines treat some pods: cluster-api's
// MachineDrainRule. Of the rules that apply to a pod the first by name counts.
type DrainRule struct {
	ObjectMeta `json:"metadata"` // its name; names are unique among the rules of a policy
	Spec       DrainRuleSpec     `json:"spec"` // what it says
}

// DrainRuleSpec is what a rule says.
type DrainRuleSpec struct {
	Drain DrainRuleBehavior `json:"drain"` // what becomes of the pods
	// Machines are those whose drains it concerns: a machine of any entry. Empty
	// means all machines; at most 32.
	Machines []DrainRuleMachines `json:"machines,omitempty"`
	// Pods are those that it concerns: a pod of any entry. Empty means all pods;
	// at most 32.
	Pods []DrainRulePods `json:"pods,omitempty"`
}

// DrainRuleBehavior is what becomes of the pods of a rule.
type DrainRuleBehavior struct {
	Behavior DrainBehavior `json:"behavior"` // which treatment
	// Order says whose turn it is: pods of a lower order are gone before those of
	// a higher one are evicted. Only with Drain; nil means 0.
	Order *int32 `json:"order,omitempty"`
}

// DrainRuleMachines picks machines: both selectors must match.
type DrainRuleMachines struct {
	Selector        *LabelSelector `json:"selector,omitempty"`        // by the machine's labels; nil or empty means all
	ClusterSelector *LabelSelector `json:"clusterSelector,omitempty"` // by the cluster's labels; nil or empty means all
}

// DrainRulePods picks pods: both selectors must match.
type DrainRulePods struct {
	Selector          *LabelSelector `json:"selector,omitempty"`          // by the pod's labels; nil or empty means all
	NamespaceSelector *LabelSelector `json:"namespaceSelector,omitempty"` // by the labels of its namespace; nil or empty means all
}

// maxRuleEntries is the API's limit on the entries of a rule.
const maxRuleEntries = 32

// check adds what is wrong with a rule.
func (r *DrainRule) check(path string, errs *FieldErrors) {
	if r.Name == "" {
		errs.add(path+".metadata.name", "is empty; give the rule a name, by which rules are ordered")
	}
	b := &r.Spec.Drain
	switch b.Behavior {
	case DrainEvict:
	case DrainSkip, DrainWaitCompleted:
		if b.Order != nil {
			errs.add(path+".spec.drain.order", "goes with behavior %s only; leave it out", DrainEvict)
		}
	default:
		errs.add(path+".spec.drain.behavior", "%q is none; write %s, %s or %s", b.Behavior, DrainEvict, DrainSkip, DrainWaitCompleted)
	}
	entries := func(field string, n int, selectors func(i int) (names [2]string, of [2]*LabelSelector)) {
		if n > maxRuleEntries {
			errs.add(path+field, "has %d entries; at most %d are possible", n, maxRuleEntries)
		}
		seen := map[string]int{}
		for i := range n {
			names, of := selectors(i)
			at := fmt.Sprintf("%s%s[%d]", path, field, i)
			for j, s := range of {
				if err := s.Check(); err != nil {
					errs.add(at+names[j], "%v", err)
				}
			}
			key := fmt.Sprintf("%+v %+v", deref(of[0]), deref(of[1]))
			if first, twice := seen[key]; twice {
				errs.add(at, "is the same as entry %d; leave one out", first)
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

// sound reports whether the rule can be judged at all: one that cannot must not
// decide about pods.
func (r *DrainRule) sound() bool {
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

// forMachine reports whether the rule concerns the drains of a machine.
func (r *DrainRule) forMachine(machine, cluster map[string]string) bool {
	for i := range r.Spec.Machines {
		if e := &r.Spec.Machines[i]; e.Selector.Matches(machine) && e.ClusterSelector.Matches(cluster) {
			return true
		}
	}
	return len(r.Spec.Machines) == 0
}

// forPod reports whether the rule concerns a pod. unknown is true when that
// hangs on the labels of the pod's namespace, and those are not known.
func (r *DrainRule) forPod(p *Pod, namespaces []ObjectMeta) (applies, unknown bool) {
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

// labelBehavior returns the behaviour that a pod's own label asks for, or "".
func labelBehavior(p *Pod) DrainBehavior {
	value, there := p.Labels[DrainLabel]
	if !there {
		return ""
	}
	switch value = strings.ToLower(strings.Replace(value, "-", "", 1)); value {
	case "skip":
		return DrainSkip
	case "waitcompleted":
		return DrainWaitCompleted
	}
	return ""
}
