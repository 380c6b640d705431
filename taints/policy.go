package taints

import (
	"fmt"
	"math"
	"time"

	"github.com/fairlead/fairlead"
)

// Policy is how the engine decides. The zero value is useful, and nil counts
// as that.
type Policy struct {
	// Options say how tolerations are matched; see there.
	Options *Options `json:"options,omitempty"`
	// Match says which toleration counts where several match one taint.
	Match Match `json:"match,omitempty"`
	// EvictFinished evicts also pods that have run to their end, whose logs and
	// results go with them. Those that are being deleted are left alone in any
	// case.
	EvictFinished bool `json:"evictFinished,omitempty"`
	// MinBackoff is the time from an action without effect to the first
	// repetition; it doubles with each. Zero means a second.
	MinBackoff time.Duration `json:"minBackoff,omitempty"`
	// MaxBackoff is the longest such time. Zero means five minutes.
	MaxBackoff time.Duration `json:"maxBackoff,omitempty"`
	// MaxAttempts is after how many attempts to evict a pod it is given up, until
	// its deadline changes; a Block tells. Zero means that it never is.
	MaxAttempts int `json:"maxAttempts,omitempty"`
	// MaxInFlight is how many pods of one node may be on their way out at a time:
	// evicted, and not seen to terminate, or given up. Zero means 500; it is 1,000 at most.
	MaxInFlight int `json:"maxInFlight,omitempty"`
	// RespectBudgets evicts pods only when their disruption budgets allow it, at
	// the latest BudgetTimeout after their deadline. Kubernetes' own eviction by taints
	// does not look at budgets.
	RespectBudgets bool `json:"respectBudgets,omitempty"`
	// BudgetTimeout is how long a budget can hold up an eviction. Zero means 10
	// minutes; less than zero means for ever.
	BudgetTimeout time.Duration `json:"budgetTimeout,omitempty"`
	// Lifecycle makes the engine put taints on nodes by their conditions, and take
	// them off. Nil leaves that to others.
	Lifecycle *Lifecycle `json:"lifecycle,omitempty"`
}

// Lifecycle is how nodes are tainted by their conditions. The zero value has
// the defaults of Kubernetes.
type Lifecycle struct {
	// GracePeriod is for how long a node may be silent before its conditions count
	// as unknown. Zero means 50 seconds.
	GracePeriod time.Duration `json:"gracePeriod,omitempty"`
	// StartupGracePeriod is how long after its creation a node may take to report
	// for the first time. Zero means 60 seconds.
	StartupGracePeriod time.Duration `json:"startupGracePeriod,omitempty"`
	// NodeEvictionRate is how many nodes of a zone per second get the NoExecute
	// taint for not being ready. Zero means 0.1, less than zero none.
	NodeEvictionRate float64 `json:"nodeEvictionRate,omitempty"`
	// SecondaryNodeEvictionRate is that of a large zone in PartialDisruption. Zero
	// means 0.01, less than zero none.
	SecondaryNodeEvictionRate float64 `json:"secondaryNodeEvictionRate,omitempty"`
	// FullDisruptionRate is that of a zone in FullDisruption while another zone is
	// not. Nil means NodeEvictionRate.
	FullDisruptionRate *float64 `json:"fullDisruptionRate,omitempty"`
	// UnhealthyZoneThreshold is from which share of nodes that are not ready a zone
	// is in PartialDisruption, three nodes at least. Zero means 0.55.
	UnhealthyZoneThreshold float64 `json:"unhealthyZoneThreshold,omitempty"`
	// RecoveryThreshold is below which share it is not any more: less than
	// UnhealthyZoneThreshold keeps a zone whose nodes flap in one state. Zero means
	// the same as UnhealthyZoneThreshold.
	RecoveryThreshold float64 `json:"recoveryThreshold,omitempty"`
	// LargeClusterSize is above how many nodes a zone in PartialDisruption keeps the
	// secondary rate; others have none. Zero means 50, less than zero that all do.
	LargeClusterSize int `json:"largeClusterSize,omitempty"`
	// SizeOf says whose nodes LargeClusterSize is compared with: those of the zone,
	// as the reference does, or those of the cluster, as its documentation says.
	SizeOf SizeOf `json:"sizeOf,omitempty"`
}

// SizeOf says whose size counts.
type SizeOf string

// The two readings.
const (
	SizeOfZone    SizeOf = ""        // nodes of the zone
	SizeOfCluster SizeOf = "Cluster" // nodes of all zones
)

// PolicyError says what is wrong with a field of a policy.
type PolicyError struct {
	Field   string // its path, such as lifecycle.nodeEvictionRate
	Problem string // what is wrong, and what to write
}

// Error implements error.
func (e *PolicyError) Error() string { return fmt.Sprintf("policy: %s: %s", e.Field, e.Problem) }

