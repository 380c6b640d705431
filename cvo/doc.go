// Package cvo updates a cluster from one release to the next, as OpenShift's cluster
// version operator does. It resolves the administrator's request to a release, accepts
// the release if it is genuine and all preconditions hold, applies its manifests
// runlevel by runlevel, waits for the operators, keeps the history, and reports at
// every moment what it waits for.
//
// [Step] decides, and is a pure function. A [Runner] drives it: it observes a cluster
// through a [Backend], saves each decision, and applies it. [MemBackend] simulates
// clusters in memory.
//
// The parts of a decision are separate functions: [Validate] and [Desire] for the
// request, [Preconditions] and [Evaluate] for reasons against a release, [Gate] for
// the report of an operator, [Summarize] for errors, [Record] and [Prune] for the
// history, [Offers] for the lists of updates, and [Explain] for a tree of what delays
// a release. A [Fetcher] retrieves releases for a Backend and has a [Verifier] check
// them. Package payload orders the manifests, package graph reads the update graph,
// and package rollout updates nodes.
//
// docs/compatibility/cvo.md lists where the documents and the reference system differ,
// and where this package follows neither.
//
// # What you write
//
//	runner, err := cvo.NewRunner(backend, policy, &fairlead.RunnerOptions{Store: store})
//	go runner.Run(ctx) // reconciles each object when it is due
//	runner.Trigger("version") // from your watches: something has changed
//	d, err := runner.Reconcile(ctx, "version") // or one pass, in a reconciler of your own: requeue at d.Wake
//
// Your duties, as the owner of the Backend:
//
//  1. Observe fills in what you know of the World, and leaves out what you do
//     not: what is missing counts as unknown, never as healthy.
//  2. Apply is idempotent. It returns success for a manifest that is already
//     applied, and for a Delete of what is already gone.
//  3. Return an API server's refusal as a *fairlead.RefusedError, with its reason: the
//     reason decides how soon the action is retried, and what the conditions say. See
//     Refuse.
//  4. Retrieve starts to fetch a release and returns; the result appears in
//     World.Retrieved, and need not survive a restart.
//  5. Trigger the cluster when its ClusterVersion, an operator or a retrieval
//     has changed. A lost trigger only costs one interval.
//  6. Two runners may share one Store; only the one that saves acts.
package cvo
