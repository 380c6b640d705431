package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/wheel"

	"github.com/fairlead/fairlead/lifecycle/drain"
)

// MemBackend is a Backend in memory that behaves like a cluster: evictions ask
// disruption budgets, pods take their grace to end, controllers replace what
// they have lost, instances take their time to go, and changes of machines pass
// [Admit]. Test the embedding of the engine with it, or try out what would
// become of a machine. The zero value is an empty cluster. Its methods may be
// called from several goroutines.
//
// What it returns is shared and must not be changed; what it is given belongs to
// it. Whatever takes time has happened when a method is called at or after its
// instant, by Clock.
type MemBackend struct {
	// Clock tells the time. Nil means [fairlead.SystemClock].
	Clock fairlead.Clock
	// InstanceDelay is how long the cloud takes to delete an instance. Zero means
	// a minute.
	InstanceDelay time.Duration
	// PodStartup is how long the replacement of a pod takes until it is ready.
	// Zero means ten seconds.
	PodStartup time.Duration
	// Changed is told of each action that has changed something, in order. It
	// must not call the backend.
	Changed func(machine string, action Action)

	mu        sync.Mutex
	machines  map[string]*Machine
	instances map[string]bool            // by machine; false while it is going
	nodes     map[string]*Node           // by name
	provided  map[string]string          // names of nodes by their providerID
	onNode    map[string][]*Pod          // by node, "" for those that wait for one; by namespace and name
	pods      map[string]*Pod            // by UID
	inSpace   map[string]map[string]*Pod // by namespace, then UID
	budgets   map[string][]*PodDisruptionBudget
	owners    map[string]time.Time
	events    map[string][]RecordEvent
	due       wheel.Timers[string]
	open      []string // nodes that take pods, by name
	turn      int      // where in open the next pod goes
	serial    int
}

func (b *MemBackend) now() time.Time {
	if b.Clock == nil {
		return fairlead.SystemClock{}.Now()
	}
	return b.Clock.Now()
}

// lock takes the lock and brings the cluster up to the present.
func (b *MemBackend) lock() time.Time {
	b.mu.Lock()
	if b.machines == nil {
		b.machines, b.instances = make(map[string]*Machine), make(map[string]bool)
		b.nodes, b.onNode, b.pods = make(map[string]*Node), make(map[string][]*Pod), make(map[string]*Pod)
		b.provided = make(map[string]string)
		b.inSpace, b.budgets = make(map[string]map[string]*Pod), make(map[string][]*PodDisruptionBudget)
		b.owners, b.events = make(map[string]time.Time), make(map[string][]RecordEvent)
	}
	now := b.now().Round(0).UTC()
	b.pass(now)
	return now
}

// next gives out UIDs and revisions.
func (b *MemBackend) next() string {
	b.serial++
	return strconv.Itoa(b.serial)
}

// PutMachine makes a machine, or replaces the one of its name. It is admitted
// first; one that is made gets a UID if it has none, the finalizer, and an
// instance unless its phase is Provisioning.
func (b *MemBackend) PutMachine(m Machine) error {
	b.lock()
	defer b.mu.Unlock()
	old := b.machines[m.String()]
	if err := Admit(old, &m); err != nil {
		return fmt.Errorf("machine %s: %w", m.ObjectMeta, err)
	}
	b.keep(old, m)
	return nil
}

// Restore puts a machine as it is, without admission: one of a dump, say. It
// has an instance, unless gone; one that is being deleted stays so.
func (b *MemBackend) Restore(m Machine, gone bool) {
	b.lock()
	defer b.mu.Unlock()
	b.keep(&m, m)
	if _, there := b.instances[m.String()]; !there && !gone {
		b.instances[m.String()] = true
	}
}

