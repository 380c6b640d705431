package fairlead

import "sync"

// MemCluster is one cluster in memory for several engines. Each engine's MemBackend is
// a view of a cluster: of its own, or of the one in its field Cluster. Engines that
// share one act on the same nodes, pods and budgets:
//
//	all := &fairlead.MemCluster{Clock: clock}
//	machines := &lifecycle.MemBackend{Cluster: all}
//	evictions := &eviction.MemBackend{Cluster: all}
//
// Pods run and end, controllers replace those that are gone, a scheduler places them
// where they fit, and nodes stop reporting when their instances are gone. The zero
// value is an empty cluster. It may be used from several goroutines.
type MemCluster struct {
	// Clock tells the time of all views; their own clocks are not used. Nil means
	// [SystemClock].
	Clock Clock

	mu    sync.Mutex
	parts map[any]any
}

// Part returns what the cluster keeps under a key. The first call for a key creates it
// with make. Part is for those who write a MemBackend; keys are compared like those of
// a context.
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
