package clusterversion_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/clusterversion"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
)

const updateGraph = `{"version":1,"nodes":[{"version":"1.0.0","payload":"registry.example/release@sha256:aaaa"},{"version":"1.1.0","payload":"registry.example/release@sha256:bbbb"},
{"version":"1.2.0","payload":"registry.example/release@sha256:cccc"}],"edges":[[0,1]],"conditionalEdges":[{"edges":[{"from":"1.0.0","to":"1.2.0"}],
"risks":[{"url":"https://example.com","name":"Flaky","message":"it may fail","matchingRules":[{"type":"PromQL","promql":{"promql":"up"}}]}]}]}`

// exposed is an evaluator for which every rule matches, or none.
type exposed bool

func (e exposed) Evaluate(context.Context, graph.Rule) (bool, error) { return bool(e), nil }

func TestUpdates(t *testing.T) {
	var down atomic.Bool
	var asked atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if q := r.URL.Query(); q.Get("channel") != "stable-1" || q.Get("arch") != "amd64" || q.Get("version") != "1.0.0" {
			t.Errorf("asked %s", r.URL)
		}
		if down.Load() {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, updateGraph)
	}))
	defer service.Close()
	for _, match := range []exposed{false, true} {
		down.Store(false)
		asked.Store(0)
		c := newCluster(t, clusterversion.Options{Own: releaseA, Updates: &clusterversion.Updates{Architecture: "amd64", Evaluator: match, HTTP: service.Client()}}, clusterVersion())
		c.source[imageA] = files("1.0.0", nil)
		c.drops = "status.conditionalUpdateRisks"
		m := manage(c, nil)
		m.edit(m.read("config.openshift.io/v1", "ClusterVersion", "version"), "spec", "{channel: stable-1, clusterID: 5ec312f9-f729-429d-a454-61d4906896ca, upstream: "+service.URL+"}")
		look := func(retrieved string) cvo.Status {
			t.Helper()
			for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
				m.passes()
				if s := m.observe().Cluster.Status; strings.HasPrefix(m.condition("RetrievedUpdates"), retrieved) && unknown(&s) == 0 {
					return s
				}
			}
			t.Fatalf("RetrievedUpdates is %s", m.condition("RetrievedUpdates"))
			return cvo.Status{}
		}
		s := look("True")
		var available []string
		for _, r := range s.AvailableUpdates {
			available = append(available, r.Version)
		}
		want := []string{"1.2.0", "1.1.0"}
		if match {
			want = want[1:]
		}
		if !slices.Equal(available, want) || len(s.ConditionalUpdates) != 1 {
			t.Fatalf("exposed %v: available %v, conditional %+v", match, available, s.ConditionalUpdates)
		}
		if calls := m.passes(); len(calls) > 0 {
			t.Errorf("dropped fields are written again: %v", calls)
		}
		c.restart() // the dropped fields are no longer known; writing them would change nothing
		m = manage(c, nil)
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			m.passes()
			if w := m.observe(); w.Updates != nil && w.Evaluations.Recommend(w.Updates.Conditional[0], nil).Status != cvo.Unknown {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the service was not asked, or its rules not evaluated")
			}
		}
		m.passes()
		before := asked.Load()
		if asked.Load() != before {
			t.Error("asked again at once")
		}
		if m.last.Wake.IsZero() || m.last.Wake.After(m.clock.Now().Add(3*time.Minute)) {
			t.Errorf("it comes again at %v, now is %v", m.last.Wake, m.clock.Now())
		}
		// The service is down: the known updates stay.
		down.Store(true)
		m.clock.Set(m.clock.Now().Add(3 * time.Minute))
		if s := look("False ResponseFailed"); len(s.AvailableUpdates) != len(want) {
			t.Errorf("%+v", s.AvailableUpdates)
		}
	}
}

