package graph_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/graph"
)

// What a query of Prometheus comes to: a vector of one sample, 0 or 1.
func TestReadPromQL(t *testing.T) {
	vector := func(result string) string {
		return `{"status":"success","data":{"resultType":"vector","result":` + result + `}}`
	}
	for _, c := range []struct{ answer, want string }{
		{vector(`[{"metric":{},"value":[1700000000.1,"1"]}]`), "match"},
		{vector(`[{"metric":{"a":"b"},"value":[1,"0"]}]`), "not"},
		{vector(`[{"metric":{},"value":[1,"1.0"]}]`), "match"},
		{vector(`[{"metric":{},"value":[1,"-0"]}]`), "not"},
		{vector(`[{"metric":{},"value":[1,""]}]`), `invalid PromQL result value ""`},
		{vector(`[{"metric":{},"value":[1,"2"]}]`), `invalid PromQL result value "2"`},
		{vector(`[{"metric":{},"value":[1,"NaN"]}]`), `invalid PromQL result value "NaN"`},
		{vector(`[{"metric":{},"value":[1,1]}]`), `invalid PromQL result value 1`},
		{vector(`[{"metric":{}}]`), `invalid PromQL result value `},
		{vector(`[]`), "invalid PromQL result length 0"},
		{vector(`null`), "invalid PromQL result length 0"},
		{vector(`[{"value":[1,"1"]},{"value":[1,"1"]}]`), "invalid PromQL result length 2"},
		{vector(`{}`), "the vector of the PromQL result cannot be read"},
		{`{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}`, `invalid PromQL result type "scalar"`},
		{`{"status":"error","errorType":"bad_data","error":"parse error at char 3"}`, `the PromQL query failed: "parse error at char 3"`},
		{`{}`, "the PromQL query failed"},
		{`<html>`, "the answer to the PromQL query cannot be read"},
	} {
		match, err := graph.ReadPromQL([]byte(c.answer))
		got := map[bool]string{true: "match", false: "not"}[match]
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) || err != nil && match {
			t.Errorf("%s: %s, not %s", c.answer, got, c.want)
		}
	}
}

func FuzzReadPromQL(f *testing.F) {
	f.Add([]byte(`{"status":"success","data":{"resultType":"vector","result":[{"value":[1,"1"]}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if match, err := graph.ReadPromQL(text); match && err != nil {
			t.Fatal("a match and an error")
		}
	})
}

// From a rule to what is recommended, over a server of Prometheus.
func TestPrometheus(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.FormValue("query"))
		switch r.FormValue("query") {
		case "yes":
			_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"vector","result":[{"value":[1,"1"]}]}}`))
		case "bad":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"status":"error","error":"no such function"}`))
		default:
			http.Error(w, "no", http.StatusForbidden)
		}
	}))
	defer server.Close()
	p := &graph.Prometheus{URL: server.URL + "/", Client: server.Client()}
	for _, c := range []struct{ query, want string }{
		{"yes", ""},
		{"bad", `the PromQL query failed: "no such function"`},
		{"no", server.URL + "/api/v1/query: unexpected HTTP status: 403 Forbidden"},
	} {
		match, err := p.Evaluate(context.Background(), promql(c.query))
		if match != (c.want == "") || err == nil != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s: %v, %v", c.query, match, err)
		}
	}
	if asked[0] != "POST /api/v1/query yes" {
		t.Errorf("asked %q", asked[0])
	}
	if _, err := p.Evaluate(context.Background(), graph.Rule{Type: graph.RuleCEL, Query: "yes"}); err == nil || len(asked) != 3 {
		t.Errorf("a rule in CEL was evaluated: %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Evaluate(ended, promql("yes")); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	clock := new(fairlead.ManualClock)
	clock.Set(noon)
	u := updateWith("yes")
	e, _ := graph.Evaluations{}.Evaluate(context.Background(), p, u, clock, nil)
	if r := e.Recommend(u[0], nil); r.Reason != "yes" {
		t.Errorf("%+v", r)
	}
}
