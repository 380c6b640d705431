package signature_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
	openpgp "github.com/ProtonMail/go-crypto/openpgp/v2"

	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/examples/kubernetes/signature"
)

// manifests returns those of a payload with these files.
func manifests(tb testing.TB, files map[string]string) []*payload.Manifest {
	tb.Helper()
	fsys := fstest.MapFS{
		"manifests/README":                   {},
		"release-manifests/release-metadata": {Data: []byte(`{"kind":"cincinnati-metadata-v0","version":"4.19.3"}`)},
		"release-manifests/image-references": {Data: []byte(`{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":"4.19.3"}}`)},
	}
	for name, text := range files {
		fsys["release-manifests/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	p, err := payload.Load(fsys, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return p.Manifests
}

// configMap returns a manifest with the annotation.
func configMap(tb testing.TB, name string, data map[string]string) string {
	tb.Helper()
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"namespace": signature.Namespace, "name": name, "annotations": map[string]string{signature.Annotation: ""}},
		"data":     data,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// The definition of verification in a payload is read, and one that cannot be
// used is an error with its location.
func TestReadTrust(t *testing.T) {
	one := string(exported(t, newKey(t, "one", days(-100), 0)))
	two := string(exported(t, newKey(t, "two", days(-100), 0), newKey(t, "three", days(-100), 0)))
	plain := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"plain"},"data":{"a":"b"}}`
	for _, test := range []struct {
		name  string
		files map[string]string
		found bool
		want  string // the names of keyrings and stores, or a part of the error
	}{
		{"none", map[string]string{"0000_50_a.yaml": plain}, false, ""},
		{"a secret with the annotation", map[string]string{"0000_50_a.yaml": strings.Replace(configMap(t, "x", nil), `"ConfigMap"`, `"Secret"`, 1)}, false, ""},
		{"one", map[string]string{"0000_50_a.yaml": plain, "0000_90_b.yaml": configMap(t, "x", map[string]string{
			"verifier-public-key-b": one, "verifier-public-key-a": two, "store-b": "https://b.example/x ", "store-a": "http://a.example", "unknown": "x",
		})}, true, "[verifier-public-key-a=2 verifier-public-key-b=1] [http://a.example https://b.example/x] [unknown]"},
		{"two: the first counts", map[string]string{
			"0000_50_a.yaml": configMap(t, "x", map[string]string{"verifier-public-key-a": one, "store-a": "http://a.example"}),
			"0000_90_b.yaml": configMap(t, "y", map[string]string{"verifier-public-key-b": two, "store-b": "http://b.example"}),
		}, true, "[verifier-public-key-a=1] [http://a.example] []"},
		{"no data", map[string]string{"0000_50_a.yaml": configMap(t, "x", nil)}, true, "it has no data"},
		{"no keyring", map[string]string{"0000_50_a.yaml": configMap(t, "x", map[string]string{"store-a": "http://a.example"})}, true, "it has no keyring"},
		{"no store", map[string]string{"0000_50_a.yaml": configMap(t, "x", map[string]string{"verifier-public-key-a": one})}, true, "it has no store"},
		{"a bad keyring", map[string]string{"0000_50_a.yaml": configMap(t, "x", map[string]string{
			"verifier-public-key-a": one, "verifier-public-key-b": "x", "store-a": "http://a.example",
		})}, true, "verifier-public-key-b cannot be used"},
		{"a bad store", map[string]string{"0000_50_a.yaml": configMap(t, "x", map[string]string{"verifier-public-key-a": one, "store-a": "gopher://a.example"})}, true, "store-a"},
		{"data of the wrong form", map[string]string{"0000_50_a.yaml": strings.Replace(configMap(t, "x", nil), `"data":null`, `"data":[1]`, 1)}, true, "cannot unmarshal"},
	} {
		trust, found, err := signature.ReadTrust(manifests(t, test.files), nil)
		if found != test.found {
			t.Errorf("%s: found is %v", test.name, found)
		}
		if err != nil {
			if !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "0000_50_a.yaml") || test.want == "" {
				t.Errorf("%s: %v; want %q, and where", test.name, err, test.want)
			}
			if len(trust.Keyrings)+len(trust.Stores) > 0 {
				t.Errorf("%s: there is trust in spite of the error", test.name)
			}
			continue
		}
		var rings, stores []string
		for _, k := range trust.Keyrings {
			rings = append(rings, fmt.Sprintf("%s=%d", k.Name(), len(k.Keys())))
		}
		for _, s := range trust.Stores {
			stores = append(stores, s.Name())
		}
		if got := fmt.Sprint(rings, stores, trust.Ignored); found && got != test.want {
			t.Errorf("%s: %s; want %s", test.name, got, test.want)
		}
	}
}

// A keyring in binaryData need not be armored.
func TestReadTrustBinary(t *testing.T) {
	key := newKey(t, "one", days(-100), 0)
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","annotations":{%q:""}},"binaryData":{"verifier-public-key-a":%q},"data":{"store-a":"http://a.example"}}`,
		signature.Annotation, base64.StdEncoding.EncodeToString(raw(t, key)))
	trust, found, err := signature.ReadTrust(manifests(t, map[string]string{"0000_50_a.json": text}), nil)
	if err != nil || !found || !slices.Equal(trust.Keyrings[0].Keys(), []string{fmt.Sprintf("%X", key.PrimaryKey.Fingerprint)}) {
		t.Errorf("%+v, %v, %v", trust, found, err)
	}
}

