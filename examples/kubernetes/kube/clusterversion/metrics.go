package clusterversion

import (
	"github.com/fairlead/fairlead/cvo"
	"github.com/prometheus/client_golang/prometheus"
)

// The names and labels are those used by OpenShift's monitoring.
var (
	versionDesc    = prometheus.NewDesc("cluster_version", "Times of the cluster's releases, in seconds since 1970.", []string{"type", "version", "image", "from_version"}, nil)
	updatesDesc    = prometheus.NewDesc("cluster_version_available_updates", "Available updates, by update service and channel.", []string{"upstream", "channel"}, nil)
	upDesc         = prometheus.NewDesc("cluster_operator_up", "1 for an operator that is available, and for the ClusterVersion named version.", []string{"name", "version", "reason"}, nil)
	conditionsDesc = prometheus.NewDesc("cluster_operator_conditions", "1 for a condition that is True, 0 for one that is False.", []string{"name", "condition", "reason"}, nil)
)

// Metrics returns a collector of what the last pass observed:
//
//   - cluster_version{type,version,image,from_version}: the value is a time.
//     Types are initial (when the first release of the history was begun),
//     current (when the release being applied was begun), completed (when the
//     newest completed release was completed), updating (when the update under
//     way was begun) and failure (for the release being applied, since when
//     Failing is True).
//   - cluster_version_available_updates{upstream,channel}
//   - cluster_operator_up{name,version,reason}: 1 when Available is True
//   - cluster_operator_conditions{name,condition,reason}: 1 for True, 0 for False;
//     those that are Unknown are left out
//
// The ClusterVersion counts as an operator with its name.
func (b *Backend) Metrics() prometheus.Collector { return collector{&b.seen} }

type collector struct{ seen *seen }

// Describe implements prometheus.Collector.
func (c collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{versionDesc, updatesDesc, upDesc, conditionsDesc} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) {
	c.seen.mu.Lock()
	v, operators := c.seen.version, c.seen.operators
	c.seen.mu.Unlock()
	if v == nil {
		return
	}
	versions(to, v)
	gauge(to, updatesDesc, float64(len(v.Status.AvailableUpdates)), v.Spec.Upstream, v.Spec.Channel)
	operator(to, v.Name, v.Status.Desired.Version, v.Status.Conditions)
	for _, o := range operators {
		version := ""
		for _, have := range o.Status.Versions {
			if have.Name == "operator" {
				version = have.Version
			}
		}
		operator(to, o.Name, version, o.Status.Conditions)
	}
}

// versions reports the releases.
func versions(to chan<- prometheus.Metric, v *cvo.ClusterVersion) {
	history := v.Status.History
	if len(history) == 0 {
		return
	}
	from := ""
	for i, h := range history {
		if h.State == cvo.Completed && h.CompletionTime != nil {
			gauge(to, versionDesc, float64(h.CompletionTime.Unix()), "completed", h.Version, h.Image, "")
			if i > 0 {
				from = h.Version
			}
			break
		}
	}
	newest, oldest := history[0], history[len(history)-1]
	gauge(to, versionDesc, float64(oldest.StartedTime.Unix()), "initial", oldest.Version, oldest.Image, "")
	gauge(to, versionDesc, float64(newest.StartedTime.Unix()), "current", newest.Version, newest.Image, from)
	if newest.State == cvo.Partial {
		gauge(to, versionDesc, float64(newest.StartedTime.Unix()), "updating", newest.Version, newest.Image, from)
	}
	for _, c := range v.Status.Conditions {
		if c.Type == "Failing" && c.Status == cvo.True {
			gauge(to, versionDesc, float64(c.LastTransitionTime.Unix()), "failure", newest.Version, newest.Image, from)
		}
	}
}

// operator reports one operator. Of duplicate conditions the first is used.
func operator(to chan<- prometheus.Metric, name, version string, conditions []cvo.Condition) {
	up, reason := 0.0, ""
	told := map[string]bool{}
	for _, c := range conditions {
		if told[c.Type] {
			continue
		}
		told[c.Type] = true
		value := 0.0
		if c.Status == cvo.True {
			value = 1
		}
		if c.Type == "Available" {
			up, reason = value, c.Reason
		}
		if c.Status != cvo.Unknown {
			gauge(to, conditionsDesc, value, name, c.Type, c.Reason)
		}
	}
	gauge(to, upDesc, up, name, version, reason)
}

func gauge(to chan<- prometheus.Metric, desc *prometheus.Desc, value float64, labels ...string) {
	to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}
