package signature

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/cvo"
)

// Attachments returns the signatures stored beside images in their registries.
// The Client of package registry implements it. It must be safe for concurrent
// use.
type Attachments interface {
	// Signatures returns the signatures of a digest in a repository, such as
	// quay.io/openshift-release-dev/ocp-release; having none is not an error. It
	// must return soon after ctx ends.
	Signatures(ctx context.Context, repository, digest string) ([]Attachment, error)
}

// Attachment is a signature in a registry, in one of two forms: a statement
// and its signature, or a bundle that contains both.
type Attachment struct {
	Name      string // its location, for messages
	Payload   []byte // the statement, as JSON
	Signature []byte // of the payload: ASN.1 for ECDSA, 64 bytes for Ed25519
	Bundle    []byte // a sigstore bundle, as JSON; then the others are nil
}

// Keys verifies release images by signatures in registries that sigstore's tools
// (cosign) have made with your own key. [NewKeys] returns one. It is safe for
// concurrent use.
//
//  1. A statement has the type "cosign container image signature", names the
//     digest and one of the repositories, and has no unknown critical members. A
//     bundle contains an in-toto statement in a DSSE envelope, with the predicate
//     type https://sigstore.dev/cosign/sign/v1 and the digest among its subjects;
//     it names no repository.
//  2. One signature by one of the keys is enough. ECDSA and RSA sign a SHA-256
//     hash, Ed25519 the bytes. RSA keys have at least 2,048 bits.
//  3. Certificates and transparency logs are ignored: only the keys decide, and a
//     signature by a certificate does not satisfy them.
type Keys struct {
	keys         []publicKey
	repositories []string
	from         Attachments
}

var _ cvo.Verifier = (*Keys)(nil)

// publicKey is a key with its name: a hash of its DER encoding.
type publicKey struct {
	name string
	key  crypto.PublicKey
}

// mostAttachments limits how many signatures of one repository are tried.
const mostAttachments = 64

// NewKeys returns a verifier that looks for signatures in the repositories, one
// after the other, and checks them against the public keys in a PEM file. Having
// no key or no repository is an error.
func NewKeys(keys []byte, repositories []string, from Attachments) (*Keys, error) {
	v := &Keys{repositories: slices.Clone(repositories), from: from}
	for rest := bytes.TrimSpace(keys); len(rest) > 0; rest = bytes.TrimSpace(rest) {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, errors.New("the public keys are not PEM; write them as \"cosign public-key\" prints them")
		}
		if block.Type != "PUBLIC KEY" {
			return nil, fmt.Errorf("one of the public keys is a %q; only \"PUBLIC KEY\" is supported", block.Type)
		}
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("a public key cannot be read: %w", err)
		}
		switch k := key.(type) {
		case *ecdsa.PublicKey, ed25519.PublicKey:
		case *rsa.PublicKey:
			if k.N.BitLen() < 2048 {
				return nil, fmt.Errorf("an RSA public key has %d bits, less than 2048: it is too weak", k.N.BitLen())
			}
		default:
			return nil, fmt.Errorf("a public key is a %T; use ECDSA, Ed25519 or RSA", key)
		}
		sum := sha256.Sum256(block.Bytes)
		v.keys = append(v.keys, publicKey{"SHA256:" + hex.EncodeToString(sum[:8]), key})
	}
	switch {
	case len(v.keys) == 0:
		return nil, errors.New("a verifier without a key can trust no image: give it at least one")
	case len(repositories) == 0:
		return nil, errors.New("a verifier of signatures in registries looks for them in repositories: name one, such as quay.io/openshift-release-dev/ocp-release")
	case from == nil:
		return nil, errors.New("a verifier of signatures in registries needs a client for registries")
	}
	return v, nil
}

// Verify returns nil once a valid signature is found. Otherwise it returns an
// *Error, which also contains the error of a ctx that ended.
func (v *Keys) Verify(ctx context.Context, digest string) error {
	e := &Error{Digest: digest}
	for _, k := range v.keys {
		e.Keyrings = append(e.Keyrings, k.name)
	}
	slices.Sort(e.Keyrings)
	if !cvo.IsDigest(digest) {
		e.Err = errors.New("it is not a digest; name the image by one, as in registry/name@sha256:…")
		return e
	}
	for _, repository := range v.repositories {
		found, err := v.from.Signatures(ctx, repository, digest)
		if ctx.Err() != nil {
			e.Err = ctx.Err()
			return e
		}
		note := func(name, key string, f *Failure) {
			e.Attempts = append(e.Attempts, Attempt{Store: repository, Signature: name, Keyring: key, Failure: f})
		}
		switch {
		case err != nil:
			note("", "", &Failure{Unreachable, err})
		case len(found) == 0:
			note("", "", failure(Missing, "there is no signature of it"))
		case len(found) > mostAttachments:
			note("", "", failure(Limit, "it has %d signatures, of which %d are tried", len(found), mostAttachments))
			found = found[:mostAttachments]
		}
		for i := range found {
			key, f := v.judge(&found[i], digest)
			if f == nil {
				return nil
			}
			note(found[i].Name, key, f)
		}
	}
	return e
}

