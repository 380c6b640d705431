package quorum_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/quorum"
)

// plane draws a control plane from words, one for each machine:
//
//	NAME[:FLAG...]  a machine with node, address, hook and a healthy voter; the
//	                flags change that:
//	    deleting nohook badhook nomachine nonode nomember sick learner behind
//	    ready (the process does not wait) gone (neither machine nor node) idle (the
//	    machine does not run) zone=ZONE v6 twoips noaddress cordoned guard waits (the
//	    process waits, member or not) nowhere (its node has no address)
//
// and of the plane: desired=N, busy, stale (endpoints), extra (an endpoint of
// nobody beside all others), unmanaged.
func plane(t *testing.T, text string) *quorum.World {
	w := &quorum.World{Revision: "7", Desired: 3}
	for i, word := range strings.Fields(text) {
		name, rest, _ := strings.Cut(word, ":")
		flags := strings.Split(rest, ":")
		has := func(flag string) bool { return slices.Contains(flags, flag) }
		switch {
		case strings.HasPrefix(name, "desired="):
			fmt.Sscanf(name, "desired=%d", &w.Desired)
			continue
		case name == "busy":
			w.Busy = "a new revision is being rolled out"
			continue
		case name == "stale":
			w.Endpoints = []string{"10.9.9.9"}
			continue
		case name == "extra":
			w.Endpoints = []string{"10.9.9.9"}
			defer func() {
				for _, m := range w.Members {
					w.Endpoints = append(w.Endpoints, m.Addresses...)
				}
			}()
			continue
		case name == "unmanaged":
			w.NoMachines = true
			continue
		}
		ip := fmt.Sprintf("10.0.0.%d", i)
		if has("v6") {
			ip = fmt.Sprintf("fd00::%d", i)
		}
		addresses := []string{ip}
		if has("twoips") {
			addresses = []string{fmt.Sprintf("192.168.0.%d", i), ip}
		}
		if !has("nomember") && !has("ready") {
			w.Members = append(w.Members, quorum.Member{
				ID: "id-" + name, Name: name, Addresses: []string{ip}, Healthy: !has("sick"),
				Learner: has("learner") || has("behind"), CaughtUp: has("learner"),
			})
		}
		if !has("nonode") && !has("gone") {
			host := quorum.Host{Node: name, Addresses: addresses, Waiting: has("nomember") || has("waits"), Deleting: has("nodedeleting")}
			if has("nowhere") {
				host.Addresses = nil
			}
			w.Hosts = append(w.Hosts, host)
		}
		if has("guard") {
			w.Guards = append(w.Guards, quorum.Guard{Namespace: "etcd", Name: "guard-" + name, UID: "g-" + name, Node: name, Cordoned: has("cordoned")})
		}
		if has("nomachine") || has("gone") {
			continue
		}
		w.Machines = append(w.Machines, machine(name, addresses, flags))
	}
	return w
}

func machine(name string, addresses, flags []string) lifecycle.Machine {
	has := func(flag string) bool { return slices.Contains(flags, flag) }
	var m lifecycle.Machine
	m.Name = name
	m.Labels = map[string]string{}
	for _, f := range flags {
		if zone, ok := strings.CutPrefix(f, "zone="); ok {
			m.Labels[quorum.DomainLabel] = zone
		}
	}
	if !has("idle") {
		m.Status.Phase = lifecycle.PhaseRunning
	}
	m.Status.NodeRef = &lifecycle.NodeRef{Name: name}
	if !has("noaddress") {
		for _, a := range addresses {
			m.Status.Addresses = append(m.Status.Addresses, lifecycle.NodeAddress{Type: "InternalIP", Address: a})
		}
	}
	if has("deleting") {
		m.DeletionTimestamp = &begin
	}
	h := quorum.Hook()
	if has("badhook") {
		h.Owner = "somebody"
	}
	if !has("nohook") {
		m.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{{Name: "Other", Owner: "owner"}, h}
	}
	return m
}