// The recorded manifests of the reference: without a config map no
// verification is required, one without data is an error, one with a real
// keyring is read.
func TestRecordedTrust(t *testing.T) {
	root := cmp.Or(os.Getenv("FAIRLEAD_DATA"), filepath.Join("..", "..", "..", "..", "shared", "data"))
	dir := filepath.Join(root, "payload", "cvo-testdata", "pkg_cvo_testdata", "manifests")
	read := func(name string) (signature.Trust, bool, error) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Skipf("no recorded manifests here, FAIRLEAD_DATA names no directory that has them: %v", err)
		}
		return signature.ReadTrust(manifests(t, map[string]string{name: string(text)}), nil)
	}
	trust, found, err := read("loads-valid.yaml")
	if err != nil || !found || len(trust.Stores) != 1 {
		t.Fatalf("loads-valid: %v, %v, %v", trust, found, err)
	}
	if got := trust.Keyrings[0].Keys(); !slices.Equal(got, []string{"567E347AD0044ADE55BA8A5F199E2F91FD431D51"}) {
		t.Errorf("loads-valid: the keys are %v", got)
	}
	if _, found, err := read("requires-data.yaml"); !found || err == nil || !strings.Contains(err.Error(), "has no data") {
		t.Errorf("requires-data: %v, %v", found, err)
	}
	if _, found, err := signature.ReadTrust(nil, nil); found || err != nil {
		t.Errorf("nothing: %v, %v", found, err)
	}
}

