package lifecycle

import (
	"time"
)

// Policy is how the engine decides. The zero value is useful, and nil counts
// as that: hooks are waited for without end, and nothing is skipped that was
// not asked to be. Check it once; Step takes it as it is.
type Policy struct {
	// Drain is how nodes are drained.
	Drain DrainPolicy
	// Finalizer is the finalizer that keeps machines; empty means [Finalizer], and
	// [FinalizerClusterAPI] for machines of the Cluster API.
	Finalizer string
	// HooksField is the field of machines of your own API that hooks stand in, for
	// texts. Empty means spec.lifecycleHooks, or the annotations of the Cluster API.
	HooksField string

	// Deadlines are those of hooks. The first that fits a hook counts.
	Deadlines []Deadline
	// Order says which hooks come after which.
	Order []HookOrder
	// OwnerTimeout is how long an owner of hooks may show no sign of life until
	// that is told, see World.Owners. Zero means that nobody looks.
	OwnerTimeout time.Duration

	// ExcludedSkipsHooks has preDrain hooks ignored where the drain is skipped
	// because of [ExcludeDrainAnnotation] or because the machine has no node.
	// The Machine API does so; it lets one annotation defeat the protection of a
	// quorum, hence it is told in an event and a Note.
	ExcludedSkipsHooks bool
	// DrainTimeout is how long a drain may take until it is given up, unless the
	// machine says. Zero means for ever.
	DrainTimeout time.Duration
	// WaitForVolumes has volumes detached from the node before preTerminate hooks
	// are looked at, as the Cluster API does.
	WaitForVolumes bool
	// VolumeDetachTimeout is how long volumes are waited for, unless the machine
	// says. Zero means for ever.
	VolumeDetachTimeout time.Duration
	// NodeDeletionTimeout is how long the removal of the node object is tried,
	// unless the machine says. Zero means for ever.
	NodeDeletionTimeout time.Duration

	// MinBackoff is the time from an action that had no effect to the first
	// repetition; it doubles with each. Zero means a second.
	MinBackoff time.Duration
	// MaxBackoff is the longest such time. Zero means thirty seconds.
	MaxBackoff time.Duration
	// Resync is after how long a machine that waits is looked at again even if
	// nothing was heard, because events get lost. Zero means five minutes.
	Resync time.Duration
}

// Deadline bounds how long hooks are waited for. Where Point, Name or Owner is
// empty it fits every one.
type Deadline struct {
	Point Point  // of the hook
	Name  string // the hook's
	Owner string // the hook's
	// Soft is after how long the wait is told as overdue. Zero means never.
	Soft time.Duration
	// Hard is after how long Then is done. Zero means never.
	Hard time.Duration
	// Then is what is done.
	Then Escalation
}

// Escalation is what is done when a hook is past its hard deadline.
type Escalation string

// The escalations.
const (
	EscalateWait Escalation = ""     // it is waited for: the documented behaviour
	EscalateAsk  Escalation = "Ask"  // a person is asked, who answers by SkipHookAnnotation
	EscalateSkip Escalation = "Skip" // it is removed in its owner's stead, and that is noted
	EscalateFail Escalation = "Fail" // the machine reports an error, and is waited for
)

// SkipHookAnnotation is how a person answers [EscalateAsk]: its value names the
// hooks to go on without, as POINT/NAME, parted by commas.
const SkipHookAnnotation = "lifecycle.fairlead.dev/skip-hooks"

// HookOrder says that a hook comes after others of its point: while any of them
// is there it is not in turn.
type HookOrder struct {
	Point Point    // of all of them
	Name  string   // the later hook
	After []string // the earlier hooks
}

// Decision is what [Step] returns.
type Decision struct {
	State   State     // to be saved before anything is applied
	Actions []Action  // to be applied then, in this order
	Wake    time.Time // when to look again, zero for an event only
}

func or(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

func (p *Policy) finalizer(m *Machine) string {
	switch {
	case p.Finalizer != "":
		return p.Finalizer
	case m.clusterAPI():
		return FinalizerClusterAPI
	}
	return Finalizer
}

// backoff returns the time to wait after this many attempts.
func (p *Policy) backoff(attempts int) time.Duration {
	d, most := or(p.MinBackoff, time.Second), or(p.MaxBackoff, 30*time.Second)
	for ; attempts > 1 && d < most; attempts-- {
		d *= 2
	}
	return min(d, most)
}

// limit returns the bound of a stage: the machine's, else the policy's; zero
// means none.
func limit(seconds *int32, otherwise time.Duration) time.Duration {
	if seconds != nil {
		return time.Duration(*seconds) * time.Second
	}
	return otherwise
}
