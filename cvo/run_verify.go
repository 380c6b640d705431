package cvo

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Verifier decides whether the cluster may trust a release image. It is where signatures
// are checked, and the place to plug in keyrings: this module does not read OpenPGP. A
// verifier with keyrings
//
//  1. looks for signatures of the digest where they are published, as
//     ALGORITHM=HEX/signature-1 and so on below each of its stores, up to the first that
//     does not exist, within some limit of number and size;
//  2. considers a signature valid if it is by a key of the keyring that has not expired,
//     and its message names the digest ("critical", "image", "docker-manifest-digest")
//     and an identity, and has no unknown fields;
//  3. accepts the image if every one of its keyrings has a valid signature.
//
// A Fetcher calls it before it downloads a release, and gives it half of the available
// time; other Backends should do the same. It is safe for concurrent use.
type Verifier interface {
	// Verify returns nil for an image that may be trusted. digest is that of the image,
	// with its algorithm, as in sha256:8c04…; it is empty for an image that is named by a
	// tag, whose content may change. The error says what was checked and what was
	// missing. Verify returns soon after ctx ends.
	Verify(ctx context.Context, digest string) error
}

// Digests is a Verifier that trusts exactly the listed images. It does not check
// signatures: whoever lists a digest has verified it.
type Digests []string

// Verify returns a *DigestError for an image that is not listed.
func (d Digests) Verify(_ context.Context, digest string) error {
	switch {
	case !IsDigest(digest):
		return &DigestError{digest, "it is not a digest; name the image by one, as in registry/name@sha256:…"}
	case !slices.Contains(d, digest):
		return &DigestError{digest, "it is not among the trusted digests"}
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

// Digest returns the digest of a pull specification, or "" if it names its image by a
// tag.
func Digest(image string) string {
	_, digest, _ := strings.Cut(image, "@")
	return digest
}

// SameImage reports whether two pull specifications mean the same image: they
// are equal, or both name it by the same digest.
func SameImage(a, b string) bool {
	return a == b || Digest(a) != "" && Digest(a) == Digest(b)
}
