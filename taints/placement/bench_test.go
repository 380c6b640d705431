package placement_test

import (
	"fmt"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints/placement"
)

// fleet returns nodes in three zones, and pods in workloads of fifty: every third
// workload spreads its pods over zones, every fifth keeps them on separate nodes.
func fleet(nodes, pods int) (ns []*fairlead.Node, ps []*fairlead.Pod) {
	for i := range nodes {
		n := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprintf("n%05d", i), Labels: map[string]string{"zone": fmt.Sprint("z", i%3), "kubernetes.io/hostname": fmt.Sprintf("n%05d", i)}}}
		n.Status.Allocatable = map[string]string{"cpu": "32", "memory": "128Gi", "pods": "110"}
		ns = append(ns, n)
	}
	for i := range pods {
		app := fmt.Sprint("app-", i/50)
		p := &fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprintf("p%06d", i), Namespace: fmt.Sprint("ns-", i/5000), Labels: map[string]string{"app": app, "tier": "web"}}}
		p.Spec.NodeName = fmt.Sprintf("n%05d", (i*7919)%nodes)
		p.Spec.Containers = []fairlead.Container{{Resources: fairlead.Resources{Requests: map[string]string{"cpu": "900m", "memory": "2Gi"}}}}
		selector := &fairlead.LabelSelector{MatchLabels: map[string]string{"app": app}}
		if (i/50)%3 == 0 {
			p.Spec.TopologySpreadConstraints = []fairlead.SpreadConstraint{{MaxSkew: 5, TopologyKey: "zone", WhenUnsatisfiable: fairlead.DoNotSchedule, LabelSelector: selector}}
		}
		if (i/50)%5 == 0 {
			p.Spec.Affinity = &fairlead.Affinity{PodAntiAffinity: &fairlead.PodAffinity{Required: []fairlead.PodAffinityTerm{{LabelSelector: selector, TopologyKey: "kubernetes.io/hostname"}}}}
		}
		ps = append(ps, p)
	}
	return ns, ps
}

// BenchmarkMove removes pods of full fleets one after the other, and finds
// another node for each. The first figure is the cost of loading.
func BenchmarkMove(b *testing.B) {
	for _, size := range []struct{ nodes, pods int }{{500, 15_000}, {5000, 150_000}} {
		ns, ps := fleet(size.nodes, size.pods)
		load := func() *placement.Cluster {
			c := placement.New(nil)
			for _, n := range ns {
				if err := c.SetNode(n); err != nil {
					b.Fatal(err)
				}
			}
			for _, p := range ps {
				if err := c.Add(p); err != nil {
					b.Fatal(err)
				}
			}
			return c
		}
		b.Run(fmt.Sprintf("load/%d", size.nodes), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				load()
			}
		})
		b.Run(fmt.Sprintf("move/%d", size.nodes), func(b *testing.B) {
			b.ReportAllocs()
			c := load()
			for i := range b.N {
				p := ps[(i*104729)%len(ps)]
				c.Remove(p)
				if _, ok := c.First(p, func(n *fairlead.Node) bool { return n.Name != p.Spec.NodeName }); !ok {
					b.Fatal("it fits nowhere")
				}
				if err := c.Add(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