// A keyring that is broken in any part is an error, never a keyring with fewer
// keys.
func TestParseKeyring(t *testing.T) {
	a, b := newKey(t, "a", days(-100), 0), newKey(t, "b", days(-100), 1)
	one, two := exported(t, a), exported(t, a, b)
	secret := armored(t, openpgp.PrivateKeyType, func(w io.Writer) error { return a.SerializePrivate(w, at(today)) })
	var binarySecret bytes.Buffer
	if err := a.SerializePrivate(&binarySecret, at(today)); err != nil {
		t.Fatal(err)
	}
	message := sign(t, "x", at(days(-1)), a)
	tampered := bytes.Replace(raw(t, a), []byte("a@example"), []byte("c@example"), 1)
	end := bytes.Index(two, []byte("-----END"))
	revoked, stranger := newKey(t, "revoked", days(-100), 0), newKey(t, "stranger", days(-100), 0)
	plain := raw(t, revoked)
	if err := revoked.Revoke(packet.KeyRetired, "", at(days(-10))); err != nil {
		t.Fatal(err)
	}
	if err := stranger.Revoke(packet.KeyRetired, "", at(days(-10))); err != nil {
		t.Fatal(err)
	}
	// The revocation of a key, as a packet.
	revocation := func(e *openpgp.Entity) []byte {
		var b bytes.Buffer
		if err := e.Revocations[0].Packet.Serialize(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	old := []byte{0xc2, 24, 3, 5, 0x20, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 0, 0, 0, 0, 0, 0, 0} // of version 3
	strange := []byte{0xc6, 8, 4, 0, 0, 0, 1, 99, 0, 0}                                                // a key of an unknown kind
	strangeSub := append([]byte{0xce}, strange[1:]...)
	subRevocation := []byte{0xc2, 20, 4, 0x28, 22, 8, 0, 6, 5, 2, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0}
	for _, test := range []struct {
		name string
		data []byte
		keys int // 0 means an error
	}{
		{"one key", one, 1},
		{"two keys", two, 2},
		{"two blocks", slices.Concat(one, []byte("\n"), exported(t, b)), 2},
		{"text around", slices.Concat([]byte("a comment\n"), one, []byte("\"\n")), 1},
		{"binary", raw(t, a), 1},
		{"binary, two keys", slices.Concat(raw(t, a), raw(t, b)), 2},
		{"empty", nil, 0},
		{"blank", []byte(" \n"), 0},
		{"text", []byte("hello"), 0},
		{"no end", two[:end], 0},
		{"no end of the second", slices.Concat(one, two[:end]), 0},
		{"cut short", slices.Concat(two[:end-60], two[end:]), 0},
		{"a head that is none", bytes.Replace(two, []byte("\n\n"), []byte("\nno head\n"), 1), 0},
		{"another kind", bytes.ReplaceAll(one, []byte("PUBLIC KEY BLOCK"), []byte("MESSAGE")), 0},
		{"secret", secret, 0},
		{"secret in binary", binarySecret.Bytes(), 0},
		{"secret behind public", slices.Concat(raw(t, b), binarySecret.Bytes()), 0},
		{"a message", message, 0},
		{"binary, cut short", slices.Concat(raw(t, b), raw(t, a))[:len(raw(t, b))+100], 0},
		{"binary noise behind", append(raw(t, a), 0xff, 0xff, 0xff), 0},
		{"revoked", raw(t, revoked), 1},
		{"revoked, by what stands behind the name", slices.Concat(plain, revocation(revoked)), 0},
		{"revoked, by another key", slices.Concat(raw(t, b), revocation(stranger)), 0},
		{"revoked, with an old signature", slices.Concat(raw(t, b), old), 0},
		{"revoked, tampered", bytes.Replace(raw(t, revoked), revocation(revoked)[10:], tamper(revocation(revoked)[10:]), 1), 0},
		{"a key of a strange kind", strange, 0},
		{"a key of a strange kind, and another", slices.Concat(strange, raw(t, a)), 1},
		{"a subkey of a strange kind", slices.Concat(raw(t, a), strangeSub), 1},
		{"a subkey of a strange kind, revoked", slices.Concat(raw(t, a), strangeSub, subRevocation), 1},
		{"a subkey revoked by we know not whom", slices.Concat(raw(t, a), subRevocation), 0},
		{"tampered", tampered, 0},
		{"tampered behind a good one", slices.Concat(raw(t, b), tampered), 0},
	} {
		k, err := signature.ParseKeyring("ring-x", test.data)
		switch {
		case test.keys == 0 && (err == nil || !strings.Contains(err.Error(), "ring-x") || strings.Contains(err.Error(), "\n")):
			t.Errorf("%s: %v, %v; want an error in one line that names the keyring", test.name, k, err)
		case test.keys > 0 && (err != nil || len(k.Keys()) != test.keys || k.Name() != "ring-x"):
			t.Errorf("%s: %v, %v; want %d keys", test.name, k, err, test.keys)
		}
	}
	k, err := signature.ParseKeyring("ring-x", slices.Concat(strange, raw(t, a)))
	if err != nil || len(k.Skipped()) != 1 || !strings.HasPrefix(k.Skipped()[0], "key 1: ") {
		t.Errorf("%v, %v; want that key 1 was passed over", k.Skipped(), err)
	}
}

// tamper changes the last byte.
func tamper(data []byte) []byte {
	data = bytes.Clone(data)
	data[len(data)-1] ^= 1
	return data
}