// judge returns why a signature does not help.
func (v *Keys) judge(a *Attachment, digest string) (key string, f *Failure) {
	signed, signatures, check := a.Payload, [][]byte{a.Signature}, v.statement
	if a.Bundle != nil {
		b, err := openBundle(a.Bundle)
		if err != nil {
			return "", failure(Unreadable, "%w", err)
		}
		signed, signatures, check = b.signed, b.signatures, func(_ []byte, digest string) *Failure { return inToto(b.payload, digest) }
	}
	for _, k := range v.keys {
		for _, s := range signatures {
			if k.signed(signed, s) {
				return k.name, check(a.Payload, digest)
			}
		}
	}
	return "", failure(Forged, "none of the keys made the signature")
}

// signed reports whether the key made a signature.
func (k publicKey) signed(message, signature []byte) bool {
	sum := sha256.Sum256(message)
	switch key := k.key.(type) {
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(key, sum[:], signature)
	case ed25519.PublicKey:
		return ed25519.Verify(key, message, signature)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) == nil
	}
	return false
}

// statement returns nil if the signed statement says that an image with the
// digest is published in one of the repositories.
func (v *Keys) statement(payload []byte, digest string) *Failure {
	const kind = "cosign container image signature"
	var s statement
	var critical, optional, image, identity json.RawMessage
	for _, part := range []struct {
		text *json.RawMessage
		into members
	}{
		{(*json.RawMessage)(&payload), members{"critical": &critical, "optional": &optional}},
		{&critical, members{"type": &s.kind, "image": &image, "identity": &identity}},
		{&image, members{"docker-manifest-digest": &s.digest}},
		{&identity, members{"docker-reference": &s.name}},
	} {
		if err := object(*part.text, part.into); err != nil {
			return failure(Statement, "the signed content is not a statement about an image: %w", err)
		}
	}
	switch {
	case s.kind != kind:
		return failure(Statement, "the signed statement has the type %q, not %q", s.kind, kind)
	case s.digest != digest:
		return failure(OtherDigest, "the signed statement is about another image, %q", s.digest)
	case !slices.Contains(v.repositories, repository(s.name)):
		return failure(OtherName, "the signed statement names the image %q, which is not in %s", s.name, strings.Join(v.repositories, ", "))
	}
	return nil
}

// bundle is a sigstore bundle with a DSSE envelope.
type bundle struct {
	payload, signed []byte // signed is what was signed
	signatures      [][]byte
}

// payloadType is the payload type of in-toto statements.
const payloadType = "application/vnd.in-toto+json"

// openBundle decodes a bundle. Members that do not matter here are ignored.
// The signed content consists of the members of the envelope, with their
// lengths.
func openBundle(text []byte) (*bundle, error) {
	var b struct {
		MediaType string `json:"mediaType"`
		Envelope  *struct {
			Payload     string `json:"payload"`
			PayloadType string `json:"payloadType"`
			Signatures  []struct {
				Sig string `json:"sig"`
			} `json:"signatures"`
		} `json:"dsseEnvelope"`
	}
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, fmt.Errorf("it is not a sigstore bundle: %w", err)
	}
	switch {
	case !strings.HasPrefix(b.MediaType, "application/vnd.dev.sigstore.bundle"):
		return nil, fmt.Errorf("it has the type %q and is not a sigstore bundle", b.MediaType)
	case b.Envelope == nil:
		return nil, errors.New("the bundle has no DSSE envelope")
	case b.Envelope.PayloadType != payloadType:
		return nil, fmt.Errorf("the payload of the bundle has the type %q, not %q", b.Envelope.PayloadType, payloadType)
	}
	out := &bundle{}
	var err error
	if out.payload, err = base64.StdEncoding.DecodeString(b.Envelope.Payload); err != nil {
		return nil, fmt.Errorf("the payload of the bundle: %w", err)
	}
	out.signed = fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(out.payload), out.payload)
	for _, s := range b.Envelope.Signatures {
		sig, err := base64.StdEncoding.DecodeString(s.Sig)
		if err != nil {
			return nil, fmt.Errorf("a signature of the bundle: %w", err)
		}
		out.signatures = append(out.signatures, sig)
	}
	return out, nil
}

// inToto returns nil if an in-toto statement says that an image with the digest
// was signed.
func inToto(payload []byte, digest string) *Failure {
	const statementType, predicate = "https://in-toto.io/Statement/v1", "https://sigstore.dev/cosign/sign/v1"
	var s struct {
		Type      string `json:"_type"`
		Predicate string `json:"predicateType"`
		Subject   []struct {
			Digest map[string]string `json:"digest"`
		} `json:"subject"`
	}
	if err := json.Unmarshal(payload, &s); err != nil {
		return failure(Statement, "the signed content is not an in-toto statement: %w", err)
	}
	if s.Type != statementType || s.Predicate != predicate {
		return failure(Statement, "the signed statement has the types %q and %q, not %q and %q", s.Type, s.Predicate, statementType, predicate)
	}
	algorithm, hash, _ := strings.Cut(digest, ":")
	for _, subject := range s.Subject {
		if subject.Digest[algorithm] == hash {
			return nil
		}
	}
	return failure(OtherDigest, "the signed statement is about other images")
}
