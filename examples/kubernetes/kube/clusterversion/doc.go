// Package clusterversion takes a Kubernetes cluster from one release to the
// next: it is the backend of the engine cvo on an API server, and the controller
// around it.
//
//	clusterversion.SetupWithManager(mgr, &clusterversion.Options{
//		Store:    store,
//		Own:      cvo.Release{Version: "4.19.1", Image: "registry.example/release@sha256:8c04…"},
//		Source:   clusterversion.Directory("/var/lib/releases"),
//		Verifier: verifier,
//	})
//
// The kinds ClusterVersion and ClusterOperator of config.openshift.io/v1 must
// be there first: config/crd has them. One ClusterVersion counts, the one of
// [Options].Name.
//
// # How manifests are applied
//
//  1. By server-side apply, with [FieldManager], after which the resource has
//     the fields of the manifest and keeps those that others have set. What a
//     manifest says of status is left out, for status belongs to who reports.
//     Applying again what is there changes nothing, so an attempt whose outcome
//     is not known may be repeated. The server is strict: fields that a built-in
//     kind does not have are an error, and not dropped.
//  2. A field that another manager has set to something else is a conflict, and
//     a *[fairlead.RefusedError] that names manager and field. Nothing is taken by force
//     unless [Options].Force says so. The ways out: the other manager gives the
//     field up, the administrator keeps the resource in spec.overrides, or Force.
//  3. A create-only manifest is created and never patched. A ClusterOperator is,
//     too: its report is its operator's.
//  4. A manifest that asks for its resource to be removed deletes it, with the
//     UID that was read as precondition. As long as it is still there the
//     minor version must not change.
//  5. Every resource gets the label [Label], by which the controller watches
//     CustomResourceDefinitions, Deployments, DaemonSets and Jobs, and no others
//     than those. They are waited for: until they are established, rolled out,
//     complete. A report that is older than the last patch does not count. What
//     is gone, or has lost its label, is applied again.
//  6. A kind that the server does not know is asked for again at each attempt, so
//     that a resource can follow its CustomResourceDefinition. No owner
//     references are set: deleting the ClusterVersion deletes nothing.
//
// # Releases
//
// A [Source] brings the files of a release image. [Directory] finds them on
// disk; who has an image registry plugs in a puller that unpacks the image and
// returns os.DirFS of where it did. Nothing is fetched that the
// [cvo.Verifier] does not vouch for, unless the engine asks for it by force. With
// Directory the files are as trustworthy as who may write there, for a digest
// names the image and not its files.
//
// # What goes wrong
//
// A ClusterVersion that asks for nonsense, a release that is not there, a payload
// that cannot be read and manifests that the server refuses become conditions of
// the ClusterVersion, by the engine, and events. A pass that fails is repeated
// with growing pauses. One ClusterOperator of a wrong form counts as not
// available and holds up nobody else.
//
// # Costs
//
// A pass reads from a cache that holds metadata and status alone. From the server
// it reads the ClusterVersion, if the cache tells that it has changed or another
// release is asked for than the one that is applied, and gates now and then. While
// reconciling each manifest costs one patch a pass, which by default begins
// three minutes after the one before has ended.
package clusterversion
