// Package cluster is one cluster in memory, on which several engines act: their
// MemBackends are views of it, see [fairlead.MemCluster] and [Of].
//
// It has an API server (objects of any kind with UIDs, revisions, finalizers and
// graceful deletion, and the eviction API with its budgets), watches that lag, a
// scheduler with room as package placement judges it, agents of nodes that start
// and end pods, controllers that replace pods which are gone, and a cloud with
// instances. Time passes by its clock: whatever takes time has happened when Run is
// called at or after its instant.
//
// What goes wrong is an option: [Through] puts [Faults] before any Backend (old
// observations, calls that fail, answers that are lost, conflicts, outages), and a
// [Watch] reports events late, in another order and again. Everything is drawn from
// a seed, and the same calls come to the same each time. Clocks jump when they are
// set, and others change what they like through any view.
//
// It knows no engine.
package cluster
