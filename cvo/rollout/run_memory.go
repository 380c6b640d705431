package rollout

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/cluster"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// MemBackend is a Backend in memory: pools whose nodes drain and change in the time
// that DrainTime and UpdateTime say. Use it to test an embedding of the engine, or
// to try out what would happen to a pool. The zero value has no pools. Its methods
// may be called from several goroutines.
type MemBackend struct {
	// Clock tells the time. Nil means [fairlead.SystemClock].
	Clock fairlead.Clock
	// DrainTime says how long it takes to drain a node. Nil means no time; with
	// Cluster, the engine drains it, see World.Pods.
	DrainTime func(node string) time.Duration
	// UpdateTime says how long it takes to change and reboot a node, or why that
	// fails. Nil means no time.
	UpdateTime func(node, configuration string) (time.Duration, error)
	// Changed is called for each action that changed something, in order. It
	// must not call the backend's methods.
	Changed func(pool string, action Action)

	// Cluster is the cluster that this is a view of. If set, its Clock is used, and
	// nodes that a pool's selector matches are nodes of the pool. Nil means a
	// cluster of its own. See [fairlead.MemCluster].
	Cluster *fairlead.MemCluster

	once    sync.Once
	all     *cluster.Cluster
	pending []pending
}

// memPool is a stored pool: its nodes by name, because they belong to the cluster.
type memPool struct {
	fairlead.ObjectMeta
	world World
	nodes []string
}

func pools() cluster.Kind[memPool] {
	return cluster.Kind[memPool]{Name: "MachineConfigPool", Meta: func(p *memPool) *fairlead.ObjectMeta { return &p.ObjectMeta }}
}

// pending is a change that a node will make by itself.
type pending struct {
	pool, node string
	at         time.Time
	drain      string // the request that is fulfilled; "" for an update
	err        error  // the update fails
}

// lock takes the lock and advances everything to the present.
func (b *MemBackend) lock() {
	b.once.Do(func() { b.all = cluster.Of(b.Cluster, b.Clock, &cluster.Options{Still: true}) })
	b.all.Lock()
	b.all.Run()
	b.settle()
}

// World returns what is in a pool now. The caller owns it.
func (b *MemBackend) World(pool string) *World {
	b.lock()
	defer b.all.Unlock()
	return b.world(pool)
}

// List returns the pools, by name. The caller owns them.
func (b *MemBackend) List() []Pool {
	b.lock()
	defer b.all.Unlock()
	var all []Pool
	for _, p := range cluster.Refs(b.all, pools()) {
		all = append(all, clone(&p.world).Pool)
	}
	return all
}

// world returns a copy of a pool with its nodes.
func (b *MemBackend) world(pool string) *World {
	p := cluster.Ref(b.all, pools(), pool)
	if p == nil {
		return &World{Pool: Pool{ObjectMeta: ObjectMeta{Name: pool}}}
	}
	w := clone(&p.world)
	for _, name := range b.names(p) {
		if n := b.node(name); n != nil {
			w.Nodes = append(w.Nodes, *n)
		}
	}
	w.Nodes = cloneNodes(w.Nodes)
	return w
}

func (b *MemBackend) node(name string) *Node { return cluster.Ref(b.all, cluster.Nodes(), name) }

// names returns the names of a pool's nodes: those that were added to it, and those
// of the cluster that its selector matches.
func (b *MemBackend) names(p *memPool) []string {
	if b.Cluster == nil || p.world.Pool.Spec.NodeSelector == nil {
		return p.nodes
	}
	var all []Pool
	for _, o := range cluster.Refs(b.all, pools()) {
		all = append(all, o.world.Pool)
	}
	names := slices.Clone(p.nodes)
	for _, n := range cluster.Refs(b.all, cluster.Nodes()) {
		of, err := PrimaryPool(all, n)
		if err == nil && of != nil && of.Name == p.Name && !slices.Contains(names, n.Name) {
			names = append(names, n.Name)
		}
	}
	return names
}

// Edit changes a pool and its nodes as users and other controllers would: f may
// change the world that it is given in any way. Changed objects get a new revision;
// a node that f removes from the world is deleted. If f returns an error, Edit
// returns it and changes nothing.
func (b *MemBackend) Edit(pool string, f func(*World) error) error {
	b.lock()
	defer b.all.Unlock()
	old, next := b.world(pool), b.world(pool)
	if err := f(next); err != nil {
		return err
	}
	next.Pool.Name = pool
	var names []string
	for i := range next.Nodes {
		n := &next.Nodes[i]
		names = append(names, n.Name)
		if was := find(old, n.Name); changed(was, n) || n.ResourceVersion == "" {
			c := cloneNodes(next.Nodes[i : i+1])[0]
			cluster.Put(b.all, cluster.Nodes(), &c)
		}
	}
	for i := range old.Nodes {
		if name := old.Nodes[i].Name; !slices.Contains(names, name) {
			b.all.RemoveNode(name)
		}
	}
	next.Nodes = nil
	b.keep(pool, next, names, changed(&old.Pool, &next.Pool) || next.Pool.ResourceVersion == "")
	return nil
}

// keep stores a pool, with a new revision if it has changed.
func (b *MemBackend) keep(pool string, w *World, nodes []string, changed bool) {
	p := cluster.Put(b.all, pools(), &memPool{ObjectMeta: fairlead.ObjectMeta{Name: pool}, world: *clone(w), nodes: nodes})
	if changed {
		p.world.Pool.ResourceVersion = p.ResourceVersion
	}
}

