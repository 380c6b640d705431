package operators_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestMetrics publishes the metrics of OLM, and drops the series of deleted
// objects.
func TestMetrics(t *testing.T) {
	w := newWorld(t, nil)
	m := operators.NewMetrics()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	w.trace = m.Trace()
	w.restart()
	w.stock("Automatic", onlyPipes())
	abnormal := false
	for range 40 {
		w.pass()
		n, err := testutil.GatherAndCount(registry, "csv_abnormal")
		if err != nil {
			t.Fatal(err)
		}
		if n > 1 {
			t.Fatalf("%d series of csv_abnormal for one CSV", n)
		}
		abnormal = abnormal || n == 1
	}
	if !abnormal {
		t.Error("csv_abnormal was never there")
	}
	want := `
# HELP catalog_source_count Catalog sources visible to the namespace.
# TYPE catalog_source_count gauge
catalog_source_count{namespace="plumbing"} 1
# HELP catalogsource_ready Whether the catalog source can be used.
# TYPE catalogsource_ready gauge
catalogsource_ready{name="plumbing",namespace="plumbing"} 1
# HELP csv_count CSVs that have succeeded.
# TYPE csv_count gauge
csv_count{namespace="plumbing"} 1
# HELP csv_succeeded Whether the CSV has succeeded.
# TYPE csv_succeeded gauge
csv_succeeded{name="pipes.v1.0.0",namespace="plumbing",version="1.0.0"} 1
# HELP csv_upgrade_count CSVs that have succeeded in place of another one.
# TYPE csv_upgrade_count counter
csv_upgrade_count 0
# HELP install_plan_count Install plans.
# TYPE install_plan_count gauge
install_plan_count{namespace="plumbing"} 1
# HELP subscription_count Subscriptions.
# TYPE subscription_count gauge
subscription_count{namespace="plumbing"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "catalog_source_count", "catalogsource_ready", "csv_abnormal", "csv_count",
		"csv_succeeded", "csv_upgrade_count", "install_plan_count", "subscription_count"); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"subscription_sync_total", "olm_resolution_duration_seconds", "installplan_warnings_total"} {
		if n, err := testutil.GatherAndCount(registry, name); err != nil || n == 0 {
			t.Errorf("%s: %d series, %v", name, n, err)
		}
	}
}
