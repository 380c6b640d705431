package kube_test

import (
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/prometheus/client_golang/prometheus"
)

// Waits of objects that belong to another process are no longer reported.
func TestMetricsKeep(t *testing.T) {
	m := kube.NewMetrics()
	trace := m.Trace("drain")
	for _, name := range []string{"a", "b", "c"} {
		trace.End(name, fairlead.Pass{Blocked: []fairlead.Block{{Reason: "Budget"}}})
	}
	m.Keep(func(name string) bool { return name == "b" })
	registry := prometheus.NewRegistry()
	if err := registry.Register(m); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "fairlead_blocked" && f.GetMetric()[0].GetGauge().GetValue() != 1 {
			t.Errorf("%v", f)
		}
	}
}
