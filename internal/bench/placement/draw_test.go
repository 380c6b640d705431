package placement

import (
	"fmt"
	"math/rand/v2"

	"github.com/fairlead/fairlead"
)

// draw makes small random clusters in which every filter matters at times.
type draw struct{ *rand.Rand }

func (d draw) of(words ...string) string { return words[d.IntN(len(words))] }
func (d draw) one(n int) bool            { return d.IntN(n) == 0 }

// spaces returns the namespaces with their labels.
func spaces() map[string]map[string]string {
	return map[string]map[string]string{
		"n1": {"team": "a", "kubernetes.io/metadata.name": "n1"}, "n2": {"team": "b", "kubernetes.io/metadata.name": "n2"},
	}
}

func (d draw) node(i int) *fairlead.Node {
	n := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprint("n", i), Labels: map[string]string{}}}
	n.Labels["host"] = n.Name
	if !d.one(4) {
		n.Labels["topology.kubernetes.io/zone"] = d.of("a", "b")
	}
	for _, key := range []string{"zone", "disk", "number"} {
		if !d.one(6) {
			n.Labels[key] = d.of("a", "b", "1", "20")
		}
	}
	n.Spec.Unschedulable = d.one(10)
	for range d.IntN(3) / 2 * (1 + d.IntN(2)) {
		t := fairlead.Taint{Key: d.of("x", "y"), Value: d.of("", "v", "7"), Effect: fairlead.TaintEffect(d.of("NoSchedule", "NoExecute", "PreferNoSchedule"))}
		n.Spec.Taints = append(n.Spec.Taints, t)
	}
	n.Status.Allocatable = map[string]string{"cpu": d.of("1", "2", "1500m", "4"), "memory": d.of("1Gi", "512Mi", "1000M", "2e9"), "pods": d.of("3", "10", "110")}
	if d.one(2) {
		n.Status.Allocatable["example.com/gpu"] = d.of("1", "2")
	}
	return n
}

func (d draw) requests() map[string]string {
	m := map[string]string{}
	if !d.one(3) {
		m["cpu"] = d.of("100m", "0.25", "500m", "1", "0.0005", "1.0001", "0")
	}
	if !d.one(3) {
		m["memory"] = d.of("100Mi", "256Mi", "0.5Gi", "1e8", "128000k", "1500m")
	}
	if d.one(8) {
		m["example.com/gpu"] = "1"
	}
	return m
}

func (d draw) pod(name string) *fairlead.Pod {
	p := &fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Name: name, UID: name, Namespace: d.of("n1", "n1", "n2"), Labels: map[string]string{}}}
	for _, key := range []string{"app", "tier"} {
		if !d.one(5) {
			p.Labels[key] = d.of("a", "b")
		}
	}
	for i := range 1 + d.IntN(2) {
		c := fairlead.Container{Name: fmt.Sprint("c", i), Resources: fairlead.Resources{Requests: d.requests()}}
		if d.one(5) {
			c.Ports = []fairlead.ContainerPort{{HostPort: int32(80 + d.IntN(2)), HostIP: d.of("", "10.0.0.1", "10.0.0.2", "0.0.0.0"), Protocol: d.of("", "TCP", "UDP")}}
		}
		p.Spec.Containers = append(p.Spec.Containers, c)
	}
	for i := range d.IntN(3) {
		p.Spec.InitContainers = append(p.Spec.InitContainers, fairlead.Container{Name: fmt.Sprint("i", i), Resources: fairlead.Resources{Requests: d.requests()}, RestartPolicy: d.of("", "Always")})
	}
	if d.one(6) {
		p.Spec.Overhead = map[string]string{"cpu": "50m"}
	}
	for range d.IntN(3) {
		t := fairlead.Toleration{Key: d.of("x", "y", "node.kubernetes.io/unschedulable"), Operator: fairlead.TolerationOperator(d.of("", "Equal", "Exists")), Effect: fairlead.TaintEffect(d.of("", "NoSchedule", "NoExecute"))}
		if t.Operator != fairlead.TolerationExists {
			t.Value = d.of("", "v", "7")
		} else if d.one(4) {
			t.Key = ""
		}
		p.Spec.Tolerations = append(p.Spec.Tolerations, t)
	}
	if d.one(5) {
		p.Spec.NodeSelector = map[string]string{d.of("zone", "disk"): d.of("a", "b")}
	}
	for range d.IntN(4) / 2 * (1 + d.IntN(2)) {
		p.Spec.Volumes = append(p.Spec.Volumes, fairlead.Volume{Name: fmt.Sprint("v", len(p.Spec.Volumes)), PersistentVolumeClaim: &fairlead.ClaimSource{ClaimName: fmt.Sprint("c", d.IntN(14))}})
	}
	p.Spec.Affinity = d.affinity()
	for range d.IntN(3) / 2 * (1 + d.IntN(2)) {
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, d.spread())
	}
	return p
}

