package plan

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/durations"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// Goal is the desired result for the cluster; any of the fields may be combined.
type Goal struct {
	// Release is the release to run, such as 4.20.3.
	Release string `json:"release,omitempty"`
	// Minor requests the newest release of a minor version, such as 4.20, that can be
	// reached without a risk that applies to the cluster.
	Minor string `json:"minor,omitempty"`
	// Newest requests the newest release of all that can be reached in this way.
	Newest bool `json:"newest,omitempty"`
	// PauseWorkers keeps all pools but the control plane paused until the last
	// release runs: their nodes restart once.
	PauseWorkers bool `json:"pauseWorkers,omitempty"`
	// Operators are the requested versions of operators.
	Operators []OperatorGoal `json:"operators,omitempty"`
	// Nodes are the nodes that must be out of service, by name.
	Nodes []string `json:"nodes,omitempty"`
}

// moves reports whether the goal is about a release.
func (g *Goal) moves() bool { return g.Release != "" || g.Minor != "" || g.Newest }

// OperatorGoal requests a version of an operator.
type OperatorGoal struct {
	Package string `json:"package"` // of the operator
	Version string `json:"version"` // the version in the CSV, or the CSV's name
}

// Preference says which of two plans is better, among those with the same number of
// unevaluated risks.
type Preference string

// The preferences.
const (
	FewestSteps     Preference = ""                // fewer steps first, then fewer restarts of nodes
	LeastDisruption Preference = "LeastDisruption" // fewer restarts of nodes first, then fewer steps
)

// Policy is what may be done. Nil means the zero value, which allows everything that
// loses no data.
type Policy struct {
	// Accept are the names of risks that the administrator accepts.
	Accept []string `json:"accept,omitempty"`
	// Prefer is which plan is better.
	Prefer Preference `json:"prefer,omitempty"`
	// Direct asks for the fewest steps even if another way leaves fewer risks unevaluated.
	Direct bool `json:"direct,omitempty"`
	// KeepOperators are the packages of operators that must not move.
	KeepOperators []string `json:"keepOperators,omitempty"`
	// KeepBudgets, KeepNodes and KeepMembers forbid changing disruption budgets, adding
	// nodes, and replacing members of etcd.
	KeepBudgets bool `json:"keepBudgets,omitempty"`
	KeepNodes   bool `json:"keepNodes,omitempty"`   // see KeepBudgets
	KeepMembers bool `json:"keepMembers,omitempty"` // see KeepBudgets
	// NoPause forbids pausing pools.
	NoPause bool `json:"noPause,omitempty"`
	// Drain is how nodes are drained; KeepLocalStorage and KeepUnmanaged there protect
	// data that must not be lost.
	Drain drain.Policy `json:"drain,omitzero"`
	// GoUnseen makes Step start steps that depend on things that were not observed.
	// Make plans them in any case, and marks them.
	GoUnseen bool `json:"goUnseen,omitempty"`
	// Windows are when steps may take place; without any, always. A step begins if its
	// estimate fits.
	Windows []Window `json:"windows,omitempty"`
	// Estimates are how long steps take.
	Estimates Estimates `json:"estimates,omitzero"`
	// MaxConflicts limits the search in each part of the problem, in conflicts of the
	// solver. Zero means 200,000.
	MaxConflicts int64 `json:"maxConflicts,omitempty"`
}

// Window is a time in which steps may take place.
type Window struct {
	From  time.Time `json:"from"`  // its beginning
	Until time.Time `json:"until"` // its end
}

// Estimates are how long steps usually take.
type Estimates struct {
	Move     time.Duration `json:"move,omitempty"`     // an update of the cluster to the next release; zero means as in its history, or else 70 minutes
	Reboot   time.Duration `json:"reboot,omitempty"`   // a node's restart into its new configuration; zero means 10 minutes
	Round    time.Duration `json:"round,omitempty"`    // a round of evictions; zero means 2 minutes
	Operator time.Duration `json:"operator,omitempty"` // one hop of an operator; zero means 5 minutes
	Owner    time.Duration `json:"owner,omitempty"`    // work for people; zero means 30 minutes
}

func (e Estimates) complete() Estimates {
	or := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	or(&e.Reboot, 10*time.Minute)
	or(&e.Round, 2*time.Minute)
	or(&e.Operator, 5*time.Minute)
	or(&e.Owner, 30*time.Minute)
	return e
}

// Check reports what is wrong with the policy: the error is fairlead.FieldErrors. A nil
// policy means the defaults, which are valid.
func (p *Policy) Check() error {
	if p == nil {
		return nil
	}
	var found fairlead.FieldErrors
	if p.Prefer != FewestSteps && p.Prefer != LeastDisruption {
		found.Add("prefer", "%q is neither empty nor %s", p.Prefer, LeastDisruption)
	}
	for _, f := range []struct {
		path  string
		value time.Duration
	}{
		{"estimates.move", p.Estimates.Move}, {"estimates.reboot", p.Estimates.Reboot}, {"estimates.round", p.Estimates.Round},
		{"estimates.operator", p.Estimates.Operator}, {"estimates.owner", p.Estimates.Owner},
	} {
		if f.value < 0 {
			found.Add(f.path, "%s is negative; leave it out for the default", f.value)
		}
	}
	for _, w := range p.Windows {
		if !w.Until.After(w.From) {
			found.Add("windows", "the window from %s ends before it begins", w.From.Format(time.RFC3339))
		}
	}
	if p.MaxConflicts < 0 {
		found.Add("maxConflicts", "%d is negative; leave it out for the default", p.MaxConflicts)
	}
	if err := p.Drain.Check(); err != nil {
		found.Add("drain", "%v", err)
	}
	return found.Err()
}

// MarshalJSON writes durations as text, such as 5m0s.
func (p Policy) MarshalJSON() ([]byte, error) {
	type plain Policy
	return durations.Marshal(plain(p))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Policy) UnmarshalJSON(data []byte) error {
	type plain Policy
	return durations.Unmarshal(data, (*plain)(p))
}
