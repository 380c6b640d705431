package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/cluster"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// MemBackend is a Backend in memory that behaves like a cluster: evictions
// respect disruption budgets, pods take their grace period to terminate,
// controllers replace lost pods, instances take time to be deleted, and changes
// of machines pass [Admit]. Use it to test an embedding of the engine, or to try
// out what would happen to a machine. The zero value is an empty cluster. Its
// methods may be called from several goroutines.
//
// Results are shared and must not be changed; it owns its arguments. Changes that
// take time happen once a method is called at or after the due time, by Clock.
type MemBackend struct {
	// Clock tells the time. Nil means [fairlead.SystemClock].
	Clock fairlead.Clock
	// InstanceDelay is how long the cloud takes to delete an instance. Zero means
	// a minute.
	InstanceDelay time.Duration
	// PodStartup is how long the replacement of a pod takes until it is ready.
	// Zero means ten seconds.
	PodStartup time.Duration
	// Changed is called for each action that changed something, in order. It
	// must not call the backend.
	Changed func(machine string, action Action)
	// Cluster is the cluster that this is a view of; then its Clock counts, and
	// PodStartup does not. Nil means a separate cluster. See [fairlead.MemCluster].
	Cluster *fairlead.MemCluster

	once    sync.Once
	view    *fairlead.MemCluster // Cluster, or its own
	all     *cluster.Cluster
	owners  map[string]time.Time
	objects map[string][]Object // by machine
	events  map[string][]RecordEvent
}

// machines are the kind of machines.
func machines() cluster.Kind[Machine] {
	return cluster.Kind[Machine]{Name: "Machine", Meta: func(m *Machine) *fairlead.ObjectMeta { return &m.ObjectMeta }}
}

// lock takes the lock and advances the cluster to the present.
func (b *MemBackend) lock() time.Time {
	b.once.Do(func() {
		if b.view = b.Cluster; b.view == nil {
			b.view = cluster.Own(b.Clock, &cluster.Options{PodStartup: b.PodStartup})
		}
		b.all = cluster.Of(b.view, nil, nil)
		b.owners, b.events, b.objects = make(map[string]time.Time), make(map[string][]RecordEvent), make(map[string][]Object)
	})
	b.all.Lock()
	b.all.Run()
	return b.all.Now()
}

func (b *MemBackend) unlock() { b.all.Unlock() }

// PutMachine creates a machine, or replaces the one with its name. It must pass
// Admit; a new one gets a UID if it has none, the finalizer, and an instance
// unless its phase is Provisioning.
func (b *MemBackend) PutMachine(m Machine) error {
	b.lock()
	defer b.unlock()
	old := cluster.Ref(b.all, machines(), m.String())
	if err := Admit(old, &m); err != nil {
		return fmt.Errorf("machine %s: %w", m.ObjectMeta, err)
	}
	b.keep(old, m)
	return nil
}

// Restore adds a machine unchanged and without admission, such as one from a
// dump. It has an instance, unless gone; one that is being deleted stays so.
func (b *MemBackend) Restore(m Machine, gone bool) {
	b.lock()
	defer b.unlock()
	b.keep(&m, m)
	if !gone {
		b.addInstance(m.String())
	}
}

func (b *MemBackend) keep(old *Machine, m Machine) {
	name := m.String()
	if m.UID == "" {
		m.UID = b.all.UID("Machine")
	}
	if old == nil {
		if name := defaults.finalizer(&m); !slices.Contains(m.Finalizers, name) {
			m.Finalizers = append(slices.Clone(m.Finalizers), name)
		}
		if m.Status.Phase != PhaseProvisioning {
			b.addInstance(name)
		}
	}
	b.addObjects(&m)
	cluster.Put(b.all, machines(), &m)
	if m.Deleting() && len(m.Finalizers) == 0 {
		b.forget(name)
	}
}

// addInstance creates the instance of a machine, if it has none.
func (b *MemBackend) addInstance(machine string) {
	b.all.AddInstance(machine, func() string {
		if m := cluster.Ref(b.all, machines(), machine); m != nil && b.nodeOf(m) != nil {
			return b.nodeOf(m).Name
		}
		return ""
	})
}

