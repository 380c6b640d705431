package kube

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/fairlead/fairlead"
)

// affinity converts a pod's requirements on its node and on other pods.
func affinity(from *corev1.Affinity) *fairlead.Affinity {
	if from == nil {
		return nil
	}
	out := new(fairlead.Affinity)
	if n := from.NodeAffinity; n != nil {
		out.NodeAffinity = &fairlead.NodeAffinity{Required: nodeSelector(n.RequiredDuringSchedulingIgnoredDuringExecution)}
	}
	if p := from.PodAffinity; p != nil {
		out.PodAffinity = &fairlead.PodAffinity{Required: podTerms(p.RequiredDuringSchedulingIgnoredDuringExecution)}
	}
	if p := from.PodAntiAffinity; p != nil {
		out.PodAntiAffinity = &fairlead.PodAffinity{Required: podTerms(p.RequiredDuringSchedulingIgnoredDuringExecution)}
	}
	return out
}

func nodeSelector(from *corev1.NodeSelector) *fairlead.NodeSelector {
	if from == nil {
		return nil
	}
	out := new(fairlead.NodeSelector)
	for _, t := range from.NodeSelectorTerms {
		out.Terms = append(out.Terms, fairlead.NodeSelectorTerm{
			MatchExpressions: nodeRequirements(t.MatchExpressions), MatchFields: nodeRequirements(t.MatchFields),
		})
	}
	return out
}

func nodeRequirements(from []corev1.NodeSelectorRequirement) []fairlead.NodeRequirement {
	var out []fairlead.NodeRequirement
	for _, r := range from {
		out = append(out, fairlead.NodeRequirement{Key: r.Key, Operator: string(r.Operator), Values: r.Values})
	}
	return out
}

func podTerms(from []corev1.PodAffinityTerm) []fairlead.PodAffinityTerm {
	var out []fairlead.PodAffinityTerm
	for _, t := range from {
		out = append(out, fairlead.PodAffinityTerm{
			LabelSelector: Selector(t.LabelSelector), Namespaces: t.Namespaces,
			NamespaceSelector: Selector(t.NamespaceSelector), TopologyKey: t.TopologyKey,
		})
	}
	return out
}

// spread converts topology spread constraints.
func spread(from []corev1.TopologySpreadConstraint) []fairlead.SpreadConstraint {
	var out []fairlead.SpreadConstraint
	for _, c := range from {
		s := fairlead.SpreadConstraint{
			MaxSkew: c.MaxSkew, TopologyKey: c.TopologyKey, WhenUnsatisfiable: string(c.WhenUnsatisfiable),
			LabelSelector: Selector(c.LabelSelector), MatchLabelKeys: c.MatchLabelKeys, MinDomains: c.MinDomains,
		}
		if p := c.NodeAffinityPolicy; p != nil {
			s.NodeAffinityPolicy = string(*p)
		}
		if p := c.NodeTaintsPolicy; p != nil {
			s.NodeTaintsPolicy = string(*p)
		}
		out = append(out, s)
	}
	return out
}

// resources converts the resource requirements of a pod as a whole, or of a
// container.
func resources(from *corev1.ResourceRequirements) fairlead.Resources {
	return fairlead.Resources{Limits: quantities(from.Limits), Requests: quantities(from.Requests)}
}

func containers(from []corev1.Container) []fairlead.Container {
	var out []fairlead.Container
	for i := range from {
		c := fairlead.Container{Name: from[i].Name, Resources: resources(&from[i].Resources)}
		if p := from[i].RestartPolicy; p != nil {
			c.RestartPolicy = string(*p)
		}
		for _, p := range from[i].Ports {
			c.Ports = append(c.Ports, fairlead.ContainerPort{
				Name: p.Name, ContainerPort: p.ContainerPort, HostPort: p.HostPort, HostIP: p.HostIP, Protocol: string(p.Protocol),
			})
		}
		out = append(out, c)
	}
	return out
}
