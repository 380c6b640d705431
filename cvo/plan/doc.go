// Package plan answers for a whole cluster what to do, in which order, and what
// prevents it.
//
// [Make] takes a [Situation], which is plain data (the ClusterVersion, the offered
// updates with their risks, pools, nodes, pods, budgets, etcd members, installed
// operators), a [Goal] and a [Policy]. It returns a [Plan]: steps in order, each with
// its reason, what must hold before it and what holds after it, who does it by which
// command, about how long it takes, and how to undo it. Or it returns a [NoPlanError]:
// the facts that rule out every plan, and what would help. Every piece of advice is tried
// on the whole question before it is given.
//
// # Why you can trust a plan
//
//   - It is the best plan by a documented preference, with a proof: [Check] encodes
//     the question again, follows the steps, and verifies the certificate that nothing
//     costs less.
//   - What was not observed never counts as good news: a step that depends on it names
//     the command that shows it (PlanStep.Unseen).
//   - Drains and free room are computed by the code that drains (lifecycle/drain), and
//     which nodes may be down by the code that updates them (cvo/rollout).
//
// # Assumptions
//
//   - A cluster passes through every minor version between the current one and the
//     goal, and never goes back.
//   - An operator must support a minor version before the cluster goes there
//     (olm.maxOpenShiftVersion). It follows the updates of its channel, in the catalog of
//     the minor version that runs at the time, each time to the newest version that can
//     be reached in one hop, because there is no install plan for another.
//   - The control plane is never paused, and restarts at each release. Other pools
//     restart at each release, or are paused; paused pools are behind by at most what
//     [cvo.KubeletSkew] allows.
//   - Gates and conditions are known for the current minor version only. A plan that
//     passes through two says that it has not seen those of the second.
//
// The comment of encode.go documents the encoding.
//
// # Carrying it out
//
// [Step] is an engine, as described in the root package: it carries out a plan, over as
// many days as it takes, and plans again when the cluster no longer allows the rest.
// [NewRunner] drives it on a [Backend] that you write:
//
//	runner, err := plan.NewRunner(backend, policy, &fairlead.RunnerOptions{Store: store})
//	go runner.Run(ctx)
//	runner.Trigger("cluster")
//
// It only makes requests (for a release, a paused pool, an approved install plan, a
// drained node) and leaves the work to other engines and to people. [Play] simulates
// that in memory before anybody acts, and compares the result with the plan.
package plan
