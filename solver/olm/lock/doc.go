// Package lock records what a namespace resolves to, and from what, so that the
// resolution can be repeated and verified: in a repository next to the manifests,
// or as a gate before a catalog changes.
//
// [New] resolves a request and makes a [Lock] of it. Its text, from [Lock.Format],
// is canonical: equal inputs give equal bytes, and [Parse] accepts only what
// [Lock.Format] would write. A lock contains the request and the digest of each
// catalog as resolution sees it: packages, channels, edges, and the properties and
// images of bundles; descriptions and icons do not count.
//
// [Lock.Verify] resolves again and compares. It reports what differs, and whether
// only the inputs do: for example, a catalog changed without effect on the answer.
// [Lock.Diff] compares two locks.
//
// Options of a resolver do not count as inputs. If they matter, they show in the
// answer.
package lock
