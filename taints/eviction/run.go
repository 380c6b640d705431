package eviction

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
)

// Backend is the cluster, as the engine needs it. Its methods may be called
// from several goroutines, for different nodes. With Policy.NodeLifecycle it must
// be a [ZoneBackend]. It may be a [BatchBackend].
type Backend interface {
	// Observe returns the world of a node, see World. The runner owns it, but not
	// the elements of its lists.
	Observe(ctx context.Context, node string) (*World, error)

	// Apply carries out one action, see Action. The node is the one that the
	// action was decided on for, or AllZones.
	Apply(ctx context.Context, node string, action Action) error
}

// ZoneBackend is a Backend that sees all nodes at once.
type ZoneBackend interface {
	Backend

	// ObserveZones returns all nodes. The runner owns the world, but not the
	// elements of its list.
	ObserveZones(ctx context.Context) (*ZoneWorld, error)
}

// BatchBackend is a Backend that carries out several actions at once.
type BatchBackend interface {
	Backend

	// ApplyAll carries out all actions of one decision, in any order; Apply is not
	// called then. It returns an error for each action, in their order, nil for
	// those that succeeded; or nil if all succeeded.
	ApplyAll(ctx context.Context, node string, actions []Action) []error
}

// AllZones is the name under which a Runner decides for all zones together. No
// node has it.
const AllZones = "*"

// Runner evicts pods from nodes: it drives [Step], and [ZoneStep] if
// Policy.NodeLifecycle is set, with the guarantees of [fairlead.RunnerOptions].
// Objects have the names of their nodes.
//
// It has one timer for each node with a future deadline and none for pods: which
// pods are due is computed at the first deadline of the node. Hence a waiting pod
// takes no memory.
type Runner struct {
	nodes   *fairlead.Runner[State, *World, Action]
	zones   *fairlead.Runner[ZoneState, *ZoneWorld, Action] // nil without Policy.NodeLifecycle
	backend Backend
	clock   fairlead.Clock

	mu    sync.Mutex
	heard map[string]report // by node, only with Policy.NodeLifecycle
}

// report is what was last seen of a node.
type report struct {
	heartbeat time.Time // by the node's clock
	seen      time.Time // when the heartbeat was first seen, by ours
	ready     string    // key of the taint that its condition Ready requires
}

// NewRunner returns a Runner. Nil policy and options mean the defaults. The error
// is that of Policy.Check, or says that the backend lacks a method that the policy
// requires.
func NewRunner(backend Backend, policy *Policy, options *fairlead.RunnerOptions) (*Runner, error) {
	if err := policy.Check(); err != nil {
		return nil, fmt.Errorf("eviction: the policy cannot be used: %w", err)
	}
	var o fairlead.RunnerOptions
	if options != nil {
		o = *options
	}
	if o.Store == nil {
		o.Store = new(fairlead.MemStore) // shared by both runners
	}
	if o.Clock == nil {
		o.Clock = fairlead.SystemClock{}
	}
	r := &Runner{backend: backend, clock: o.Clock, heard: make(map[string]report)}
	var err error
	nodes := nodeEngine(policy)
	nodes.Backend = batched(r.observe, r.apply, backend, r.changed)
	r.nodes, err = fairlead.NewRunner(nodes, &o)
	if err != nil || policy == nil || policy.NodeLifecycle == nil {
		return r, err
	}
	all, ok := backend.(ZoneBackend)
	if !ok {
		return nil, errors.New("eviction: the policy has nodeLifecycle, and the backend does not see all zones: give it the method ObserveZones, or leave nodeLifecycle out")
	}
	observe := func(ctx context.Context, _ string) (*ZoneWorld, error) { return r.observeZones(ctx, all) }
	zones := zoneEngine(policy)
	zones.Backend = batched(observe, r.apply, backend, r.changed)
	r.zones, err = fairlead.NewRunner(zones, &o)
	return r, err
}

