// Package extension runs the engine of solver/olm/extension on a Kubernetes API
// server: [Backend] is its Backend, [SetupWithManager] its controller.
//
// # Objects
//
// ClusterExtensions, ClusterCatalogs and ClusterObjectSets (which hold revisions)
// are custom resources of the group olm.operatorframework.io, with the names and
// fields of Operator Lifecycle Manager v1. Definitions of them, with as much schema
// as is needed, are in config/crd. Do not run this controller and OLM v1's
// operator-controller on the same objects; its catalogd may run beside it.
//
// # Where catalogs and bundles come from
//
//   - The content of a ClusterCatalog is asked of the service that its
//     status.urls.base names, which is catalogd's, by [operators.Services]. Where there
//     is none, its image is opened by [operators.Images]: a client of a registry, or a
//     directory.
//   - The objects of a bundle are those of its olm.bundle.object properties, or else
//     those of its image, by the same Images.
//   - A catalog that cannot be read fails those extensions that see it, which say so.
//     It is read again after half a minute, when its status or spec says that it has
//     changed, and as often as spec.source.image.pollIntervalMinutes says.
//
// # What is read
//
// What is decided on was read from the server, and never from a cache. In every
// pass the extension is read, then its revisions, the objects of CRDs that an update
// changes or a removal would take away, and who may do what if the extension names
// a service account. Its objects, which are found by their label, those that a
// revision or a bundle names, catalogs, and with Together the other extensions are
// read again only if the watches, which are of metadata, tell of a change since they
// were read, or if this controller has written them: so each pass sees what the
// passes before it wrote, and what others wrote as soon as the watches tell. At rest
// a pass takes two requests, and one for each CRD in question. Before an object is
// applied its revision is looked at again.
//
// # What is written
//
//   - Each write carries the resourceVersion that the decision was made on, and what
//     is created must not exist; deletions carry the UID, too. Of two writers one
//     gets a [*kube.ChangedError], and decides again.
//   - Objects are applied by the server with the field manager [FieldManager].
//     What is taken over must not have fields that somebody else keeps (a
//     [*kube.TakenError]). What belongs to the extension is made as its revision
//     says, whoever has changed it: this is seen by the fields that the server
//     counts as this manager's. After a restart it asks the server, once for each
//     object, what applying it would change (a dry run).
//   - Objects are owned by their revision, and revisions by their extension, so that
//     all go if somebody takes the finalizer off.
//
// # Limits
//
//   - A revision holds its objects in line, and a megabyte at most.
//   - Bundles with API services are refused by the engine, and those with webhooks
//     where no Policy.Certificates says who issues their certificates.
//   - Objects of kinds that are not watched (see Options.Kinds) are looked after
//     when something else happens.
package extension
