// Package registry opens images in registries: catalogs, bundles and release
// payloads, for package kube/operators (whose Images is [Client.Open]) and
// package kube/clusterversion ([Client.OpenRelease]).
//
// # Guarantees
//
//   - Nothing is used before its digest is verified: a manifest requested by
//     digest, every layer, every configuration. A layer enters the cache
//     complete and verified, or not at all.
//   - A tag is resolved once for each Open; [Image.Digest] is the result.
//   - Everything has a limit, see [Options]; exceeding one is a
//     *fairlead.InputLimitError, and an image whose manifest exceeds one is refused
//     before it is downloaded.
//   - After an answer of 408, 429 or 5xx, or an interrupted transfer, a request is
//     retried with growing pauses, at most [Options.Attempts] times. Then the next
//     mirror is used, in the order of the [Mirror]s, and last the registry in the
//     name, unless the mirror set forbids it.
//   - Credentials are sent only to their registry, and are not part of any
//     error.
//
// Proxies are those of the environment (HTTPS_PROXY, NO_PROXY). Registries on this
// machine (localhost) may speak plain HTTP; all others speak HTTPS.
//
// The protocol is that of the OCI distribution specification 1.1; the client is
// go-containerregistry.
package registry
