package eviction

import (
	"math"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/durations"
	"github.com/fairlead/fairlead/taints"
)

// Policy is how the engine decides. The zero value is usable, and nil means the
// same. In JSON durations are written as in "5m0s".
type Policy struct {
	// Options say how tolerations are matched; see there.
	Options *taints.Options `json:"options,omitempty"`
	// Match says which toleration counts where several match one taint.
	Match Match `json:"match,omitempty"`
	// EvictFinished evicts also pods that have run to their end, whose logs and
	// results go with them. Those that are being deleted are left alone in any
	// case.
	EvictFinished bool `json:"evictFinished,omitempty"`
	// MinBackoff is the delay before the first retry of an action that had no
	// effect; it doubles with each retry. Zero means a second.
	MinBackoff time.Duration `json:"minBackoff,omitempty"`
	// MaxBackoff is the longest such delay. Zero means five minutes.
	MaxBackoff time.Duration `json:"maxBackoff,omitempty"`
	// MaxAttempts is after how many attempts the eviction of a pod is given up,
	// which a Block reports, until the pod is no longer due. Zero means never.
	MaxAttempts int `json:"maxAttempts,omitempty"`
	// MaxInFlight is how many pods of one node may be on their way out at a time:
	// evicted, and not seen to terminate, or given up. Zero means 500; it is 1,000 at most.
	MaxInFlight int `json:"maxInFlight,omitempty"`
	// RespectBudgets evicts pods only when their disruption budgets allow it, at
	// the latest BudgetTimeout after their deadline. Kubernetes' own eviction by taints
	// does not look at budgets.
	RespectBudgets bool `json:"respectBudgets,omitempty"`
	// BudgetTimeout is how long a budget can hold up an eviction. Zero means 10
	// minutes; a negative one means no limit.
	BudgetTimeout time.Duration `json:"budgetTimeout,omitempty"`
	// NodeLifecycle makes the engine put taints on nodes by their conditions, and
	// take them off. Nil leaves that to others.
	NodeLifecycle *NodeLifecycle `json:"nodeLifecycle,omitempty"`
}

// NodeLifecycle is how nodes are tainted by their conditions, as the node
// lifecycle controller does. The zero value has the defaults of Kubernetes.
type NodeLifecycle struct {
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

// MarshalJSON writes durations as in "5m0s".
func (p Policy) MarshalJSON() ([]byte, error) { return durations.Marshal(p) }

// UnmarshalJSON reads durations as in "5m0s". A field that there is not is an error.
func (p *Policy) UnmarshalJSON(data []byte) error { return durations.Unmarshal(data, p) }

// Check returns a [fairlead.FieldErrors] with every field that has no meaning, or
// nil.
func (p *Policy) Check() error {
	if p == nil {
		return nil
	}
	var e fairlead.FieldErrors
	switch p.Match {
	case MatchFirst, MatchLongest, MatchShortest:
	default:
		e.Add("match", "there is no %q; write %s or %s, or leave it out", p.Match, MatchLongest, MatchShortest)
	}
	span := func(path string, d time.Duration) {
		if d < 0 {
			e.Add(path, "%s is negative; leave it out for the default", d)
		}
	}
	span("minBackoff", p.MinBackoff)
	span("maxBackoff", p.MaxBackoff)
	if p.MaxAttempts < 0 {
		e.Add("maxAttempts", "%d is negative; write a number from 1, or leave it out for no limit", p.MaxAttempts)
	}
	if p.MaxInFlight < 0 || p.MaxInFlight > maxInFlight {
		e.Add("maxInFlight", "%d is not a number from 1 to %d", p.MaxInFlight, maxInFlight)
	}
	if l := p.NodeLifecycle; l != nil {
		span("nodeLifecycle.gracePeriod", l.GracePeriod)
		span("nodeLifecycle.startupGracePeriod", l.StartupGracePeriod)
		l.check(&e)
	}
	return e.Err()
}

// check adds what is wrong with sizes and rates.
func (l *NodeLifecycle) check(e *fairlead.FieldErrors) {
	before := len(*e)
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"nodeEvictionRate", l.NodeEvictionRate}, {"secondaryNodeEvictionRate", l.SecondaryNodeEvictionRate},
		{"fullDisruptionRate", deref(l.FullDisruptionRate)},
		{"unhealthyZoneThreshold", l.UnhealthyZoneThreshold}, {"recoveryThreshold", l.RecoveryThreshold},
	} {
		if math.IsNaN(f.value) || math.IsInf(f.value, 0) {
			e.Add("nodeLifecycle."+f.name, "%v is not a finite number; write one that is", f.value)
		}
	}
	if len(*e) == before {
		all := (&Policy{NodeLifecycle: l}).complete().NodeLifecycle
		if t := all.UnhealthyZoneThreshold; t < 0 || t > 1 {
			e.Add("nodeLifecycle.unhealthyZoneThreshold", "%v is not a share; write a number between 0 and 1", t)
		} else if r := all.RecoveryThreshold; r < 0 || r > t {
			e.Add("nodeLifecycle.recoveryThreshold", "%v must lie between 0 and unhealthyZoneThreshold, %v", r, t)
		}
	}
	if l.SizeOf != SizeOfZone && l.SizeOf != SizeOfCluster {
		e.Add("nodeLifecycle.sizeOf", "there is no %q; write %s, or leave it out for the zone", l.SizeOf, SizeOfCluster)
	}
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
	if q.NodeLifecycle == nil {
		return q
	}
	l := *q.NodeLifecycle
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
	q.NodeLifecycle = &l
	return q
}

// backoff returns after what times actions are repeated.
func (p *Policy) backoff() fairlead.Backoff {
	return fairlead.Backoff{Min: p.MinBackoff, Max: p.MaxBackoff}
}

func deref(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}

// Reasons of Blocks.
const (
	ReasonTolerating   = "Tolerating"            // pods stay as long as they tolerate a taint
	ReasonEvicting     = "EvictionPending"       // a pod was evicted, and is not seen to terminate
	ReasonGivenUp      = "EvictionGivenUp"       // MaxAttempts to evict a pod have failed
	ReasonBudget       = "DisruptionBudget"      // a budget does not allow an eviction now
	ReasonThrottled    = "TooManyEvictions"      // MaxInFlight pods are being evicted
	ReasonNoUID        = "PodWithoutIdentity"    // a pod has no UID, or no name, or one that is too long
	ReasonClock        = "ClockSetBack"          // pods were bound at times later than now
	ReasonTaints       = "TooManyTaints"         // a node has more taints than are tracked
	ReasonWrite        = "WritePending"          // a change of a node or a pod has not been observed yet
	ReasonDisrupted    = "ControlPlaneDisrupted" // no node of any zone is ready: nothing is evicted for that
	ReasonRateLimited  = "RateLimited"           // nodes wait for their turn to be tainted
	ReasonZoneStopped  = "ZoneEvictionsStopped"  // the state of their zone allows no taints now
	ReasonWritesFailed = "TaintWritesFail"       // so many nodes wait for their taint that no more are chosen
)
