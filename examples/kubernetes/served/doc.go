// Package served reads the catalogs of services: those with the gRPC API of
// catalog pods (opm serve), and those with the HTTP API of catalogd. A [Client]
// implements Services of package kube/operators.
//
// # Guarantees
//
//   - A catalog is read completely, or not at all: an interrupted transfer, and a
//     service that changes while it is read, are errors.
//   - The data of a service has limits, see [Options]; exceeding one is a
//     *fairlead.InputLimitError.
//   - An unchanged catalog is not loaded into memory again; catalogd does not
//     even send it.
//
// # What gRPC leaves out
//
// The documents are composed of the packages, channels and bundles that the
// service returns. It does not return icons and descriptions of packages, related
// images, properties of the type olm.csv.metadata, or documents with custom
// schemas. Objects of bundles that have an image come from the image.
//
// Messages are those of the service api.Registry of operator-registry, as of
// v1.73.0. They are decoded by field number, so that no generated code is
// linked.
package served
