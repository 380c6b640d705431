package rollout

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
)

// MemBackend is a Backend in memory: pools whose nodes drain and change in the
// time that DrainTime and UpdateTime say. Test the embedding of the engine with
// it, or try out what would become of a pool. The zero value has no pools. Its
// methods may be called from several goroutines.
type MemBackend struct {
	// Clock tells the time. Nil means [fairlead.SystemClock].
	Clock fairlead.Clock
	// DrainTime says how long it takes to drain a node. Nil means no time.
	DrainTime func(node string) time.Duration
	// UpdateTime says how long it takes to change and reboot a node, or why that
	// fails. Nil means no time.
	UpdateTime func(node, configuration string) (time.Duration, error)
	// Changed is told of each action that has changed something, in order. It
	// must not call the backend's methods.
	Changed func(pool string, action Action)

	mu       sync.Mutex
	pools    map[string]*World
	pending  []pending
	revision int
}

// pending is a change that a node will make by itself.
type pending struct {
	pool, node string
	at         time.Time
	drain      string // the wish that is met; "" for an update
	err        error  // the update fails
}

// World returns what is in a pool now. The caller owns it.
func (b *MemBackend) World(pool string) *World {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settle()
	return clone(b.world(pool))
}

func (b *MemBackend) world(pool string) *World {
	w := b.pools[pool]
	if w == nil {
		if b.pools == nil {
			b.pools = make(map[string]*World)
		}
		w = &World{Pool: Pool{ObjectMeta: ObjectMeta{Name: pool}}}
		b.pools[pool] = w
	}
	return w
}

// Edit changes a pool and its nodes as users and other controllers would: f may
// do what it likes to the world it is given. What it has changed gets a new
// revision. An error of f is returned, and then nothing has changed.
func (b *MemBackend) Edit(pool string, f func(*World) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settle()
	old := b.world(pool)
	next := clone(old)
	if err := f(next); err != nil {
		return err
	}
	next.Pool.Name = pool
	b.touch(&next.Pool.ResourceVersion, &old.Pool, &next.Pool)
	for i := range next.Nodes {
		n := &next.Nodes[i]
		was := find(old, n.Name)
		b.touch(&n.ResourceVersion, was, n)
	}
	b.pools[pool] = next
	return nil
}

// touch gives a changed object a new revision.
func (b *MemBackend) touch(revision *string, old, changed any) {
	x, _ := json.Marshal(old)
	y, _ := json.Marshal(changed)
	if string(x) != string(y) || *revision == "" {
		b.revision++
		*revision = strconv.Itoa(b.revision)
	}
}

func find(w *World, node string) *Node {
	i := slices.IndexFunc(w.Nodes, func(n Node) bool { return n.Name == node })
	if i < 0 {
		return nil
	}
	return &w.Nodes[i]
}

// Next returns when the next node is drained or changed, and false if none will
// be.
func (b *MemBackend) Next() (at time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, p := range b.pending {
		if i == 0 || p.at.Before(at) {
			at, ok = p.at, true
		}
	}
	return at, ok
}

func (b *MemBackend) now() time.Time {
	if b.Clock == nil {
		return fairlead.SystemClock{}.Now()
	}
	return b.Clock.Now()
}

// settle lets happen what is due.
func (b *MemBackend) settle() {
	now := b.now()
	slices.SortStableFunc(b.pending, func(x, y pending) int { return x.at.Compare(y.at) })
	for len(b.pending) > 0 && !b.pending[0].at.After(now) {
		p := b.pending[0]
		b.pending = b.pending[1:]
		if n := find(b.world(p.pool), p.node); n != nil {
			b.happen(p, n)
			b.bump(n)
		}
	}
}

func (b *MemBackend) happen(p pending, n *Node) {
	a := n.Annotations
	switch {
	case p.drain != "":
		if a[AnnotationDesiredDrain] == p.drain {
			a[AnnotationLastDrain] = p.drain
		}
	case a[AnnotationState] != StateWorking:
	case p.err != nil:
		a[AnnotationState], a[AnnotationReason] = StateDegraded, p.err.Error()
	default:
		a[AnnotationState] = StateDone
		a[AnnotationCurrent] = a[AnnotationDesired]
		delete(a, AnnotationReason)
		delete(a, AnnotationCurrentImage)
		if image, ok := a[AnnotationDesiredImage]; ok {
			a[AnnotationCurrentImage] = image
		}
	}
}

func (b *MemBackend) bump(n *Node) {
	b.revision++
	n.ResourceVersion = strconv.Itoa(b.revision)
}

