package signature_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing/fstest"

	"github.com/ProtonMail/go-crypto/openpgp/armor"
	openpgp "github.com/ProtonMail/go-crypto/openpgp/v2"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/examples/kubernetes/signature"
)

// maker makes a key, and returns its keyring and a function that signs a
// statement.
func maker() (ring []byte, sign func(digest string) []byte) {
	key, err := openpgp.NewEntity("Release Team", "", "release@example.com", nil)
	if err != nil {
		panic(err)
	}
	var public bytes.Buffer
	w, _ := armor.Encode(&public, openpgp.PublicKeyType, nil)
	if err := errors.Join(key.Serialize(w), w.Close()); err != nil {
		panic(err)
	}
	return public.Bytes(), func(digest string) []byte {
		var message bytes.Buffer
		w, _ := openpgp.Sign(&message, []*openpgp.Entity{key}, nil, nil)
		_, err := io.WriteString(w, statement(digest))
		if err := errors.Join(err, w.Close()); err != nil {
			panic(err)
		}
		return message.Bytes()
	}
}

// mirror serves the signature of one image.
func mirror(digest string, message []byte) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/signatures/"+strings.Replace(digest, ":", "=", 1)+"/signature-1" {
			http.NotFound(w, r)
			return
		}
		w.Write(message)
	}))
}

// A keyring and a store, combined manually.
func Example() {
	ring, sign := maker()
	server := mirror(digest, sign(digest))
	defer server.Close()
	team, err := signature.ParseKeyring("release-team", ring)
	if err != nil {
		fmt.Println(err)
		return
	}
	store, err := signature.Open(server.URL+"/signatures", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := signature.New([]*signature.Keyring{team}, []signature.Store{store}, &signature.Options{
		Repositories: []string{"quay.example:5000/org/release"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("signed:", v.Verify(context.Background(), cvo.Digest("quay.example/org/release@"+digest)))
	err = v.Verify(context.Background(), cvo.Digest("quay.example/org/release@"+other))
	var failed *signature.Error
	if errors.As(err, &failed) {
		fmt.Println("another:", failed.Keyrings, failed.Attempts[0].Failure.Reason)
	}
	fmt.Println("by its tag:", v.Verify(context.Background(), cvo.Digest("quay.example/org/release:4.19.3")))
	// Output:
	// signed: <nil>
	// another: [release-team] Missing
	// by its tag: unable to verify "": it is not a digest; name the image by one, as in registry/name@sha256:…
}

// Keyrings and stores from the payload of the running release.
func ExampleReadTrust() {
	ring, sign := maker()
	server := mirror(digest, sign(digest))
	defer server.Close()
	release := fstest.MapFS{
		"manifests/README":                   {},
		"release-manifests/release-metadata": {Data: []byte(`{"kind":"cincinnati-metadata-v0","version":"4.19.2"}`)},
		"release-manifests/image-references": {Data: []byte(`{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":"4.19.2"}}`)},
		"release-manifests/0000_90_update-keys_configmap.yaml": {Data: []byte(`apiVersion: v1
kind: ConfigMap
metadata:
  name: release-verification
  namespace: openshift-config-managed
  annotations:
    release.openshift.io/verification-config-map: ""
data:
  store-mirror: ` + server.URL + `/signatures
  verifier-public-key-team: |
    ` + strings.ReplaceAll(string(ring), "\n", "\n    "))},
	}
	p, err := payload.Load(release, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	trust, found, err := signature.ReadTrust(p.Manifests, nil)
	if err != nil || !found {
		fmt.Println("no verification is set up:", err)
		return
	}
	v, err := signature.New(trust.Keyrings, trust.Stores, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(trust.Source)
	fmt.Println(trust.Keyrings[0].Name(), v.Verify(context.Background(), digest))
	// Output:
	// release-manifests/0000_90_update-keys_configmap.yaml:1:1: configmap "openshift-config-managed/release-verification"
	// verifier-public-key-team <nil>
}
