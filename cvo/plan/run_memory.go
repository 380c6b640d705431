package plan

import (
	"context"
	"fmt"
	"sync"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/cluster"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// MemBackend is a Backend in memory: a cluster whose release, pools and nodes are those
// that other engines act on. Use it to test an embedding of the engine, or to try out a
// plan. Its methods may be called from several goroutines.
type MemBackend struct {
	// Cluster is the cluster that this is a view of: it holds nodes, pods, budgets, pools
	// (of cvo/rollout) and requests for nodes (of lifecycle/drain). It must not be nil.
	Cluster *fairlead.MemCluster
	// Releases holds the ClusterVersion, and the reports of operators. It must not be nil.
	Releases *cvo.MemBackend
	// Show adds to what is observed what the backend does not know: moves, risks, gates,
	// configurations, members of etcd and operators, which are otherwise unknown. Nil adds
	// nothing.
	Show func(*Situation)
	// Others carries out what the backend cannot: Acknowledged and Approve. Nil refuses
	// them.
	Others func(Action) error
	// Changed is called for each action that was carried out, in order.
	Changed func(action Action)

	mu     sync.Mutex
	goal   Goal
	paused bool
}

// Ask sets the goal of the cluster, and whether the plan is paused.
func (b *MemBackend) Ask(goal Goal, paused bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.goal, b.paused = goal, paused
}

// Observe implements Backend. The name is that of a cluster in Releases.
func (b *MemBackend) Observe(ctx context.Context, name string) (*World, error) {
	seen, err := b.Releases.Observe(ctx, name)
	if err != nil {
		return nil, err
	}
	all := cluster.Of(b.Cluster, nil, nil)
	b.mu.Lock()
	w := &World{Goal: b.goal, Paused: b.paused}
	b.mu.Unlock()
	pools := (&rollout.MemBackend{Cluster: b.Cluster}).List()
	all.Lock()
	defer all.Unlock()
	all.Run()
	w.Situation = Situation{
		At: all.Now(), Cluster: seen.Cluster, ClusterOperators: seen.Operators, Pools: pools,
		Nodes: cluster.List(all, cluster.Nodes()), Pods: cluster.List(all, cluster.Pods()), Budgets: all.Measured(),
	}
	if b.Show != nil {
		b.Show(&w.Situation)
	}
	return w, nil
}

// Apply implements Backend.
func (b *MemBackend) Apply(ctx context.Context, name string, action Action) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := b.apply(name, action)
	if err == nil && b.Changed != nil {
		b.Changed(action)
	}
	return err
}

func (b *MemBackend) apply(name string, action Action) error {
	switch a := action.(type) {
	case SetRelease:
		return b.Releases.Ask(name, a.Release)
	case SetPaused:
		return (&rollout.MemBackend{Cluster: b.Cluster}).Edit(a.Pool, func(w *rollout.World) error {
			w.Pool.Spec.Paused = a.Paused
			return nil
		})
	case DrainNode:
		requests := &drain.MemBackend{Cluster: b.Cluster}
		for _, r := range requests.Requests(a.Node) {
			if r.Name == subject {
				return nil
			}
		}
		requests.PutRequest(a.Node, drain.Request{Name: subject, Requester: subject, Purpose: drain.Maintenance})
		return nil
	}
	if b.Others == nil {
		return fmt.Errorf("%s: nothing carries this out; set Others", action)
	}
	return b.Others(action)
}