// Observe implements Backend. The control plane and the arbiters are peers.
func (b *MemBackend) Observe(_ context.Context, pool string) (*World, error) {
	w := b.World(pool)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch arbiters, masters := b.pools[PoolArbiter], b.pools[PoolMaster]; {
	case pool == PoolMaster && arbiters != nil:
		w.Peers = cloneNodes(arbiters.Nodes)
	case pool == PoolArbiter && masters != nil:
		p := clonePool(&masters.Pool)
		w.Peers, w.PeerPool = cloneNodes(masters.Nodes), &p
	}
	return w, nil
}

// Apply implements Backend.
func (b *MemBackend) Apply(_ context.Context, pool string, action Action) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settle()
	w := b.world(pool)
	if r, ok := action.(Report); ok {
		if w.Pool.Status.equal(&r.Status) {
			return nil
		}
		if w.Pool.ResourceVersion != r.Revision {
			return conflict(action, w.Pool.ResourceVersion)
		}
		b.revision++
		w.Pool.Status, w.Pool.ResourceVersion = r.Status, strconv.Itoa(b.revision)
		b.tell(pool, action)
		return nil
	}
	name, revision := target(action)
	n := find(w, name)
	if n == nil {
		return fmt.Errorf("%s: there is no node %s in pool %s", action, name, pool)
	}
	next := *n
	next.ObjectMeta = cloneMeta(n.ObjectMeta)
	if next.Annotations == nil {
		next.Annotations = make(map[string]string)
	}
	change(&next, action)
	if maps.Equal(n.Annotations, next.Annotations) && n.Spec.Unschedulable == next.Spec.Unschedulable && tainted(n) == tainted(&next) {
		return nil
	}
	if n.ResourceVersion != revision {
		return conflict(action, n.ResourceVersion)
	}
	*n = next
	b.bump(n)
	b.follow(pool, n, action)
	b.tell(pool, action)
	b.settle()
	return nil
}

func (b *MemBackend) tell(pool string, action Action) {
	if b.Changed != nil {
		b.Changed(pool, action)
	}
}

func conflict(a Action, revision string) error {
	return fmt.Errorf("%s: it was changed since, and is at revision %s now", a, revision)
}

// target returns the node that an action is for, and its revision.
func target(a Action) (node, revision string) {
	switch a := a.(type) {
	case Begin:
		return a.Node, a.Revision
	case Mark:
		return a.Node, a.Revision
	case Cordon:
		return a.Node, a.Revision
	case Drain:
		return a.Node, a.Revision
	case Update:
		return a.Node, a.Revision
	case Uncordon:
		return a.Node, a.Revision
	}
	return "", ""
}

// change does to a node what an action wants.
func change(n *Node, a Action) {
	switch a := a.(type) {
	case Begin:
		n.Annotations[AnnotationDesired] = a.Configuration.Name
		delete(n.Annotations, AnnotationDesiredImage)
		if a.Configuration.Image != "" {
			n.Annotations[AnnotationDesiredImage] = a.Configuration.Image
		}
		if degraded(n) {
			n.Annotations[AnnotationState] = StateDone
			delete(n.Annotations, AnnotationReason)
		}
		n.Spec.Taints = mark(n, true)
	case Mark:
		n.Spec.Taints = mark(n, a.Waits)
	case Cordon:
		n.Spec.Unschedulable = true
	case Drain:
		n.Annotations[AnnotationDesiredDrain] = a.Wish
	case Update:
		n.Annotations[AnnotationState] = StateWorking
	case Uncordon:
		n.Spec.Unschedulable = false
		n.Annotations[AnnotationDesiredDrain], n.Annotations[AnnotationLastDrain] = a.Wish, a.Wish
		n.Spec.Taints = mark(n, false)
	}
}

// mark returns the taints of a node with that of those that wait, or without.
func mark(n *Node, waits bool) []fairlead.Taint {
	var taints []fairlead.Taint
	for _, t := range n.Spec.Taints {
		if t.Key != TaintUpdate {
			taints = append(taints, t)
		}
	}
	if waits {
		taints = append(taints, fairlead.Taint{Key: TaintUpdate, Effect: fairlead.PreferNoSchedule})
	}
	return taints
}

// follow lets a node do what an action has asked it for.
func (b *MemBackend) follow(pool string, n *Node, a Action) {
	p := pending{pool: pool, node: n.Name, at: b.now()}
	switch a := a.(type) {
	case Drain:
		p.drain = a.Wish
		if b.DrainTime != nil {
			p.at = p.at.Add(b.DrainTime(n.Name))
		}
	case Update:
		if b.UpdateTime != nil {
			d, err := b.UpdateTime(n.Name, n.Annotations[AnnotationDesired])
			p.at, p.err = p.at.Add(d), err
		}
	default:
		return
	}
	b.pending = append(b.pending, p)
}
