package placement

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
)

// unschedulable is the taint that a cordoned node counts as having.
var unschedulable = fairlead.Taint{Key: "node.kubernetes.io/unschedulable", Effect: fairlead.NoSchedule}

// selected reports whether a node has the labels that a pod selects and meets
// the affinity that it requires.
func selected(spec *fairlead.PodSpec, n *fairlead.Node) bool {
	for key, want := range spec.NodeSelector {
		if got, ok := n.Labels[key]; !ok || got != want {
			return false
		}
	}
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.Required == nil {
		return true
	}
	return slices.ContainsFunc(spec.Affinity.NodeAffinity.Required.Terms, func(t fairlead.NodeSelectorTerm) bool { return termMatches(&t, n) })
}

// selectedWords says why a node is not selected.
func selectedWords(spec *fairlead.PodSpec, n *fairlead.Node) string {
	for _, key := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		want := spec.NodeSelector[key]
		switch got, ok := n.Labels[key]; {
		case !ok:
			return fmt.Sprintf("its nodeSelector requires the label %s=%s, and the node has no label %s", key, want, key)
		case got != want:
			return fmt.Sprintf("its nodeSelector requires the label %s=%s, and the node has %s=%s", key, want, key, got)
		}
	}
	return "no term of its required node affinity matches the node"
}

// termMatches reports whether a node meets all requirements of a term, which
// must have at least one. No node meets an invalid requirement.
func termMatches(t *fairlead.NodeSelectorTerm, n *fairlead.Node) bool {
	if len(t.MatchExpressions)+len(t.MatchFields) == 0 {
		return false
	}
	for i := range t.MatchExpressions {
		if !labelMatches(&t.MatchExpressions[i], n.Labels) {
			return false
		}
	}
	for i := range t.MatchFields {
		if !fieldMatches(&t.MatchFields[i], n) {
			return false
		}
	}
	return true
}

func labelMatches(r *fairlead.NodeRequirement, labels map[string]string) bool {
	switch r.Operator {
	case "Gt", "Lt":
		return numberMatches(r, labels)
	}
	s := fairlead.LabelSelector{MatchExpressions: []fairlead.SelectorRequirement{{Key: r.Key, Operator: fairlead.SelectorOperator(r.Operator), Values: r.Values}}}
	return s.Matches(labels)
}

// numberMatches compares whole numbers of 64 bits.
func numberMatches(r *fairlead.NodeRequirement, labels map[string]string) bool {
	if len(r.Values) != 1 {
		return false
	}
	bound, err := strconv.ParseInt(r.Values[0], 10, 64)
	if err != nil {
		return false
	}
	value, err := strconv.ParseInt(labels[r.Key], 10, 64)
	if err != nil {
		return false
	}
	if r.Operator == "Gt" {
		return value > bound
	}
	return value < bound
}

// fieldMatches evaluates a requirement on a field. The only field is the name;
// others are empty.
func fieldMatches(r *fairlead.NodeRequirement, n *fairlead.Node) bool {
	if len(r.Values) != 1 {
		return false
	}
	value := ""
	if r.Key == "metadata.name" {
		value = n.Name
	}
	switch r.Operator {
	case "In":
		return value == r.Values[0]
	case "NotIn":
		return value != r.Values[0]
	}
	return false
}

// untolerated returns the first taint of effect NoSchedule or NoExecute that
// none of the tolerations matches, or nil.
func untolerated(tolerations []fairlead.Toleration, taints []fairlead.Taint, numbers bool) *fairlead.Taint {
	for i := range taints {
		t := &taints[i]
		if (t.Effect == fairlead.NoSchedule || t.Effect == fairlead.NoExecute) && object.FirstMatch(tolerations, t, numbers) < 0 {
			return t
		}
	}
	return nil
}

// closed reports whether a node is cordoned and the pod does not tolerate that.
func closed(spec *fairlead.PodSpec, n *fairlead.Node, numbers bool) bool {
	return n.Spec.Unschedulable && object.FirstMatch(spec.Tolerations, &unschedulable, numbers) < 0
}

// port is a port of the node that a pod uses.
type port struct {
	ip, protocol string
	number       int32
}

// anyIP is the address that stands for all.
const anyIP = "0.0.0.0"

// ports returns the ports of the node that a pod uses: those of its containers
// and of sidecars.
func ports(spec *fairlead.PodSpec) []port {
	var all []port
	take := func(c *fairlead.Container) {
		for _, p := range c.Ports {
			if p.HostPort <= 0 {
				continue
			}
			taken := port{p.HostIP, p.Protocol, p.HostPort}
			if taken.ip == "" {
				taken.ip = anyIP
			}
			if taken.protocol == "" {
				taken.protocol = "TCP"
			}
			all = append(all, taken)
		}
	}
	for i := range spec.Containers {
		take(&spec.Containers[i])
	}
	for i := range spec.InitContainers {
		if spec.InitContainers[i].RestartPolicy == "Always" {
			take(&spec.InitContainers[i])
		}
	}
	return all
}

// clash reports whether two ports cannot both be used.
func (p port) clash(o port) bool {
	return p.number == o.number && p.protocol == o.protocol && (p.ip == o.ip || p.ip == anyIP || o.ip == anyIP)
}
