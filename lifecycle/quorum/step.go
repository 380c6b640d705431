package quorum

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
)

// StateVersion is the version of the form of [State].
const StateVersion = 1

// State is what is remembered of a control plane: nothing that a decision rests
// on, so that losing it is harmless. It survives encoding/json.
type State struct {
	Waits   []Wait  `json:"waits,omitempty"`   // since when each Block stands
	Retries []Retry `json:"retries,omitempty"` // actions whose effect is not seen yet
}

// Wait is since when a Block stands.
type Wait struct {
	Subject string    `json:"subject"` // the Block's
	Reason  string    `json:"reason"`  // the Block's
	Since   time.Time `json:"since"`   // when it was first told of
}

// Retry is an action whose effect has not been seen.
type Retry struct {
	Key      string    `json:"key"`      // the action's
	Attempts int       `json:"attempts"` // how often it was decided on
	Next     time.Time `json:"next"`     // not again before that
}

// Policy is how the guard decides. The zero value is useful, and nil counts as
// that.
type Policy struct {
	// MinBackoff is the time from an action that had no effect to the first
	// repetition; it doubles with each. Zero means a second.
	MinBackoff time.Duration
	// MaxBackoff is the longest such time. Zero means thirty seconds.
	MaxBackoff time.Duration
	// Resync is after how long everything is looked at again even if nothing was
	// heard. Zero means a minute.
	Resync time.Duration
}

// Decision is what [Step] returns.
type Decision struct {
	State   State    // to be saved before anything is applied
	Actions []Action // to be applied then, in this order; at most one changes the membership
	// Blocked says why machines that are being deleted keep their hook, by name, then
	// what is wrong with the control plane itself, see [Subject].
	Blocked []fairlead.Block
	Wake    time.Time // when to look again
}

// Reasons of Blocks.
const (
	ReasonReplacement     = "WaitingForReplacement"  // no other member has taken its place
	ReasonLearnerBehind   = "LearnerBehind"          // the new member has not caught up
	ReasonUnhealthy       = "UnhealthyMembers"       // another member must recover first
	ReasonQuorumAtRisk    = "QuorumAtRisk"           // too few voters are healthy
	ReasonBusy            = "ControlPlaneBusy"       // the membership must not shrink now
	ReasonEndpoints       = "EndpointsOutdated"      // clients do not know the voters yet
	ReasonMemberGoing     = "MemberGoing"            // the member is being removed
	ReasonHookGoing       = "HookGoing"              // the hook is being removed
	ReasonNoMachineRuns   = "NoMachineRunning"       // the machines are not managed at the moment
	ReasonTurn            = "WaitingForItsTurn"      // another member is changed first
	ReasonQuorumLost      = "QuorumLost"             // no majority of the voters is healthy
	ReasonTooFewVoters    = "TooFewVoters"           // there are fewer than desired, and none is on its way
	ReasonNoVoters        = "NoVoters"               // none is seen
	ReasonUnknownAddress  = "MachineAddressUnknown"  // the machine names no internal address
	ReasonLearnerExpected = "WaitingForLearnerToRun" // the learner was added and is not healthy yet
)

// stepper is one call of Step.
type stepper struct {
	*World
	policy   Policy
	now      time.Time
	old      State
	d        Decision
	machines []*lifecycle.Machine // by name
	voters   []*Member            // by name, then ID
	learners []*Member            // by name, then ID
	healthy  int                  // how many voters are
	sick     []string             // names of all members that are not healthy
	change   Action               // of the membership, nil for none
}

// Step decides what to do next about a control plane. It is a pure function;
// nil policy means the zero one. World must not be nil.
func Step(state State, world *World, now time.Time, policy *Policy) Decision {
	s := &stepper{World: world, now: now, old: state}
	if policy != nil {
		s.policy = *policy
	}
	s.look()
	managed := s.managed()
	if managed {
		s.hooks()
		s.guards()
	}
	s.membership(managed)
	if s.change != nil {
		s.do(s.change)
	}
	s.tell(managed)
	s.at(now.Add(or(s.policy.Resync, time.Minute)))
	slices.SortFunc(s.d.State.Retries, func(a, b Retry) int { return strings.Compare(a.Key, b.Key) })
	return s.d
}

