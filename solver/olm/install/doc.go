// Package install installs the operators that a namespace subscribes to, and updates
// them along their channels.
//
// [Step] decides what comes next; a [Runner] drives it, on a [Backend] that you
// write, or on [MemBackend]. A resolver decides what to install; its answer is part of
// the [World] that Step looks at. Package solver/olm has a resolver, and [Across]
// prevents conflicts between namespaces.
//
// # From a subscription to an operator
//
//  1. The resolver is asked about the current state of the namespace
//     ([World.Request]), and the bundles that it selects are unpacked.
//  2. An [InstallPlan] lists the objects to create ([NewInstallPlan]). It requires
//     approval if any subscription of the namespace is manual. Until it starts, a
//     better plan may replace it, with the next generation and an approval of its
//     own. It may be approved in part, operator by operator ([ApproveAnnotation]):
//     whatever can be installed without the rest gets a plan of its own, and the
//     rest is planned again afterwards; a Block says what is held back.
//  3. It starts when it is approved, the namespace has one operator group, the
//     group's service account may perform every step (see scope), and no step would
//     break a CRD that is in use (see crd). Otherwise nothing of it is applied.
//  4. Its steps are applied: CSVs, then CRDs, then the rest. Each of these is
//     observed before the next starts. Only what was planned is applied: a plan
//     whose steps were changed is refused. A failed step is retried with exponential
//     backoff, until Policy.PlanTimeout has passed or Policy.StepAttempts attempts
//     were made; then the plan has failed.
//  5. Each CSV goes through its phases, below. When nothing is left to do, the
//     resolver is asked again: an update moves one hop along its channel, then the
//     next.
//  6. If somebody deletes what a plan has installed, another plan restores it.
//
// A failed plan is not made again while it exists: fix the cause and delete it, and
// the rest is planned again. A newer version replaces it if the operator group fails
// forward, and [RemovalRefresh] starts over.
//
// # Phases of a CSV
//
//	none         not processed yet
//	Pending      waits until the APIs that it owns and requires exist, the other
//	             objects of its plan exist, no other operator owns its APIs, its
//	             group lists them, Kubernetes is new enough, its deployments can
//	             take the config of its subscription, and the operator that it
//	             replaces may be replaced (see gate)
//	InstallReady is being deployed, with its subscription's config, the cluster's
//	             proxy and its operator group applied (see config)
//	Installing   waits for its deployments, for Policy.InstallTimeout at most
//	Succeeded    lasts while its APIs and deployments exist and are up to date
//	Failed       is retried from Pending: when missing APIs appear, when its
//	             operator group fits again (see group), otherwise with
//	             exponential backoff
//	Replacing    lasts until its replacement has succeeded, and no operator needs
//	             an API that only this one provides
//	Deleting     is removed, after the objects that nobody else has taken over
//
// # What follows from it
//
// Operator groups get their status and the list of APIs that their members provide.
// Members get annotations that name their group, roles and a copy of their CSV in the
// namespaces that they watch, and an operator condition; all of it is removed when
// the membership ends. Subscriptions get their conditions (see status). Catalogs of
// the namespace get a pod with their image, and their connection state (see source).
// Operators that do not work on the next minor version of the cluster block its
// update ([ReportUpgradeable]).
//
// # Webhooks and API services
//
// An operator with webhooks or API services gets a service, and certificates in
// Secrets of its namespace ([IssueCertificate]), where its pods expect them. When its
// pods are ready, its webhooks and API services are registered, and its CRDs are
// converted by it ([SetConversion]). It has succeeded when all of that is observed and
// its APIs are available. Certificates are replaced after two thirds of their
// lifetime: from then on the API server trusts both authorities, and the pods restart.
// All of it is removed with the operator. If the backend does not serve them
// (Cluster.Serves), such operators stay Pending.
//
// # Removing an operator
//
// [RemovalAnnotation] on a subscription removes its operator. [World.Removal] says in advance what will be
// deleted, what stays, and who depends on it. Operators that were installed only because others required them
// stay, unless Policy.KeepUnneeded limits for how long.
//
// # Before an update, and without a subscription
//
// [World.Preview] says, before a plan is approved, what it adds: permissions, CRDs,
// images, webhooks, and whether it can be rolled back. [olm.Resolver.Adopt] creates a
// subscription for an operator that has none: the operator counts as installed.
// Several tenants may each have one operator, see [Across].
//
// # What always holds
//
// Whatever crashes, arrives late or arrives twice, and with several runners at work: only one operator of a
// package is installed, apart from the one that it is about to replace; no step is applied before its plan is
// approved and permitted; no installed operator loses an API that it requires; no CRD loses a version in which
// objects may be stored; each step is applied once. This relies on two rules for backends: an action changes
// an object only at the revision that it was decided on, and the steps of a plan are refused if the plan is
// gone, has failed, or there is a newer one. See [Action] and [ApplyStep].
//
// # Differences from the reference
//
//   - An operator that has not succeeded does not prevent updates of the others in
//     its namespace; resolution leaves it out until it has.
//   - Steps are applied stage by stage, and a plan that has not started is dropped
//     if the resolver's answer has changed.
//   - Permissions and CRDs are checked before the first step is applied.
//   - A replaced operator stays while one that cannot be updated needs its API, and
//     an operator marked for removal stays while another needs it.
//   - If the CSV of an operator is deleted, a plan installs it again; the same holds
//     for any other object that a plan has installed.
//
// # What you write
//
//	runner, err := install.NewRunner(backend, resolve, policy, &fairlead.RunnerOptions{Store: store})
//	go runner.Run(ctx) // reconciles each object when it is due
//	runner.Trigger("operators") // from your watches: something has changed
//	d, err := runner.Reconcile(ctx, "operators") // or one pass, in a reconciler of your own: requeue at d.Wake
//
// Your duties, as the owner of the Backend:
//
//  1. Observe returns everything that the World asks for about a namespace, except
//     World.Resolution, which the runner fills in.
//  2. Apply changes an object only at the revision that the action names, and
//     is idempotent. It refuses ApplyStep if the plan is gone, has failed, or there
//     is a newer one.
//  3. Store with each object the digests and marks that actions ask for: they show
//     that a step is done.
//  4. Return errors of an API server that rejects a request as *fairlead.RefusedError.
//  5. Trigger a namespace when something in it, or what it sees of the cluster, has
//     changed.
package install
