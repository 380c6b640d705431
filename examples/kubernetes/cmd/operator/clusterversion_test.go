package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp/armor"
	openpgp "github.com/ProtonMail/go-crypto/openpgp/v2"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/clusterversion"
	"github.com/fairlead/fairlead/examples/kubernetes/registry"
)

// The operator trusts releases verified as the payload of its own release
// specifies, and without such a payload none, but it starts anyway.
func TestVerifier(t *testing.T) {
	releases, store := t.TempDir(), t.TempDir()
	signer, err := openpgp.NewEntity("release", "", "release@example.com", nil)
	if err != nil {
		t.Fatal(err)
	}
	var key bytes.Buffer
	w, err := armor.Encode(&key, openpgp.PublicKeyType, nil)
	if err == nil {
		err = signer.Serialize(w)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	trust, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "trust", "namespace": "n", "annotations": map[string]string{"release.openshift.io/verification-config-map": "true"}},
		"data":     map[string]string{"verifier-public-key-release": key.String(), "store-disk": "file://" + store},
	})
	if err != nil {
		t.Fatal(err)
	}
	good, other := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	sign(t, signer, store, good)
	write(t, releases, "sha256/aa/release-manifests/0000_50_x_trust.json", string(trust))
	for _, dir := range []string{"aa", "bb"} {
		write(t, releases, "sha256/"+dir+"/manifests/README", "none")
		write(t, releases, "sha256/"+dir+"/release-manifests/release-metadata", `{"kind":"cincinnati-metadata-v0","version":"1.0.0"}`)
		write(t, releases, "sha256/"+dir+"/release-manifests/image-references", `{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":"1.0.0"}}`)
	}
	source := clusterversion.Directory(releases)
	for _, c := range []struct{ own, trusted, digest, want string }{
		{"aa", "", good, ""},
		{"aa", "", other, "unable to verify"},
		{"aa", "sha256:" + other, good, "not among the trusted digests"},
		{"aa", "sha256:" + good + ", sha256:" + other, other, ""},
		{"bb", "", good, "does not define how releases are verified"},
		{"cc", "", good, "not on disk"},
	} {
		v, err := (&clusterVersionController{image: "r@sha256:" + c.own, trusted: c.trusted}).verifier(source, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = v.Verify(t.Context(), "sha256:"+c.digest)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// The own release is read again until that succeeds. Keys need a registry and
// repositories.
func TestVerifierFlags(t *testing.T) {
	releases := t.TempDir()
	v, err := (&clusterVersionController{image: "r@sha256:aa"}).verifier(clusterversion.Directory(releases), nil)
	if err != nil {
		t.Fatal(err)
	}
	digest := "sha256:" + strings.Repeat("ab", 32)
	if err := v.Verify(t.Context(), digest); err == nil || !strings.Contains(err.Error(), "not on disk") {
		t.Error(err)
	}
	write(t, releases, "sha256/aa/manifests/README", "none")
	write(t, releases, "sha256/aa/release-manifests/release-metadata", `{"kind":"cincinnati-metadata-v0","version":"1.0.0"}`)
	write(t, releases, "sha256/aa/release-manifests/image-references", `{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":"1.0.0"}}`)
	if err := v.Verify(t.Context(), digest); err == nil || !strings.Contains(err.Error(), "does not define how releases are verified") {
		t.Error(err)
	}
	images, err := registry.New(registry.Options{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	write(t, releases, "keys.pem", "none")
	for _, c := range []struct {
		keys   string
		images *registry.Client
		want   string
	}{
		{"keys.pem", nil, "needs -registry-cache"},
		{"other.pem", images, "no such file"},
		{"keys.pem", images, "-clusterversion-keys, -clusterversion-signed-in: the public keys are not PEM"},
	} {
		_, err := (&clusterVersionController{keys: filepath.Join(releases, c.keys)}).verifier(nil, c.images)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.keys, err, c.want)
		}
	}
}

// sign adds the signature of an image to a store.
func sign(t *testing.T, by *openpgp.Entity, store, hash string) {
	t.Helper()
	statement := fmt.Sprintf(`{"critical":{"type":"atomic container signature","image":{"docker-manifest-digest":"sha256:%s"},"identity":{"docker-reference":"r"}},"optional":{}}`, hash)
	var message bytes.Buffer
	w, err := openpgp.Sign(&message, []*openpgp.Entity{by}, nil, nil)
	if err == nil {
		_, err = w.Write([]byte(statement))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	write(t, store, "sha256="+hash+"/signature-1", message.String())
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
