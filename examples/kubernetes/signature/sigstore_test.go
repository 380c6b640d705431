package signature_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/signature"
)

const (
	shopRepository = "registry.example/acme/release"
	shopDigest     = "sha256:8c04000000000000000000000000000000000000000000000000000000000000"
)

// signWith signs as cosign does: a hash, or the bytes with Ed25519.
func signWith(t *testing.T, key crypto.Signer, message []byte) []byte {
	t.Helper()
	var sig []byte
	var err error
	if _, ok := key.(ed25519.PrivateKey); ok {
		sig, err = key.Sign(rand.Reader, message, crypto.Hash(0))
	} else {
		sum := sha256.Sum256(message)
		sig, err = key.Sign(rand.Reader, sum[:], crypto.SHA256)
	}
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

func public(t *testing.T, keys ...crypto.Signer) []byte {
	t.Helper()
	var all []byte
	for _, key := range keys {
		der, err := x509.MarshalPKIXPublicKey(key.Public())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})...)
	}
	return all
}

func claim(kind, digest, repository string) string {
	return fmt.Sprintf(`{"critical":{"identity":{"docker-reference":%q},"image":{"docker-manifest-digest":%q},"type":%q},"optional":{"who":"ci"}}`, repository, digest, kind)
}

func bundleOf(t *testing.T, key crypto.Signer, statement string) []byte {
	const kind = "application/vnd.in-toto+json"
	pae := fmt.Sprintf("DSSEv1 %d %s %d %s", len(kind), kind, len(statement), statement)
	encode := base64.StdEncoding.EncodeToString
	return []byte(fmt.Sprintf(`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","verificationMaterial":{"publicKey":{"hint":"x"}},
		"dsseEnvelope":{"payload":%q,"payloadType":%q,"signatures":[{"sig":%q}]}}`, encode([]byte(statement)), kind, encode(signWith(t, key, []byte(pae)))))
}

// attached contains signatures in memory.
type attached struct {
	all []signature.Attachment
	err error
}

func (a attached) Signatures(_ context.Context, repository, _ string) ([]signature.Attachment, error) {
	if repository != shopRepository {
		return nil, errors.New("no such repository")
	}
	return a.all, a.err
}

