package quorum

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/lifecycle"
)

// membership decides on at most one change of it, the first that is possible:
//
//  1. A learner of a machine that is being deleted is removed.
//  2. A learner that has caught up is promoted, unless there is a voter more than
//     desired already.
//  3. A voter of a machine that is being deleted is removed, see removable.
//  4. A member without machine and without node is removed if it is unhealthy.
//  5. A process that waits for it is added as a learner, if every member is
//     healthy and no other learner is there.
func (s *stepper) membership(managed bool) {
	for _, step := range []func(managed bool) Action{s.dropLearner, s.promote, s.removeVoter, s.removeStray, s.addLearner} {
		if a := step(managed); a != nil {
			s.change = a
			return
		}
	}
}

func (s *stepper) dropLearner(managed bool) Action {
	if !managed {
		return nil
	}
	for _, m := range s.learners {
		if x := s.machineOf(m.Addresses); x != nil && x.Deleting() {
			return RemoveMember{m.ID, m.Name, "its machine is being deleted, and it does not vote yet", s.Revision}
		}
	}
	return nil
}

// safe reports whether voters, of whom so many are healthy, have a quorum.
func safe(voters, healthy int) bool { return healthy >= majority(voters) }

func (s *stepper) promote(managed bool) Action {
	for _, m := range s.learners {
		if !m.Healthy || !m.CaughtUp || len(s.voters) > s.Desired ||
			!safe(len(s.voters), s.healthy) || !safe(len(s.voters)+1, s.healthy+1) {
			continue
		}
		if managed {
			x := s.machineOf(m.Addresses)
			if x == nil || x.Deleting() || hook(x) == nil {
				continue
			}
		}
		return Promote{m.ID, m.Name, s.Revision}
	}
	return nil
}

// removeVoter removes the voter of a machine that is being deleted: first those
// that are unhealthy, then those of the failure domain with the most voters,
// then by name.
func (s *stepper) removeVoter(managed bool) Action {
	if !managed {
		return nil
	}
	var candidates []*Member
	domains := make(map[string]int)
	for _, v := range s.voters {
		x := s.machineOf(v.Addresses)
		if x == nil {
			continue
		}
		domains[x.Labels[DomainLabel]]++
		if x.Deleting() && hook(x) != nil {
			candidates = append(candidates, v)
		}
	}
	rank := func(v *Member) int {
		if !v.Healthy {
			return -1 << 30
		}
		return -domains[s.machineOf(v.Addresses).Labels[DomainLabel]]
	}
	slices.SortStableFunc(candidates, func(a, b *Member) int { return cmp.Compare(rank(a), rank(b)) })
	for _, v := range candidates {
		if reason, _, _ := s.removable(v); reason == "" {
			return RemoveMember{v.ID, v.Name, "its machine is being deleted", s.Revision}
		}
	}
	return nil
}

// removable says why a voter must not be removed now; nothing if it may:
//
//  1. The control plane is busy, or clients do not know the voters yet.
//  2. The voters have no quorum, or fewer are healthy than a majority of the
//     desired ones: every change would need what is not there.
//  3. There are no more voters than desired, and this one is healthy: its
//     replacement comes first.
//  4. Other members are unhealthy, and this one is not.
//
// From these it follows that the others have a quorum without it: if it is
// healthy they all are, and if it is not it was none of the majority.
func (s *stepper) removable(v *Member) (reason, message, unblock string) {
	switch {
	case s.Busy != "":
		return ReasonBusy, s.Busy, "the control plane comes to rest"
	case !s.known():
		return ReasonEndpoints, "clients are given the endpoints of other voters than there are", "the endpoints are brought up to date"
	case !safe(len(s.voters), s.healthy) || s.healthy < majority(s.Desired):
		return ReasonQuorumAtRisk, fmt.Sprintf("%d of %d voters are healthy", s.healthy, len(s.voters)), "members recover: " + listed(s.sick)
	case len(s.voters) < s.Desired:
		return ReasonReplacement, fmt.Sprintf("there are %d voters, and %d are desired", len(s.voters), s.Desired), "other machines join the control plane"
	case v.Healthy && len(s.sick) > 0:
		return ReasonUnhealthy, "members " + listed(s.sick) + " are unhealthy, and their machines are not being deleted", "these members recover, or their machines are deleted"
	case v.Healthy && len(s.voters) <= s.Desired:
		return ReasonReplacement, fmt.Sprintf("member %s is one of %d voters, and %d are desired", v.Name, len(s.voters), s.Desired), "another machine joins the control plane"
	}
	return "", "", ""
}

