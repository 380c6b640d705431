// Package signature decides whether a release image can be trusted, by the
// OpenPGP signatures that its makers publish for the image's digest. Its
// [Verifier] is a [github.com/fairlead/fairlead/cvo.Verifier].
//
//	trust, found, err := signature.ReadTrust(payload.Manifests, nil)
//	…
//	v, err := signature.New(trust.Keyrings, trust.Stores, &signature.Options{
//		First: []signature.Store{signature.ConfigMaps(reader)},
//	})
//	…
//	err = v.Verify(ctx, cvo.Digest(image))
//
// # What is verified
//
//  1. A signature is an OpenPGP message that contains a short JSON document:
//     the statement that an image with a digest is published under a name.
//  2. The message must be signed by a key of the keyring, and the key must be
//     valid both when it signed and now: an expired or revoked key satisfies
//     no keyring, whatever the date of the signature. The signature itself may
//     also expire.
//  3. The statement must have the type "atomic container signature", name this
//     digest and some image, and have no unknown members. Options.Repositories
//     limits which images it may name.
//  4. Each keyring must be satisfied by at least one signature, not necessarily
//     the same one.
//
// # Where signatures are
//
// The stores in Options.First are queried one after the other, each for at most
// half of the remaining time, then all others at once. As soon as all keyrings
// are satisfied, the remaining requests are cancelled. A store on a web server
// has its signatures at <store>/<algorithm>=<hash>/signature-1 and so on up to
// 9; the first missing one ends the list. [ConfigMaps] reads those that an
// administrator puts into the cluster.
//
// If the ClusterVersion has its own signature stores, they replace those of
// the payload: pass these to New instead. The config maps are still first.
//
// # Limits
//
// A signature has at most 50 KiB, its decompressed content 1 MiB, at most
// Options.MaxSignatures signatures of a store are tried, and one Verify takes
// half of the time that its context leaves, so that a caller that continues
// without a signature still has the other half.
//
// The signatures of the last images are kept in memory and verified again, so
// that repeated calls cost no requests and no expiry is missed.
//
// # Signatures in registries
//
// [Keys] is another Verifier: for signatures that cosign stores beside an image
// in its registry, made with your own key.
//
// The format of statements is that of containers/image; keyrings, stores and
// the config map are those documented by OpenShift's cluster-version operator.
package signature
