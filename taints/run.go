package taints

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/loop"
)

// Backend is the cluster, as the engine needs it. Its methods may be called
// from several goroutines, for different nodes. With Policy.Lifecycle it must be
// a [ZoneBackend]. It may be a [BatchBackend].
type Backend interface {
	// Observe returns the world of a node, see World. The runner owns it, but not
	// what its lists hold.
	Observe(ctx context.Context, node string) (*World, error)

	// Apply carries out one action, see Action. The node is that which it was
	// decided for, or AllZones.
	Apply(ctx context.Context, node string, action Action) error
}

// ZoneBackend is a Backend that sees all nodes at once.
type ZoneBackend interface {
	Backend

	// ObserveZones returns all nodes. The runner owns it, but not what its list
	// holds.
	ObserveZones(ctx context.Context) (*Fleet, error)
}

// BatchBackend is a Backend that carries out many actions at once.
type BatchBackend interface {
	Backend

	// ApplyAll carries out all actions of one decision, in any order; Apply is not
	// called then. It returns an error for each action, in their order, or nil if
	// there was none.
	ApplyAll(ctx context.Context, node string, actions []Action) []error
}

// AllZones is the name under which a Runner decides for all zones together. No
// node has it.
const AllZones = "*"

// Runner evicts pods from nodes: it drives [Step], and [ZoneStep] if
// Policy.Lifecycle is set, as [fairlead.RunnerOptions] says. Objects are named by
// their node.
//
// It has one timer for each node with a deadline ahead and none for a pod: which
// pods are due is found out when the first of the node is. Hence a pod that waits
// takes no memory.
type Runner struct {
	loop    *loop.Runner[State, *World, Action]
	zones   *loop.Runner[ZoneState, *Fleet, Action] // nil without Policy.Lifecycle
	backend Backend
	clock   fairlead.Clock

	mu     sync.Mutex
	failed map[string][]Failure // by node
	heard  map[string]report    // by node, with Policy.Lifecycle alone
}

// report is what was last seen of a node.
type report struct {
	heartbeat time.Time // in the node's time
	seen      time.Time // when the heartbeat was seen first, in ours
	ready     string    // key of the taint that its condition Ready calls for
}

// NewRunner returns a Runner. Nil policy and options mean the zero ones. The
// error is that of Policy.Check, or says that the backend cannot do what the
// policy asks for.
func NewRunner(backend Backend, policy *Policy, opts *fairlead.RunnerOptions) (*Runner, error) {
	if err := policy.Check(); err != nil {
		return nil, err
	}
	var o fairlead.RunnerOptions
	if opts != nil {
		o = *opts
	}
	if o.Store == nil {
		o.Store = new(fairlead.MemStore)
	}
	if o.Clock == nil {
		o.Clock = fairlead.SystemClock{}
	}
	r := &Runner{backend: backend, clock: o.Clock, failed: make(map[string][]Failure), heard: make(map[string]report)}
	nodes := loop.Engine[State, *World, Action]{
		Name:    "taints",
		Version: StateVersion,
		Upgrade: upgradeState,
		Step: func(state State, w *World, now time.Time) loop.Decision[State, Action] {
			return loop.Decision[State, Action](Step(state, w, now, policy))
		},
		Observe: r.observe,
		Apply:   r.apply,
		Done:    func(s State) bool { return s.isZero() },
	}
	batch, batches := backend.(BatchBackend)
	if batches {
		nodes.ApplyAll = r.applyAll(batch)
	}
	r.loop = loop.New(nodes, &o)
	if policy == nil || policy.Lifecycle == nil {
		return r, nil
	}
	all, ok := backend.(ZoneBackend)
	if !ok {
		return nil, errors.New("taints: the policy has a lifecycle, and the backend does not see all zones: give it the method ObserveZones, or leave the lifecycle out")
	}
	zones := loop.Engine[ZoneState, *Fleet, Action]{
		Name:    "taintzones",
		Version: StateVersion,
		Upgrade: upgradeZones,
		Step: func(state ZoneState, f *Fleet, now time.Time) loop.Decision[ZoneState, Action] {
			return loop.Decision[ZoneState, Action](ZoneStep(state, f, now, policy))
		},
		Observe: func(ctx context.Context, _ string) (*Fleet, error) { return r.observeZones(ctx, all) },
		Apply:   r.apply,
	}
	if batches {
		zones.ApplyAll = r.applyAll(batch)
	}
	r.zones = loop.New(zones, &o)
	return r, nil
}