func (b *MemBackend) forget(name string) {
	cluster.Drop(b.all, machines(), name)
	b.all.DropInstance(name)
	delete(b.objects, name)
}

var (
	errNoMachine = errors.New("there is no such machine")
	errChanged   = errors.New("it has changed since it was observed")
)

// Machine returns a machine, nil if there is none.
func (b *MemBackend) Machine(name string) *Machine {
	b.lock()
	defer b.unlock()
	return cluster.Ref(b.all, machines(), name)
}

// List returns all machines, by name.
func (b *MemBackend) List() []*Machine {
	b.lock()
	defer b.unlock()
	return cluster.Refs(b.all, machines())
}

// Reachable reports whether a node exists and sends heartbeats.
func (b *MemBackend) Reachable(node string) bool {
	n := b.Node(node)
	return n != nil && !drain.Unreachable(n)
}

// Edit changes a machine as users and other controllers would: f may change the
// copy that it gets, but not what that points to. The change must pass Admit.
func (b *MemBackend) Edit(name string, f func(m *Machine)) error {
	b.lock()
	defer b.unlock()
	old := cluster.Ref(b.all, machines(), name)
	if old == nil {
		return fmt.Errorf("machine %s: %w", name, errNoMachine)
	}
	m := *old
	f(&m)
	if err := Admit(old, &m); err != nil {
		return fmt.Errorf("machine %s: %w", name, err)
	}
	b.keep(old, m)
	return nil
}

// Delete requests the deletion of a machine. Its finalizers keep it until they
// are removed.
func (b *MemBackend) Delete(name string) error {
	now := b.lock()
	defer b.unlock()
	old := cluster.Ref(b.all, machines(), name)
	switch {
	case old == nil:
		return fmt.Errorf("machine %s: %w", name, errNoMachine)
	case old.Deleting():
		return nil
	}
	m := *old
	at := now.Truncate(time.Second)
	m.DeletionTimestamp = &at
	b.keep(old, m)
	return nil
}

// Release removes a hook on behalf of its owner. It does nothing if there is no
// such hook, and fails if the hook has another owner.
func (b *MemBackend) Release(machine string, p Point, name, owner string) error {
	b.lock()
	defer b.unlock()
	_, err := b.release(machine, RemoveHook{Point: p, Name: name, Owner: owner})
	return err
}

func (b *MemBackend) release(machine string, a RemoveHook) (changed bool, err error) {
	old := cluster.Ref(b.all, machines(), machine)
	if old == nil {
		return false, errNoMachine
	}
	hooks := old.Spec.LifecycleHooks.At(a.Point)
	i := slices.Index(hooks, Hook{a.Name, a.Owner})
	other := slices.IndexFunc(hooks, func(h Hook) bool { return h.Name == a.Name })
	switch {
	case other < 0:
		return false, nil
	case i < 0:
		return false, &fairlead.RefusedError{Code: 403, Message: fmt.Sprintf("hook %s belongs to %q, not to %q", a.Name, hooks[other].Owner, a.Owner)}
	}
	m := *old
	left := slices.Concat(hooks[:i], hooks[i+1:])
	if a.Point == PreDrain {
		m.Spec.LifecycleHooks.PreDrain = left
	} else {
		m.Spec.LifecycleHooks.PreTerminate = left
	}
	b.keep(old, m)
	return true, nil
}

// PutNode creates a node, or replaces the one with its name. Without a UID, it
// gets that of the node it replaces, or a new one.
func (b *MemBackend) PutNode(n Node) {
	b.lock()
	defer b.unlock()
	if old := cluster.Ref(b.all, cluster.Nodes(), n.Name); old != nil {
		n.UID = cmp.Or(n.UID, old.UID)
	}
	if n.UID == "" {
		n.UID = b.all.UID("Node")
	}
	cluster.Put(b.all, cluster.Nodes(), &n)
	b.all.Run()
}

