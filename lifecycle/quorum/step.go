package quorum

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/durations"
	"github.com/fairlead/fairlead/lifecycle"
)

// StateVersion is the version of the format of [State].
const StateVersion = 2

// State is what is remembered about a control plane: nothing that a decision
// depends on, so that losing it is harmless. It survives encoding/json.
type State struct {
	fairlead.Pending
}

// Policy is how the guard decides. The zero value is usable, and nil means the
// same.
type Policy struct {
	// MinBackoff is the delay before the first retry of an action that had no
	// effect; it doubles with each retry. Zero means a second.
	MinBackoff time.Duration `json:"minBackoff,omitempty"`
	// MaxBackoff is the longest such delay. Zero means thirty seconds.
	MaxBackoff time.Duration `json:"maxBackoff,omitempty"`
	// Resync is how often everything is reconciled even without events. Zero
	// means a minute.
	Resync time.Duration `json:"resync,omitempty"`
}

// Check reports what is wrong with the policy: nil, or fairlead.FieldErrors.
func (p *Policy) Check() error {
	if p == nil {
		return nil
	}
	var errs fairlead.FieldErrors
	for _, f := range []struct {
		name  string
		value time.Duration
	}{{"minBackoff", p.MinBackoff}, {"maxBackoff", p.MaxBackoff}, {"resync", p.Resync}} {
		if f.value < 0 {
			errs.Add(f.name, "it is %v; write 0 for its default, or a positive duration", f.value)
		}
	}
	return errs.Err()
}

// MarshalJSON writes durations as text, such as "5m0s".
func (p Policy) MarshalJSON() ([]byte, error) { return durations.Marshal(p) }

// UnmarshalJSON reads what MarshalJSON wrote; an unknown field is an error.
func (p *Policy) UnmarshalJSON(data []byte) error { return durations.Unmarshal(data, p) }

// Decision is what [Step] returns: at most one action changes the membership.
// Blocked says why machines that are being deleted keep their hook, by name, then
// what is wrong with the control plane itself, see [Subject].
type Decision = fairlead.Decision[State, Action]

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
	ReasonHookOwner       = "HookOfAnotherOwner"     // the hook has another owner, so it is not removed
	ReasonNoMachineRuns   = "NoMachineRunning"       // the machines are not managed at the moment
	ReasonTurn            = "WaitingForItsTurn"      // another member is changed first
	ReasonQuorumLost      = "QuorumLost"             // no majority of the voters is healthy
	ReasonTooFewVoters    = "TooFewVoters"           // there are fewer than desired, and none is being added
	ReasonNoVoters        = "NoVoters"               // no voter is observed
	ReasonUnanswered      = "MembersUnknown"         // the members could not be read
	ReasonUnknownAddress  = "MachineAddressUnknown"  // the machine names no internal address
	ReasonLearnerExpected = "WaitingForLearnerToRun" // the learner was added and is not healthy yet
)

// stepper is one call of Step.
type stepper struct {
	*World
	fairlead.Ledger
	actions  []Action
	machines []*lifecycle.Machine // by name
	voters   []*Member            // by name, then ID
	learners []*Member            // by name, then ID
	healthy  int                  // how many voters are healthy
	sick     []string             // names of all members that are not healthy
	change   Action               // of the membership, nil for none
}

// Step decides what to do next about a control plane. It is a pure function; a
// nil policy means the defaults. World must not be nil.
func Step(state State, world *World, now time.Time, policy *Policy) Decision {
	if policy == nil {
		policy = &Policy{}
	}
	backoff := fairlead.Backoff{Min: cmp.Or(max(policy.MinBackoff, 0), time.Second), Max: cmp.Or(max(policy.MaxBackoff, 0), 30*time.Second)}
	if world.Unanswered != "" && len(world.Members) > 0 {
		known := *world
		known.Members = nil
		world = &known
	}
	s := &stepper{World: world, Ledger: fairlead.NewLedger(state.Pending, world.Outcomes, now, backoff)}
	s.look()
	managed := s.managed()
	if managed {
		s.hooks()
		s.guards()
	}
	if s.Unanswered == "" {
		s.membership(managed)
	}
	if s.change != nil {
		s.do(s.change)
	}
	s.tell(managed)
	s.At(now.Add(cmp.Or(max(policy.Resync, 0), time.Minute)))
	return Decision{State: State{s.Pending()}, Actions: s.actions, Blocked: s.Blocked(), Wake: s.Wake()}
}

// look sorts what is observed.
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

// hooks gives machines the hook, and removes it from those without a member.
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

// guards removes the guard pods of machines that will be drained.
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

// machineOf returns the machine with one of the addresses, or nil.
func (s *stepper) machineOf(addresses []string) *lifecycle.Machine {
	for _, m := range s.machines {
		if meet(s.addresses(m), addresses) {
			return m
		}
	}
	return nil
}

// do decides on an action, unless it was decided on a short time ago and its
// effect is awaited.
func (s *stepper) do(a Action) {
	if s.Due(a.Key()) {
		s.actions = append(s.actions, a)
	}
}
