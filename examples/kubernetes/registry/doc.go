// Package registry opens images of registries: catalogs, bundles and release
// payloads, for package kube/operators ([Client.Open] is its Images) and package
// kube/clusterversion ([Client.OpenRelease]).
//
// # What is promised
//
//   - Nothing is used before its digest holds: a manifest that is asked for by
//     digest, every layer, every configuration. A layer comes into the cache
//     whole and verified, or not at all.
//   - A tag is resolved once for each Open, and [Image.Digest] says to what.
//   - Everything has a limit, see [Options]; more is a *fairlead.InputLimitError, and
//     an image whose manifest admits to more is refused before it is downloaded.
//   - An answer of 408, 429 or 5xx, and a transfer that is cut, is tried again, with
//     pauses that grow, at most [Options.Attempts] times. Then the next mirror is
//     asked, in the order of the [Mirror]s, and last the registry that the name
//     says, unless the mirror set forbids it.
//   - Credentials go to the registry that they are for, and are not part of any
//     error.
//
// Proxies are those of the environment (HTTPS_PROXY, NO_PROXY). Registries on this
// machine (localhost) may speak plain HTTP; all others speak HTTPS.
//
// The protocol is that of the OCI distribution specification 1.1; the client is
// go-containerregistry.
package registry
