package quorum_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/quorum"
)

// slot is one machine of the control plane with its member, in a model of a
// cluster small enough that all of its states can be visited.
type slot struct {
	member  byte // n: none, b: a learner that is behind, c: one that has caught up, v: a voter
	healthy bool // of the member; true for none
	machine byte // a: absent, p: present without hook, h: with hook, d: being deleted with hook, r: being deleted without, g: gone
}

// model is a state: the slots of the first machines, then those of
// replacements, and at most one decision that was made and is still on its way.
type model struct {
	slots   string // three bytes each
	pending string // kind, slot and the membership that it was decided on; empty for none
}

func (s slot) String() string {
	h := byte('+')
	if !s.healthy {
		h = '-'
	}
	return string([]byte{s.member, h, s.machine})
}

func unpack(slots string) []slot {
	all := make([]slot, len(slots)/3)
	for i := range all {
		all[i] = slot{slots[3*i], slots[3*i+1] == '+', slots[3*i+2]}
	}
	return all
}

// pack writes slots in order: those of a kind are alike, so their permutations
// are one state. With a decision on its way they must keep their places.
func pack(all []slot, first int, pending string) model {
	if pending == "" {
		all = slices.Clone(all)
		order := func(a, b slot) int { return strings.Compare(a.String(), b.String()) }
		slices.SortFunc(all[:first], order)
		slices.SortFunc(all[first:], order)
	}
	var b strings.Builder
	for _, s := range all {
		b.WriteString(s.String())
	}
	return model{b.String(), pending}
}

// members is what the revision of a membership stands for.
func members(all []slot) string {
	var b strings.Builder
	for _, s := range all {
		if s.member == 'c' {
			s.member = 'b' // to catch up is no change of the membership
		}
		b.WriteByte(s.member)
	}
	return b.String()
}

func address(i int) string { return fmt.Sprintf("10.0.0.%d", i) }

var addressed = func() [][]lifecycle.NodeAddress {
	var all [][]lifecycle.NodeAddress
	for i := range 10 {
		all = append(all, []lifecycle.NodeAddress{{Type: "InternalIP", Address: address(i)}})
	}
	return all
}()

var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is what the guard sees of a state.
func world(all []slot, desired int) *quorum.World {
	w := &quorum.World{Revision: members(all), Desired: desired}
	for i, s := range all {
		name := string(rune('a' + i))
		if s.member != 'n' {
			w.Members = append(w.Members, quorum.Member{
				ID: name, Name: name, Addresses: []string{address(i)}, Learner: s.member != 'v', Healthy: s.healthy, CaughtUp: s.member == 'c',
			})
		}
		if s.machine == 'a' || s.machine == 'g' {
			continue
		}
		var m lifecycle.Machine
		m.Name = name
		m.Status.Phase = lifecycle.PhaseRunning
		m.Status.Addresses = addressed[i]
		if s.machine == 'd' || s.machine == 'r' {
			m.DeletionTimestamp = &begin
		}
		if s.machine == 'h' || s.machine == 'd' {
			m.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{quorum.Hook()}
		}
		w.Machines = append(w.Machines, m)
		w.Hosts = append(w.Hosts, quorum.Host{Node: name, Addresses: []string{address(i)}, Waiting: s.member == 'n'})
	}
	return w
}

// explorer visits every state that can be reached.
type explorer struct {
	t         *testing.T
	desired   int
	stale     bool // decisions may be on their way while the world moves on
	seen      map[model]bool
	queue     []model
	changes   map[string]int // acts seen, by kind
	endangers int            // changes that a cluster refused, because of what happened after the decision
}

// explore visits all states of a cluster of n with so many replacements, from
// every vector of healths, and returns the explorer.
func explore(t *testing.T, n, replacements int, stale bool) *explorer {
	e := &explorer{t: t, desired: n, stale: stale, seen: map[model]bool{}, changes: map[string]int{}}
	for vector := range 1 << n {
		var all []slot
		for i := range n {
			all = append(all, slot{'v', vector>>i&1 == 1, 'p'})
		}
		for range replacements {
			all = append(all, slot{'n', true, 'a'})
		}
		e.visit(all, "")
	}
	for len(e.queue) > 0 && !t.Failed() {
		m := e.queue[len(e.queue)-1]
		e.queue = e.queue[:len(e.queue)-1]
		e.expand(m)
	}
	return e
}