func TestKeys(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	const kind = "cosign container image signature"
	good := claim(kind, shopDigest, shopRepository)
	by := func(key crypto.Signer, text string) signature.Attachment {
		return signature.Attachment{Name: "s", Payload: []byte(text), Signature: signWith(t, key, []byte(text))}
	}
	statement := func(predicate, hash string) string {
		return fmt.Sprintf(`{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":%q}}],"predicateType":%q,"predicate":{}}`, hash, predicate)
	}
	const predicate = "https://sigstore.dev/cosign/sign/v1"
	hash := strings.TrimPrefix(shopDigest, "sha256:")
	changed := by(ec, good)
	changed.Payload = []byte(strings.Replace(good, `"ci"`, `"me"`, 1))
	forged := bundleOf(t, ec, statement(predicate, hash))
	forged = []byte(strings.Replace(string(forged), base64.StdEncoding.EncodeToString([]byte(statement(predicate, hash))), base64.StdEncoding.EncodeToString([]byte(statement(predicate, hash)+" ")), 1))
	for name, c := range map[string]struct {
		found []signature.Attachment
		want  signature.Reason // "" means valid
	}{
		"ECDSA":                 {[]signature.Attachment{by(ec, good)}, ""},
		"ECDSA on P-384":        {[]signature.Attachment{by(other, good)}, ""},
		"Ed25519":               {[]signature.Attachment{by(ed, good)}, ""},
		"RSA":                   {[]signature.Attachment{by(rs, good)}, ""},
		"the second is good":    {[]signature.Attachment{changed, by(ec, good)}, ""},
		"with a tag":            {[]signature.Attachment{by(ec, claim(kind, shopDigest, shopRepository+":v1"))}, ""},
		"a bundle":              {[]signature.Attachment{{Bundle: bundleOf(t, ec, statement(predicate, hash))}}, ""},
		"none":                  {nil, signature.Missing},
		"changed":               {[]signature.Attachment{changed}, signature.Forged},
		"without a signature":   {[]signature.Attachment{{Payload: []byte(good)}}, signature.Forged},
		"another digest":        {[]signature.Attachment{by(ec, claim(kind, "sha256:00", shopRepository))}, signature.OtherDigest},
		"another repository":    {[]signature.Attachment{by(ec, claim(kind, shopDigest, shopRepository+"d"))}, signature.OtherName},
		"another type":          {[]signature.Attachment{by(ec, claim("atomic container signature", shopDigest, shopRepository))}, signature.Statement},
		"more that is critical": {[]signature.Attachment{by(ec, strings.Replace(good, `"type"`, `"not-before":1,"type"`, 1))}, signature.Statement},
		"type twice":            {[]signature.Attachment{by(ec, strings.Replace(good, `"type"`, `"type":"x","type"`, 1))}, signature.Statement},
		"bundle, changed":       {[]signature.Attachment{{Bundle: forged}}, signature.Forged},
		"bundle, other digest":  {[]signature.Attachment{{Bundle: bundleOf(t, ec, statement(predicate, "00"))}}, signature.OtherDigest},
		"bundle, attestation":   {[]signature.Attachment{{Bundle: bundleOf(t, ec, statement("https://slsa.dev/provenance/v1", hash))}}, signature.Statement},
		"bundle, not JSON":      {[]signature.Attachment{{Bundle: []byte("{")}}, signature.Unreadable},
		"bundle, no envelope":   {[]signature.Attachment{{Bundle: []byte(`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json"}`)}}, signature.Unreadable},
	} {
		v, err := signature.NewKeys(public(t, ec, ed, rs, other), []string{shopRepository}, attached{all: c.found})
		if err != nil {
			t.Fatal(err)
		}
		err = v.Verify(t.Context(), shopDigest)
		var failed *signature.Error
		switch {
		case c.want == "":
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case !errors.As(err, &failed):
			t.Errorf("%s: %v, want %s", name, err, c.want)
		case failed.Attempts[0].Failure.Reason != c.want:
			t.Errorf("%s: %v, want %s", name, failed.Attempts[0].Failure.Reason, c.want)
		}
	}

	// A key that is not accepted.
	v, err := signature.NewKeys(public(t, ed), []string{"elsewhere.example/release", shopRepository}, attached{all: []signature.Attachment{by(ec, good)}})
	if err != nil {
		t.Fatal(err)
	}
	err = v.Verify(t.Context(), shopDigest)
	for _, want := range []string{"no such repository", "none of the keys made the signature", shopDigest} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("another key: %v, want %q", err, want)
		}
	}
	if err := v.Verify(t.Context(), ""); err == nil {
		t.Error("an image without a digest is trusted")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := v.Verify(gone, shopDigest); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who has gone: %v", err)
	}
}

func TestKeysRefused(t *testing.T) {
	weak := []byte("-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAKf8\n-----END PUBLIC KEY-----\n")
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		keys         []byte
		repositories []string
		from         signature.Attachments
		want         string
	}{
		"no key":          {nil, []string{shopRepository}, attached{}, "without a key"},
		"not PEM":         {[]byte("key"), []string{shopRepository}, attached{}, "not PEM"},
		"something after": {append(public(t, ec), "x"...), []string{shopRepository}, attached{}, "not PEM"},
		"a certificate":   {pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte{1}}), []string{shopRepository}, attached{}, `"CERTIFICATE"`},
		"cut":             {weak, []string{shopRepository}, attached{}, "cannot be read"},
		"no repository":   {public(t, ec), nil, attached{}, "name one"},
		"no client":       {public(t, ec), []string{shopRepository}, nil, "needs a client"},
	} {
		if _, err := signature.NewKeys(c.keys, c.repositories, c.from); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
