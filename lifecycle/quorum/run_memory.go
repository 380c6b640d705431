package quorum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/cluster"
	"github.com/fairlead/fairlead/lifecycle"
)

// RoleLabel is the label of machines that names their role; those of the control
// plane have the value master.
const RoleLabel = "machine.openshift.io/cluster-api-machine-role"

// MemBackend is a Backend in memory: the members of one control plane whose machines
// have the role master. A process runs on each of their nodes and waits to be added; a
// learner takes time to catch up; a member is healthy while its node reports. Like etcd,
// it refuses changes that would lose its quorum. Its methods may be called from several
// goroutines.
type MemBackend struct {
	// Cluster is the cluster that this is a view of, with members, machines and nodes.
	// Its Clock is used. Nil means that of Machines. See [fairlead.MemCluster].
	Cluster *fairlead.MemCluster
	// Machines has the machines and nodes. Nil means those of Cluster; one of the two
	// must be given.
	Machines *lifecycle.MemBackend
	// Clock tells the time. Nil means [fairlead.SystemClock].
	Clock fairlead.Clock
	// Desired is how many voters there should be. Zero means three.
	Desired int
	// CatchUp is how long a learner takes to catch up. Zero means two minutes.
	CatchUp time.Duration
	// Down reports whether the member of a node does not answer, even though the node
	// reports. Nil means that all answer. It must not call the backend.
	Down func(node string) bool
	// Changed is called for each action that changed something, in order. It
	// must not change anything.
	Changed func(action Action)

	once  sync.Once
	all   *cluster.Cluster
	heard map[string]bool // nodes of members, while the lock is held
}

// membership is the stored members, in the order in which they were added.
type membership struct {
	fairlead.ObjectMeta
	members []member
}

// member is a member with when it was added.
type member struct {
	Member
	added time.Time
}

func memberships() cluster.Kind[membership] {
	return cluster.Kind[membership]{Name: "Etcd", Meta: func(m *membership) *fairlead.ObjectMeta { return &m.ObjectMeta }}
}

// lock takes the lock.
func (b *MemBackend) lock() {
	b.once.Do(func() {
		if b.Machines == nil {
			b.Machines = &lifecycle.MemBackend{Cluster: b.Cluster}
		}
		b.all = cluster.Of(b.Cluster, b.Clock, &cluster.Options{Still: true})
	})
	b.all.Lock()
	of := b.members()
	b.all.Unlock()
	heard := make(map[string]bool, len(of))
	for _, m := range of { // machines have their own lock, or the same
		heard[m.Name] = b.Machines.Reachable(m.Name)
	}
	b.all.Lock()
	b.heard = heard
}

// members returns the stored members. They must not be changed.
func (b *MemBackend) members() []member {
	if m := cluster.Ref(b.all, memberships(), "etcd"); m != nil {
		return m.members
	}
	return nil
}

// keep stores members, with a new revision.
func (b *MemBackend) keep(members []member) {
	cluster.Put(b.all, memberships(), &membership{fairlead.ObjectMeta{Name: "etcd"}, members})
}

// revision identifies a membership.
func (b *MemBackend) revision() string {
	if m := cluster.Ref(b.all, memberships(), "etcd"); m != nil {
		return m.ResourceVersion
	}
	return "0"
}

// errRevision says that the membership is not the one that was decided on.
var errRevision = errors.New("the membership has changed since it was observed")

// AddVoter makes the process on a machine's node a voter, as a bootstrap does. It
// refuses a machine that does not exist or has no internal address.
func (b *MemBackend) AddVoter(machine string) error {
	b.lock()
	b.all.Unlock()
	m := b.Machines.Machine(machine)
	if m == nil || len(internal(m)) == 0 || m.Status.NodeRef == nil {
		return fmt.Errorf("machine %s: it must exist, with a node and an InternalIP, to have a member", machine)
	}
	b.lock()
	defer b.all.Unlock()
	b.add(m.Status.NodeRef.Name, internal(m), false)
	return nil
}

func (b *MemBackend) add(name string, addresses []string, learner bool) {
	m := Member{ID: b.all.UID("Member"), Name: name, Addresses: addresses, Learner: learner}
	b.keep(append(slices.Clone(b.members()), member{m, b.all.Now()}))
}

// Members returns the members as they are now, in the order in which they were
// added.
func (b *MemBackend) Members() []Member {
	b.lock()
	defer b.all.Unlock()
	return b.observed()
}

func (b *MemBackend) observed() []Member {
	var all []Member
	catchUp := cmp.Or(max(b.CatchUp, 0), 2*time.Minute)
	now, members := b.all.Now(), b.members()
	for i := range members {
		members[i].added = fairlead.Past(members[i].added, now) // data is copied even if the clock is set back
		m := members[i]
		m.Healthy = b.heard[m.Name] && (b.Down == nil || !b.Down(m.Name))
		m.CaughtUp = m.Healthy && m.Learner && !now.Before(m.added.Add(catchUp))
		all = append(all, m.Member)
	}
	return all
}

