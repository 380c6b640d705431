package rollout

import (
	"time"

	"github.com/fairlead/fairlead"
)

// Policy is how the engine decides. The zero value is useful, and nil counts
// as that.
type Policy struct {
	// MinBackoff is the time from an action that had no effect to the first
	// repetition; it doubles with each. Zero means five seconds.
	MinBackoff time.Duration
	// MaxBackoff is the longest such time. Zero means a minute.
	MaxBackoff time.Duration
	// SlowDrain is how long a drain may take before the Block says that it is
	// slow. Zero means an hour.
	SlowDrain time.Duration
	// SlowUpdate is how long a change of configuration and a reboot may take,
	// likewise. Zero means half an hour.
	SlowUpdate time.Duration
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

// Decision is what [Step] returns.
type Decision struct {
	State   State            // to be saved before anything is applied
	Actions []Action         // to be applied then, in this order
	Blocked []fairlead.Block // why nothing more happens: the pool, then nodes by name
	Wake    time.Time        // when to look again, zero for an event only
}

// Reasons of Blocks.
const (
	ReasonBudgetInvalid  = "MaxUnavailableInvalid" // the pool's maxUnavailable means nothing
	ReasonPaused         = "PoolPaused"            // nodes need an update, and the pool is paused
	ReasonNoTarget       = "NoConfiguration"       // nobody has said what the pool is to run
	ReasonBuild          = "ImageNotBuilt"         // nodes wait for the image
	ReasonPeers          = "PeersNotReady"         // nodes wait for those of another pool, to keep quorum
	ReasonQuorum         = "QuorumLimit"           // maxUnavailable would take the quorum of the control plane, and counts for less
	ReasonBudget         = "BudgetExhausted"       // nodes wait for others of the pool
	ReasonUnavailable    = "NodeUnavailable"       // a node takes no pods for another reason, and takes room in the budget
	ReasonHeld           = "NodeNotReady"          // a node needs the update and is not begun, for it takes no pods
	ReasonDegraded       = "NodeDegraded"          // a node could not be updated
	ReasonBegin          = "NodeNotTold"           // a node does not know yet what it is to run
	ReasonCordon         = "NodeNotCordoned"       // it is not cordoned yet
	ReasonDraining       = "NodeDraining"          // its pods are being moved away
	ReasonUpdating       = "NodeUpdating"          // it is being changed and rebooted
	ReasonUncordon       = "NodeNotUncordoned"     // it is through, and does not take pods yet
	ReasonStatusOutdated = "StatusOutdated"        // the status of the pool is being written
)
