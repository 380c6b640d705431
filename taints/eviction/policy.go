package eviction

import (
	"math"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/durations"
	"github.com/fairlead/fairlead/taints"
)

// Policy is how the engine decides. The zero value is usable, and nil means the same.
// In JSON, durations are written as in "5m0s".
type Policy struct {
	// Options say how tolerations are matched; see there.
	Options *taints.Options `json:"options,omitempty"`
	// Match says which toleration counts if several match one taint.
	Match Match `json:"match,omitempty"`
	// EvictFinished also evicts pods that have ended; their logs and results are lost
	// with them. Pods that are being deleted are left alone in any case.
	EvictFinished bool `json:"evictFinished,omitempty"`
	// MinBackoff is the delay before the first retry of an action that had no
	// effect; it doubles with each retry. Zero means a second.
	MinBackoff time.Duration `json:"minBackoff,omitempty"`
	// MaxBackoff is the longest such delay. Zero means five minutes.
	MaxBackoff time.Duration `json:"maxBackoff,omitempty"`
	// MaxAttempts is the number of attempts after which the eviction of a pod is given
	// up, until the pod is no longer due. A Block reports this. Zero means never.
	MaxAttempts int `json:"maxAttempts,omitempty"`
	// MaxInFlight is how many pods of one node may be in eviction at a time: evicted
	// but not seen to terminate, or given up. Zero means 500; the maximum is 1,000.
	MaxInFlight int `json:"maxInFlight,omitempty"`
	// RespectBudgets evicts pods only when their disruption budgets allow it, or
	// BudgetTimeout after their deadline. Kubernetes' own taint-based eviction ignores
	// budgets.
	RespectBudgets bool `json:"respectBudgets,omitempty"`
	// BudgetTimeout is how long a budget can hold up an eviction. Zero means 10
	// minutes; a negative one means no limit.
	BudgetTimeout time.Duration `json:"budgetTimeout,omitempty"`
	// NodeLifecycle makes the engine add and remove taints of nodes by their
	// conditions. Nil leaves that to others.
	NodeLifecycle *NodeLifecycle `json:"nodeLifecycle,omitempty"`
}

// NodeLifecycle is how nodes are tainted by their conditions, as the node lifecycle
// controller does. The zero value has the defaults of Kubernetes.
type NodeLifecycle struct {
	// GracePeriod is how long a node may be silent before its conditions count as
	// unknown. Zero means 50 seconds.
	GracePeriod time.Duration `json:"gracePeriod,omitempty"`
	// StartupGracePeriod is how long after its creation a node may take to report
	// for the first time. Zero means 60 seconds.
	StartupGracePeriod time.Duration `json:"startupGracePeriod,omitempty"`
	// NodeEvictionRate is how many nodes of a zone per second get the NoExecute taint
	// for not being ready. Zero means 0.1; a negative rate means none.
	NodeEvictionRate float64 `json:"nodeEvictionRate,omitempty"`
	// SecondaryNodeEvictionRate is the rate of a large zone in PartialDisruption. Zero
	// means 0.01; a negative rate means none.
	SecondaryNodeEvictionRate float64 `json:"secondaryNodeEvictionRate,omitempty"`
	// FullDisruptionRate is the rate of a zone in FullDisruption while another zone is
	// not. Nil means NodeEvictionRate.
	FullDisruptionRate *float64 `json:"fullDisruptionRate,omitempty"`
	// UnhealthyZoneThreshold is the share of nodes that are not ready, three nodes at
	// least, from which on a zone is in PartialDisruption. Zero means 0.55.
	UnhealthyZoneThreshold float64 `json:"unhealthyZoneThreshold,omitempty"`
	// RecoveryThreshold is the share below which the zone leaves PartialDisruption. A
	// value less than UnhealthyZoneThreshold keeps a zone whose nodes flap in one
	// state. Zero means the same as UnhealthyZoneThreshold.
	RecoveryThreshold float64 `json:"recoveryThreshold,omitempty"`
	// LargeClusterSize: a zone in PartialDisruption with more nodes than this has the
	// secondary rate, others have none. Zero means 50; with a negative value all zones
	// have it.
	LargeClusterSize int `json:"largeClusterSize,omitempty"`
	// SizeOf says whose nodes LargeClusterSize is compared with: those of the zone,
	// as the reference does, or those of the cluster, as its documentation says.
	SizeOf SizeOf `json:"sizeOf,omitempty"`
}

// SizeOf says which size counts.
type SizeOf string

// The two interpretations.
const (
	SizeOfZone    SizeOf = ""        // nodes of the zone
	SizeOfCluster SizeOf = "Cluster" // nodes of all zones
)

// MarshalJSON writes durations as in "5m0s".
func (p Policy) MarshalJSON() ([]byte, error) { return durations.Marshal(p) }

// UnmarshalJSON reads durations as in "5m0s". An unknown field is an error.
func (p *Policy) UnmarshalJSON(data []byte) error { return durations.Unmarshal(data, p) }

// Check returns a [fairlead.FieldErrors] with every invalid field, or nil.
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
			e.Add("nodeLifecycle."+f.name, "%v is not a finite number; write a finite one", f.value)
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

// maxInFlight bounds the evictions in State, so that it fits a Store.
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

// backoff returns the delays after which actions are retried.
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
	ReasonNoUID        = "PodWithoutIdentity"    // a pod has no UID or name, or one of them is too long
	ReasonClock        = "ClockSetBack"          // pods were bound at times later than now
	ReasonTaints       = "TooManyTaints"         // a node has more taints than are tracked
	ReasonWrite        = "WritePending"          // a change of a node or a pod has not been observed yet
	ReasonDisrupted    = "ControlPlaneDisrupted" // no node of any zone is ready: no pod is evicted because of that
	ReasonRateLimited  = "RateLimited"           // nodes wait for their turn to be tainted
	ReasonZoneStopped  = "ZoneEvictionsStopped"  // the state of their zone allows no taints now
	ReasonWritesFailed = "TaintWritesFail"       // so many taints are not yet written that no more nodes are chosen
)
