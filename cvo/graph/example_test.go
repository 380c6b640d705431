package graph_test

import (
	"context"
	"fmt"

	"github.com/fairlead/fairlead/cvo/graph"
)

const answer = `{
  "version": 1,
  "nodes": [{"version": "4.18.20"}, {"version": "4.18.21"}, {"version": "4.19.1"}, {"version": "4.19.3"}],
  "edges": [[0, 1], [1, 3], [0, 2], [2, 3]],
  "conditionalEdges": [{
    "edges": [{"from": "4.18.20", "to": "4.19.3"}],
    "risks": [{"name": "SlowDisks", "url": "https://example.com/slow", "message": "Slow disks stop etcd.",
      "matchingRules": [{"type": "PromQL", "promql": {"promql": "max(slow_disks)"}}]}]
  }]
}`

// What can a cluster be updated to, and is the conditional update recommended?
func Example() {
	g, findings := graph.Parse([]byte(answer), nil)
	if err := findings.Err(); err != nil {
		fmt.Println(err)
		return
	}
	u, err := g.Updates("4.18.20")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, to := range u.Available {
		fmt.Println(to.Version)
	}
	var known graph.Evaluations // nothing was evaluated yet
	for _, to := range u.Conditional {
		r := known.Recommend(to, nil)
		fmt.Println(to.Version, r.Status, r.Reason)
		r = known.Recommend(to, []string{"SlowDisks"})
		fmt.Println(to.Version, r.Status, r.Reason)
	}
	// Output:
	// 4.18.21
	// 4.19.1
	// 4.19.3 Unknown EvaluationFailed
	// 4.19.3 True AllExposedRisksAccepted
}

// Paths without risks, and why the direct one is not offered.
func ExampleGraph_Paths() {
	g, _ := graph.Parse([]byte(answer), nil)
	paths, err := g.Paths(context.Background(), "4.18.20", "4.19.3", &graph.PathOptions{Prefer: graph.FewestRisks, Avoid: []string{"*"}, Max: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range paths {
		fmt.Print(p.From.Version)
		for _, u := range p.Updates {
			fmt.Print(" -> ", u.Version)
		}
		fmt.Println()
	}
	why, _ := g.WhyNot(context.Background(), "4.18.20", "4.19.3", nil)
	fmt.Println(why)
	// Output:
	// 4.18.20 -> 4.19.1 -> 4.19.3
	// 4.18.20 -> 4.18.21 -> 4.19.3
	// 4.19.3 is a conditional update of 4.18.20 and not recommended: it is unknown whether the cluster is exposed to SlowDisks.
	// Read about the risk, then wait for a release without it, or accept it by name. 4.19.1 is recommended.
}
