package fairlead

import "sync"

// MemCluster is one cluster in memory for several engines. Each engine's MemBackend
// is a view of a cluster: of one of its own, or of the one in its field Cluster.
// Give several the same one, and they act on the same nodes, pods and budgets:
//
//	all := &fairlead.MemCluster{Clock: clock}
//	machines := &lifecycle.MemBackend{Cluster: all}
//	evictions := &eviction.MemBackend{Cluster: all}
//
// Pods run and end, controllers replace those that are gone, a scheduler places them
// where they fit, nodes of instances that are gone fall silent. The zero value is an
// empty cluster. It may be used from several goroutines.
type MemCluster struct {
	// Clock tells the time of all views; theirs do not count. Nil means [SystemClock].
	Clock Clock

	mu    sync.Mutex
	parts map[any]any
}

// Part returns what is kept in the cluster under a key, which make makes when it is
// asked for first. It is for those who write a MemBackend; keys are compared as those
// of a context are.
func (c *MemCluster) Part(key any, make func() any) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.parts == nil {
		c.parts = map[any]any{}
	}
	p, ok := c.parts[key]
	if !ok {
		p = make()
		c.parts[key] = p
	}
	return p
}