// TestDecisions are the cases of the tests of the reference's controllers. Each
// line is a plane, what is done, and why the first machine keeps its hook.
func TestDecisions(t *testing.T) {
	for _, tt := range []struct{ name, plane, want, blocked string }{
		// AddDeletionHookToVotingMembers
		{"hook: none is missing", "a b c", "", ""},
		{"hook: all are missing", "a:nohook b:nohook c:nohook", "set hook a, set hook b, set hook c", ""},
		{"hook: one is missing", "a b:nohook c", "set hook b", ""},
		{"hook: the owner is wrong", "a:badhook b c", "set hook a", ""},
		{"hook: mixed", "a:badhook b:nohook c", "set hook a, set hook b", ""},
		{"hook: not once it is being deleted", "a:deleting:nohook b c", "", ""},
		{"hook: a wrong owner stays once it is being deleted", "a:deleting:badhook b c", "", "WaitingForReplacement"},
		{"hook: machines without member get it first", "a b c d:nomember:nohook", "set hook d", ""},
		// AttemptToDeleteMachineDeletionHook
		{"release: nobody is deleted", "a b c", "", ""},
		{"release: it has a member", "a:deleting b c", "", "WaitingForReplacement"},
		{"release: no member, v4", "a:deleting:ready b c d", "remove hook a", "HookGoing"},
		{"release: no member, v6", "a:deleting:ready:v6 b c d", "remove hook a", "HookGoing"},
		{"release: two addresses, one has a member", "a:deleting:twoips b c", "", "WaitingForReplacement"},
		{"release: two addresses, none has", "a:deleting:ready:twoips b c d", "remove hook a", "HookGoing"},
		{"release: the second of two", "a:deleting b:deleting:ready c d", "remove hook b", "WaitingForReplacement"},
		{"release: no address, and each member is another's", "a:deleting:ready:noaddress b c d", "remove hook a", "HookGoing"},
		{"release: it never had a node", "a:deleting:ready:noaddress:nonode b c d", "remove hook a", "HookGoing"},
		{"release: no address, and the node has a member", "a:deleting:noaddress b c d", "remove member id-a", "MemberGoing"},
		{"release: no address, and a member is nobody's", "a:deleting:ready:noaddress:nonode b c d:nomachine", "", "MachineAddressUnknown"},
		{"release: no members are seen", "a:deleting:ready b:ready c:ready", "", "NoVoters"},
		{"release: a hook of another owner", "a:deleting:ready:badhook b c d", "", "HookOfAnotherOwner"},
		// AttemptToDeleteQuorumGuard
		{"guard: deleting, no hook, cordoned", "a:deleting:nohook:ready:guard:cordoned b c d", "delete guard g-a", ""},
		{"guard: not cordoned", "a:deleting:nohook:ready:guard b c d", "", ""},
		{"guard: hook", "a:deleting:guard:cordoned b c", "", "WaitingForReplacement"},
		{"guard: not deleting", "a:guard:cordoned b c", "", ""},
		{"guard: of one of two", "a:deleting:nohook:ready:guard:cordoned b:guard:cordoned c d", "delete guard g-a", ""},
		// GetEtcdPeerURLToAdd, ReconcileMembers
		{"add: one waits", "a b c d:nomember", "add learner d", ""},
		{"add: two wait, one is added", "a b c e:nomember d:nomember", "add learner d", ""},
		{"add: somebody is sick", "a b c:sick d:nomember", "", ""},
		{"add: a learner is there", "a b c d:behind e:nomember", "", ""},
		{"add: its machine is being deleted", "a b c d:nomember:deleting", "remove hook d", ""},
		{"add: no hook yet", "a b c d:nomember:nohook", "set hook d", ""},
		{"add: no machine", "a b c d:nomember:nomachine", "", ""},
		{"add: the node is being deleted", "a b c d:nomember:nodedeleting", "", ""},
		{"add: the process does not wait", "a b c d:ready", "", ""},
		{"add: a process that waits is a member already", "a:waits b c", "", ""},
		{"add: the node has no address", "a b c d:nomember:nowhere", "", ""},
		{"add: enough voters", "a b c d e:nomember", "", ""},
		{"add: machines are not managed", "unmanaged a b c d:nomember:nomachine", "add learner d", ""},
		{"add: no machine runs", "a:idle b:idle c:idle d:nomember:idle:nohook", "add learner d", ""},
		// EnsureEtcdLearnerPromotion
		{"promote: it has caught up", "a b c d:learner", "promote id-d", ""},
		{"promote: it has not", "a b c d:behind", "", ""},
		{"promote: its machine is being deleted", "a b c d:learner:deleting", "remove member id-d", "MemberGoing"},
		{"promote: no hook yet", "a b c d:learner:nohook", "set hook d", ""},
		{"promote: there is a voter more than desired", "a b c e d:learner", "", ""},
		{"promote: the second of two", "a b c d:behind e:learner", "promote id-e", ""},
		{"promote: it does not answer", "a b c d:learner:sick", "", ""},
		{"promote: machines are not managed", "unmanaged a b c d:learner:nomachine", "promote id-d", ""},
		// AttemptToScaleDown
		{"down: four to three", "a:deleting b c d", "remove member id-a", "MemberGoing"},
		{"down: three stay", "a:deleting b c", "", "WaitingForReplacement"},
		{"down: a sick one of three goes", "a:deleting:sick b c", "remove member id-a", "MemberGoing"},
		{"down: somebody else is sick", "a:deleting b:sick c d", "", "UnhealthyMembers"},
		{"down: two are sick, of three", "a:deleting:sick b:sick c", "", "QuorumAtRisk"},
		{"down: the quorum is lost", "a:deleting:sick b:sick c d", "", "QuorumAtRisk"},
		{"down: no hook", "a:deleting:nohook b c d", "", ""},
		{"down: nobody is deleted", "a b c d", "", ""},
		{"down: busy", "busy a:deleting b c d", "", "ControlPlaneBusy"},
		{"down: clients know others", "stale a:deleting b c d", "", "EndpointsOutdated"},
		{"down: one of two at a time", "a:deleting b:deleting c d e desired=4", "remove member id-a", "MemberGoing"},
		{"down: the sick one first", "a:deleting b:deleting:sick c d e desired=4", "remove member id-b", "UnhealthyMembers"},
		{"down: five with two sick", "desired=5 a:deleting:sick b:deleting:sick c d e", "remove member id-a", "MemberGoing"},
		{"down: the domain with the most", "desired=4 a:deleting:zone=x b:deleting:zone=y c:zone=y d:zone=z e:zone=x f:zone=y", "remove member id-b", "WaitingForItsTurn"},
		// A dead voter only costs: nothing can be added before it is out.
		{"down: too few voters, and one of them is dead", "desired=5 a:deleting:sick b c d", "remove member id-a", "MemberGoing"},
		{"down: five, two dead, two wait", "desired=5 a:deleting:sick b:deleting:sick c d e f:nomember g:nomember", "remove member id-a", "MemberGoing"},
		{"down: the second of them", "desired=5 a:deleting:ready b:deleting:sick c d e f:nomember g:nomember", "remove hook a, remove member id-b", "HookGoing"},
		{"down: then the first that waits", "desired=5 a:deleting:nohook:ready b:deleting:ready c d e f:nomember g:nomember", "remove hook b, add learner f", "HookGoing"},
		{"down: two of three, one of them dead", "a:deleting:sick b", "", "QuorumAtRisk"},
		{"down: three of five, one of them dead", "desired=5 a:deleting:sick b c", "remove member id-a", "MemberGoing"},
		{"down: clients know one more", "extra a:deleting b c d", "", "EndpointsOutdated"},
		{"down: a learner waits", "a:deleting b c d:behind", "", "LearnerBehind"},
		{"down: the learner does not answer", "a:deleting b c d:behind:sick", "", "UnhealthyMembers"},
		{"down: one of one", "desired=1 a:deleting", "", "WaitingForReplacement"},
		{"down: two to one", "desired=1 a:deleting b", "remove member id-a", "MemberGoing"},
		{"down: machines are not managed", "unmanaged a:deleting b c d", "", "NoMachineRunning"},
		// ClusterMemberRemovalController, RemoveLearningMember
		{"stray: neither machine nor node", "a b c d:gone:sick", "remove member id-d", ""},
		{"stray: it is healthy", "a b c d:gone", "", ""},
		{"stray: it has a node", "a b c d:nomachine:sick", "", ""},
		{"stray: it has a machine", "a b c d:nonode:sick", "", ""},
		{"stray: v6", "a b c d:gone:sick:v6", "remove member id-d", ""},
		{"stray: busy", "busy a b c d:gone:sick", "", ""},
		{"stray: the quorum is lost", "a b:sick c:gone:sick", "", ""},
		{"learner: nobody is deleted", "a b c d:behind", "", ""},
		{"learner: its machine is being deleted", "a b c d:behind:deleting", "remove member id-d", ""},
		{"learner: stray", "a b c d:behind:gone:sick", "remove member id-d", ""},
	} {
		d := quorum.Step(quorum.State{}, plane(t, tt.plane), begin, nil)
		var keys []string
		for _, a := range d.Actions {
			keys = append(keys, spoken(a))
		}
		if got := strings.Join(keys, ", "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		blocked := ""
		if len(d.Blocked) > 0 && d.Blocked[0].Subject != quorum.Subject {
			blocked = d.Blocked[0].Reason
		}
		if blocked != tt.blocked && !strings.HasPrefix(tt.name, "add:") && !strings.HasPrefix(tt.name, "learner:") {
			t.Errorf("%s: blocked by %q, want %q: %v", tt.name, blocked, tt.blocked, d.Blocked)
		}
	}
}

// A hook of another owner is not removed, and nobody is told that it is being removed: the
// block names the owner who can.
func TestHookOfAnother(t *testing.T) {
	d := quorum.Step(quorum.State{}, plane(t, "a:deleting:ready:badhook b c d"), begin, nil)
	want := `its member has left the cluster, but the owner of its hook EtcdQuorumOperator is "somebody", not "clusteroperator/etcd", so the hook is left alone`
	if len(d.Actions) != 0 || len(d.Blocked) != 1 || d.Blocked[0].Message != want || d.Blocked[0].Owner != "somebody" || d.Blocked[0].Unblock != "remove the hook manually" {
		t.Errorf("%v, %v", d.Actions, d.Blocked)
	}
}

// An action that shows no effect is retried with exponential backoff, and what
// it failed with is told.
func TestRepetition(t *testing.T) {
	w := plane(t, "a:deleting b c d")
	var state quorum.State
	now := begin
	var at []string
	for now.Before(begin.Add(2 * 60 * 1e9)) {
		d := quorum.Step(state, w, now, nil)
		if len(d.Actions) > 0 {
			at = append(at, now.Sub(begin).String())
			w.Outcomes = []fairlead.Outcome{{Failed: true, Key: d.Actions[0].Key(), Message: "on strike"}}
		}
		if len(at) > 1 && !strings.Contains(d.Blocked[0].Message, "on strike") {
			t.Errorf("the failure is not told: %v", d.Blocked)
		}
		if !d.Blocked[0].Since.Equal(begin) {
			t.Errorf("it waits since %v", d.Blocked[0].Since)
		}
		state = d.State
		now = d.Wake
	}
	if got := strings.Join(at, " "); got != "0s 1s 3s 7s 15s 31s 1m1s 1m31s" {
		t.Errorf("it is repeated at %s", got)
	}
}

// TestPlaneBlocks: what is wrong with the control plane itself is told, also where
// no machine is being deleted.
func TestPlaneBlocks(t *testing.T) {
	for _, tt := range []struct{ plane, want string }{
		{"a b c", ""},
		{"a b c d:nomember", ""},
		{"a b c d:learner", ""},
		{"a b c d:behind", ""},         // there are enough voters without it
		{"a b c d:learner:nohook", ""}, // it is promoted once its machine has the hook
		{"desired=2 a b:sick", "QuorumLost: 1 of 2 voters is healthy, and 2 are needed: etcd takes no writes, and no member can be added or removed"},
		{"a:sick b:sick c", "QuorumLost: 1 of 3 voters is healthy, and 2 are needed: etcd takes no writes, and no member can be added or removed"},
		{"a b c:sick", "UnhealthyMembers: voter c is not healthy; the cluster of 3 survives no further loss, and no member can be added"},
		{"desired=5 a b c d e:sick", "UnhealthyMembers: voter e is not healthy; the cluster of 5 survives the loss of 1 more, and no member can be added"},
		{"a b c d:behind:sick", "WaitingForLearnerToRun: member d was added as a learner and does not answer, so no other member can be added"},
		{"a b", "TooFewVoters: there are 2 voters, and 3 are desired; the cluster survives no further loss"},
		{"desired=5 a b c d", "TooFewVoters: there are 4 voters, and 5 are desired; the cluster survives the loss of 1 more"},
		{"a b c:behind", "LearnerBehind: there are 2 voters, and 3 are desired: member c has not caught up with the leader"},
		{"a b d:nomember", ""}, // it is being added
		{"a:ready b:ready", "NoVoters: no voter is observed, and 3 are desired"},
	} {
		d := quorum.Step(quorum.State{}, plane(t, tt.plane), begin, nil)
		var got []string
		for _, b := range d.Blocked {
			if b.Subject == quorum.Subject {
				got = append(got, b.Reason+": "+b.Message)
				if b.Unblock == "" || !b.Since.Equal(begin) {
					t.Errorf("%s: the block says too little: %+v", tt.plane, b)
				}
			}
		}
		if strings.Join(got, "; ") != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.plane, strings.Join(got, "; "), tt.want)
		}
	}
}

// The zero policy is usable, and no duration may be negative.
func TestPolicyCheck(t *testing.T) {
	if err := new(quorum.Policy).Check(); err != nil {
		t.Error(err)
	}
	for _, p := range []quorum.Policy{{MinBackoff: -1}, {MaxBackoff: -1}, {Resync: -1}} {
		if p.Check() == nil {
			t.Errorf("%+v passes", p)
		}
	}
}

// spoken is the key of an action in words: "set hook a".
func spoken(a quorum.Action) string {
	words := ""
	for i, c := range a.Key().Kind {
		if i > 0 && c >= 'A' && c <= 'Z' {
			words += " "
		}
		words += strings.ToLower(string(c))
	}
	return words + " " + a.Key().ID
}
