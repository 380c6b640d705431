package plan

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/cluster"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/quorum"
)

// machines are those of a player. lifecycle acts on each that is being deleted, and
// lifecycle/quorum on the members of etcd.
type machines struct {
	y         *player
	backend   *lifecycle.MemBackend
	calls     *cluster.Faulty[*lifecycle.World, lifecycle.Action]
	store     fairlead.MemStore
	deletions *lifecycle.Runner
	waits     map[string][]fairlead.Block // by name of the machine, and for etcd

	etcd      *quorum.MemBackend // nil where its members are left as they are
	etcdCalls *cluster.Faulty[*quorum.World, quorum.Action]
	etcdStore fairlead.MemStore
	guard     *quorum.Runner
	names     map[string]string // of members, by node
	sick      map[string]bool   // nodes whose member does not answer
	voters    string            // as they were seen last
}

// etcdName is the name of the members of etcd, to the engine and in machines.waits.
const etcdName = "etcd"

// newMachines makes the machines of the situation, and its members of etcd as far as
// the engine can act on them.
func newMachines(y *player, seed uint64, faults cluster.Faults) (*machines, error) {
	k := &machines{y: y, waits: map[string][]fairlead.Block{}, names: map[string]string{}, sick: map[string]bool{}}
	k.backend = &lifecycle.MemBackend{Cluster: y.backend.Cluster}
	k.calls = cluster.Through(k.backend, seed, faults)
	k.etcd = &quorum.MemBackend{Machines: k.backend, Cluster: y.backend.Cluster, Desired: len(y.input.Situation.Members), Down: k.down}
	k.etcdCalls = cluster.Through(k.etcd, seed+1, faults)
	for _, m := range y.input.Situation.Machines {
		if m.Status.NodeRef != nil {
			ref := *m.Status.NodeRef
			ref.UID = "" // nodes in memory have others
			m.Status.NodeRef = &ref
		}
		k.backend.Restore(m, false)
	}
	if why := k.vote(); why != "" {
		k.etcd = nil
		if slices.ContainsFunc(y.out.Steps, func(s PlayedStep) bool { return s.Step.Kind == ReplaceMember }) {
			y.out.Estimated = append(y.out.Estimated, "etcd: "+why)
		}
	}
	return k, k.start()
}

// vote has the members of the situation be those of their machines. It says why the
// engine cannot act on them; "" if it can.
func (k *machines) vote() string {
	s := k.y.input.Situation
	if s.Machines == nil {
		return "the machines were not observed"
	}
	var voters []string
	for i := range s.Members {
		x := &s.Members[i]
		node := nodeOf(x)
		m := k.of(node)
		switch {
		case m == nil || m.Labels[quorum.RoleLabel] != "master":
			return "no machine of the control plane is known for the member " + x.Name
		case !slices.ContainsFunc(m.Status.Addresses, func(a lifecycle.NodeAddress) bool { return a.Type == internalIP }):
			return fmt.Sprintf("machine %s has no %s", m, internalIP)
		}
		k.names[node], k.sick[node] = x.Name, x.Healthy == fairlead.ConditionFalse
		voters = append(voters, m.String())
	}
	for _, name := range voters {
		if err := k.etcd.AddVoter(name); err != nil {
			return err.Error()
		}
	}
	return ""
}

// internalIP is the type of the addresses by which members of etcd find their machines.
const internalIP = "InternalIP"

// of returns the machine of a node, nil if there is none.
func (k *machines) of(node string) *lifecycle.Machine {
	for _, m := range k.backend.List() {
		if m.Status.NodeRef != nil && m.Status.NodeRef.Name == node {
			return m
		}
	}
	return nil
}

// down reports whether the member of a node does not answer: it did not at first, or its
// node restarts.
func (k *machines) down(node string) bool {
	n := cluster.Ref(k.y.all, cluster.Nodes(), node)
	return k.sick[node] || n != nil && n.Annotations[rollout.AnnotationState] == rollout.StateWorking
}

// start begins a process of both engines.
func (k *machines) start() (err error) {
	if k.deletions, err = lifecycle.NewRunner(k.calls, nil, &fairlead.RunnerOptions{Clock: k.y.clock, Store: &k.store}); err != nil {
		return err
	}
	k.guard, err = quorum.NewRunner(k.etcdCalls, nil, &fairlead.RunnerOptions{Clock: k.y.clock, Store: &k.etcdStore})
	return err
}

