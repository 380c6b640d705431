// Package cluster is one cluster in memory, on which several engines act: their
// MemBackends are views of it, see [fairlead.MemCluster] and [Of].
//
// It has an API server (objects of any kind with UIDs, revisions, finalizers and
// graceful deletion, and the eviction API with its budgets), watches that lag, a
// scheduler that uses package placement, kubelets that start and end pods,
// controllers that replace deleted pods, and a cloud with instances. Time passes
// by its clock: an event happens when Run is called at or after its time.
//
// Faults are an option: [Through] puts [Faults] before any Backend (old
// observations, calls that fail, answers that are lost, conflicts, outages), and a
// [Watch] delivers events late, in another order and repeatedly. Everything is
// drawn from a seed, and equal calls have equal results. Clocks jump when they are
// set, and others may change anything through any view.
//
// It does not depend on any engine.
package cluster