// Check returns a *PolicyError for the first field that has no meaning, or
// nil.
func (p *Policy) Check() error {
	if p == nil {
		return nil
	}
	fail := func(field, format string, args ...any) error {
		return &PolicyError{Field: field, Problem: fmt.Sprintf(format, args...)}
	}
	switch p.Match {
	case MatchFirst, MatchLongest, MatchShortest:
	default:
		return fail("match", "there is no %q; write %s or %s, or leave it out", p.Match, MatchLongest, MatchShortest)
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"minBackoff", p.MinBackoff}, {"maxBackoff", p.MaxBackoff}} {
		if d.value < 0 {
			return fail(d.field, "%s is negative; leave it out for the default", d.value)
		}
	}
	if p.MaxAttempts < 0 || p.MaxInFlight < 0 || p.MaxInFlight > maxInFlight {
		return fail("maxAttempts, maxInFlight", "they are %d and %d; write numbers from 0, and %d for the second at most", p.MaxAttempts, p.MaxInFlight, maxInFlight)
	}
	l := p.Lifecycle
	if l == nil {
		return nil
	}
	if l.SizeOf != SizeOfZone && l.SizeOf != SizeOfCluster {
		return fail("lifecycle.sizeOf", "there is no %q; write %s, or leave it out for the zone", l.SizeOf, SizeOfCluster)
	}
	if l.GracePeriod < 0 || l.StartupGracePeriod < 0 {
		return fail("lifecycle.gracePeriod, startupGracePeriod", "%s and %s: neither may be negative", l.GracePeriod, l.StartupGracePeriod)
	}
	for _, f := range []struct {
		field string
		value float64
	}{
		{"lifecycle.nodeEvictionRate", l.NodeEvictionRate}, {"lifecycle.secondaryNodeEvictionRate", l.SecondaryNodeEvictionRate},
		{"lifecycle.fullDisruptionRate", deref(l.FullDisruptionRate)},
		{"lifecycle.unhealthyZoneThreshold", l.UnhealthyZoneThreshold}, {"lifecycle.recoveryThreshold", l.RecoveryThreshold},
	} {
		if math.IsNaN(f.value) || math.IsInf(f.value, 0) {
			return fail(f.field, "%v is no number to decide by; write a finite one", f.value)
		}
	}
	q := p.complete().Lifecycle
	if q.UnhealthyZoneThreshold < 0 || q.UnhealthyZoneThreshold > 1 {
		return fail("lifecycle.unhealthyZoneThreshold", "%v is no share; write a number between 0 and 1", q.UnhealthyZoneThreshold)
	}
	if q.RecoveryThreshold < 0 || q.RecoveryThreshold > q.UnhealthyZoneThreshold {
		return fail("lifecycle.recoveryThreshold", "%v must lie between 0 and unhealthyZoneThreshold, %v", q.RecoveryThreshold, q.UnhealthyZoneThreshold)
	}
	return nil
}

// maxInFlight bounds what State holds of evictions, so that it fits a Store.
const maxInFlight = 1000

func (p *Policy) complete() Policy {
	var q Policy
	if p != nil {
		q = *p
	}
	or := func(d *time.Duration, otherwise time.Duration) {
		if *d == 0 {
			*d = otherwise
		}
	}
	or(&q.MinBackoff, time.Second)
	or(&q.MaxBackoff, 5*time.Minute)
	q.MinBackoff = max(q.MinBackoff, time.Millisecond)
	q.MaxBackoff = max(q.MaxBackoff, q.MinBackoff)
	or(&q.BudgetTimeout, 10*time.Minute)
	if q.MaxInFlight <= 0 {
		q.MaxInFlight = 500
	}
	q.MaxInFlight = min(q.MaxInFlight, maxInFlight)
	if q.Lifecycle == nil {
		return q
	}
	l := *q.Lifecycle
	or(&l.GracePeriod, 50*time.Second)
	or(&l.StartupGracePeriod, 60*time.Second)
	number := func(f *float64, otherwise float64) {
		if *f == 0 {
			*f = otherwise
		}
	}
	number(&l.NodeEvictionRate, 0.1)
	number(&l.SecondaryNodeEvictionRate, 0.01)
	number(&l.UnhealthyZoneThreshold, 0.55)
	number(&l.RecoveryThreshold, l.UnhealthyZoneThreshold)
	if l.FullDisruptionRate == nil {
		l.FullDisruptionRate = &l.NodeEvictionRate
	}
	if l.LargeClusterSize == 0 {
		l.LargeClusterSize = 50
	}
	q.Lifecycle = &l
	return q
}

func deref(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}

// Decision is what [Step] returns.
type Decision struct {
	State   State            // to be saved before anything is applied
	Actions []Action         // to be applied then, in this order
	Blocked []fairlead.Block // why nothing more happens: the node, its taints, then pods in the order in which they are due
	Wake    time.Time        // when to look again, zero for an event only
}

// Reasons of Blocks.
const (
	ReasonTolerating   = "Tolerating"            // pods stay as long as they tolerate a taint
	ReasonEvicting     = "EvictionPending"       // a pod was evicted, and is not seen to terminate
	ReasonGivenUp      = "EvictionGivenUp"       // MaxAttempts to evict a pod have failed
	ReasonBudget       = "DisruptionBudget"      // a budget does not allow an eviction now
	ReasonThrottled    = "TooManyEvictions"      // MaxInFlight pods are on their way out
	ReasonNoUID        = "PodWithoutIdentity"    // a pod has no UID, or no name, or one that is too long
	ReasonClock        = "StartInFuture"         // what has begun lies ahead of the clock
	ReasonTaints       = "TooManyTaints"         // a node has more taints than are kept account of
	ReasonWrite        = "WritePending"          // a change of a node or a pod is not seen yet
	ReasonDisrupted    = "ControlPlaneDisrupted" // no node of any zone is ready: nothing is evicted for that
	ReasonRateLimited  = "RateLimited"           // nodes wait for their turn to be tainted
	ReasonZoneStopped  = "ZoneEvictionsStopped"  // the state of their zone allows no taints now
	ReasonWritesFailed = "TaintWritesFail"       // so many nodes wait for their taint that no more turns are given
)
