package rollout

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/durations"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// Policy is how the engine decides. The zero value is usable, and nil means the
// same.
type Policy struct {
	// MinBackoff is the delay before the first retry of an action that had no
	// effect; it doubles with each retry. Zero means five seconds.
	MinBackoff time.Duration `json:"minBackoff,omitempty"`
	// MaxBackoff is the longest such delay. Zero means a minute.
	MaxBackoff time.Duration `json:"maxBackoff,omitempty"`
	// SlowDrain is how long a drain may take before the Block says that it is
	// slow. Zero means an hour.
	SlowDrain time.Duration `json:"slowDrain,omitempty"`
	// SlowUpdate is how long a change of configuration and a reboot may take,
	// likewise. Zero means half an hour.
	SlowUpdate time.Duration `json:"slowUpdate,omitempty"`
	// Drain is how pods are classified and evicted on nodes that the engine
	// drains itself, see World.Pods.
	Drain drain.Policy `json:"drain,omitzero"`
}

func (p *Policy) complete() Policy {
	var q Policy
	if p != nil {
		q = *p
	}
	or := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	or(&q.MinBackoff, 5*time.Second)
	or(&q.MaxBackoff, time.Minute)
	or(&q.SlowDrain, time.Hour)
	or(&q.SlowUpdate, 30*time.Minute)
	return q
}

// backoff is the delay after an action that had no effect.
func (p *Policy) backoff() fairlead.Backoff {
	return fairlead.Backoff{Min: p.MinBackoff, Max: p.MaxBackoff}
}

// Check reports what is wrong with the policy: the error is
// fairlead.FieldErrors. A nil policy means the defaults, which are valid.
func (p *Policy) Check() error {
	if p == nil {
		return nil
	}
	var found fairlead.FieldErrors
	for _, f := range []struct {
		path  string
		value time.Duration
	}{{"minBackoff", p.MinBackoff}, {"maxBackoff", p.MaxBackoff}, {"slowDrain", p.SlowDrain}, {"slowUpdate", p.SlowUpdate}} {
		if f.value < 0 {
			found.Add(f.path, "%s is negative; leave it out for the default", f.value)
		}
	}
	if p.MaxBackoff > 0 && p.MaxBackoff < p.MinBackoff {
		found.Add("maxBackoff", "%s is less than minBackoff, %s", p.MaxBackoff, p.MinBackoff)
	}
	if err, bad := p.Drain.Check().(fairlead.FieldErrors); bad {
		for _, e := range err {
			found.Add("drain."+e.Path, "%s", e.Problem)
		}
	}
	return found.Err()
}

// MarshalJSON writes durations as text, such as 5m0s.
func (p Policy) MarshalJSON() ([]byte, error) { return durations.Marshal(p) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Policy) UnmarshalJSON(data []byte) error {
	return durations.Unmarshal(data, p)
}

// Decision is what [Step] returns. Blocked is about the pool first, and then
// about nodes by name.
type Decision = fairlead.Decision[State, Action]

// Reasons of Blocks.
const (
	ReasonBudgetInvalid  = "MaxUnavailableInvalid" // the pool's maxUnavailable is invalid
	ReasonPaused         = "PoolPaused"            // nodes need an update, and the pool is paused
	ReasonNoTarget       = "NoConfiguration"       // the pool has no target configuration
	ReasonBuild          = "ImageNotBuilt"         // nodes wait for the image
	ReasonPeers          = "PeersNotReady"         // nodes wait for those of another pool, to keep quorum
	ReasonQuorum         = "QuorumLimit"           // maxUnavailable would break the quorum of the control plane, so a smaller number is used
	ReasonBudget         = "BudgetExhausted"       // nodes wait for others of the pool
	ReasonUnavailable    = "NodeUnavailable"       // a node takes no pods for another reason, and counts against the budget
	ReasonHeld           = "NodeNotReady"          // a node needs the update and does not start, because it takes no pods
	ReasonDegraded       = "NodeDegraded"          // a node could not be updated
	ReasonBegin          = "NodeNotTold"           // a node has not been told its configuration yet
	ReasonCordon         = "NodeNotCordoned"       // it is not cordoned yet
	ReasonDraining       = "NodeDraining"          // its pods are being moved away
	ReasonUpdating       = "NodeUpdating"          // it is being changed and rebooted
	ReasonUncordon       = "NodeNotUncordoned"     // it is updated, and does not take pods yet
	ReasonStatusOutdated = "StatusOutdated"        // the status of the pool is being written
)