// changed reports whether two objects differ.
func changed(old, is any) bool {
	x, _ := json.Marshal(old)
	y, _ := json.Marshal(is)
	return string(x) != string(y)
}

func find(w *World, node string) *Node {
	i := slices.IndexFunc(w.Nodes, func(n Node) bool { return n.Name == node })
	if i < 0 {
		return nil
	}
	return &w.Nodes[i]
}

// Next returns when the next node is drained or changed, and false if none will be.
func (b *MemBackend) Next() (at time.Time, ok bool) {
	b.lock()
	defer b.all.Unlock()
	for i, p := range b.pending {
		if i == 0 || p.at.Before(at) {
			at, ok = p.at, true
		}
	}
	if t := b.all.Next(); !t.IsZero() && (!ok || t.Before(at)) {
		return t, true
	}
	return at, ok
}

// settle carries out changes that are due.
func (b *MemBackend) settle() {
	now := b.all.Now()
	slices.SortStableFunc(b.pending, func(x, y pending) int { return x.at.Compare(y.at) })
	for len(b.pending) > 0 && !b.pending[0].at.After(now) {
		p := b.pending[0]
		b.pending = b.pending[1:]
		n := b.node(p.node)
		if n == nil {
			continue
		}
		c := cloneNodes([]Node{*n})[0]
		b.happen(p, &c)
		cluster.Put(b.all, cluster.Nodes(), &c)
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
		b.all.Boot(n.Name)
		a[AnnotationState] = StateDone
		a[AnnotationCurrent] = a[AnnotationDesired]
		delete(a, AnnotationReason)
		delete(a, AnnotationCurrentImage)
		if image, ok := a[AnnotationDesiredImage]; ok {
			a[AnnotationCurrentImage] = image
		}
	}
}

// Observe implements Backend. The control plane and the arbiters are peers.
func (b *MemBackend) Observe(_ context.Context, pool string) (*World, error) {
	b.lock()
	defer b.all.Unlock()
	w := b.world(pool)
	if b.drains() {
		w.Pods = b.podsOf(w.Nodes)
	}
	there := func(name string) bool { return cluster.Ref(b.all, pools(), name) != nil }
	switch {
	case pool == PoolMaster && there(PoolArbiter):
		w.Peers = b.world(PoolArbiter).Nodes
	case pool == PoolArbiter && there(PoolMaster):
		masters := b.world(PoolMaster)
		w.Peers, w.PeerPool = masters.Nodes, &masters.Pool
	}
	return w, nil
}

// Apply implements Backend.
func (b *MemBackend) Apply(_ context.Context, pool string, action Action) error {
	b.lock()
	defer b.all.Unlock()
	w := b.world(pool)
	switch a := action.(type) {
	case Report:
		return b.report(pool, w, a)
	case drain.Evict, drain.DeletePod:
		return b.remove(pool, action)
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
	cluster.Put(b.all, cluster.Nodes(), &next)
	b.follow(pool, &next, action)
	b.tell(pool, action)
	b.settle()
	return nil
}

func (b *MemBackend) report(pool string, w *World, r Report) error {
	if w.Pool.Status.equal(&r.Status) {
		return nil
	}
	if w.Pool.ResourceVersion != r.Revision {
		return conflict(r, w.Pool.ResourceVersion)
	}
	w.Pool.Status, w.Nodes = r.Status, nil
	var nodes []string
	if p := cluster.Ref(b.all, pools(), pool); p != nil {
		nodes = p.nodes
	}
	b.keep(pool, w, nodes, true)
	b.tell(pool, r)
	return nil
}

func (b *MemBackend) tell(pool string, action Action) {
	if b.Changed != nil {
		b.Changed(pool, action)
	}
}

func conflict(a Action, revision string) error {
	return fmt.Errorf("%s: it has changed since, and is at revision %s now", a, revision)
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
	case Drained:
		return a.Node, a.Revision
	case Update:
		return a.Node, a.Revision
	case Uncordon:
		return a.Node, a.Revision
	}
	return "", ""
}

// change applies an action to a node.
func change(n *Node, a Action) {
	switch a := a.(type) {
	case Begin:
		n.Annotations[AnnotationDesired] = a.Configuration.Name
		delete(n.Annotations, AnnotationDesiredImage)
		if a.Configuration.Image != "" {
			n.Annotations[AnnotationDesiredImage] = a.Configuration.Image
		}
		if Stuck(n) {
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
	case Drained:
		n.Annotations[AnnotationLastDrain] = a.Wish
	case Update:
		n.Annotations[AnnotationState] = StateWorking
	case Uncordon:
		n.Spec.Unschedulable = false
		n.Annotations[AnnotationDesiredDrain], n.Annotations[AnnotationLastDrain] = a.Wish, a.Wish
		n.Spec.Taints = mark(n, false)
	}
}

// mark returns the taints of a node with or without that of waiting nodes.
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

// follow makes a node do what an action requested.
func (b *MemBackend) follow(pool string, n *Node, a Action) {
	p := pending{pool: pool, node: n.Name, at: b.all.Now()}
	switch a := a.(type) {
	case Drain:
		if b.drains() {
			return
		}
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