// known reports whether clients know the voters.
func (s *stepper) known() bool {
	if s.Endpoints == nil {
		return true
	}
	return len(s.Endpoints) == len(s.voters) && !slices.ContainsFunc(s.voters, func(v *Member) bool { return !meet(v.Addresses, s.Endpoints) })
}

// removeStray removes a member that nothing is left of.
func (s *stepper) removeStray(managed bool) Action {
	if !managed || s.Busy != "" {
		return nil
	}
	for _, m := range slices.Concat(s.learners, s.voters) {
		if m.Healthy || s.machineOf(m.Addresses) != nil ||
			slices.ContainsFunc(s.Hosts, func(h Host) bool { return meet(h.Addresses, m.Addresses) }) {
			continue
		}
		if m.Learner || safe(len(s.voters), s.healthy) {
			return RemoveMember{m.ID, m.Name, "it is unhealthy, and has neither machine nor node", s.Revision}
		}
	}
	return nil
}

func (s *stepper) addLearner(managed bool) Action {
	if len(s.sick) > 0 || len(s.learners) > 0 || len(s.voters) > s.Desired {
		return nil
	}
	hosts := slices.Clone(s.Hosts)
	slices.SortFunc(hosts, func(a, b Host) int { return strings.Compare(a.Node, b.Node) })
	for _, h := range hosts {
		if h.Deleting || !h.Waiting || len(h.Addresses) == 0 ||
			slices.ContainsFunc(s.Members, func(m Member) bool { return meet(m.Addresses, h.Addresses) }) {
			continue
		}
		if managed {
			x := s.machineOf(h.Addresses)
			if x == nil || x.Deleting() || hook(x) == nil {
				continue
			}
		}
		return AddLearner{h.Node, peerURL(h.Addresses[0]), s.Revision}
	}
	return nil
}

// tell says why machines that are being deleted keep their hook.
func (s *stepper) tell(managed bool) {
	for _, m := range s.machines {
		if !m.Deleting() || hook(m) == nil {
			continue
		}
		v := s.memberOf(m)
		switch {
		case !managed:
			s.block(m, ReasonNoMachineRuns, "no machine of the control plane is running, so hooks are left alone", "a machine of the control plane runs")
		case len(internal(m)) == 0:
			s.block(m, ReasonUnknownAddress, "its status has no InternalIP, so nobody knows which member it has", "its address is reported, or an administrator removes the hook")
		case v == nil:
			s.block(m, ReasonHookGoing, s.failure("its member is out of the cluster, and the hook is being removed", RemoveHook{Machine: m.String()}), "the machine is seen without the hook")
		default:
			s.keeps(m, v)
		}
	}
}

// keeps tells why a machine with a member keeps its hook.
func (s *stepper) keeps(m *lifecycle.Machine, v *Member) {
	remove := RemoveMember{ID: v.ID}
	if s.change != nil && s.change.Key() == remove.Key() {
		s.block(m, ReasonMemberGoing, s.failure("member "+v.Name+" is being removed", remove), "the cluster is seen without it")
		return
	}
	reason, message, unblock := s.removable(v)
	if reason == ReasonReplacement && len(s.learners) > 0 {
		l := s.learners[0]
		if !l.Healthy {
			reason, message, unblock = ReasonLearnerExpected, "member "+l.Name+" was added as a learner and does not answer", "its process runs"
		} else if !l.CaughtUp {
			reason, message, unblock = ReasonLearnerBehind, "member "+l.Name+" has not caught up with the leader", "it has received all data, and is promoted"
		}
	}
	if reason == "" || v.Learner {
		reason, message, unblock = ReasonTurn, "another member is changed first", "the cluster is seen with that change"
	}
	s.block(m, reason, message, unblock)
}
