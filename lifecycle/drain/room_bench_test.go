package drain_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// BenchmarkFindRoom tries every node of clusters up to the largest supported size
// that is used to seven tenths. "apps" has pods in applications of thirty in 300 namespaces, a tenth
// of which keep their pods on different nodes, and a tenth spread them over zones.
func BenchmarkFindRoom(b *testing.B) {
	for _, nodes := range []int{100, 500, 5_000} {
		asks := map[string][]int{}
		for i := range nodes {
			var list []int
			for k := range 30 {
				list = append(list, 1+(i+k)%3)
			}
			asks[fmt.Sprintf("n%04d", i)] = list
		}
		for _, kind := range []string{"plain", "apps"} {
			b.Run(fmt.Sprint(kind, "/", nodes), func(b *testing.B) {
				req := crowd(85, asks)
				if kind == "apps" {
					applications(req)
				}
				b.ReportAllocs()
				for b.Loop() {
					room, err := drain.FindRoom(req, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), nil)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(len(room.Together)), "together")
					b.ReportMetric(float64(room.AtMost), "atMost")
					b.ReportMetric(float64(room.Moved), "moved")
				}
			})
		}
	}
}

// applications has pods belong to applications with demands on each other.
func applications(req *drain.PlanRequest) {
	const zone = "topology.kubernetes.io/zone"
	for i := range req.Nodes {
		n := &req.Nodes[i]
		n.Labels = map[string]string{zone: fmt.Sprint("z", i%3), "kubernetes.io/hostname": n.Name}
	}
	count := len(req.Pods) / 30
	for i := range req.Pods {
		p, app := &req.Pods[i], i%count // a pod of it on every so many nodes
		p.Namespace = fmt.Sprint("team-", app%300)
		p.Labels = map[string]string{"app": fmt.Sprint("app-", app)}
		selector := &fairlead.LabelSelector{MatchLabels: p.Labels}
		p.Spec.Containers[0].Resources.Requests = map[string]string{"cpu": fmt.Sprint(1 + app%3)}
		switch app % 10 {
		case 0:
			p.Spec.Affinity = &fairlead.Affinity{PodAntiAffinity: &fairlead.PodAffinity{Required: []fairlead.PodAffinityTerm{{LabelSelector: selector, TopologyKey: "kubernetes.io/hostname"}}}}
		case 1:
			p.Spec.TopologySpreadConstraints = []fairlead.SpreadConstraint{{MaxSkew: 5, TopologyKey: zone, WhenUnsatisfiable: fairlead.DoNotSchedule, LabelSelector: selector}}
		}
	}
}