func (b *MemBackend) keep(old *Machine, m Machine) {
	name := m.String()
	m.UID = cmp.Or(m.UID, "machine-"+b.next())
	m.ResourceVersion = b.next()
	if old == nil {
		if !slices.Contains(m.Finalizers, Finalizer) {
			m.Finalizers = append(slices.Clone(m.Finalizers), Finalizer)
		}
		if m.Status.Phase != PhaseProvisioning {
			b.instances[name] = true
		}
	}
	b.machines[name] = &m
	if m.Deleting() && len(m.Finalizers) == 0 {
		b.forget(name)
	}
}

func (b *MemBackend) forget(name string) {
	delete(b.machines, name)
	delete(b.instances, name)
}

var (
	errNoMachine = errors.New("there is no such machine")
	errChanged   = errors.New("it has changed since it was observed")
)

// Machine returns a machine, nil if there is none.
func (b *MemBackend) Machine(name string) *Machine {
	b.lock()
	defer b.mu.Unlock()
	return b.machines[name]
}

// List returns all machines, by name.
func (b *MemBackend) List() []*Machine {
	b.lock()
	defer b.mu.Unlock()
	names := slices.Sorted(maps.Keys(b.machines))
	all := make([]*Machine, len(names))
	for i, name := range names {
		all[i] = b.machines[name]
	}
	return all
}

// Reachable reports whether a node is there and is heard of.
func (b *MemBackend) Reachable(node string) bool {
	n := b.Node(node)
	return n != nil && !drain.Unreachable(n)
}

