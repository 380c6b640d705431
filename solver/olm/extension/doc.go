// Package extension is Operator Lifecycle Manager v1: it installs a ClusterExtension,
// which asks for one package, and updates it. [Step] decides what comes next; a
// [Runner] drives it, on a [Backend] that you write, or on [MemBackend].
//
// # From an extension to its objects
//
//  1. A finalizer is added; nothing is created before it is observed.
//  2. The resolver is asked for the bundle ([QuestionOf], [Alone]), and
//     its content is unpacked. [Together] resolves all extensions at once, including
//     what their bundles require.
//  3. The bundle is rendered to objects ([Bundle.Render]), in phases ([Phases]).
//  4. If these differ from the objects of the newest revision, a [Revision] with the
//     next number is created, unless [Preflight] finds an obstacle: a CRD in use
//     would break, the service account may not create an object, or an object belongs
//     to somebody else. Then nothing is applied.
//  5. The revision rolls out: a phase starts when all objects of earlier phases are
//     ready ([Probe]). Meanwhile, the objects of the previous revision that the newest
//     has not reached yet are still reconciled.
//  6. When all objects are ready, the revision has succeeded and the earlier ones are
//     archived. Objects that it has not taken over are deleted, except CRDs that have
//     objects.
//
// A rollout finishes before the next one starts, unless it misses its progress
// deadline or the extension asks for something else. Objects that somebody deletes or
// changes are restored.
//
// # Rolling back
//
// Archived revisions are kept, Policy.KeepRevisions of them. [RollbackAnnotation] on an extension asks for the content
// of one of them: a new revision is created from it, with the same checks, and no updates are resolved while the
// annotation is present. [World.Rollback] says in advance what prevents a rollback.
//
// # Webhooks
//
// Certificates of webhooks are issued by cert-manager or by OpenShift's service CA (Policy.Certificates). Bundles with
// webhooks get services, webhook configurations and conversions of CRDs, and their pods get the certificate. Without a
// provider they are rejected, as are all bundles with API services.
//
// # Removing an extension
//
// When the extension is deleted, its objects are deleted, the last phase first, then
// its revisions, then its finalizer. While its CRDs have objects, nothing is deleted
// (see Policy.RemoveUsedCRDs): the operator may be needed to clean them up.
//
// # What always holds
//
// Whatever crashes, arrives late or arrives twice, and with several runners at work:
// nothing is applied before its revision was saved and checked; no object that belongs
// to somebody else is written or deleted; revision numbers are not reused while an
// extension lives; no CRD that has objects is deleted; an extension goes away only when
// nothing of it is left. This relies on one rule for backends: an action changes an
// object only at the resource version that it was decided on, and revisions that are
// gone or archived write nothing. See [Action].
//
// # Differences from the reference
//
// The reference is operator-controller, at df2c201d.
//
//   - An extension that asks for something else during a rollout gets it; there it must wait for the rollout, even one
//     that never ends.
//   - A rollback is an operation; there it is a lower version and SelfCertified.
//   - CRDs that have objects are kept; there the objects are deleted with them.
//   - Blocks name what blocks an extension, one for each reason.
//   - The service account limits what is created; there it is ignored.
//   - Bundles that require others can be installed, with [Together].
//
// # What you write
//
//	runner, err := extension.NewRunner(backend, extension.Alone(resolver), policy, &fairlead.RunnerOptions{Store: store})
//	go runner.Run(ctx) // reconciles each object when it is due
//	runner.Trigger("argocd") // from your watches: something has changed
//	d, err := runner.Reconcile(ctx, "argocd") // or one pass, in a reconciler of your own: requeue at d.Wake
//
// Your duties, as the owner of the Backend:
//
//  1. Observe returns everything that the World asks for, except Answer, which the
//     runner fills in.
//  2. Apply changes an object only at the resource version that the action names, and
//     is idempotent. See [ApplyObject] and [CreateRevision] for what it must refuse.
//  3. Store the digest that ApplyObject names with the object, and stop reporting it
//     once somebody has changed what the manifest sets.
//  4. Decide with [Probe], or rules of your own, whether objects are ready.
//  5. Revisions hold all manifests inline. If they are too large for one object of
//     the API, store them separately (in Secrets, as OLM v1 does) and assemble them
//     in Observe.
//  6. Trigger an extension when it, one of its revisions or objects has changed, and
//     all extensions when catalogs have.
package extension