// Without a Prometheus, an update whose risk depends on one stays conditional,
// as in the reference when it cannot reach Prometheus, and the message says why.
// A risk that applies to every cluster is still evaluated.
func TestUpdatesWithoutPrometheus(t *testing.T) {
	always := strings.Replace(updateGraph, `{"type":"PromQL","promql":{"promql":"up"}}`, `{"type":"Always"}`, 1)
	for _, test := range []struct{ graph, status, reason, message string }{
		{updateGraph, "Unknown", "EvaluationFailed", "no Prometheus is configured"},
		{always, "False", "Flaky", "it may fail"},
	} {
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, test.graph) }))
		defer service.Close()
		c := newCluster(t, clusterversion.Options{Own: releaseA, Updates: &clusterversion.Updates{Architecture: "amd64", HTTP: service.Client()}}, clusterVersion())
		c.source[imageA] = files("1.0.0", nil)
		m := manage(c, nil)
		m.edit(m.read("config.openshift.io/v1", "ClusterVersion", "version"), "spec", "{channel: stable-1, clusterID: 5ec312f9-f729-429d-a454-61d4906896ca, upstream: "+service.URL+"}")
		var s cvo.Status
		told := false
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline) && !told; time.Sleep(time.Millisecond) {
			m.passes()
			s = m.observe().Cluster.Status
			told = len(s.ConditionalUpdates) == 1 && strings.Contains(s.ConditionalUpdates[0].Conditions[0].Message, test.message)
		}
		if !told {
			t.Fatalf("conditional updates %+v, want one that says %q", s.ConditionalUpdates, test.message)
		}
		if got := s.ConditionalUpdates[0].Conditions[0]; got.Type != "Recommended" || string(got.Status) != test.status || got.Reason != test.reason {
			t.Errorf("%+v, want %s %s", got, test.status, test.reason)
		}
		if len(s.AvailableUpdates) != 1 || s.AvailableUpdates[0].Version != "1.1.0" {
			t.Errorf("available: %+v", s.AvailableUpdates)
		}
		if calls := m.passes(); len(calls) > 0 {
			t.Errorf("written again: %v", calls)
		}
	}
}

// unknown counts the updates whose risks have not been evaluated yet.
func unknown(s *cvo.Status) (n int) {
	for _, u := range s.ConditionalUpdates {
		if u.Conditions[0].Status == cvo.Unknown {
			n++
		}
	}
	return n
}

func TestMetrics(t *testing.T) {
	m := installed(t)
	m.edit(m.read("config.openshift.io/v1", "ClusterVersion", "version"), "spec.desiredUpdate", "{image: "+imageB+"}")
	m.clock.Set(noon.Add(time.Minute))
	m.passes()
	m.report("1.0.0", "True")
	m.passes()
	m.observe()
	want := `
# HELP cluster_operator_up 1 for an operator that is available, and for the ClusterVersion named version.
# TYPE cluster_operator_up gauge
cluster_operator_up{name="b",reason="",version="1.0.0"} 1
cluster_operator_up{name="version",reason="",version="1.1.0"} 1
# HELP cluster_version Times of the cluster's releases, in seconds since 1970.
# TYPE cluster_version gauge
cluster_version{from_version="",image="registry.example/release@sha256:aaaa",type="completed",version="1.0.0"} 1.7723664e+09
cluster_version{from_version="",image="registry.example/release@sha256:aaaa",type="initial",version="1.0.0"} 1.7723664e+09
cluster_version{from_version="1.0.0",image="registry.example/release@sha256:bbbb",type="current",version="1.1.0"} 1.77236646e+09
cluster_version{from_version="1.0.0",image="registry.example/release@sha256:bbbb",type="updating",version="1.1.0"} 1.77236646e+09
# HELP cluster_version_available_updates Available updates, by update service and channel.
# TYPE cluster_version_available_updates gauge
cluster_version_available_updates{channel="stable-1",upstream=""} 0
`
	if err := testutil.CollectAndCompare(m.backend.Metrics(), strings.NewReader(want), "cluster_version", "cluster_version_available_updates", "cluster_operator_up"); err != nil {
		t.Error(err)
	}
	text, err := testutil.CollectAndFormat(m.backend.Metrics(), expfmt.TypeTextPlain, "cluster_operator_conditions")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`{condition="Available",name="b",reason=""} 1`,
		`{condition="Degraded",name="b",reason="Disk"} 1`,
		`{condition="Failing",name="version",reason=""} 0`,
		`{condition="ReleaseAccepted",name="version",reason="PayloadLoaded"} 1`,
	} {
		if !strings.Contains(string(text), "cluster_operator_conditions"+line) {
			t.Errorf("no %s in %s", line, text)
		}
	}
	if problems, err := testutil.CollectAndLint(m.backend.Metrics()); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}

// A condition that an operator reports twice must not prevent the collection
// of all metrics.
func TestMetricsOfOddReports(t *testing.T) {
	twice := set(object("config.openshift.io/v1", "ClusterOperator", "a"), "status", `{conditions: [{type: Available, status: "True"}, {type: Available, status: "True"}]}`)
	c := newCluster(t, clusterversion.Options{}, clusterVersion(), twice)
	c.observe()
	if _, err := testutil.CollectAndFormat(c.backend.Metrics(), expfmt.TypeTextPlain); err != nil {
		t.Error(err)
	}
}
