package drain

import (
	"cmp"
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/durations"
)

// Policy is how nodes are drained. The zero value removes what a machine's
// deletion must remove, including pods without a controller and with local
// storage; it leaves the pods of DaemonSets alone, and respects every disruption
// budget.
type Policy struct {
	// KeepUnmanaged refuses pods that no controller replaces: kubectl drain
	// without --force.
	KeepUnmanaged bool `json:"keepUnmanaged,omitempty"`
	// KeepLocalStorage refuses pods with an emptyDir: kubectl drain without
	// --delete-emptydir-data.
	KeepLocalStorage bool `json:"keepLocalStorage,omitempty"`
	// RefuseDaemonSets refuses the pods of DaemonSets instead of leaving them
	// alone: kubectl drain without --ignore-daemonsets.
	RefuseDaemonSets bool `json:"refuseDaemonSets,omitempty"`
	// Rules say how some machines' drains treat some pods. If several apply, the
	// first by name counts.
	Rules []Rule `json:"rules,omitempty"`

	// GracePeriodSeconds is how long each pod may take to end. Nil means the
	// pod's own grace period.
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
	// SkipWaitForDeleteTimeoutSeconds is how long after its deletion timestamp,
	// which includes its grace period, the drain waits for a pod. 0 means
	// forever.
	SkipWaitForDeleteTimeoutSeconds int64 `json:"skipWaitForDeleteTimeoutSeconds,omitempty"`
	// UnreachableGraceSeconds replaces both of them on a node that has stopped
	// reporting, whose condition Ready is Unknown. 0 means 1; a negative value
	// means that such nodes are treated like others.
	UnreachableGraceSeconds int64 `json:"unreachableGraceSeconds,omitempty"`

	// DisableEviction deletes pods instead of evicting them, regardless of their
	// budgets.
	DisableEviction bool `json:"disableEviction,omitempty"`
	// ForceStopped deletes the pods of an instance that is known not to run
	// (View.Stopped) at once, regardless of their budgets: there is nothing left
	// to protect, and the API would refuse their eviction forever.
	ForceStopped bool `json:"forceStopped,omitempty"`

	// MinBackoff is about how long after an attempt the next one at the same pod
	// comes; it doubles with each attempt. 0 means 5 seconds.
	MinBackoff time.Duration `json:"minBackoff,omitempty"`
	// MaxBackoff bounds that time. 0 means a minute.
	MaxBackoff time.Duration `json:"maxBackoff,omitempty"`
	// MaxAttempts limits the evictions that one Step requests. 0 means 100.
	MaxAttempts int `json:"maxAttempts,omitempty"`
}

// zeroPolicy is what a nil policy means. Nothing changes it.
var zeroPolicy Policy

// MarshalJSON writes durations as text, such as "5m0s".
func (p Policy) MarshalJSON() ([]byte, error) { return durations.Marshal(p) }

// UnmarshalJSON reads what MarshalJSON wrote; an unknown field is an error.
func (p *Policy) UnmarshalJSON(data []byte) error { return durations.Unmarshal(data, p) }

// Check returns everything that is wrong with the policy as fairlead.FieldErrors,
// whose paths begin with the JSON names of its fields, or nil. Step leaves the
// pods of a node alone while its policy is invalid.
func (p *Policy) Check() error {
	var errs fairlead.FieldErrors
	p.check("", &errs)
	return errs.Err()
}

// check adds what is wrong, with prefix before each path.
func (p *Policy) check(prefix string, errs *fairlead.FieldErrors) {
	if p == nil {
		return
	}
	names := map[string]int{}
	for i := range p.Rules {
		path := fmt.Sprintf("%srules[%d]", prefix, i)
		p.Rules[i].check(path, errs)
		if name := p.Rules[i].Name; name != "" {
			if first, twice := names[name]; twice {
				errs.Add(path+".metadata.name", "%q is also the name of rules[%d]; names order the rules, so give each its own", name, first)
			} else {
				names[name] = i
			}
		}
	}
	if g := p.GracePeriodSeconds; g != nil && *g < 0 {
		errs.Add(prefix+"gracePeriodSeconds", "%d is negative; leave it out for the pods' own grace periods", *g)
	}
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"skipWaitForDeleteTimeoutSeconds", p.SkipWaitForDeleteTimeoutSeconds},
		{"minBackoff", int64(p.MinBackoff)},
		{"maxBackoff", int64(p.MaxBackoff)},
		{"maxAttempts", int64(p.MaxAttempts)},
	} {
		if f.value < 0 {
			errs.Add(prefix+f.name, "%d is negative; leave it out for the default", f.value)
		}
	}
}

// problem returns the first error that Check finds, and how many more there are.
func (p *Policy) problem() string {
	var errs fairlead.FieldErrors
	p.check("", &errs)
	switch len(errs) {
	case 0:
		return ""
	case 1:
		return errs[0].Error()
	}
	return fmt.Sprintf("%v (and %d more)", errs[0], len(errs)-1)
}

// sound reports whether Check finds nothing that could mislead a drain. It
// allocates nothing.
func (p *Policy) sound() bool {
	if p.GracePeriodSeconds != nil && *p.GracePeriodSeconds < 0 || p.SkipWaitForDeleteTimeoutSeconds < 0 ||
		p.MinBackoff < 0 || p.MaxBackoff < 0 || p.MaxAttempts < 0 {
		return false
	}
	for i := range p.Rules {
		r := &p.Rules[i]
		if ruleFates[r.Spec.Drain.Behavior] == "" || !r.sound() {
			return false
		}
		for j := range i {
			if p.Rules[j].Name == r.Name {
				return false
			}
		}
	}
	return true
}

// attempts returns how many evictions one Step may ask for.
func (p *Policy) attempts() int {
	if p.MaxAttempts > 0 {
		return p.MaxAttempts
	}
	return 100
}

// unreachablePatience is how long the drain waits for pods on a node that has
// stopped reporting.
func (p *Policy) unreachablePatience() int64 {
	switch n := p.UnreachableGraceSeconds; {
	case n < 0:
		return p.SkipWaitForDeleteTimeoutSeconds
	case n == 0:
		return 1
	default:
		return n
	}
}

// grace returns the grace period that pods of the node are given.
func (p *Policy) grace(view *View) *int64 {
	switch {
	case p.ForceStopped && view.Stopped:
		return new(int64)
	case p.UnreachableGraceSeconds >= 0 && Unreachable(view.Node):
		n := p.unreachablePatience()
		return &n
	}
	return p.GracePeriodSeconds
}

// backoff is the delay after an attempt at a pod or node.
func (p *Policy) backoff() fairlead.Backoff {
	return fairlead.Backoff{Min: cmp.Or(p.MinBackoff, 5*time.Second), Max: p.MaxBackoff, Spread: 0.25}
}

// seconds returns a duration; a very large number means the longest there is.
func seconds(n int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Second)
	return time.Duration(min(n, most)) * time.Second
}
