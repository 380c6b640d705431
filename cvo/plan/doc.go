// Package plan answers for a whole cluster what happens, in which order, and what
// stands in the way.
//
// [Make] takes a [Situation], which is plain data (the ClusterVersion, the updates
// that are offered with their risks, pools, nodes, pods, budgets, members of etcd,
// installed operators), a [Goal] and a [Policy], and returns a [Plan]: steps in their
// order, each with why it is there, what must hold before and what holds after it,
// who does it by which command, about how long it takes, and how to go back. Or it
// returns a [NoPlanError]: the facts that exclude every plan, and what would help;
// each advice was tried on the whole question before it is given.
//
// # Why one can believe it
//
//   - It is the best plan by a documented preference, and that is proven:
//     [Check] encodes the question again, follows the steps, and goes through
//     refutations of everything that would be better.
//   - What nobody has looked at is never taken for good news: a step that rests on it
//     names the command that tells (PlanStep.Unseen).
//   - Drains are planned, and room is looked for, by the code that drains
//     (lifecycle/drain), and which nodes may be down by the code that updates them
//     (cvo/rollout).
//
// # What is taken as given
//
//   - A cluster passes every minor version between the one that runs and the goal, and
//     never goes back.
//   - An operator has to support a minor version before the cluster goes there
//     (olm.maxOpenShiftVersion), and moves along the updates of its channel, as the
//     catalog of the minor version has them that runs at the time.
//   - The control plane is never paused, and restarts at each release. Other pools
//     restart at each release, or are paused; paused ones are at most [MaxSkew] minor
//     versions behind.
//   - Of gates and conditions those of the minor version that runs are known. A plan
//     over two says of the second that it was not seen.
//
// The comment of encode.go states the encoding.
//
// # Carried out
//
// [Step] is an engine, as the root package describes them: it carries a plan out, over as
// many days as it takes, and plans again when the cluster no longer allows what is left.
// [NewRunner] drives it on a [Backend] that you write:
//
//	runner, err := plan.NewRunner(backend, policy, &fairlead.RunnerOptions{Store: store})
//	go runner.Run(ctx)
//	runner.Trigger("cluster")
//
// It asks for things (a release, a pool that is paused, an install plan that is approved,
// a node that is drained) and leaves them to the engines and people that do them.
// [Play] plays that in memory, from a situation, before anybody acts: what came about stands
// beside what was planned.
package plan
