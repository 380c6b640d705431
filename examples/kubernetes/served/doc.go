// Package served reads the catalogs of services: those that speak the gRPC API of
// catalog pods (opm serve), and those that speak the HTTP API of catalogd. A
// [Client] is the Services of package kube/operators.
//
// # What is promised
//
//   - A catalog is read as a whole, or not at all: a transfer that breaks off, and
//     a service that changes while it is read, are errors.
//   - What a service sends has limits, see [Options]; more is a
//     *fairlead.InputLimitError.
//   - What has not changed since it was read is not read into memory again: of
//     catalogd it is not even sent.
//
// # What gRPC leaves out
//
// The documents are put together of packages, channels and bundles as the service
// tells them. It does not tell icons and descriptions of packages, related images,
// properties of the type olm.csv.metadata, and documents of schemas of one's own.
// Objects of bundles that have an image come from the image.
//
// Messages are those of the service api.Registry of operator-registry, as of
// v1.73.0. They are read by their numbers, so that no generated code is linked.
package served
