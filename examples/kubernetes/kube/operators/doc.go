// Package operators runs the engine of solver/olm/install on a Kubernetes API
// server: [Backend] is its Backend, [SetupWithManager] its controller.
//
// # Objects
//
// Subscriptions, InstallPlans, ClusterServiceVersions (CSVs), OperatorGroups,
// OperatorConditions and CatalogSources are custom resources of the group
// operators.coreos.com, with the names, versions and fields of the Operator
// Lifecycle Manager. Their CRDs, with as much schema as is needed, are in
// config/crd; those that a cluster already has work as well. Do not run this
// controller and the Operator Lifecycle Manager on the same objects.
//
// # Where catalogs and bundles come from
//
//   - A CatalogSource of sourceType configmap (or internal) names a ConfigMap in
//     its namespace whose data and binaryData are the files of a file-based
//     catalog.
//   - One of sourceType grpc names an image, which [Images] opens: the Client of
//     package registry, [Directory] on the manager's disk, or your own. No pod is
//     started for it.
//   - One of sourceType grpc with an address and no image is read through
//     [Services]: HOST:PORT of a catalog pod, or the URL of a catalog of catalogd.
//     It is polled as often as spec.updateStrategy says, every 15 minutes by
//     default.
//   - The objects of a bundle are those of its olm.bundle.object properties, or
//     else those of its image, a registry+v1 bundle directory, through Images.
//
// Images and services are read in the background, two of a namespace at a time, each with
// limits and a backoff of its own; a pass uses what is known. While a source cannot be
// read again, what it had before counts, and its status says of when that is.
//
// # Tenants
//
// Where the operator group names a service account, what operators bring is written in
// the name of that account, by impersonation (BackendOptions.As); only CRDs, and the roles
// for their APIs and for operator groups, are written with the controller's own rights.
// install.Policy.RequireAccount requires an account. Catalog sources outside of
// Resolve.GlobalNamespace are limited by [Tenants]: they name services of their own
// namespace, take a limited amount of memory, and their status does not say what a scan of
// the network would tell (BackendOptions.Unread gets the whole error).
//
// # What is read
//
// Decisions are based on reads from the server, never on a cache. Every pass reads
// install plans first, then subscriptions, CSVs and operator conditions, and
// permissions if the group names a service account. Everything else is read again
// only if a watch (of metadata) reports a change since the last read, or if this
// controller has written it. So each pass sees what earlier passes wrote, and what
// others wrote as soon as the watches report it. Only the absence of an object to
// be created is taken from the watches, because the server refuses the creation if
// it exists. At rest, a pass takes four requests.
//
// # What is written
//
//   - Each write carries the resourceVersion that the decision was based on;
//     objects to be created must not exist; deletions also carry the UID. Of
//     two writers, one gets a [*kube.ChangedError] and decides again.
//   - Objects of plans, objects that follow from operator groups, and Deployments
//     are written by server-side apply with the field manager [FieldManager],
//     never by force: a field that another manager owns is an error that names
//     the manager, see [*kube.TakenError].
//   - Nothing is written twice in one call. After a [*kube.UnclearError] (a timeout,
//     a broken connection) the next pass checks whether the write took effect.
//   - Namespaced objects of plans are owned by their CSV, so they are deleted if
//     the CSV is deleted manually. ClusterRoles and other cluster-scoped objects
//     then stay until the operator is installed again.
//
// # Webhooks and API services
//
// The API server calls the pods of operators that have webhooks, conversions of
// CRDs or API services:
//
//   - Each deployment that is called has a Secret of type kubernetes.io/tls with
//     a key, a certificate and, in ca.crt, the trusted authorities. Each
//     certificate is signed by a new authority whose key is not kept. After two
//     thirds of its lifetime it is replaced; the old and the new one are trusted
//     together while the pods switch. A Secret that was changed or deleted is
//     restored.
//   - Services, webhook configurations and API services are created when the pods
//     are ready, and removed with the operator. A conversion is withdrawn before
//     its operator is removed; ConversionAnnotation marks it. It replaces a
//     conversion in the bundle's CRD.
//   - The API server must be able to reach services.
//
// # What can go wrong
//
// An unreadable subscription, catalog source or operator group of another
// namespace is skipped and reported by an event. An unreadable CSV, install plan
// or operator group of the namespace itself stops the namespace (skipping a CSV
// would remove its roles); an event reports it, and it is retried with growing
// delays. A catalog that was never read, or whose new version cannot be read, stops the
// namespaces that use it; its status says so.
//
// # Limits
//
//   - An install plan contains its objects, as in OLM, and must fit into one API
//     object: about one and a half megabytes, by etcd's default.
//   - An operator may write its OperatorCondition only if a role allows it; none is
//     generated.
package operators
