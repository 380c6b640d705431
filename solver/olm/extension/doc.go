// Package extension is Operator Lifecycle Manager v1: it takes a ClusterExtension,
// which asks for one package, to installed objects, and from one version to the
// next. [Step] decides what comes next; a [Runner] drives it, on a [Backend] that you
// write, or on [MemBackend].
//
// # From an extension to its objects
//
//  1. A finalizer is added: nothing is made before it is seen.
//  2. The resolver is asked which bundle it is to be ([ClusterExtension.Question],
//     [Alone]), and the content of that is unpacked. [Together] asks for all
//     extensions together, with what their bundles require.
//  3. The bundle becomes objects ([Bundle.Render]), in phases ([Phases]).
//  4. If these are not those of the newest revision, a [Revision] is made of them,
//     with a number more, unless something stands against it ([Preflight]): a CRD in
//     use would break, the service account may not make an object, an object is
//     there that belongs to somebody else. Nothing is applied then.
//  5. The revision rolls out: a phase begins when all objects before it are ready
//     ([Probe]). What the revision before has, and the newest has not come to, is
//     looked after all the time.
//  6. When all is ready the revision has succeeded, and those before it are archived:
//     what it has not taken over goes, but no CRD of which there are objects.
//
// A rollout is finished before the next begins, unless it misses its progress
// deadline or the extension asks for something else. Objects that somebody deletes
// or changes are made again.
//
// # Going back
//
// Archived revisions are kept, Policy.KeepRevisions of them. [RollbackAnnotation]
// on an extension asks for what one of them has had: a new revision is made of it,
// by the same checks, and no update is looked for as long as the annotation is
// there. [World.Rollback] says before what stands against it.
//
// # Taking an extension away
//
// When the extension is deleted its objects go, the last phase first, then its
// revisions, then its finalizer. As long as there are objects of its CRDs, nothing
// goes (see Policy.RemoveUsedCRDs): the operator may be needed to see them off.
//
// # What always holds
//
// Whatever crashes, comes late or comes twice, and with several runners at work:
// nothing is applied before its revision was saved and checked; no object that
// belongs to somebody else is written or deleted; no number of a revision is given
// twice while an extension lives; no CRD is deleted of which there are objects; an
// extension goes when nothing of it is left. This rests on one rule that backends
// keep: an action changes an object only at the resource version that it was decided
// on, and revisions that are gone or archived write nothing. See [Action].
//
// # Differences from the reference
//
// The reference is operator-controller, at df2c201d.
//
//   - An extension that asks for something else during a rollout gets it; there it
//     has to wait for the rollout, also for one that never ends.
//   - Going back is an operation; there it is a lower version and SelfCertified.
//   - CRDs of which there are objects are kept; there the objects go with them.
//   - What keeps an extension is told by Blocks, one for each reason, too.
//   - The service account limits what is made; there it is ignored.
//   - Bundles that require others can be had, with [Together].
//   - Bundles with webhooks and API services are refused.
//
// # What you write
//
//	runner, err := extension.NewRunner(backend, extension.Alone(resolver), policy, &fairlead.RunnerOptions{Store: store})
//	go runner.Run(ctx)       // makes passes when they are due
//	runner.Trigger("argocd") // something has changed: from your watches
//	d, err := runner.Reconcile(ctx, "argocd") // or one pass, in a reconciler of yours: requeue at d.Wake
//
// Your duties, as the owner of the Backend:
//
//  1. Observe returns all that the World asks for; Answer is the runner's.
//  2. Apply changes an object only at the resource version that the action names, and
//     is idempotent. See [ApplyObject] and [CreateRevision] for what is refused.
//  3. Keep the digest that ApplyObject names with the object, and stop reporting it
//     when somebody has changed what the manifest says.
//  4. Say by [Probe], or rules of your own, whether objects are ready.
//  5. Revisions hold all manifests in line: where they are too large for one object
//     of the API, keep them apart (in Secrets, as OLM v1 does) and put them together
//     in Observe.
//  6. Trigger an extension when it, a revision or an object of it has changed, and
//     all of them when catalogs have.
package extension