// NewEngine returns the engine of nodes, for [fairlead.CheckEngine]. The Runner adds to its
// worlds what was decided for all zones, if Policy.NodeLifecycle is set.
func NewEngine(backend Backend, policy *Policy) (fairlead.Engine[State, *World, Action], error) {
	e := nodeEngine(policy)
	e.Backend = backend
	return e, policy.Check()
}

// NewZoneEngine returns the engine of all zones, for [fairlead.CheckEngine], which has its
// own backend.
func NewZoneEngine(policy *Policy) (fairlead.Engine[ZoneState, *ZoneWorld, Action], error) {
	return zoneEngine(policy), policy.Check()
}

func nodeEngine(policy *Policy) fairlead.Engine[State, *World, Action] {
	return fairlead.Engine[State, *World, Action]{
		Name: "taints", Version: StateVersion, Upgrade: upgrade,
		Step:     func(state State, w *World, now time.Time) Decision { return Step(state, w, now, policy) },
		Done:     State.IsZero,
		Outcomes: func(w *World, o []fairlead.Outcome) *World { w.Outcomes = o; return w },
	}
}

func zoneEngine(policy *Policy) fairlead.Engine[ZoneState, *ZoneWorld, Action] {
	return fairlead.Engine[ZoneState, *ZoneWorld, Action]{
		Name: "taintzones", Version: StateVersion, Upgrade: upgradeZones,
		Step: func(state ZoneState, w *ZoneWorld, now time.Time) ZoneDecision {
			return ZoneStep(state, w, now, policy)
		},
		Outcomes: func(w *ZoneWorld, o []fairlead.Outcome) *ZoneWorld { w.Outcomes = o; return w },
	}
}

