// Package cvo takes a cluster from one release to the next, as OpenShift's
// cluster version operator does: it resolves what the administrator asks for to
// a release, accepts it when it is genuine and nothing speaks against it,
// applies its manifests runlevel by runlevel, waits for the operators, keeps the
// history, and says at every moment what it waits for.
//
// [Step] decides, and is a pure function. [Runner] drives it: it observes a
// cluster through a [Backend], saves what is decided, and applies it. A
// [MemBackend] is clusters in memory, to try that on.
//
// The parts of the decision are functions of their own: [Validate] and [Desire]
// for what is asked for, [Preconditions] and [Judge] for what speaks against
// it, [Gate] for the report of an operator, [Summarize] for errors, [Record] and
// [Prune] for the history, [Offers] for the lists of updates, [Explain] for what
// keeps a release as a tree. A [Fetcher] retrieves releases for a Backend, and
// asks a [Verifier] about them. The order of manifests is that of package
// payload, the update graph that of package graph, and nodes are for package
// rollout.
//
// Where documents and the reference system differ, and where both are not
// followed, docs/compatibility.md says so.
package cvo
