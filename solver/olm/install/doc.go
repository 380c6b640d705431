// Package install takes the subscriptions of a namespace to installed operators,
// and from one version of a channel to the next.
//
// [Step] decides what comes next; a [Runner] drives it, on a [Backend] that you
// write, or on [MemBackend]. What to install is the answer of a resolver, which
// is part of the [World] that Step looks at. Package solver/olm has one, and
// [Across] keeps namespaces out of each other's way.
//
// # From a subscription to an operator
//
//  1. The resolver is asked about the namespace as it stands ([World.Request]),
//     and what it has chosen is unpacked.
//  2. An [InstallPlan] lists the objects that this takes ([NewInstallPlan]). It
//     waits for approval if any subscription of the namespace is manual. Until
//     it begins it gives way to a better plan, which has a generation more and
//     needs an approval of its own. It may be approved in part, operator by
//     operator ([ApproveAnnotation]): what goes without the rest is brought by a
//     plan of its own, the rest is planned again after it; a Block says what is held.
//  3. It begins when it is approved, the namespace has one operator group, the
//     service account of that may make every step (see scope), and no step would
//     break a CRD that is in use (see crd). Otherwise nothing of it is applied.
//  4. Its steps are applied: CSVs, then CRDs, then the rest. Each of these is
//     seen to be there before the next begins. Only what was planned is applied:
//     a plan whose steps were changed is refused. A step that fails is repeated,
//     after times that double, until Policy.PlanTimeout is over or it was tried
//     Policy.StepAttempts times; then the plan has failed.
//  5. Each CSV goes through its phases, below. When all is still, the resolver
//     is asked again: an update takes one hop along its channel, then the next.
//  6. What a plan has brought and somebody deletes is brought again by a plan.
//
// A plan that has failed is not made again while it is there: delete it when its
// cause is fixed, and what remains is planned again. A newer version takes its
// place where the operator group fails forward, and [RemovalRefresh] begins again.
//
// # Phases of a CSV
//
//	none         nobody has looked at it
//	Pending      waits for the APIs that it owns and requires, for the other
//	             objects of its plan, that no other operator owns its APIs, that
//	             its group lists them, that Kubernetes is new enough, that its
//	             deployments can take the config of its subscription, and that
//	             the operator which it replaces may be replaced (see gate)
//	InstallReady is deployed now, as its subscription's config, the cluster's
//	             proxy and its operator group want it (see config)
//	Installing   waits for its deployments, for Policy.InstallTimeout at most
//	Succeeded    stays so while its APIs and its deployments are there and are as
//	             they are wanted
//	Failed       is tried again, from Pending: where APIs were missing when they
//	             are there, where its operator group does not fit (see group)
//	             when it does, otherwise after times that double
//	Replacing    stays until the one that replaces it has succeeded, and no
//	             operator needs an API that it alone provides
//	Deleting     is removed, after the objects that nobody has taken over
//
// # What follows
//
// Operator groups get their status and the list of the APIs that their members
// provide; members get the annotations that name their group, roles and a copy
// of their CSV in the namespaces that they watch, an operator condition; all of
// it is taken back when membership ends. Subscriptions get their conditions (see
// status), catalogs of the namespace a pod with the image that they ask for and
// the state of their connection (see source). Operators that do not work on the
// next minor version of the cluster hold up its update ([ReportUpgradeable]).
//
// # Webhooks and API services
//
// An operator that brings webhooks or API services gets certificates in Secrets of
// its namespace ([IssueCertificate]), which its pods find where they look for
// them, and a service. When its pods are ready, webhooks and API services are
// registered and its CRDs converted by it ([SetConversion]); it has succeeded when
// all of that is seen, and its APIs are available. Certificates are replaced when
// two thirds of their time are over: the API server trusts both authorities from
// then on, and the pods begin again. All of it goes with the operator. Where the
// backend does not serve them (Cluster.Serves), such operators stay Pending.
//
// # Taking an operator away
//
// [RemovalAnnotation] on a subscription has its operator taken away; what goes,
// what stays and who depends on it is told by [World.Removal] before. What was
// installed because others required it stays, unless Policy.KeepUnneeded says for
// how long.
//
// # Before an update, and without a subscription
//
// [World.Preview] says what a plan adds before it is approved: permissions, CRDs,
// images, webhooks, and whether one can go back. An operator that no subscription
// refers to gets one by [olm.Resolver.Adopt]: it is taken for installed. One
// operator may be there for each of several tenants, see [Across].
//
// # What always holds
//
// Whatever crashes, comes late or comes twice, and with several runners at work:
// of a package one operator is installed, and besides it at most what it is
// about to replace; no step is applied before its plan is approved and
// permitted; no installed operator loses an API that it requires; no CRD loses a
// version in which objects may be stored; each step is applied once. This rests
// on two rules that backends keep: an action changes an object only at the
// revision that it was decided on, and the steps of a plan are refused when it
// is gone or has failed, or there is a newer one. See [Action] and [ApplyStep].
//
// # Differences from the reference
//
//   - An operator that has not succeeded does not keep the others of its
//     namespace from being updated; it is left out of resolution until it has.
//   - Steps are applied stage by stage, and a plan is dropped before it begins
//     if the resolver's answer has changed.
//   - Permissions and CRDs are judged before the first step is applied.
//   - A replaced operator stays while one that cannot be updated needs its API,
//     and one that is to be removed while another needs it.
//   - An operator whose CSV is gone is installed again by a plan, and so is any
//     other object that a plan has brought.
//
// # What you write
//
//	runner, err := install.NewRunner(backend, resolve, policy, &fairlead.RunnerOptions{Store: store})
//	go runner.Run(ctx) // makes passes when they are due
//	runner.Trigger("operators") // something has changed: from your watches
//	d, err := runner.Reconcile(ctx, "operators") // or one pass, in a reconciler of yours: requeue at d.Wake
//
// Your duties, as the owner of the Backend:
//
//  1. Observe returns all that the World asks for of a namespace;
//     World.Resolution is the runner's.
//  2. Apply changes an object only at the revision that the action names, and
//     is idempotent. ApplyStep is refused when its plan is gone, has failed,
//     or a newer one is there.
//  3. Keep the digests and marks that actions ask to be kept with an object:
//     by them it is seen that a step is done.
//  4. What an API server refuses is returned as a *fairlead.RefusedError.
//  5. Trigger a namespace when something in it, or what it sees of the
//     cluster, has changed.
package install