// Observe implements Backend. There is one cluster, whatever its name.
func (b *MemBackend) Observe(ctx context.Context, _ string) (*World, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.lock()
	w := &World{Revision: b.revision(), Members: b.observed(), Desired: b.desired()}
	b.all.Unlock()
	for _, m := range b.Machines.List() {
		if m.Labels[RoleLabel] != "master" {
			continue
		}
		w.Machines = append(w.Machines, *m)
		if ref := m.Status.NodeRef; ref != nil && b.Machines.Reachable(ref.Name) {
			waits := !slices.ContainsFunc(w.Members, func(x Member) bool { return meet(x.Addresses, internal(m)) })
			w.Hosts = append(w.Hosts, Host{Node: ref.Name, Addresses: internal(m), Waiting: waits})
		}
	}
	return w, nil
}

func (b *MemBackend) desired() int {
	if b.Desired > 0 {
		return b.Desired
	}
	return 3
}

// Apply implements Backend.
func (b *MemBackend) Apply(ctx context.Context, _ string, action Action) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	changed, err := b.apply(action)
	if changed && b.Changed != nil {
		b.Changed(action)
	}
	return err
}

func (b *MemBackend) apply(action Action) (changed bool, err error) {
	b.lock()
	switch a := action.(type) {
	case SetHook:
		b.all.Unlock()
		return b.setHook(a)
	case RemoveHook:
		b.all.Unlock()
		m := b.Machines.Machine(a.Machine)
		if m == nil || hook(m) == nil {
			return false, nil
		}
		err = b.Machines.Release(a.Machine, lifecycle.PreDrain, a.Hook.Name, a.Hook.Owner)
		return err == nil, err
	}
	defer b.all.Unlock()
	switch a := action.(type) {
	case AddLearner:
		return b.addLearner(a)
	case Promote:
		return b.change(a.Revision, a.ID, func(m *member) (bool, error) {
			if !m.CaughtUp {
				return false, fmt.Errorf("member %s: can only promote a learner member which is in sync with leader", m.Name)
			}
			m.Learner = false
			return true, nil
		})
	case RemoveMember:
		return b.change(a.Revision, a.ID, func(m *member) (bool, error) { return false, nil })
	}
	return false, fmt.Errorf("action %T is not known", action)
}

func (b *MemBackend) setHook(a SetHook) (changed bool, err error) {
	if m := b.Machines.Machine(a.Machine); m != nil && hook(m) != nil && *hook(m) == a.Hook {
		return false, nil
	}
	err = b.Machines.Edit(a.Machine, func(m *lifecycle.Machine) {
		list := slices.DeleteFunc(slices.Clone(m.Spec.LifecycleHooks.PreDrain), func(h lifecycle.Hook) bool { return h.Name == a.Hook.Name })
		m.Spec.LifecycleHooks.PreDrain = append(list, a.Hook)
	})
	return err == nil, err
}

func (b *MemBackend) addLearner(a AddLearner) (bool, error) {
	if a.Revision != b.revision() {
		return false, errRevision
	}
	if slices.ContainsFunc(b.members(), func(m member) bool { return m.Learner }) {
		return false, errors.New("there already is a learner, and only one is allowed")
	}
	address := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(a.PeerURL, "https://"), ":2380"), "[]")
	b.add(a.Node, []string{address}, true)
	return true, nil
}

// change changes a member, or removes it if f says not to keep it; but not if the voters
// have no quorum, or would then have none.
func (b *MemBackend) change(revision, id string, f func(*member) (keep bool, err error)) (bool, error) {
	if revision != b.revision() {
		return false, errRevision
	}
	before, members := b.observed(), b.members()
	i := slices.IndexFunc(members, func(m member) bool { return m.ID == id })
	if i < 0 {
		return false, nil
	}
	m := members[i]
	m.Member = before[i]
	keep, err := f(&m)
	if err != nil {
		return false, err
	}
	after := slices.Delete(slices.Clone(before), i, i+1)
	if keep {
		after = append(after, m.Member)
	}
	if !quorate(before) || !quorate(after) {
		return false, fmt.Errorf("member %s: re-configuration failed due to not enough started members", m.Name)
	}
	members = slices.Delete(slices.Clone(members), i, i+1)
	if keep {
		members = slices.Insert(members, i, m)
	}
	b.keep(members)
	return true, nil
}

func quorate(all []Member) bool {
	voters, healthy := 0, 0
	for _, m := range all {
		if !m.Learner {
			voters++
			if m.Healthy {
				healthy++
			}
		}
	}
	return safe(voters, healthy)
}
