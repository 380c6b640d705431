package cvo

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Verifier decides whether a release image is one that the cluster may trust. It
// is where signatures are checked, and the place to plug in keyrings: this module does
// not read OpenPGP. A verifier with keyrings
//
//  1. looks for signatures of the digest where they are published, as
//     ALGORITHM=HEX/signature-1 and so on below each of its stores, up to the
//     first that is not there, and no further than some limit of number and size;
//  2. takes a signature for valid when it is by a key of the keyring that has not
//     expired, and its message names the digest ("critical", "image",
//     "docker-manifest-digest") and an identity, and has no fields that are not known;
//  3. vouches for the image when every one of its keyrings has a valid signature.
//
// A Fetcher asks it before it downloads a release, and gives it half of the time
// that there is; other Backends do well to do the same. It is safe for concurrent
// use.
type Verifier interface {
	// Verify returns nil for an image that may be trusted. digest is that of the
	// image, with its algorithm, as in sha256:8c04…; it is empty for an image that
	// is named by a tag, of which nobody can say what it will be. The error says
	// what was looked at and what was missing there. Verify returns soon after ctx
	// ends.
	Verify(ctx context.Context, digest string) error
}

// Digests is a Verifier that trusts the images that it lists, and no others. It
// knows nothing of signatures: who lists a digest has checked it.
type Digests []string

// Verify returns a *DigestError for an image that is not listed.
func (d Digests) Verify(_ context.Context, digest string) error {
	switch {
	case !IsDigest(digest):
		return &DigestError{digest, "it is not a digest; name the image by one, as in registry/name@sha256:…"}
	case !slices.Contains(d, digest):
		return &DigestError{digest, "it is not among the digests that are trusted"}
	}
	return nil
}

// IsDigest reports whether a text has the form of an image's digest: an
// algorithm, a colon and a hash, as in sha256:8c04…. It does not check that the algorithm
// exists or that the hash has the right length.
func IsDigest(text string) bool { return digestForm.MatchString(text) }

var digestForm = regexp.MustCompile(`^[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[a-zA-Z0-9=_-]+$`)

// DigestError says why an image is not trusted.
type DigestError struct {
	Digest string // of the image
	Reason string // why it is not trusted
}

// Error returns the message in one line.
func (e *DigestError) Error() string {
	return fmt.Sprintf("unable to verify %q: %s", e.Digest, e.Reason)
}

// Digest returns the digest of a pull specification, or "" for one that names
// its image by a tag.
func Digest(image string) string {
	_, digest, _ := strings.Cut(image, "@")
	return digest
}

// SameImage reports whether two pull specifications mean the same image: they
// are equal, or both name it by the same digest.
func SameImage(a, b string) bool {
	return a == b || Digest(a) != "" && Digest(a) == Digest(b)
}
