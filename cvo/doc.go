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
// for what is asked for, [Preconditions] and [Evaluate] for what speaks against
// it, [Gate] for the report of an operator, [Summarize] for errors, [Record] and
// [Prune] for the history, [Offers] for the lists of updates, [Explain] for what
// keeps a release as a tree. A [Fetcher] retrieves releases for a Backend, and
// asks a [Verifier] about them. The order of manifests is that of package
// payload, the update graph that of package graph, and nodes are for package
// rollout.
//
// Where documents and the reference system differ, and where both are not
// followed, docs/compatibility.md says so.
//
// # What you write
//
//	runner, err := cvo.NewRunner(backend, policy, &fairlead.RunnerOptions{Store: store})
//	go runner.Run(ctx) // makes passes when they are due
//	runner.Trigger("version") // something has changed: from your watches
//	d, err := runner.Reconcile(ctx, "version") // or one pass, in a reconciler of yours: requeue at d.Wake
//
// Your duties, as the owner of the Backend:
//
//  1. Observe fills in what you know of the World, and leaves out what you do
//     not: what is missing counts as unknown, never as good.
//  2. Apply is idempotent. A manifest that is there as it is wanted already is
//     a success; a Delete of what is gone, too.
//  3. What an API server refuses is returned as a *fairlead.RefusedError, with
//     its reason: it decides how soon the attempt is repeated, and what people
//     are told. See Refuse.
//  4. A Retrieve begins to fetch a release and returns; what came of it is
//     seen in World.Retrieved, and survives no restart.
//  5. Trigger the cluster when its ClusterVersion, an operator or a retrieval
//     has changed. A lost trigger costs an interval, no more.
//  6. Two runners may work on one Store; only the one that saves acts.
package cvo
