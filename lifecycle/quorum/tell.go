package quorum

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle"
)

// Subject is the Subject of Blocks about the control plane itself.
const Subject = "control plane"

// tell says why machines that are being deleted keep their hook.
func (s *stepper) tell(managed bool) {
	for _, m := range s.machines {
		if !m.Deleting() || hook(m) == nil {
			continue
		}
		v := s.memberOf(m)
		switch {
		case !managed:
			s.block(m, ReasonNoMachineRuns, "no machine of the control plane is running, so hooks are left alone", "wait until a machine of the control plane runs")
		case s.Unanswered != "":
			s.block(m, ReasonUnanswered, "it is unknown whether it has a member: "+s.Unanswered, "make etcd answer")
		case len(s.voters) == 0:
			s.block(m, ReasonNoVoters, "no voter is observed, so it is unknown whether it has a member", "wait until etcd answers")
		case v != nil:
			s.keeps(m, v)
		case !s.memberless(m):
			s.block(m, ReasonUnknownAddress, "its internal addresses are unknown, and so are the machines of members "+listed(s.unclaimed())+", so one of them could be its member",
				"report its address, or remove these members; if it never had a node, remove the hook manually")
		case *hook(m) != Hook():
			s.Block(fairlead.Block{Subject: "machine " + m.String(), Reason: ReasonHookOwner, Owner: cmp.Or(hook(m).Owner, "whoever set the hook"),
				Message: fmt.Sprintf("its member has left the cluster, but the owner of its hook %s is %q, not %q, so the hook is left alone", HookName, hook(m).Owner, HookOwner),
				Unblock: "remove the hook manually"})
		default:
			s.block(m, ReasonHookGoing, s.Because("its member has left the cluster, and the hook is being removed", RemoveHook{Machine: m.String()}.Key()), "wait until the machine is seen without the hook")
		}
	}
	s.plane()
}

// keeps says why a machine with a member keeps its hook.
func (s *stepper) keeps(m *lifecycle.Machine, v *Member) {
	remove := RemoveMember{ID: v.ID}
	if s.change != nil && s.change.Key() == remove.Key() {
		s.block(m, ReasonMemberGoing, s.Because("member "+v.Name+" is being removed", remove.Key()), "wait until the cluster is seen without it")
		return
	}
	reason, message, unblock := s.removable(v)
	if reason == ReasonReplacement && len(s.learners) > 0 {
		l := s.learners[0]
		if !l.Healthy {
			reason, message, unblock = ReasonLearnerExpected, "member "+l.Name+" was added as a learner and does not answer", "start its process"
		} else if !l.CaughtUp {
			reason, message, unblock = ReasonLearnerBehind, "member "+l.Name+" has not caught up with the leader", "wait until it has received all data, and is promoted"
		}
	}
	if reason == "" || v.Learner {
		reason, message, unblock = ReasonTurn, "another member is changed first", "wait until the cluster is seen with that change"
	}
	s.block(m, reason, message, unblock)
}

// restore is what to do after the loss of the quorum.
const restore = "if they are lost for good, restore the cluster from its latest backup: stop etcd on every node, restore the snapshot on one " +
	"(etcdutl snapshot restore; cluster-restore.sh on OpenShift), start it there as a cluster of one, then let the others join with empty data directories; " +
	"writes since the backup are lost"

// plane reports what is wrong with the control plane itself and is not being
// corrected.
func (s *stepper) plane() {
	n := len(s.voters)
	spare := s.healthy - majority(n)
	var down []string
	for _, v := range s.voters {
		if x := s.machineOf(v.Addresses); !v.Healthy && (x == nil || !x.Deleting()) {
			down = append(down, v.Name)
		}
	}
	switch {
	case s.Unanswered != "":
		s.tellPlane(ReasonUnanswered, "its members are unknown, so none is added or removed: "+s.Unanswered, "make etcd answer")
		return
	case n == 0 && s.Desired == 0: // there is no such control plane
		return
	case n == 0:
		s.tellPlane(ReasonNoVoters, fmt.Sprintf("no voter is observed, and %d are desired", s.Desired), "make etcd answer; if it is not bootstrapped yet, wait until its bootstrap ends")
		return
	case spare < 0:
		s.tellPlane(ReasonQuorumLost, fmt.Sprintf("%d of %d voters %s healthy, and %d are needed: etcd takes no writes, and no member can be added or removed", s.healthy, n, words.Plural(s.healthy, "is", "are"), majority(n)),
			"start members "+listed(s.sick)+" again: check their nodes; "+restore)
		return
	case s.change != nil:
		return
	case len(down) > 0:
		s.tellPlane(ReasonUnhealthy, fmt.Sprintf("%s %s not healthy; the cluster of %d survives %s, and no member can be added", counted("voter", down), words.Plural(len(down), "is", "are"), n, losses(spare)),
			"check their nodes and pods; to replace one that does not recover, delete its machine")
	}
	for _, l := range s.learners {
		if x := s.machineOf(l.Addresses); !l.Healthy && (x == nil || !x.Deleting()) {
			s.tellPlane(ReasonLearnerExpected, "member "+l.Name+" was added as a learner and does not answer, so no other member can be added",
				"start its process: check its node; or delete its machine, which removes it; without a machine, etcdctl member remove "+l.ID)
		} else if l.Healthy && !l.CaughtUp && n < s.Desired {
			s.tellPlane(ReasonLearnerBehind, fmt.Sprintf("there are %d voters, and %d are desired: member %s has not caught up with the leader", n, s.Desired, l.Name), "wait until it has received all data, and is promoted")
		}
	}
	if n < s.Desired && len(s.learners) == 0 && len(s.sick) == 0 {
		s.tellPlane(ReasonTooFewVoters, fmt.Sprintf("there %s %s, and %d are desired; the cluster survives %s", words.Plural(n, "is", "are"), words.Count(n, "voter", "voters"), s.Desired, losses(spare)),
			"add a machine to the control plane, and run etcd on its node")
	}
}

// losses says how many more voters may be lost.
func losses(spare int) string {
	if spare == 0 {
		return "no further loss"
	}
	return fmt.Sprintf("the loss of %d more", spare)
}

func counted(noun string, names []string) string {
	if len(names) == 1 {
		return noun + " " + names[0]
	}
	return noun + "s " + strings.Join(names, ", ")
}

// block says why a machine keeps its hook.
func (s *stepper) block(m *lifecycle.Machine, reason, message, unblock string) {
	s.Block(fairlead.Block{Subject: "machine " + m.String(), Reason: reason, Message: message, Owner: HookOwner, Unblock: unblock})
}

func (s *stepper) tellPlane(reason, message, unblock string) {
	s.Block(fairlead.Block{Subject: Subject, Reason: reason, Message: message, Owner: HookOwner, Unblock: unblock})
}

func listed(names []string) string { return fmt.Sprintf("[%s]", strings.Join(names, " ")) }

// memberless reports whether it is certain that a machine has no member: all
// belong to other machines, or its addresses are known and no member has one of
// them.
func (s *stepper) memberless(m *lifecycle.Machine) bool {
	return s.memberOf(m) == nil && len(s.voters) > 0 && (len(s.addresses(m)) > 0 || len(s.unclaimed()) == 0)
}

// unclaimed names the members without a known machine, in their order.
func (s *stepper) unclaimed() []string {
	var names []string
	for _, v := range slices.Concat(s.voters, s.learners) {
		if s.machineOf(v.Addresses) == nil {
			names = append(names, v.Name)
		}
	}
	return names
}