// act is a pass over each machine that is being deleted, and over the members of etcd.
func (k *machines) act(ctx context.Context) error {
	if k.y.input.Situation.Machines == nil {
		return nil
	}
	if k.y.fault(100) {
		if err := k.start(); err != nil {
			return err
		}
	}
	waits := map[string][]fairlead.Block{}
	for _, m := range k.backend.List() {
		if !m.Deleting() {
			continue
		}
		d, err := k.deletions.Reconcile(ctx, m.String())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		waits[m.String()] = k.waits[m.String()]
		k.y.busy = k.y.busy || err != nil || len(d.Actions) > 0
		if err == nil {
			waits[m.String()] = d.Blocks()
		}
	}
	if k.etcd != nil {
		d, err := k.guard.Reconcile(ctx, etcdName)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		k.y.busy = k.y.busy || err != nil || len(d.Actions) > 0
		if waits[etcdName] = d.Blocked; err != nil {
			waits[etcdName] = k.waits[etcdName]
		}
		k.readVoters()
	}
	now := []lifecycle.Machine{}
	for _, m := range k.backend.List() {
		now = append(now, *m)
	}
	k.y.input.Situation.Machines = now
	if len(waits) != len(k.waits) {
		k.y.changes++ // a machine is gone
	}
	k.waits = waits
	return nil
}

// readVoters tells which members etcd has that vote.
func (k *machines) readVoters() {
	var list []Member
	for _, x := range k.etcd.Members() {
		if x.Learner {
			continue
		}
		own := Member{Name: x.Name, Node: x.Name, Healthy: fairlead.ConditionFalse}
		if name := k.names[x.Name]; name != "" {
			own.Name = name
		}
		if x.Healthy {
			own.Healthy = fairlead.ConditionTrue
		}
		list = append(list, own)
	}
	k.y.input.Situation.Members = list
	if now := fmt.Sprint(list); now != k.voters {
		k.voters = now
		k.y.changes++
	}
}

// quorate reports whether a majority of the members of etcd answers, as far as that is
// played.
func (k *machines) quorate() bool {
	if k.etcd == nil {
		return true
	}
	all, healthy := 0, 0
	for _, x := range k.etcd.Members() {
		if !x.Learner {
			all++
		}
		if !x.Learner && x.Healthy {
			healthy++
		}
	}
	return healthy > all/2
}

// replace deletes the machine of a member of etcd, and has another one take its place. It
// reports false where members are left as they are.
func (k *machines) replace(member string) bool {
	if k.etcd == nil {
		return false
	}
	for i := range k.y.input.Situation.Members {
		x := &k.y.input.Situation.Members[i]
		if m := k.of(nodeOf(x)); x.Name == member && m != nil && !m.Deleting() {
			_ = k.backend.Delete(m.String()) // it is there
			k.y.later("a machine like "+m.String(), k.y.policy.Estimates.Reboot, func() { k.join(m) })
		}
	}
	return true
}

// join makes a machine like another one, with a node.
func (k *machines) join(like *lifecycle.Machine) {
	serial := k.y.all.Serial()
	m := lifecycle.Machine{APIVersion: like.APIVersion, Kind: like.Kind, Spec: lifecycle.MachineSpec{ProviderSpec: like.Spec.ProviderSpec}}
	m.ObjectMeta = lifecycle.ObjectMeta{Namespace: like.Namespace, Name: fmt.Sprintf("%s-new-%d", like.Name, serial), Labels: maps.Clone(like.Labels), Finalizers: []string{lifecycle.Finalizer}}
	m.Spec.ProviderID = "play:///" + m.Name
	n := k.y.join(k.y.model.example("node "+like.Status.NodeRef.Name), m.Spec.ProviderID)
	if n == "" {
		return // nodes are not known
	}
	m.Status.Phase, m.Status.NodeRef = lifecycle.PhaseRunning, &lifecycle.NodeRef{Kind: "Node", Name: n}
	m.Status.Addresses = []lifecycle.NodeAddress{{Type: internalIP, Address: fmt.Sprintf("192.0.2.%d", serial)}}
	k.backend.Restore(m, false)
	k.y.changes++
}

// left is what machines and etcd wait for, in the end.
func (k *machines) left() (list []fairlead.Block) {
	for _, name := range slices.Sorted(maps.Keys(k.waits)) {
		list = append(list, k.waits[name]...)
	}
	slices.SortStableFunc(list, func(a, b fairlead.Block) int { return strings.Compare(a.Subject, b.Subject) })
	return list
}
