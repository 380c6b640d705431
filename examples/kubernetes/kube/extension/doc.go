// Package extension runs the engine of solver/olm/extension on a Kubernetes API
// server: [Backend] is its Backend, [SetupWithManager] its controller.
//
// # Objects
//
// ClusterExtensions, ClusterCatalogs and ClusterObjectSets (which hold revisions)
// are custom resources of the group olm.operatorframework.io, with the names and
// fields of Operator Lifecycle Manager v1. Their CRDs, with as much schema as is
// needed, are in config/crd. Do not run this controller and OLM v1's
// operator-controller on the same objects; its catalogd may run beside it.
//
// # Where catalogs and bundles come from
//
//   - The content of a ClusterCatalog comes from the service that its
//     status.urls.base names, which is catalogd's, through [operators.Services]. If
//     there is none, its image is opened through [operators.Images]: a registry
//     client, or a directory.
//   - The objects of a bundle are those of its olm.bundle.object properties, or else
//     those of its image, through the same Images.
//   - A catalog that cannot be read fails the extensions that use it, which their
//     conditions report. It is read again after half a minute, when its status or spec
//     shows a change, and as often as spec.source.image.pollIntervalMinutes says.
//
// # What is read
//
// Decisions are based on reads from the server, never on a cache. Every pass reads the
// extension, its revisions, the objects of CRDs that an update changes or a removal
// would delete, and permissions if the extension names a service account. Everything
// else is read again only if a watch (of metadata) reports a change since the last
// read, or if this controller has written it: the extension's objects, which are found
// by their label, those that a revision or a bundle names, catalogs, and with Together
// the other extensions. So each pass sees what earlier passes wrote, and what others
// wrote as soon as the watches report it. At rest, a pass takes two requests, and one
// for each of those CRDs. Before an object is applied, its revision is checked again.
//
// # What is written
//
//   - Each write carries the resourceVersion that the decision was based on; objects
//     to be created must not exist; deletions also carry the UID. Of two writers,
//     one gets a [*kube.ChangedError] and decides again.
//   - Objects are written by server-side apply with the field manager [FieldManager].
//     An object that is taken over must not have fields that another manager owns (a
//     [*kube.TakenError]). An object that belongs to the extension is restored to its
//     revision, whoever has changed it; changes show in the fields that the server
//     assigns to this manager. After a restart the controller asks the server, once per
//     object, what applying it would change (a dry run).
//   - Objects are owned by their revision, and revisions by their extension, so all of
//     them are deleted even if the finalizer is removed manually.
//
// # Limits
//
//   - A revision holds its objects inline, at most one megabyte.
//   - The engine refuses bundles with API services, and bundles with webhooks unless
//     Policy.Certificates names an issuer of their certificates.
//   - Objects of kinds that are not watched (see Options.Kinds) are checked only when
//     something else triggers a pass.
package extension
