// Package lock writes down what a namespace resolves to, and from what, so that
// it can be repeated and checked: in a repository beside the manifests, or as a
// gate before a catalog changes.
//
// [New] resolves a request and makes a [Lock] of it. Its text, from [Lock.Format],
// is canonical: equal inputs give equal bytes, and [Parse] takes nothing that
// [Lock.Format] would not write. A lock holds the request and the digest of each
// catalog as resolution sees it: packages, channels, edges, and the properties and
// images of bundles; descriptions and icons do not count.
//
// [Lock.Verify] resolves again and compares. It says what differs, and whether
// that is a matter of the inputs alone: then a catalog has changed without any
// effect on the answer. [Lock.Diff] compares two locks.
//
// Options of a resolver are no inputs. Where they matter, they show in the
// answer.
package lock
