package cvo

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/durations"
)

// Policy says how a cluster is updated. Nil means the zero value, which has the
// defaults of the documentation and of the cluster-version operator.
type Policy struct {
	// Filter says which manifests belong to the cluster. Overrides and
	// capabilities are taken from the ClusterVersion. Nil means
	// payload.NewFilter().
	Filter *payload.Filter `json:"filter,omitempty"`
	// Capabilities lists the sets of capabilities and their contents, as
	// KnownCapabilities does. Nil means that every capability is known and enabled.
	Capabilities *CapabilitySets `json:"capabilities,omitempty"`
	// Workers is how many manifests are applied in parallel while updating; default 16.
	// While reconciling it is 2, while installing there is no limit. Waiting for an
	// operator takes no worker.
	Workers int `json:"workers,omitempty"`
	// Retry is the delay after a failed attempt; default 10 seconds. It grows
	// by 1.3 each time, up to Interval.
	Retry time.Duration `json:"retry,omitempty"`
	// Attempts is how often a task is tried before the API server's error counts as a
	// failure; default 3. It is still retried after that.
	Attempts int `json:"attempts,omitempty"`
	// Interval is the time between two passes while reconciling; default 3
	// minutes.
	Interval time.Duration `json:"interval,omitempty"`
	// RetrieveTimeout is how long retrieving a release may take before it counts as
	// failed; default 4 minutes.
	RetrieveTimeout time.Duration `json:"retrieveTimeout,omitempty"`
	// Slow is how long an operator may take before it counts as slow; default 30 minutes.
	// SlowOperators are exceptions, by name; default 90 minutes for machine-config.
	Slow          time.Duration            `json:"slow,omitempty"`
	SlowOperators map[string]time.Duration `json:"slowOperators,omitempty"` // see Slow
	// Degraded is how long an operator may be degraded before that is a failure;
	// default 40 minutes.
	Degraded time.Duration `json:"degraded,omitempty"`
	// Calm is how long an intermittent problem must be gone before it is no longer
	// reported; default 2 minutes.
	Calm time.Duration `json:"calm,omitempty"`
	// StatusInterval is the minimum time between two writes of the status in which only
	// messages have changed; default 15 seconds.
	StatusInterval time.Duration `json:"statusInterval,omitempty"`
	// StopBefore, if set, is the runlevel before which an update stops until StopBefore
	// is cleared. It is written as in file names and compared like those, as text: "09"
	// and not "9".
	StopBefore string `json:"stopBefore,omitempty"`
	// ClusterRisks turns problems of the cluster itself (see ClusterRisks) into risks
	// of the offered updates, which can be accepted by name. Without it they prevent a
	// change of the minor version, by the condition Upgradeable, and alerts have no
	// effect.
	ClusterRisks bool `json:"clusterRisks,omitempty"`
	// Estimates are how long tasks usually take, for saying what is normal and for
	// starting with the longest tasks.
	Estimates payload.Estimates `json:"estimates,omitzero"`
}

// CapabilitySets are the optional parts that a release knows.
type CapabilitySets struct {
	Known   []string            `json:"known,omitempty"`   // all capabilities
	Sets    map[string][]string `json:"sets,omitempty"`    // by name of a set, such as v4.18
	Current string              `json:"current,omitempty"` // what vCurrent means
	// Gated are capabilities that exist only if one of some feature gates is enabled,
	// with the names of these gates.
	Gated map[string][]string `json:"gated,omitempty"`
}

// Check reports what is wrong with the policy: the error is fairlead.FieldErrors. A nil
// policy means the defaults, which are valid.
func (p *Policy) Check() error {
	if p == nil {
		return nil
	}
	var found fairlead.FieldErrors
	for _, f := range []struct {
		path  string
		value time.Duration
	}{
		{"retry", p.Retry}, {"interval", p.Interval}, {"retrieveTimeout", p.RetrieveTimeout}, {"slow", p.Slow}, {"degraded", p.Degraded},
		{"calm", p.Calm}, {"statusInterval", p.StatusInterval}, {"estimates.manifest", p.Estimates.Manifest}, {"estimates.operator", p.Estimates.Operator},
	} {
		if f.value < 0 {
			found.Add(f.path, "%s is negative; leave it out for the default", f.value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.SlowOperators)) {
		if d := p.SlowOperators[name]; d <= 0 {
			found.Add("slowOperators."+name, "%s is not a duration; write one such as 90m0s", d)
		}
	}
	for path, n := range map[string]int{"workers": p.Workers, "attempts": p.Attempts} {
		if n < 0 {
			found.Add(path, "%d is negative; leave it out for the default", n)
		}
	}
	if p.StopBefore != "" && !number(p.StopBefore) {
		found.Add("stopBefore", "%q is not a runlevel; write it as in file names, such as 09", p.StopBefore)
	}
	if c := p.Capabilities; c != nil {
		if c.Current != "" && c.Current != "vCurrent" && c.Sets[c.Current] == nil {
			found.Add("capabilities.current", "there is no set %q; there are %s", c.Current, list(slices.Sorted(maps.Keys(c.Sets))))
		}
		for _, set := range slices.Sorted(maps.Keys(c.Sets)) {
			for _, name := range c.Sets[set] {
				if !slices.Contains(c.Known, name) {
					found.Add("capabilities.sets."+set, "%q is not among the known capabilities", name)
				}
			}
		}
	}
	slices.SortStableFunc(found, func(a, b *fairlead.FieldError) int { return strings.Compare(a.Path, b.Path) })
	return found.Err()
}

// MarshalJSON writes durations as text, such as 5m0s.
func (p Policy) MarshalJSON() ([]byte, error) { return durations.Marshal(p) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Policy) UnmarshalJSON(data []byte) error {
	return durations.Unmarshal(data, p)
}

func (p *Policy) withDefaults() Policy {
	var out Policy
	if p != nil {
		out = *p
	}
	if out.Filter == nil {
		out.Filter = payload.NewFilter()
	}
	out.Workers = cmp.Or(max(out.Workers, 0), 16)
	out.Attempts = cmp.Or(max(out.Attempts, 0), 3)
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&out.Retry, 10 * time.Second},
		{&out.Interval, 3 * time.Minute},
		{&out.RetrieveTimeout, 4 * time.Minute},
		{&out.Slow, 30 * time.Minute},
		{&out.Degraded, 40 * time.Minute},
		{&out.Calm, 2 * time.Minute},
		{&out.StatusInterval, 15 * time.Second},
	} {
		*d.field = cmp.Or(max(*d.field, 0), d.value)
	}
	return out
}

// slow is how long an operator may take.
func (p *Policy) slow(name string) time.Duration {
	if d, ok := p.SlowOperators[name]; ok {
		return d
	}
	if name == "machine-config" && p.SlowOperators == nil {
		return 90 * time.Minute
	}
	return p.Slow
}

// backoff is the delay after a failed attempt.
func (p *Policy) backoff() fairlead.Backoff {
	return fairlead.Backoff{Min: p.Retry, Max: max(p.Interval, p.Retry), Growth: 1.3}
}