// Run evicts pods until ctx ends; then it returns nil. Nodes get their first pass
// when they have state in the Store, are triggered, or, with Policy.NodeLifecycle,
// are seen. It returns an error if the states cannot be listed, or waiting on the
// Clock fails.
func (r *Runner) Run(ctx context.Context) error {
	if r.zones == nil {
		return r.nodes.Run(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.zones.Trigger(AllZones)
	var zones error
	var both sync.WaitGroup
	both.Go(func() {
		defer cancel()
		zones = r.zones.Run(ctx)
	})
	nodes := r.nodes.Run(ctx)
	cancel()
	both.Wait()
	return errors.Join(nodes, zones)
}

// Trigger says that a node, or a pod on it, or a budget of its pods, was created,
// changed or deleted. If the node was created or deleted, or its readiness
// changed, this also triggers a pass over all zones. For other changes that matter
// to zones, such as of labels, trigger the name AllZones. It never blocks.
func (r *Runner) Trigger(node string) {
	switch {
	case node != AllZones:
		r.nodes.Trigger(node)
	case r.zones != nil:
		r.zones.Trigger(AllZones)
	}
}

// Sweep is that of [fairlead.Runner], for nodes.
func (r *Runner) Sweep(ctx context.Context, exists func(node string) bool) (passes int, err error) {
	return r.nodes.Sweep(ctx, exists)
}

// Reconcile makes one pass over a node, now. It returns the decision that was
// saved, and the joined errors of all actions that failed. AllZones is not a node:
// for it the error is a *fairlead.FieldError.
func (r *Runner) Reconcile(ctx context.Context, node string) (Decision, error) {
	if err := noNode(node); err != nil {
		return Decision{}, err
	}
	return r.nodes.Reconcile(ctx, node)
}

// Preview returns what a pass over a node would decide now. It saves and applies
// nothing. It refuses AllZones as Reconcile does.
func (r *Runner) Preview(ctx context.Context, node string) (Decision, error) {
	if err := noNode(node); err != nil {
		return Decision{}, err
	}
	return r.nodes.Preview(ctx, node)
}

// noNode returns an error if a name is not that of a node.
func noNode(name string) error {
	if name != AllZones {
		return nil
	}
	return &fairlead.FieldError{Path: "node", Problem: "\"" + AllZones + "\" stands for all zones and is not a node; call ReconcileZones for a pass over them"}
}

// ReconcileZones makes one pass over all zones, now. Without Policy.NodeLifecycle
// it does nothing.
func (r *Runner) ReconcileZones(ctx context.Context) (ZoneDecision, error) {
	if r.zones == nil {
		return ZoneDecision{}, nil
	}
	return r.zones.Reconcile(ctx, AllZones)
}

// observe adds to the backend's view what was decided for all zones, and when the
// node was last heard.
func (r *Runner) observe(ctx context.Context, node string) (*World, error) {
	w, err := r.backend.Observe(ctx, node)
	if err != nil {
		return nil, err
	}
	w.Name = node
	if r.zones == nil {
		return w, nil
	}
	zones, err := r.zones.State(ctx, AllZones)
	if err != nil {
		return nil, err
	}
	w.Zones, w.Heard = zones.Disruption, r.hear(w)
	return w, nil
}

// hear returns when the last heartbeat of a node was first seen. It triggers a
// pass over all zones if the node was created or deleted or its readiness changed.
func (r *Runner) hear(w *World) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, known := r.heard[w.Name]
	if w.Node == nil {
		if known {
			delete(r.heard, w.Name)
			r.zones.Trigger(AllZones)
		}
		return time.Time{}
	}
	now := r.clock.Now().Round(0).UTC()
	if h := w.Heartbeat(); !known || !h.Equal(last.heartbeat) {
		last.heartbeat, last.seen = h, now
	}
	last.seen = fairlead.Past(last.seen, now)
	ready := readyTaint(w.Node)
	if !known || ready != last.ready {
		r.zones.Trigger(AllZones)
	}
	last.ready = ready
	r.heard[w.Name] = last
	return last.seen
}

// observeZones triggers a pass over each node that is seen for the first time.
func (r *Runner) observeZones(ctx context.Context, all ZoneBackend) (*ZoneWorld, error) {
	w, err := all.ObserveZones(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range w.Nodes {
		if _, known := r.heard[w.Nodes[i].Name]; !known {
			r.nodes.Trigger(w.Nodes[i].Name)
		}
	}
	return w, nil
}

// apply carries out an action.
func (r *Runner) apply(ctx context.Context, node string, action Action) error {
	err := r.backend.Apply(ctx, node, action)
	r.changed(action, err)
	return err
}

// changed triggers a pass over what an action has changed.
func (r *Runner) changed(action Action, err error) {
	if err != nil {
		return
	}
	switch a := action.(type) {
	case SetConditions:
		r.nodes.Trigger(a.Node)
	case EditTaints:
		r.nodes.Trigger(a.Node)
	}
}

// backendOf is a fairlead.Backend made of functions.
type backendOf[W any] struct {
	observe func(context.Context, string) (W, error)
	apply   func(context.Context, string, Action) error
}

func (b backendOf[W]) Observe(ctx context.Context, name string) (W, error) {
	return b.observe(ctx, name)
}

func (b backendOf[W]) Apply(ctx context.Context, name string, a Action) error {
	return b.apply(ctx, name, a)
}

// batchOf is a backendOf that carries out several actions at once.
type batchOf[W any] struct {
	backendOf[W]
	all     BatchBackend
	applied func(Action, error)
}

func (b batchOf[W]) ApplyAll(ctx context.Context, name string, actions []Action) []error {
	errs := b.all.ApplyAll(ctx, name, actions)
	for i, a := range actions {
		var err error
		if i < len(errs) {
			err = errs[i]
		}
		b.applied(a, err)
	}
	return errs
}

// batched returns a backend that carries out several actions at once if the given
// one does.
func batched[W any](observe func(context.Context, string) (W, error), apply func(context.Context, string, Action) error,
	backend Backend, applied func(Action, error)) fairlead.Backend[W, Action] {
	b := backendOf[W]{observe, apply}
	if backend == nil { // which NewRunner refuses
		return nil
	}
	if all, ok := backend.(BatchBackend); ok {
		return batchOf[W]{b, all, applied}
	}
	return b
}
