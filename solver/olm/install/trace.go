package install

import (
	"time"

	"github.com/fairlead/fairlead/solver/olm"
)

// Trace holds functions that a Runner calls with the values of the metrics that
// the Operator Lifecycle Manager publishes, under their names. Each may be nil.
// They are called while a namespace is reconciled, from several goroutines for
// several namespaces, and must not panic.
type Trace struct {
	// CatalogSourceCount is catalog_source_count: how many catalogs are visible
	// in the namespace. It is reported at each observation.
	CatalogSourceCount func(namespace string, n int)
	// CatalogSourceReady is catalogsource_ready, at each observation.
	CatalogSourceReady func(catalog olm.SourceKey, ready bool)
	// CSVAbnormal is csv_abnormal: at each observation, of each CSV that has not
	// succeeded.
	CSVAbnormal func(CSVSample)
	// CSVCount is csv_count: how many CSVs of the namespace have succeeded, at
	// each observation.
	CSVCount func(namespace string, n int)
	// CSVSucceeded is csv_succeeded, of each CSV at each observation.
	CSVSucceeded func(c CSVSample, succeeded bool)
	// CSVUpgraded is csv_upgrade_count: once for each CSV that has succeeded and
	// replaces another.
	CSVUpgraded func(namespace, csv string)
	// InstallPlanCount is install_plan_count, at each observation.
	InstallPlanCount func(namespace string, n int)
	// InstallPlanWarning is installplan_warnings_total: once for each warning
	// that a backend returns in a *Warned.
	InstallPlanWarning func(namespace, plan, warning string)
	// ResolutionDuration is olm_resolution_duration_seconds: once for each
	// resolution, by the Runner's clock, with its error.
	ResolutionDuration func(namespace string, took time.Duration, err error)
	// SubscriptionCount is subscription_count, at each observation.
	SubscriptionCount func(namespace string, n int)
	// SubscriptionSync is subscription_sync_total: once for each subscription and
	// observation.
	SubscriptionSync func(SubscriptionSample)
}

// Traced returns a Backend whose Runner reports the values of metrics to trace.
func Traced(backend Backend, trace *Trace) Backend { return &traced{backend, trace} }

type traced struct {
	Backend
	trace *Trace
}

// CSVSample is a CSV as reported to metrics.
type CSVSample struct {
	Namespace string    // where it is
	Name      string    // its name
	Version   string    // its spec.version
	Phase     olm.Phase // its phase
	Reason    string    // why
}

// SubscriptionSample is a subscription as reported to metrics.
type SubscriptionSample struct {
	Namespace string // where it is
	Name      string // its name
	Package   string // the package that it asks for
	Channel   string // the channel, empty for any
	Installed string // the CSV that is installed for it
}

// Warned is not a failure: an action was carried out, and the cluster returned a
// warning, for example about a deprecated API version. A backend may return it
// from Apply.
type Warned struct {
	Warnings []string // the cluster's messages
}

// Error implements error.
func (w *Warned) Error() string {
	text := "carried out, with warnings"
	for _, line := range w.Warnings {
		text += ": " + line
	}
	return text
}

// observed reports what was observed.
func (t *Trace) observed(w *World) {
	if f := t.CatalogSourceCount; f != nil {
		f(w.Namespace, len(w.Catalogs))
	}
	for i := range w.Catalogs {
		if f := t.CatalogSourceReady; f != nil {
			f(w.Catalogs[i].Key(), w.Catalogs[i].Err() == nil)
		}
	}
	t.csvs(w)
	if f := t.InstallPlanCount; f != nil {
		f(w.Namespace, len(w.Plans))
	}
	if f := t.SubscriptionCount; f != nil {
		f(w.Namespace, len(w.Subscriptions))
	}
	for _, s := range sorted(w.Subscriptions, func(s *Subscription) string { return s.Name }) {
		if f := t.SubscriptionSync; f != nil {
			f(SubscriptionSample{w.Namespace, s.Name, s.Spec.Package, s.Spec.Channel, s.Status.InstalledCSV})
		}
	}
}

func (t *Trace) csvs(w *World) {
	succeeded := 0
	for _, c := range sorted(w.CSVs, func(c *CSV) string { return c.Name }) {
		if c.Copied() {
			continue
		}
		sample := CSVSample{w.Namespace, c.Name, c.Spec.Version, c.Status.Phase, c.Status.Reason}
		ok := c.Status.Phase == olm.PhaseSucceeded
		if ok {
			succeeded++
		} else if f := t.CSVAbnormal; f != nil {
			f(sample)
		}
		if f := t.CSVSucceeded; f != nil {
			f(sample, ok)
		}
	}
	if f := t.CSVCount; f != nil {
		f(w.Namespace, succeeded)
	}
}
