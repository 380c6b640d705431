package operators

import (
	"sync"
	"time"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/install"
	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are those of the Operator Lifecycle Manager, under its names. Counts
// have the label namespace, where OLM has one number for all: sum them.
//
//   - catalog_source_count{namespace}, catalogsource_ready{namespace,name}
//   - csv_count{namespace}: CSVs that have succeeded
//   - csv_succeeded{namespace,name,version}: 1 or 0
//   - csv_abnormal{namespace,name,version,phase,reason}: 1 while it has not
//     succeeded
//   - csv_upgrade_count: CSVs that have succeeded in place of another
//   - install_plan_count{namespace}, installplan_warnings_total
//   - subscription_count{namespace}
//   - subscription_sync_total{namespace,name,package,channel,installed}
//   - olm_resolution_duration_seconds{outcome}: a summary
//
// Register it with controller-runtime's metrics.Registry. It may be used from
// several goroutines.
type Metrics struct {
	catalogs, ready, csvs, succeeded, abnormal, plans, subscriptions *prometheus.GaugeVec

	upgrades, warnings prometheus.Counter
	syncs              *prometheus.CounterVec
	resolution         *prometheus.SummaryVec

	mu   sync.Mutex
	last map[string]*observed // by namespace
}

// observed contains the series set by the last observation of a namespace, and
// those set by the present one.
type observed struct{ before, now map[series]bool }

// series is one time series of a metric.
type series struct {
	metric *prometheus.GaugeVec
	labels [5]string
	n      int // the number of labels
}

// NewMetrics returns metrics without any counts.
func NewMetrics() *Metrics {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	return &Metrics{
		catalogs:      gauge("catalog_source_count", "Catalog sources visible to the namespace.", "namespace"),
		ready:         gauge("catalogsource_ready", "Whether the catalog source can be used.", "namespace", "name"),
		csvs:          gauge("csv_count", "CSVs that have succeeded.", "namespace"),
		succeeded:     gauge("csv_succeeded", "Whether the CSV has succeeded.", "namespace", "name", "version"),
		abnormal:      gauge("csv_abnormal", "CSVs that have not succeeded.", "namespace", "name", "version", "phase", "reason"),
		plans:         gauge("install_plan_count", "Install plans.", "namespace"),
		subscriptions: gauge("subscription_count", "Subscriptions.", "namespace"),
		upgrades:      prometheus.NewCounter(prometheus.CounterOpts{Name: "csv_upgrade_count", Help: "CSVs that have succeeded in place of another one."}),
		warnings:      prometheus.NewCounter(prometheus.CounterOpts{Name: "installplan_warnings_total", Help: "Warnings of the server about objects of install plans."}),
		syncs: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "subscription_sync_total", Help: "Passes over a subscription."},
			[]string{"namespace", "name", "package", "channel", "installed"}),
		resolution: prometheus.NewSummaryVec(prometheus.SummaryOpts{
			Name: "olm_resolution_duration_seconds", Help: "Duration of resolutions.",
			Objectives: map[float64]float64{0.95: 0.005, 0.9: 0.01, 0.99: 0.001},
		}, []string{"outcome"}),
		last: map[string]*observed{},
	}
}

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, c := range m.collectors() {
		c.Describe(to)
	}
}

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	for _, c := range m.collectors() {
		c.Collect(to)
	}
}

func (m *Metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{
		m.catalogs, m.ready, m.csvs, m.succeeded, m.abnormal, m.plans, m.subscriptions,
		m.upgrades, m.warnings, m.syncs, m.resolution,
	}
}

// Trace returns the trace for a Runner, see [install.Traced].
func (m *Metrics) Trace() *install.Trace {
	return &install.Trace{
		CatalogSourceCount: func(namespace string, n int) {
			m.begin(namespace) // the first call of an observation
			m.catalogs.WithLabelValues(namespace).Set(float64(n))
		},
		CatalogSourceReady: func(c olm.SourceKey, ready bool) {
			m.ready.WithLabelValues(c.Namespace, c.Name).Set(number(ready))
		},
		CSVAbnormal: func(c install.CSVSample) {
			m.set(c.Namespace, 1, m.abnormal, c.Namespace, c.Name, c.Version, string(c.Phase), c.Reason)
		},
		CSVSucceeded: func(c install.CSVSample, succeeded bool) {
			m.set(c.Namespace, number(succeeded), m.succeeded, c.Namespace, c.Name, c.Version)
		},
		CSVCount: func(namespace string, n int) {
			m.csvs.WithLabelValues(namespace).Set(float64(n))
			m.end(namespace) // the last call about CSVs
		},
		CSVUpgraded:        func(string, string) { m.upgrades.Inc() },
		InstallPlanCount:   func(namespace string, n int) { m.plans.WithLabelValues(namespace).Set(float64(n)) },
		InstallPlanWarning: func(string, string, string) { m.warnings.Inc() },
		ResolutionDuration: func(_ string, took time.Duration, err error) {
			outcome := "succeeded"
			if err != nil {
				outcome = "failed"
			}
			m.resolution.WithLabelValues(outcome).Observe(took.Seconds())
		},
		SubscriptionCount: func(namespace string, n int) { m.subscriptions.WithLabelValues(namespace).Set(float64(n)) },
		SubscriptionSync: func(s install.SubscriptionSample) {
			m.syncs.WithLabelValues(s.Namespace, s.Name, s.Package, s.Channel, s.Installed).Inc()
		},
	}
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// begin records the start of an observation of a namespace.
func (m *Metrics) begin(namespace string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.last[namespace]
	if o == nil {
		o = &observed{}
		m.last[namespace] = o
	}
	o.now = map[series]bool{}
}

// set sets a series of a CSV.
func (m *Metrics) set(namespace string, to float64, metric *prometheus.GaugeVec, labels ...string) {
	metric.WithLabelValues(labels...).Set(to)
	s := series{metric: metric, n: len(labels)}
	copy(s.labels[:], labels)
	m.mu.Lock()
	defer m.mu.Unlock()
	if o := m.last[namespace]; o != nil {
		o.now[s] = true
	}
}

// end drops the series of CSVs that are gone, or in another phase.
func (m *Metrics) end(namespace string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.last[namespace]
	if o == nil {
		return
	}
	for s := range o.before {
		if !o.now[s] {
			s.metric.DeleteLabelValues(s.labels[:s.n]...)
		}
	}
	o.before, o.now = o.now, nil
}
