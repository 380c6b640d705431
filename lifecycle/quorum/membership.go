package quorum

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/words"
)

// membership decides on at most one change of it, the first that is possible:
//
//  2. A learner that has caught up is promoted, unless there already is one more
//     voter than desired.
//  3. A voter of a machine that is being deleted is removed, see removable.
//  4. A member without machine and without node is removed if it is unhealthy.
//  5. A process that waits for it is added as a learner, if every member is
//     healthy and there is no other learner. healthy and no other learner is
//     there.
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

// safe reports whether voters have a quorum if so many are healthy.
func safe(voters, healthy int) bool { return healthy >= majority(voters) }

func (s *stepper) promote(managed bool) Action {
	for _, m := range s.learners {
		if !m.Healthy || !m.CaughtUp || len(s.voters) > s.Desired || !safe(len(s.voters), s.healthy) {
			continue // with one more healthy voter, there is a quorum if there is one now
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
// of the failure domain with the most voters, then by name. See removable: while
// one of them is unhealthy, no other can be removed.
func (s *stepper) removeVoter(managed bool) Action {
	if !managed {
		return nil
	}
	var candidates []*Member
	domains := make(map[string]int)
	domain := func(v *Member) string { return s.machineOf(v.Addresses).Labels[DomainLabel] }
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
	slices.SortStableFunc(candidates, func(a, b *Member) int { return cmp.Compare(domains[domain(b)], domains[domain(a)]) })
	for _, v := range candidates {
		if reason, _, _ := s.removable(v); reason == "" {
			return RemoveMember{v.ID, v.Name, "its machine is being deleted", s.Revision}
		}
	}
	return nil
}

// removable says why a voter must not be removed now; nothing if it may:
//  1. The control plane is busy, or clients do not know the voters yet.
//  2. The voters have no quorum, which every change would need.
//  3. It is healthy, and others are not.
//  4. It is healthy, and there are no more voters than desired: its replacement
//     comes first.
//
// It follows that the others have a quorum without it: if it is healthy they all
// are, and if it is not, it was not part of the majority. An unhealthy one is
// removed however few voters are left: it does not vote, the cluster survives no
// fewer losses without it, and etcd adds no member while one is down.
func (s *stepper) removable(v *Member) (reason, message, unblock string) {
	switch {
	case s.Busy != "":
		return ReasonBusy, s.Busy, "wait until the control plane has settled"
	case !s.known():
		return ReasonEndpoints, "the endpoints that clients use are not those of the current voters", "bring the endpoints up to date"
	case !safe(len(s.voters), s.healthy):
		return ReasonQuorumAtRisk, fmt.Sprintf("%d of %d voters are healthy", s.healthy, len(s.voters)), "make these members recover: " + listed(s.sick) + "; otherwise restore the quorum, see the control plane"
	case v.Healthy && len(s.sick) > 0:
		return ReasonUnhealthy, counted("member", s.sick) + words.Plural(len(s.sick), " is not healthy, and its machine is not being deleted", " are not healthy, and their machines are not being deleted"),
			words.Plural(len(s.sick), "make it recover: check its node and pod; or delete its machine", "make them recover: check their nodes and pods; or delete their machines")
	case v.Healthy && len(s.voters) < s.Desired:
		return ReasonReplacement, fmt.Sprintf("there are %d voters, and %d are desired", len(s.voters), s.Desired), "add machines to the control plane"
	case v.Healthy && len(s.voters) == s.Desired:
		return ReasonReplacement, fmt.Sprintf("member %s is one of %d voters, and %d are desired", v.Name, len(s.voters), s.Desired), "add a machine to the control plane"
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

// removeStray removes a member without machine and node.
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
