package cvo

import (
	"cmp"
	"time"

	"github.com/fairlead/fairlead/cvo/payload"
)

// Policy says how a cluster is updated. Nil is the zero value, which has the
// figures of the documentation and of the cluster-version operator.
type Policy struct {
	// Filter says which manifests belong to the cluster. Overrides and
	// capabilities are taken from the ClusterVersion. Nil means
	// payload.NewFilter().
	Filter *payload.Filter
	// Capabilities names the sets of capabilities and what is in them, such as
	// KnownCapabilities does. Nil means that every capability is known and enabled.
	Capabilities *CapabilitySets
	// Workers is how many manifests are applied at a time while updating; default
	// 16. While reconciling it is 2, while installing there is no limit. Waiting
	// for an operator takes no worker.
	Workers int
	// Retry is the time after a failed attempt; default 10 seconds. It grows by
	// 1.3 each time, up to Interval.
	Retry time.Duration
	// Attempts is how often a task is tried before what the API server says counts
	// as a failure; default 3. It is tried on after that, too.
	Attempts int
	// Interval is the time between two passes while reconciling; default 3
	// minutes.
	Interval time.Duration
	// RetrieveTimeout is how long retrieving a release may take before that counts
	// as failed; default 4 minutes.
	RetrieveTimeout time.Duration
	// Slow is how long an operator may take before it counts as slow; default 30
	// minutes. SlowOperators are those that may take another time; default 90
	// minutes for machine-config.
	Slow          time.Duration
	SlowOperators map[string]time.Duration // by name
	// Degraded is how long an operator may be degraded before that is a failure;
	// default 40 minutes.
	Degraded time.Duration
	// Calm is how long trouble that comes and goes must have stayed away before it
	// is no longer told of; default 2 minutes.
	Calm time.Duration
	// StatusInterval is the least time between two writes of the status in which
	// nothing but messages has changed; default 15 seconds.
	StatusInterval time.Duration
	// StopBefore, if set, is the runlevel before which an update stops until it is
	// taken away. It is written as in the names of files and compared like those,
	// as text: "09" and not "9".
	StopBefore string
	// ClusterRisks makes what the cluster itself shows (see ClusterRisks) risks of
	// the updates that are offered, which can be accepted by name. Without it they
	// keep the minor version from changing, by the condition Upgradeable, and
	// alerts do nothing.
	ClusterRisks bool
	// Estimates are how long tasks usually take, to tell what is normal and to
	// begin with what takes longest.
	Estimates payload.Estimates
}

// CapabilitySets are the optional parts that a release knows.
type CapabilitySets struct {
	Known   []string            // all capabilities
	Sets    map[string][]string // by name of a set, such as v4.18
	Current string              // what vCurrent means
	// Gated are capabilities that are there only when one of some feature gates is
	// enabled, with the names of these gates.
	Gated map[string][]string
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

// backoff is the time after the nth failed attempt, from 1.
func (p *Policy) backoff(n int) time.Duration {
	d := p.Retry
	for ; n > 1 && d < p.Interval; n-- {
		d += d * 3 / 10
	}
	return min(d, max(p.Interval, p.Retry))
}
