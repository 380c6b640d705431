// Package signature tells whether a release image may be trusted, by the
// OpenPGP signatures that its makers publish about the image's digest. Its
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
//  1. A signature is an OpenPGP message that holds a short JSON document: the
//     statement that an image of this digest is published under that name.
//  2. The message must be signed by a key of the keyring, and the key be good
//     both when it signed and now: an expired or revoked one satisfies nobody,
//     whatever date is on the signature. The signature itself may expire, too.
//  3. The statement must be of the type "atomic container signature", name this
//     digest and some image, and have no members that are not known.
//     Options.Repositories limits which images it may name.
//  4. Each keyring must be satisfied by at least one signature. They need not be
//     satisfied by the same one.
//
// # Where signatures are
//
// The stores of Options.First are asked one after the other, each for at most
// half of the time that is left, then all others at once. Who is found first
// wins, and the rest is cancelled. A store on a web server has its signatures at
// <store>/<algorithm>=<hash>/signature-1 and so on up to 9; the first that is
// not there ends the list. [ConfigMaps] reads those that an administrator puts
// into the cluster.
//
// A cluster version with signature stores of its own replaces those of the
// payload: give New these in their place. The config maps come first all the
// same.
//
// # Limits
//
// A signature has at most 50 KiB, its unpacked content 1 MiB, a store is asked
// for at most Options.MaxSignatures of them, and one Verify takes half of the
// time that its context leaves, so that a caller who goes on without a
// signature still has the other half.
//
// What was found for the last images is kept in memory and verified again, so
// that asking again costs no requests and no expiry is missed.
//
// # Signatures in registries
//
// [Keys] is the other Verifier: of signatures that cosign puts beside an image in
// its registry, made with a key of one's own.
//
// The format of statements is that of containers/image; keyrings, stores and
// the config map are those that OpenShift's cluster-version operator documents.
package signature