func (e *explorer) visit(all []slot, pending string) {
	m := pack(all, e.desired, pending)
	if !e.seen[m] {
		e.seen[m] = true
		e.queue = append(e.queue, m)
	}
}

// expand visits all that may come next.
func (e *explorer) expand(m model) {
	all := unpack(m.slots)
	e.environment(all, m.pending)
	d := quorum.Step(quorum.State{}, world(all, e.desired), begin, nil)
	e.checkDecision(all, &d)
	for _, a := range d.Actions {
		e.apply(all, coded(a), m.pending, m)
		if e.stale && m.pending == "" {
			e.visit(all, coded(a))
		}
	}
	if m.pending != "" {
		e.apply(all, m.pending, "", m)
		e.visit(all, "") // it got lost
	}
	if m.pending == "" {
		e.checkLiveness(all, false)
		e.checkLiveness(all, true)
	}
}

// environment lets one thing happen: a member falls ill or recovers, a learner
// catches up, a machine is made, deleted or goes.
func (e *explorer) environment(all []slot, pending string) {
	for i, s := range all {
		next := func(changed slot) {
			other := slices.Clone(all)
			other[i] = changed
			e.visit(other, pending)
		}
		if s.member != 'n' && s.machine != 'g' {
			next(slot{s.member, !s.healthy, s.machine})
		}
		if s.member == 'b' {
			next(slot{'c', s.healthy, s.machine})
		}
		switch s.machine {
		case 'a':
			next(slot{s.member, s.healthy, 'p'})
		case 'h':
			next(slot{s.member, s.healthy, 'd'})
		case 'r':
			if s.member == 'v' {
				e.t.Errorf("%v: the hook is gone, and the member votes", all)
			}
			gone := slot{s.member, s.healthy, 'g'}
			if s.member != 'n' {
				gone.healthy = false // nothing of it is left
			}
			next(gone)
		}
	}
}

// coded is an action by kind and slot, and the revision that it was decided on.
func coded(a quorum.Action) string {
	switch a := a.(type) {
	case quorum.SetHook:
		return "s" + a.Machine
	case quorum.RemoveHook:
		return "r" + a.Machine
	case quorum.AddLearner:
		return "l" + a.Node + a.Revision
	case quorum.Promote:
		return "p" + a.ID + a.Revision
	case quorum.RemoveMember:
		return "x" + a.ID + a.Revision
	}
	return ""
}

func count(all []slot) (voters, healthy int) {
	for _, s := range all {
		if s.member == 'v' {
			voters++
			if s.healthy {
				healthy++
			}
		}
	}
	return voters, healthy
}

func quorate(all []slot) bool {
	voters, healthy := count(all)
	return healthy >= voters/2+1
}

// apply carries out an action as a cluster does: changes of the membership only
// at their revision. Decisions that were made on this very state must be right by
// themselves; for late ones a cluster refuses, as etcd does, what would cost its
// quorum.
func (e *explorer) apply(all []slot, action, pending string, from model) {
	i := int(action[1] - 'a')
	s := all[i]
	fresh := action != from.pending
	next := slices.Clone(all)
	membership := strings.ContainsRune("lpx", rune(action[0]))
	if membership && action[2:] != members(all) {
		return
	}
	switch action[0] {
	case 's':
		if s.machine != 'p' && s.machine != 'h' {
			return // admission refuses
		}
		next[i].machine = 'h'
	case 'r':
		if s.machine != 'd' {
			return
		}
		if s.member == 'v' {
			e.t.Errorf("%v: the hook of %c is removed, and its member votes (fresh: %v)", all, action[1], fresh)
		}
		next[i].machine = 'r'
	case 'l':
		next[i].member, next[i].healthy = 'b', s.machine != 'a' && s.machine != 'g'
	case 'p':
		if s.member != 'c' {
			return
		}
		if fresh && (s.machine != 'h' || !s.healthy) {
			e.t.Errorf("%v: member %c is promoted", all, action[1])
		}
		next[i].member = 'v'
	case 'x':
		if fresh && s.member == 'v' && s.machine != 'd' && s.machine != 'a' && s.machine != 'g' {
			e.t.Errorf("%v: voter %c is removed, and its machine stays", all, action[1])
		}
		next[i].member, next[i].healthy = 'n', true
	}
	if membership && !quorate(all) && action[0] != 'l' {
		return // without a quorum nothing can be changed
	}
	if membership && !quorate(next) {
		if fresh {
			e.t.Errorf("%v: %s costs the quorum", all, action)
		}
		e.endangers++
		return
	}
	if membership {
		e.checkVoters(all, next, action)
	}
	e.changes[string(action[0])]++
	e.visit(next, pending)
}