func or(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// look puts what is observed in order.
func (s *stepper) look() {
	for i := range s.Machines {
		s.machines = append(s.machines, &s.Machines[i])
	}
	slices.SortFunc(s.machines, func(a, b *lifecycle.Machine) int { return strings.Compare(a.String(), b.String()) })
	for i := range s.Members {
		m := &s.Members[i]
		if m.Learner {
			s.learners = append(s.learners, m)
		} else {
			s.voters = append(s.voters, m)
			if m.Healthy {
				s.healthy++
			}
		}
	}
	byName := func(a, b *Member) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	}
	slices.SortFunc(s.voters, byName)
	slices.SortFunc(s.learners, byName)
	for _, m := range slices.Concat(s.voters, s.learners) {
		if !m.Healthy {
			s.sick = append(s.sick, m.Name)
		}
	}
}

// managed reports whether machines are managed: there are some, and at least
// one runs.
func (s *stepper) managed() bool {
	return !s.NoMachines && slices.ContainsFunc(s.machines, func(m *lifecycle.Machine) bool {
		return m.Status.Phase == lifecycle.PhaseRunning
	})
}

// hooks gives machines the hook, and takes it from those without a member.
func (s *stepper) hooks() {
	for _, m := range s.machines {
		h := hook(m)
		switch {
		case !m.Deleting() && (h == nil || *h != Hook()):
			s.do(SetHook{m.String(), Hook()})
		case m.Deleting() && h != nil && *h == Hook() && s.memberless(m):
			s.do(RemoveHook{m.String(), *h})
		}
	}
}

// guards removes the guard pods of machines that are to be drained.
func (s *stepper) guards() {
	for _, g := range s.Guards {
		for _, m := range s.machines {
			if m.Deleting() && hook(m) == nil && g.Cordoned && m.Status.NodeRef != nil && m.Status.NodeRef.Name == g.Node {
				s.do(DeleteGuard{g.Namespace, g.Name, g.UID})
			}
		}
	}
}

// memberOf returns the member of a machine, or nil.
func (s *stepper) memberOf(m *lifecycle.Machine) *Member {
	all := s.addresses(m)
	for i := range s.Members {
		if meet(all, s.Members[i].Addresses) {
			return &s.Members[i]
		}
	}
	return nil
}

// addresses returns the internal addresses of a machine, and of its node.
func (s *stepper) addresses(m *lifecycle.Machine) []string {
	all := internal(m)
	for i := range s.Hosts {
		if ref := m.Status.NodeRef; ref != nil && s.Hosts[i].Node == ref.Name {
			all = append(all, s.Hosts[i].Addresses...)
		}
	}
	return all
}

// machineOf returns the machine of addresses, or nil.
func (s *stepper) machineOf(addresses []string) *lifecycle.Machine {
	for _, m := range s.machines {
		if meet(s.addresses(m), addresses) {
			return m
		}
	}
	return nil
}

// do decides on an action, unless it was decided on a short time ago: then its
// effect is waited for.
func (s *stepper) do(a Action) {
	r := Retry{Key: a.Key()}
	for _, old := range s.old.Retries {
		if old.Key == r.Key {
			r = old
		}
	}
	if ahead := r.Next.Sub(s.now); ahead <= 0 || ahead > s.backoff(r.Attempts) {
		s.d.Actions = append(s.d.Actions, a)
		r.Attempts++
		r.Next = s.now.Add(s.backoff(r.Attempts))
	}
	s.d.State.Retries = append(s.d.State.Retries, r)
	s.at(r.Next)
}

func (s *stepper) backoff(attempts int) time.Duration {
	d, most := or(s.policy.MinBackoff, time.Second), or(s.policy.MaxBackoff, 30*time.Second)
	for ; attempts > 1 && d < most; attempts-- {
		d *= 2
	}
	return min(d, most)
}

func (s *stepper) at(t time.Time) {
	if s.d.Wake.IsZero() || t.Before(s.d.Wake) {
		s.d.Wake = t
	}
}
