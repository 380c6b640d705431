package promql_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/examples/kubernetes/promql"
)

// recorded answers only two queries.
func recorded() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const answer = `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1700000000,"%s"]}]}}`
		switch r.FormValue("query") {
		case "max(slow_disks)":
			fmt.Fprintf(w, answer, "1")
		case "max(old_firmware)":
			fmt.Fprintf(w, answer, "0")
		default:
			fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
		}
	}))
}

// A single rule, evaluated directly.
func Example() {
	server := recorded()
	defer server.Close()
	by, err := promql.New(server.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, query := range []string{"max(slow_disks)", "max(old_firmware)", "max(unheard_of)"} {
		exposed, err := by.Evaluate(context.Background(), graph.Rule{Type: graph.RulePromQL, Query: query})
		if err != nil {
			fmt.Println(query, "cannot be told:", err.(*promql.Error).Err)
			continue
		}
		fmt.Println(query, exposed)
	}
	// Output:
	// max(slow_disks) true
	// max(old_firmware) false
	// max(unheard_of) cannot be told: invalid PromQL result length: no samples, but exactly one is needed; the metrics that the query uses are missing
}

// Which updates are recommended for the cluster that the server watches?
func ExampleEvaluator() {
	server := recorded()
	defer server.Close()
	g, findings := graph.Parse([]byte(`{
	  "nodes": [{"version": "4.18.20"}, {"version": "4.19.1"}, {"version": "4.19.3"}],
	  "edges": [],
	  "conditionalEdges": [
	    {"edges": [{"from": "4.18.20", "to": "4.19.1"}], "risks": [{"name": "SlowDisks", "url": "https://example.com/slow",
	      "message": "Slow disks stop etcd.", "matchingRules": [{"type": "PromQL", "promql": {"promql": "max(slow_disks)"}}]}]},
	    {"edges": [{"from": "4.18.20", "to": "4.19.3"}], "risks": [{"name": "OldFirmware", "url": "https://example.com/old",
	      "message": "Old firmware does not boot.", "matchingRules": [{"type": "PromQL", "promql": {"promql": "max(old_firmware)"}}]}]}]
	}`), nil)
	if err := findings.Err(); err != nil {
		fmt.Println(err)
		return
	}
	updates, err := g.Updates("4.18.20")
	if err != nil {
		fmt.Println(err)
		return
	}
	by, err := promql.New(server.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var known graph.Evaluations // keep it: it determines when to query again
	known, _ = known.Evaluate(context.Background(), by, updates.Conditional, fairlead.SystemClock{}, nil)
	for _, to := range updates.Conditional {
		r := known.Recommend(to, nil)
		fmt.Println(to.Version, r.Status, r.Reason+":", r.Message)
	}
	// Output:
	// 4.19.1 False SlowDisks: Slow disks stop etcd. https://example.com/slow
	// 4.19.3 True NotExposedToRisks: The update is recommended, because none of the conditional update risks apply to this cluster.
}
