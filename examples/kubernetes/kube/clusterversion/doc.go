// Package clusterversion takes a Kubernetes cluster from one release to the
// next: it is the backend of the engine cvo on an API server, and its controller.
//
//	clusterversion.SetupWithManager(mgr, &clusterversion.Options{
//		Store:    store,
//		Own:      cvo.Release{Version: "4.19.1", Image: "registry.example/release@sha256:8c04…"},
//		Source:   clusterversion.Directory("/var/lib/releases"),
//		Verifier: verifier,
//	})
//
// The CRDs of ClusterVersion and ClusterOperator (config.openshift.io/v1) must
// be installed first; they are in config/crd. Only the ClusterVersion named by
// [Options].Name is used.
//
// # How manifests are applied
//
//  1. By server-side apply, with [FieldManager]. The resource then has the fields
//     of the manifest and keeps those that others have set. The manifest's status
//     is left out, because status belongs to the component that reports it.
//     Applying an unchanged manifest changes nothing, so an attempt with an
//     unknown outcome can be repeated. The server validates strictly: a field
//     that a built-in kind does not have is an error, not dropped.
//  2. A field that another manager has set differently is a conflict, and a
//     *[fairlead.RefusedError] that names manager and field. Fields are taken over
//     only if [Options].Force is set. Otherwise the other manager must give the
//     field up, or the administrator keeps the resource in spec.overrides.
//  3. A create-only manifest is created and never patched. The same holds for a
//     ClusterOperator, whose status its operator reports.
//  4. A manifest that requests deletion deletes its resource, with the UID that
//     was read as precondition. Until the resource is gone, the minor version
//     must not change.
//  5. Every resource gets the label [Label]. By it the controller watches
//     CustomResourceDefinitions, Deployments, DaemonSets and Jobs, and waits until
//     they are established, rolled out, or complete. A status that is older than
//     the last patch is ignored. A resource that is gone, or has lost its label,
//     is applied again.
//  6. A kind that the server does not have is looked up again at each attempt, so
//     that a resource can follow its CustomResourceDefinition. No owner
//     references are set: deleting the ClusterVersion deletes nothing else.
//
// # Releases
//
// A [Source] provides the files of a release image. [Directory] reads them from
// disk. To use an image registry, plug in a puller that unpacks the image and
// returns os.DirFS of the result. Only releases that the [cvo.Verifier] accepts
// are fetched, unless the engine forces it. With Directory, the files are only
// as trustworthy as those who may write to it, because a digest identifies the
// image and not its files.
//
// # What can go wrong
//
// An invalid request in the ClusterVersion, a missing release, an unreadable
// payload and manifests that the server refuses become events, and conditions of
// the ClusterVersion that the engine sets. A failed pass is retried with growing
// delays. A malformed ClusterOperator counts as unavailable and does not delay
// the others.
//
// # Costs
//
// A pass reads from a cache that holds only metadata and status. It reads the
// ClusterVersion from the server if the cache shows a change, or if the
// requested release differs from the applied one; gates are read from time to
// time. While reconciling, each manifest costs one patch per pass. By default,
// a pass begins three minutes after the previous one has ended.
package clusterversion
