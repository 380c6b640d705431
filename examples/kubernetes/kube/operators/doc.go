// Package operators runs the engine of solver/olm/install on a Kubernetes API
// server: [Backend] is its Backend, [SetupWithManager] its controller.
//
// # Objects
//
// Subscriptions, InstallPlans, ClusterServiceVersions (CSVs), OperatorGroups,
// OperatorConditions and CatalogSources are custom resources of the group
// operators.coreos.com, with the names, versions and fields of the Operator
// Lifecycle Manager. Definitions of them, with as much schema as is needed, are
// in config/crd; where the cluster has others those serve as well. Do not run
// this controller and the Operator Lifecycle Manager on the same objects.
//
// # Where catalogs and bundles come from
//
//   - A CatalogSource of sourceType configmap (or internal) names a ConfigMap of
//     its namespace whose data and binaryData are the files of a file-based
//     catalog.
//   - One of sourceType grpc names an image, which [Images] opens: the Client of
//     package registry, [Directory] on the manager's disk, or one of yours. No
//     pod is run for it.
//   - One of sourceType grpc with an address and no image is asked by [Services]:
//     HOST:PORT of a catalog pod, or the URL of a catalog of catalogd. It is asked
//     again as often as spec.updateStrategy says, every quarter of an hour by
//     default.
//   - The objects of a bundle are those of its olm.bundle.object properties, or
//     else those of its image, a registry+v1 bundle directory, by Images.
//
// # What is read
//
// What is decided on was read from the server, and never from a cache. In every
// pass install plans are read first, then subscriptions, CSVs and operator
// conditions, and who may do what if the group names a service account. All else
// is read again only if the watches, which are of metadata, tell of a change since
// it was read, or if this controller has written it: so each pass sees what the
// passes before it wrote, and what others wrote as soon as the watches tell. That
// an object is not there which is about to be made is taken from the watches: the
// server refuses to make it where it is. So at rest a pass takes four requests.
//
// # What is written
//
//   - Each write carries the resourceVersion that the decision was made on, and
//     what is created must not exist; deletions carry the UID, too. Of two
//     writers one gets a [*kube.ChangedError], and decides again.
//   - The objects of plans, those that follow from operator groups, and
//     Deployments are applied by the server (server-side apply) with the field
//     manager [FieldManager], never by force: fields that somebody else keeps
//     are an error that names them, see [*kube.TakenError].
//   - Nothing is written twice in one call. After an [*kube.UnclearError] (a timeout,
//     a connection that broke) the next pass looks what became of it.
//   - Objects of plans that have a namespace are owned by their CSV, so that they
//     go with it if somebody deletes that by hand. ClusterRoles and the like
//     stay then, until the operator is installed again.
//
// # Webhooks and API services
//
// The API server calls the pods of operators that bring webhooks, conversions of
// CRDs or API services:
//
//   - Each deployment that is called has a Secret of type kubernetes.io/tls with
//     a key, a certificate and in ca.crt the authorities that are trusted. A new
//     authority signs each certificate, and its key is kept nowhere. When two
//     thirds of the time are over there is a new one, which is trusted together
//     with the one before while the pods change over. A Secret that was spoilt
//     or deleted is made again.
//   - Services, webhook configurations and API services come when the pods are
//     ready, and go with the operator. A conversion is taken back before its
//     operator goes; ConversionAnnotation tells of it. A conversion that a
//     bundle's CRD brings itself gives way to it.
//   - That an API server can reach services is the cluster's matter.
//
// # What may go wrong
//
// A subscription, a catalog source or an operator group of another namespace
// that cannot be read is passed over and told by an event. A CSV, an install
// plan or an operator group of the namespace that cannot be read stops the
// namespace (passing a CSV over would take its roles away), which is told by an
// event and tried again at growing intervals. A catalog that cannot be read
// stops those namespaces that see it; its status says why.
//
// # Limits
//
//   - An install plan holds its objects, as OLM's does, and must fit into an
//     object of the API: about a megabyte and a half, by etcd's default.
//   - An operator may write its OperatorCondition only if a role says so; none is
//     generated.
package operators