// Run evicts pods until ctx ends; then it returns nil. Nodes get their first
// pass when they have state in the Store, are nudged, or with Policy.Lifecycle
// when they are seen. It returns an error when the states cannot be listed, or
// the Clock cannot be waited on.
func (r *Runner) Run(ctx context.Context) error {
	if r.zones == nil {
		return r.loop.Run(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.zones.Nudge(AllZones)
	var zones error
	var both sync.WaitGroup
	both.Go(func() {
		defer cancel()
		zones = r.zones.Run(ctx)
	})
	nodes := r.loop.Run(ctx)
	cancel()
	both.Wait()
	return errors.Join(nodes, zones)
}

// Nudge says that a node, or a pod on it, or a budget of its pods, has changed,
// come or gone. All zones are looked at then if the node has come, gone, or
// changed its readiness; other changes that matter to them, such as of labels,
// are told by the name AllZones. It never blocks.
func (r *Runner) Nudge(node string) {
	switch {
	case node != AllZones:
		r.loop.Nudge(node)
	case r.zones != nil:
		r.zones.Nudge(AllZones)
	}
}

// Reconcile is one pass over a node, now. It returns the decision that was
// saved, and the errors of all actions that failed, joined.
func (r *Runner) Reconcile(ctx context.Context, node string) (Decision, error) {
	d, err := r.loop.Reconcile(ctx, node)
	return Decision(d), err
}

// Preview returns what a pass over a node would decide now. It saves and applies
// nothing.
func (r *Runner) Preview(ctx context.Context, node string) (Decision, error) {
	d, err := r.loop.Preview(ctx, node)
	return Decision(d), err
}

// ReconcileZones is one pass over all zones, now. Without Policy.Lifecycle it
// does nothing.
func (r *Runner) ReconcileZones(ctx context.Context) (ZoneDecision, error) {
	if r.zones == nil {
		return ZoneDecision{}, nil
	}
	d, err := r.zones.Reconcile(ctx, AllZones)
	return ZoneDecision(d), err
}

// observe adds to what the backend sees what was decided for all zones, since
// when the node is silent, and what the last attempts failed with.
func (r *Runner) observe(ctx context.Context, node string) (*World, error) {
	w, err := r.backend.Observe(ctx, node)
	if err != nil {
		return nil, err
	}
	w.Name = node
	if r.zones != nil {
		zones, err := r.zones.State(ctx, AllZones)
		if err != nil {
			return nil, err
		}
		w.Zones = zones.Outlook
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w.Failures = slices.Clone(r.failed[node])
	if r.zones != nil {
		w.Heard = r.hear(w)
	}
	return w, nil
}

// hear returns when the last heartbeat of a node was seen first. It asks for a
// look at all zones if the node has come, gone or changed its readiness.
// Runner.mu is held.
func (r *Runner) hear(w *World) time.Time {
	last, known := r.heard[w.Name]
	if w.Node == nil {
		if known {
			delete(r.heard, w.Name)
			r.zones.Nudge(AllZones)
		}
		return time.Time{}
	}
	if h := w.Heartbeat(); !known || !h.Equal(last.heartbeat) {
		last.heartbeat, last.seen = h, r.clock.Now().Round(0).UTC()
	}
	ready := readyTaint(w.ready())
	if !known || ready != last.ready {
		r.zones.Nudge(AllZones)
	}
	last.ready = ready
	r.heard[w.Name] = last
	return last.seen
}

// observeZones asks for a pass over each node that is seen for the first time.
func (r *Runner) observeZones(ctx context.Context, all ZoneBackend) (*Fleet, error) {
	f, err := all.ObserveZones(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range f.Nodes {
		if _, known := r.heard[f.Nodes[i].Name]; !known {
			r.loop.Nudge(f.Nodes[i].Name)
		}
	}
	f.Failures = slices.Clone(r.failed[AllZones])
	return f, nil
}

// apply remembers what an action failed with, for the Blocks of later passes.
func (r *Runner) apply(ctx context.Context, node string, action Action) error {
	err := r.backend.Apply(ctx, node, action)
	r.remember(node, action, err)
	return err
}

// changed asks for another look at what an action has changed of a node.
func (r *Runner) changed(action Action) {
	switch a := action.(type) {
	case SetConditions:
		r.loop.Nudge(a.Node)
	case EditTaints:
		r.loop.Nudge(a.Node)
	}
}

// applyAll is apply for many.
func (r *Runner) applyAll(batch BatchBackend) func(context.Context, string, []Action) error {
	return func(ctx context.Context, node string, actions []Action) error {
		errs := batch.ApplyAll(ctx, node, actions)
		for i, a := range actions {
			var err error
			if i < len(errs) {
				err = errs[i]
			}
			r.remember(node, a, err)
		}
		return errors.Join(errs...)
	}
}

func (r *Runner) remember(node string, action Action, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := Key(action)
	failed := slices.DeleteFunc(r.failed[node], func(f Failure) bool { return f.Key == key })
	if err != nil {
		failed = append(failed, Failure{key, err.Error()})
	}
	if len(failed) > maxFailures {
		failed = failed[1:]
	}
	r.failed[node] = failed
	if len(failed) == 0 {
		delete(r.failed, node)
	}
	if err == nil {
		r.changed(action)
	}
}

// maxFailures is how many failures are remembered of a node.
const maxFailures = 100