// Node returns a node, nil if there is none.
func (b *MemBackend) Node(name string) *Node {
	b.lock()
	defer b.unlock()
	return cluster.Ref(b.all, cluster.Nodes(), name)
}

// PutPod creates a pod on the node that it names, or replaces the one with its
// UID, or with its namespace and name. Without a UID, it gets one.
func (b *MemBackend) PutPod(p Pod) {
	b.lock()
	defer b.unlock()
	if p.UID == "" {
		p.UID = b.all.UID("Pod")
	}
	b.remove(p.UID)
	cluster.Put(b.all, cluster.Pods(), &p)
}

// PodsOn returns the pods of a node by namespace and name; those that wait for
// a node have the empty name.
func (b *MemBackend) PodsOn(node string) []*Pod {
	b.lock()
	defer b.unlock()
	return b.all.PodsOn(node)
}

// remove removes a pod.
func (b *MemBackend) remove(uid string) {
	if p := b.all.PodOf(uid); p != nil {
		cluster.Drop(b.all, cluster.Pods(), p.ObjectMeta.String())
	}
}

// RemovePod removes a pod, as if its process had ended.
func (b *MemBackend) RemovePod(uid string) {
	b.lock()
	defer b.unlock()
	b.remove(uid)
}

// PutBudget creates a disruption budget, or replaces the one with its name. Its
// status is computed at each observation and eviction.
func (b *MemBackend) PutBudget(p PodDisruptionBudget) error {
	if err := p.Check(); err != nil {
		return err
	}
	b.lock()
	defer b.unlock()
	cluster.Put(b.all, cluster.Budgets(), &p)
	return nil
}

// RemoveBudget removes a disruption budget.
func (b *MemBackend) RemoveBudget(namespace, name string) {
	b.lock()
	defer b.unlock()
	cluster.Drop(b.all, cluster.Budgets(), namespace+"/"+name)
}

// SetOwner records a heartbeat of an owner of hooks.
func (b *MemBackend) SetOwner(name string) {
	now := b.lock()
	defer b.unlock()
	b.owners[name] = now
}

// Events returns what was reported about a machine, the latest last, at most 100.
func (b *MemBackend) Events(machine string) []RecordEvent {
	b.lock()
	defer b.unlock()
	return slices.Clone(b.events[machine])
}

// Next returns the next time at which something happens by itself, and false if
// nothing will.
func (b *MemBackend) Next() (time.Time, bool) {
	b.lock()
	defer b.unlock()
	at := b.all.Next()
	return at, !at.IsZero()
}

// Observe implements Backend.
func (b *MemBackend) Observe(ctx context.Context, machine string) (*World, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.lock()
	defer b.unlock()
	w := new(World)
	m := cluster.Ref(b.all, machines(), machine)
	if m == nil {
		return w, nil
	}
	w.Machine = m
	w.Instance = InstanceGone
	if b.all.HasInstance(machine) {
		w.Instance = InstanceExists
	}
	if w.Objects = b.objectsOf(m); w.infrastructure() != nil {
		w.Instance = "" // the object stands for it
	}
	for _, h := range slices.Concat(m.Spec.LifecycleHooks.PreDrain, m.Spec.LifecycleHooks.PreTerminate) {
		if at, ok := b.owners[h.Owner]; ok {
			w.Owners = append(w.Owners, Owner{h.Owner, at})
		}
	}
	w.Node = b.nodeOf(m)
	if w.Node == nil {
		return w, nil
	}
	w.Pods, w.Budgets = b.all.View(w.Node.Name)
	return w, nil
}

// nodeOf returns the node of a machine, as [NodeOf] does.
func (b *MemBackend) nodeOf(m *Machine) *Node {
	if n := b.all.NodeFor(m.Spec.ProviderID); n != nil {
		return n
	}
	if m.Status.NodeRef == nil {
		return nil
	}
	return cluster.Ref(b.all, cluster.Nodes(), m.Status.NodeRef.Name)
}
