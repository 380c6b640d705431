package lifecycle

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/durations"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// Policy is how the engine decides. The zero value is usable, and nil means the
// same: it waits for hooks forever, and skips nothing that was not requested to be
// skipped. Check it once; Step does not check it.
type Policy struct {
	// Drain is how nodes are drained.
	Drain drain.Policy `json:"drain,omitzero"`
	// Finalizer is the finalizer that keeps machines; empty means [Finalizer], and
	// [FinalizerClusterAPI] for machines of the Cluster API.
	Finalizer string `json:"finalizer,omitempty"`
	// HooksField is the field with the hooks in machines of your own API, for
	// texts. Empty means spec.lifecycleHooks, or the annotations of the Cluster
	// API.
	HooksField string `json:"hooksField,omitempty"`

	// Deadlines are those of hooks. The first that matches a hook counts.
	Deadlines []Deadline `json:"deadlines,omitempty"`
	// Order says which hooks come after which.
	Order []HookOrder `json:"order,omitempty"`
	// OwnerTimeout is how long an owner of hooks may send no heartbeat before that
	// is reported, see World.Owners. Zero means that it is not checked.
	OwnerTimeout time.Duration `json:"ownerTimeout,omitempty"`

	// ExcludedSkipsHooks ignores preDrain hooks if the drain is skipped because
	// of [ExcludeDrainAnnotation] or because the machine has no node. The
	// Machine API does so; it lets one annotation defeat the protection of a
	// quorum, so it is reported by an event and a Note.
	ExcludedSkipsHooks bool `json:"excludedSkipsHooks,omitempty"`
	// DrainTimeout is how long a drain may take until it is abandoned, unless the
	// machine says otherwise. Zero means no limit.
	DrainTimeout time.Duration `json:"drainTimeout,omitempty"`
	// WaitForVolumes waits until volumes are detached from the node before
	// preTerminate hooks. For machines of the Cluster API that is so in any case.
	WaitForVolumes bool `json:"waitForVolumes,omitempty"`
	// VolumeDetachTimeout is how long to wait for volumes, unless the machine says
	// otherwise. Zero means no limit.
	VolumeDetachTimeout time.Duration `json:"volumeDetachTimeout,omitempty"`
	// NodeDeletionTimeout is how long to try to remove the node object, unless the
	// machine says otherwise. Zero means no limit.
	NodeDeletionTimeout time.Duration `json:"nodeDeletionTimeout,omitempty"`

	// MinBackoff is the delay before the first retry of an action that had no
	// effect; it doubles with each retry. Zero means a second.
	MinBackoff time.Duration `json:"minBackoff,omitempty"`
	// MaxBackoff is the longest such delay. Zero means thirty seconds.
	MaxBackoff time.Duration `json:"maxBackoff,omitempty"`
	// Resync is how often a waiting machine is reconciled even without events,
	// because events get lost. Zero means five minutes.
	Resync time.Duration `json:"resync,omitempty"`
}

// MarshalJSON writes durations as text, such as "5m0s".
func (p Policy) MarshalJSON() ([]byte, error) { return durations.Marshal(p) }

// UnmarshalJSON reads what MarshalJSON wrote; an unknown field is an error.
func (p *Policy) UnmarshalJSON(data []byte) error { return durations.Unmarshal(data, p) }

// Deadline limits the wait for hooks. An empty Point, Name or Owner matches
// every one.
type Deadline struct {
	Point Point  `json:"point,omitempty"` // of the hook
	Name  string `json:"name,omitempty"`  // the hook's
	Owner string `json:"owner,omitempty"` // the hook's
	// Soft is the time after which the wait is reported as overdue. Zero means
	// never.
	Soft time.Duration `json:"soft,omitempty"`
	// Hard is the time after which Then is done. Zero means never.
	Hard time.Duration `json:"hard,omitempty"`
	// Then is what is done.
	Then Escalation `json:"then,omitempty"`
}

// Escalation is what happens after the hard deadline of a hook.
type Escalation string

// The escalations.
const (
	EscalateWait Escalation = ""     // the machine keeps waiting: the documented behaviour
	EscalateAsk  Escalation = "Ask"  // a person is asked, who answers by SkipHookAnnotation
	EscalateSkip Escalation = "Skip" // it is removed on behalf of its owner, and that is noted
	EscalateFail Escalation = "Fail" // the machine reports an error, and keeps waiting
)

// SkipHookAnnotation is how a person answers [EscalateAsk]: its value names the
// hooks to go on without, as POINT/NAME, separated by commas.
const SkipHookAnnotation = "fairlead.io/skip-hooks"

// HookOrder says that a hook comes after others of its point: it must wait until
// they are gone.
type HookOrder struct {
	Point Point    `json:"point,omitempty"` // of all of them
	Name  string   `json:"name,omitempty"`  // the later hook
	After []string `json:"after,omitempty"` // the earlier hooks
}

// Decision is what [Step] returns. Blocked says why the machine does not
// proceed, in order of discovery; waits of the drain come last.
type Decision = fairlead.Decision[State, Action]

func (p *Policy) finalizer(m *Machine) string {
	switch {
	case p.Finalizer != "":
		return p.Finalizer
	case m.clusterAPI():
		return FinalizerClusterAPI
	}
	return Finalizer
}

// backoff returns the delays after which actions are retried.
func (p *Policy) backoff() fairlead.Backoff {
	b := fairlead.Backoff{Min: p.MinBackoff, Max: p.MaxBackoff}
	if b.Min <= 0 {
		b.Min = time.Second
	}
	if b.Max <= 0 {
		b.Max = 30 * time.Second
	}
	return b
}

// resync returns how often a waiting machine is reconciled.
func (p *Policy) resync() time.Duration {
	if p.Resync <= 0 {
		return 5 * time.Minute
	}
	return p.Resync
}

// longest returns the backoff of actions that are retried as rarely as possible.
func (p *Policy) longest() fairlead.Backoff {
	b := p.backoff()
	b.Min = max(b.Min, b.Max)
	return b
}

// limit returns the limit of a stage: the machine's, else the policy's; zero means
// none.
func limit(seconds *int32, otherwise time.Duration) time.Duration {
	if seconds != nil {
		return time.Duration(*seconds) * time.Second
	}
	return otherwise
}