// Edit changes a machine as users and other controllers would: f may do what it
// likes to the copy that it is given, but must not change what that points to.
// The change is admitted first.
func (b *MemBackend) Edit(name string, f func(m *Machine)) error {
	b.lock()
	defer b.mu.Unlock()
	old := b.machines[name]
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

// Delete asks for the deletion of a machine. Its finalizers keep it until they
// are removed.
func (b *MemBackend) Delete(name string) error {
	now := b.lock()
	defer b.mu.Unlock()
	old := b.machines[name]
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

// Release removes a hook in the name of its owner. It has nothing to do when
// there is no such hook, and refuses when the hook is of another owner.
func (b *MemBackend) Release(machine string, p Point, name, owner string) error {
	b.lock()
	defer b.mu.Unlock()
	_, err := b.release(machine, RemoveHook{Point: p, Name: name, Owner: owner})
	return err
}

func (b *MemBackend) release(machine string, a RemoveHook) (changed bool, err error) {
	old := b.machines[machine]
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
		return false, &fairlead.RefusedError{Code: 403, Message: fmt.Sprintf("hook %s is of %q, and not of %q", a.Name, hooks[other].Owner, a.Owner)}
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

// PutNode makes a node, or replaces the one of its name. One without UID gets
// that of the node it replaces, or a new one.
func (b *MemBackend) PutNode(n Node) {
	now := b.lock()
	defer b.mu.Unlock()
	if old := b.nodes[n.Name]; old != nil {
		n.UID = cmp.Or(n.UID, old.UID)
	}
	n.UID = cmp.Or(n.UID, "node-"+b.next())
	b.setNode(&n)
	if n.Spec.ProviderID != "" {
		b.provided[n.Spec.ProviderID] = n.Name
	}
	if !drain.Unreachable(&n) {
		for _, p := range b.onNode[n.Name] {
			if p.DeletionTimestamp != nil {
				b.due.Add("end "+p.UID, later(now, *p.DeletionTimestamp))
			}
		}
	}
	for _, p := range slices.Clone(b.onNode[""]) {
		b.due.Add("place "+p.UID, now)
	}
	b.pass(now)
}

// Node returns a node, nil if there is none.
func (b *MemBackend) Node(name string) *Node {
	b.lock()
	defer b.mu.Unlock()
	return b.nodes[name]
}

// PutPod makes a pod on the node that it names, or replaces the one of its UID.
// One without UID gets one.
func (b *MemBackend) PutPod(p Pod) {
	b.lock()
	defer b.mu.Unlock()
	p.UID = cmp.Or(p.UID, "pod-"+b.next())
	b.remove(p.UID)
	b.insert(&p)
}

// PodsOn returns the pods of a node by namespace and name; those that wait for
// a node have the empty name.
func (b *MemBackend) PodsOn(node string) []*Pod {
	b.lock()
	defer b.mu.Unlock()
	return slices.Clone(b.onNode[node])
}

// RemovePod lets a pod vanish, as when its process has ended.
func (b *MemBackend) RemovePod(uid string) {
	b.lock()
	defer b.mu.Unlock()
	b.remove(uid)
}

// PutBudget makes a disruption budget, or replaces the one of its name. Its
// status is measured at each observation and eviction.
func (b *MemBackend) PutBudget(p PodDisruptionBudget) error {
	if err := p.Check(); err != nil {
		return err
	}
	b.lock()
	defer b.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(b.budgets[p.Namespace]), func(o *PodDisruptionBudget) bool { return o.Name == p.Name })
	list = append(list, &p)
	slices.SortFunc(list, func(x, y *PodDisruptionBudget) int { return strings.Compare(x.Name, y.Name) })
	b.budgets[p.Namespace] = list
	return nil
}

// RemoveBudget removes a disruption budget.
func (b *MemBackend) RemoveBudget(namespace, name string) {
	b.lock()
	defer b.mu.Unlock()
	b.budgets[namespace] = slices.DeleteFunc(slices.Clone(b.budgets[namespace]), func(o *PodDisruptionBudget) bool { return o.Name == name })
}

// SetOwner notes a sign of life of an owner of hooks.
func (b *MemBackend) SetOwner(name string) {
	now := b.lock()
	defer b.mu.Unlock()
	b.owners[name] = now
}

// Events returns what was told of a machine, the latest last, at most 100.
func (b *MemBackend) Events(machine string) []RecordEvent {
	b.lock()
	defer b.mu.Unlock()
	return slices.Clone(b.events[machine])
}

// Next returns the instant at which something will have happened by itself, and
// false when nothing is under way.
func (b *MemBackend) Next() (time.Time, bool) {
	b.lock()
	defer b.mu.Unlock()
	return b.due.Next()
}

// Observe implements Backend.
func (b *MemBackend) Observe(ctx context.Context, machine string) (*World, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	now := b.lock()
	defer b.mu.Unlock()
	w := new(World)
	m := b.machines[machine]
	if m == nil {
		return w, nil
	}
	w.Machine = m
	w.Instance = InstanceGone
	if _, there := b.instances[machine]; there {
		w.Instance = InstanceExists
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
	spaces := make(map[string]bool, 4)
	for _, p := range b.onNode[w.Node.Name] {
		w.Pods = append(w.Pods, *p)
		if !spaces[p.Namespace] {
			spaces[p.Namespace] = true
			for _, budget := range b.budgets[p.Namespace] {
				w.Budgets = append(w.Budgets, *b.measured(budget, now))
			}
		}
	}
	return w, nil
}

// nodeOf returns the node of a machine, as [NodeOf] does.
func (b *MemBackend) nodeOf(m *Machine) *Node {
	if n := b.nodes[b.provided[m.Spec.ProviderID]]; n != nil && m.Spec.ProviderID != "" && n.Spec.ProviderID == m.Spec.ProviderID {
		return n
	}
	if m.Status.NodeRef == nil {
		return nil
	}
	return b.nodes[m.Status.NodeRef.Name]
}

// measured returns a budget with its present numbers.
func (b *MemBackend) measured(budget *PodDisruptionBudget, now time.Time) *PodDisruptionBudget {
	var pods []*Pod
	for _, p := range b.inSpace[budget.Namespace] { // their order does not matter: they are counted
		pods = append(pods, p)
	}
	c := *budget
	c.Status, _ = budget.Measure(pods, nil, now) // it was checked when it was put
	return &c
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