// checkVoters: I5.
func (e *explorer) checkVoters(before, after []slot, action string) {
	was, _ := count(before)
	is, _ := count(after)
	removed := before[action[1]-'a']
	switch {
	case is > e.desired+1, was-is > 1:
		e.t.Errorf("%v: %s makes %d voters of %d", before, action, is, was)
	case is < was && is < e.desired && removed.healthy && action == "x"+action[1:2]+members(before) && !e.stale:
		e.t.Errorf("%v: %s removes a healthy voter of %d", before, action, was)
	}
}

// checkDecision: one change of the membership at a time, and no silence.
func (e *explorer) checkDecision(all []slot, d *quorum.Decision) {
	n := 0
	for _, a := range d.Actions {
		switch a.(type) {
		case quorum.AddLearner, quorum.Promote, quorum.RemoveMember:
			n++
		}
	}
	if n > 1 {
		e.t.Errorf("%v: %d changes of the membership at once", all, n)
	}
	told := map[string]bool{}
	for _, b := range d.Blocked {
		told[b.Subject] = b.Reason != "" && b.Message != "" && b.Unblock != "" && b.Owner == quorum.HookOwner && !b.Since.IsZero()
	}
	for i, s := range all {
		if s.machine == 'd' && !told["machine "+string(rune('a'+i))] {
			e.t.Errorf("%v: machine %c keeps its hook, and nobody is told why: %v", all, 'a'+i, d.Blocked)
		}
	}
}

// checkLiveness: once everything is well, every machine that is being deleted
// loses its hook, if there are replacements; also where the members of such
// machines are dead for good.
func (e *explorer) checkLiveness(all []slot, dead bool) {
	all = slices.Clone(all)
	for i := range all { // whatever is there recovers; what is gone does not
		if all[i].machine != 'g' && !(dead && all[i].machine == 'd' && all[i].member != 'n') {
			all[i].healthy = true
		}
	}
	if !quorate(all) {
		return
	}
	deleting, healthy := 0, false
	for i := range all {
		if all[i].machine == 'd' {
			deleting++
			healthy = healthy || all[i].healthy
		}
	}
	free := 0
	for i := range all {
		if all[i].machine == 'a' {
			all[i].machine = 'p'
		}
		if all[i].machine == 'p' || all[i].machine == 'h' {
			free++
		}
	}
	if free < e.desired && healthy || deleting == 0 {
		return // somebody must make a machine first, and that is told
	}
	for range 60 {
		w := world(all, e.desired)
		d := quorum.Step(quorum.State{}, w, begin, nil)
		for _, a := range d.Actions {
			action := coded(a)
			i := action[1] - 'a'
			switch action[0] {
			case 's':
				all[i].machine = 'h'
			case 'r':
				all[i].machine = 'r'
				deleting--
			case 'l':
				all[i].member = 'c'
			case 'p':
				all[i].member = 'v'
			case 'x':
				all[i].member, all[i].healthy = 'n', true
			}
		}
		for i := range all {
			if all[i].member == 'b' {
				all[i].member = 'c'
			}
		}
		if deleting == 0 {
			return
		}
	}
	e.t.Errorf("%v: all is well, and a machine that is being deleted keeps its hook", all)
}

// TestEveryState visits every state of clusters of one, three and five, with
// every vector of healths and every order of events: what is checked holds in
// all of them. It reports how many there are.
func TestEveryState(t *testing.T) {
	for _, tt := range []struct {
		n, replacements int
		stale, long     bool
	}{
		{1, 1, false, false}, {1, 2, false, false}, {1, 1, true, false}, {1, 2, true, false},
		{3, 1, false, false}, {3, 2, false, true}, {5, 1, false, true},
		{3, 1, true, true}, {3, 2, true, true}, {5, 2, false, true}, {5, 1, true, true},
	} {
		if tt.long && !long.Enabled() {
			continue
		}
		e := explore(t, tt.n, tt.replacements, tt.stale)
		t.Logf("%d voters, %d replacements, late decisions %v: %d states; changes %v, refused by the cluster %d",
			tt.n, tt.replacements, tt.stale, len(e.seen), e.changes, e.endangers)
		for _, kind := range []string{"s", "r", "l", "p", "x"} {
			if e.changes[kind] == 0 {
				t.Errorf("there was no change %q", kind)
			}
		}
	}
}
