// Package install takes the subscriptions of a namespace to installed operators,
// and from one version of a channel to the next.
//
// [Step] decides what comes next; a [Runner] drives it, on a [Backend] that you
// write, or on [MemBackend]. What to install is the answer of a resolver, which
// is part of the [World] that Step looks at. Package solver/olm has one.
//
// # From a subscription to an operator
//
//  1. The resolver is asked about the namespace as it stands ([World.Request]),
//     and what it has chosen is unpacked.
//  2. An [InstallPlan] lists the objects that this takes ([NewInstallPlan]). It
//     waits for approval if any subscription of the namespace is manual. Until
//     it begins it gives way to a better plan, which has a generation more and
//     needs an approval of its own.
//  3. Once approved, its steps are applied: CSVs, then CRDs, then the rest. Each
//     of these is seen to be there before the next begins. Only what was planned
//     is applied: a plan whose steps were changed is refused.
//  4. Each CSV goes through its phases, below. When all is still, the resolver
//     is asked again: an update takes one hop along its channel, then the next.
//
// # Phases of a CSV
//
//	none         nobody has looked at it
//	Pending      waits for the APIs that it owns and requires, for the other
//	             objects of its plan, that no other operator owns its APIs, and
//	             that the operator which it replaces may be replaced (see gate)
//	InstallReady is deployed now
//	Installing   waits for its deployments, for Policy.InstallTimeout at most
//	Succeeded    stays so while its APIs and its deployments are there
//	Failed       is tried again, from Pending, after times that double; where
//	             its operator group does not fit (see group), when it does
//	Replacing    stays until the one that replaces it has succeeded, and no
//	             operator needs an API that it alone provides
//	Deleting     is removed
//
// # What always holds
//
// Whatever crashes, comes late or comes twice, and with several runners at work:
// of a package one operator is installed, and besides it at most what it is
// about to replace; no step is applied before its plan is approved; no
// installed operator loses an API that it requires; each step is applied once.
// This rests on two rules that backends keep: an action changes an object only
// at the revision that it was decided on, and the steps of a plan are refused
// when there is a newer plan. See [Action] and [ApplyStep].
//
// # Differences from the reference
//
//   - An operator that has not succeeded does not keep the others of its
//     namespace from being updated; it is left out of resolution until it has.
//   - Steps are applied stage by stage, and a plan is dropped before it begins
//     if the resolver's answer has changed.
//   - Steps that fail are repeated without end, at most a minute apart; a Block
//     tells the last error.
//   - A replaced operator stays while one that cannot be updated needs its API.
//   - An operator whose CSV is gone is installed again by a plan.
package install