func (d draw) selector() *fairlead.LabelSelector {
	s := &fairlead.LabelSelector{}
	switch {
	case d.one(10):
		return nil
	case !d.one(4):
		s.MatchLabels = map[string]string{d.of("app", "tier"): d.of("a", "b")}
	}
	if d.one(4) {
		r := fairlead.SelectorRequirement{Key: d.of("app", "tier"), Operator: fairlead.SelectorOperator(d.of("In", "NotIn", "Exists", "DoesNotExist"))}
		if r.Operator == fairlead.SelectorIn || r.Operator == fairlead.SelectorNotIn {
			r.Values = []string{d.of("a", "b"), d.of("1", "2")}
		}
		s.MatchExpressions = []fairlead.SelectorRequirement{r}
	}
	return s
}

func (d draw) affinity() *fairlead.Affinity {
	a := &fairlead.Affinity{}
	if d.one(4) {
		s := &fairlead.NodeSelector{}
		for range 1 + d.IntN(2) {
			var t fairlead.NodeSelectorTerm
			for range d.IntN(3) {
				r := fairlead.NodeRequirement{Key: d.of("zone", "disk", "number"), Operator: d.of("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")}
				switch r.Operator {
				case "In", "NotIn":
					r.Values = []string{d.of("a", "b"), d.of("1", "20")}
				case "Gt", "Lt":
					r.Values = []string{d.of("1", "5", "20")}
				}
				t.MatchExpressions = append(t.MatchExpressions, r)
			}
			if d.one(6) {
				t.MatchFields = []fairlead.NodeRequirement{{Key: "metadata.name", Operator: d.of("In", "NotIn"), Values: []string{d.of("n0", "n1", "n2")}}}
			}
			s.Terms = append(s.Terms, t)
		}
		a.NodeAffinity = &fairlead.NodeAffinity{Required: s}
	}
	if d.one(4) {
		a.PodAffinity = d.terms()
	}
	if d.one(4) {
		a.PodAntiAffinity = d.terms()
	}
	return a
}

func (d draw) terms() *fairlead.PodAffinity {
	a := &fairlead.PodAffinity{}
	for range 1 + d.IntN(2) {
		t := fairlead.PodAffinityTerm{LabelSelector: d.selector(), TopologyKey: d.of("zone", "zone", "host", "disk")}
		if d.one(3) {
			t.Namespaces = []string{d.of("n1", "n2")}
		}
		if d.one(4) {
			t.NamespaceSelector = &fairlead.LabelSelector{}
			if d.one(2) {
				t.NamespaceSelector.MatchLabels = map[string]string{"team": d.of("a", "b")}
			}
		}
		a.Required = append(a.Required, t)
	}
	return a
}

func (d draw) spread() fairlead.SpreadConstraint {
	c := fairlead.SpreadConstraint{
		MaxSkew: 1 + int32(d.IntN(2)), TopologyKey: d.of("zone", "zone", "host", "disk"), WhenUnsatisfiable: d.of("DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"),
		LabelSelector: d.selector(), NodeAffinityPolicy: d.of("", "Honor", "Ignore"), NodeTaintsPolicy: d.of("", "Honor", "Ignore"),
	}
	if d.one(3) && c.WhenUnsatisfiable == "DoNotSchedule" {
		domains := int32(1 + d.IntN(4))
		c.MinDomains = &domains
	}
	return c
}
