package registry_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/fairlead/fairlead/examples/kubernetes/signature"
)

// attach stores a signature where cosign does: in an image tagged with the
// digest.
func (f *fake) attach(repository, digest string, payload, signed []byte) {
	f.t.Helper()
	img, err := mutate.Append(mutate.MediaType(empty.Image, types.OCIManifestSchema1), mutate.Addendum{
		Layer:       static.NewLayer(payload, "application/vnd.dev.cosign.simplesigning.v1+json"),
		Annotations: map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(signed)},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.write(repository+":"+strings.Replace(digest, ":", "-", 1)+".sig", img)
}

// refer stores a bundle that refers to an image.
func (f *fake) refer(repository, digest string, bundle []byte) {
	f.t.Helper()
	const kind = "application/vnd.dev.sigstore.bundle.v0.3+json"
	img, err := mutate.Append(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), kind), mutate.Addendum{Layer: static.NewLayer(bundle, kind)})
	if err != nil {
		f.t.Fatal(err)
	}
	hash, err := v1.NewHash(digest)
	if err != nil {
		f.t.Fatal(err)
	}
	about := mutate.Subject(img, v1.Descriptor{MediaType: types.OCIManifestSchema1, Digest: hash}).(v1.Image)
	f.write(repository+":bundle", about)
}

func (f *fake) write(at string, img v1.Image) {
	f.t.Helper()
	tag, err := name.NewTag(f.host + "/" + at)
	if err == nil {
		err = remote.Write(tag, img)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

func TestSignatures(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	sign := func(text string) []byte {
		sum := sha256.Sum256([]byte(text))
		out, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	f := newFake(t)
	c := client(t, nil)
	repository := f.host + "/acme/release"
	v, err := signature.NewKeys(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), []string{repository}, c)
	if err != nil {
		t.Fatal(err)
	}
	expect := func(digest, want string) {
		t.Helper()
		err := v.Verify(t.Context(), digest)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	tagged := f.push("acme/release", nil, layer(t, map[string]string{"a": "1"}))
	expect(tagged, "there is no signature of it")
	payload := fmt.Sprintf(`{"critical":{"identity":{"docker-reference":%q},"image":{"docker-manifest-digest":%q},"type":"cosign container image signature"},"optional":null}`, repository, tagged)
	f.attach("acme/release", tagged, []byte(payload), sign(payload+" "))
	expect(tagged, "none of the keys made the signature")
	f.attach("acme/release", tagged, []byte(payload), sign(payload))
	expect(tagged, "")

	// A signature of one image is not valid for another.
	other := f.push("acme/release", nil, layer(t, map[string]string{"a": "2"}))
	f.attach("acme/release", other, []byte(payload), sign(payload))
	expect(other, "the signed statement is about another image")

	referred := f.push("acme/release", nil, layer(t, map[string]string{"a": "3"}))
	const kind = "application/vnd.in-toto+json"
	statement := fmt.Sprintf(`{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":%q}}],"predicateType":"https://sigstore.dev/cosign/sign/v1"}`, strings.TrimPrefix(referred, "sha256:"))
	sig := sign(fmt.Sprintf("DSSEv1 %d %s %d %s", len(kind), kind, len(statement), statement))
	f.refer("acme/release", referred, []byte(fmt.Sprintf(`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","dsseEnvelope":{"payload":%q,"payloadType":%q,"signatures":[{"sig":%q}]}}`,
		base64.StdEncoding.EncodeToString([]byte(statement)), kind, base64.StdEncoding.EncodeToString(sig))))
	expect(referred, "")

	// A signature that is too large is not read.
	large := f.push("acme/release", nil, layer(t, map[string]string{"a": "4"}))
	f.attach("acme/release", large, make([]byte, 300<<10), sign(""))
	expect(large, "size of a signature")
}
