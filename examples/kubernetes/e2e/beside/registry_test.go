package beside_test

import (
	"archive/tar"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/bundle"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/registry"
	"github.com/fairlead/fairlead/examples/kubernetes/signature"
)

// shelf is a registry in its own process, behind a proxy with faults.
type shelf struct {
	t        *testing.T
	host     string       // that of the registry
	dir      string       // its storage
	faulty   string       // the host of the proxy
	tooMany  atomic.Int64 // how many requests are yet to be answered with 429
	cut      atomic.Int64 // how many blobs are yet to be interrupted
	answered atomic.Int64 // requests answered with faults
}

func newShelf(t *testing.T) *shelf {
	program := cluster.ProgramForTest(t, "registry")
	s := &shelf{t: t, host: cluster.FreeAddresses(t, 1)[0], dir: t.TempDir()}
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf("version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: %s}\n", s.dir, s.host)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	start(t, s.host, program, "serve", config)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: s.host})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		blob := r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/")
		switch {
		case s.tooMany.Add(-1) >= 0:
			s.answered.Add(1)
			w.WriteHeader(http.StatusTooManyRequests)
		case blob && s.cut.Add(-1) >= 0:
			s.answered.Add(1)
			recorded := httptest.NewRecorder()
			proxy.ServeHTTP(recorded, r)
			w.Header().Set("Content-Length", fmt.Sprint(recorded.Body.Len()))
			w.WriteHeader(recorded.Code)
			_, _ = w.Write(recorded.Body.Bytes()[:recorded.Body.Len()/2])
			panic(http.ErrAbortHandler)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	s.faulty = strings.TrimPrefix(server.URL, "http://")
	return s
}

// push pushes an image with some files to the registry, and returns its digest.
func (s *shelf) push(repository string, labels, files map[string]string) string {
	s.t.Helper()
	var data bytes.Buffer
	w := tar.NewWriter(&data)
	for file, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: file, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			s.t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		s.t.Fatal(err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data.Bytes())), nil })
	if err != nil {
		s.t.Fatal(err)
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err == nil {
		img, err = mutate.Config(img, v1.Config{Labels: labels})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return s.write(repository+":v1", img)
}

func (s *shelf) write(at string, img v1.Image) string {
	s.t.Helper()
	tag, err := name.NewTag(s.host + "/" + at)
	if err == nil {
		err = remote.Write(tag, img)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	digest, err := img.Digest()
	if err != nil {
		s.t.Fatal(err)
	}
	return digest.String()
}

// storm makes the next requests fail.
func (s *shelf) storm(tooMany, cut int64) {
	s.tooMany.Store(tooMany)
	s.cut.Store(cut)
}

// A catalog, a bundle and a release are read from a registry through a storm of
// 429 answers and interrupted transfers. Then the registry's files are corrupted:
// nothing of them is used.
func TestRegistry(t *testing.T) {
	s := newShelf(t)
	client, err := registry.New(registry.Options{Cache: t.TempDir(), Pause: 10 * time.Millisecond, Attempts: 6})
	if err != nil {
		t.Fatal(err)
	}
	s.push("acme/catalog", map[string]string{"operators.operatorframework.io.index.configs.v1": "/configs"}, map[string]string{
		"configs/shop/catalog.yaml": "schema: olm.package\nname: shop\ndefaultChannel: stable\n", "etc/passwd": "none",
	})
	csv := "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: shop.v1.0.0}\nspec: {version: 1.0.0}\n"
	s.push("acme/bundle", map[string]string{"operators.operatorframework.io.bundle.manifests.v1": "manifests/"}, map[string]string{
		"manifests/csv.yaml": csv, "metadata/annotations.yaml": "annotations: {operators.operatorframework.io.bundle.package.v1: shop}\n",
	})
	release := s.push("acme/release", nil, map[string]string{"manifests/a.yaml": "kind: Namespace\n", "release-manifests/release-metadata": "{}"})

	s.storm(4, 2)
	files, err := client.Open(t.Context(), s.faulty+"/acme/catalog:v1")
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(t.Context(), files, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Package("shop"); !ok {
		t.Error("the catalog has no package shop")
	}
	s.storm(3, 1)
	if files, err = client.Open(t.Context(), s.faulty+"/acme/bundle:v1"); err != nil {
		t.Fatal(err)
	}
	read, err := bundle.Read(t.Context(), files, nil)
	if err != nil || len(read.Manifests) != 1 {
		t.Errorf("the bundle: %v, %v", read, err)
	}
	s.storm(3, 2)
	image := s.faulty + "/acme/release@" + release
	if files, err = client.OpenRelease(t.Context(), cvo.Release{Image: image}); err != nil {
		t.Fatal(err)
	}
	if text, err := fs.ReadFile(files, "manifests/a.yaml"); err != nil || string(text) != "kind: Namespace\n" {
		t.Errorf("the release: %q, %v", text, err)
	}
	if n := s.answered.Load(); n < 4+3+3+2+1+2 {
		t.Errorf("%d requests have met faults", n)
	}
	s.storm(1000, 0)
	if _, err := client.OpenRelease(t.Context(), cvo.Release{Image: s.faulty + "/acme/catalog@" + release}); err == nil || !strings.Contains(err.Error(), "429") {
		t.Errorf("a storm without end: %v", err)
	}
	s.storm(0, 0)
	if _, err := client.OpenRelease(t.Context(), cvo.Release{Image: s.faulty + "/acme/release@sha256:" + strings.Repeat("0", 64)}); err == nil {
		t.Error("a digest that is not there was opened")
	}

	s.spoil()
	fresh, err := registry.New(registry.Options{Cache: t.TempDir(), Pause: 10 * time.Millisecond, Attempts: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fresh.OpenRelease(t.Context(), cvo.Release{Image: image}); err == nil || !strings.Contains(err.Error(), "sha256") {
		t.Errorf("a layer with other content than its digest: %v", err)
	}
	// Layers verified earlier are in the cache.
	if _, err := client.OpenRelease(t.Context(), cvo.Release{Image: image}); err != nil {
		t.Errorf("the release from the cache: %v", err)
	}
}

// spoil changes the last byte of every layer in the registry's storage.
func (s *shelf) spoil() {
	s.t.Helper()
	blobs, err := filepath.Glob(filepath.Join(s.dir, "docker", "registry", "v2", "blobs", "sha256", "*", "*", "data"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, file := range blobs {
		data, err := os.ReadFile(file)
		if err != nil {
			s.t.Fatal(err)
		}
		if data[0] == '{' {
			continue // a manifest or a configuration
		}
		data[len(data)-1] ^= 1
		if err := os.WriteFile(file, data, 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
}

// A release is trusted because of the signature beside it in the registry, and
// not because of one by another key.
func TestSignedRelease(t *testing.T) {
	s := newShelf(t)
	client, err := registry.New(registry.Options{Cache: t.TempDir(), Pause: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	good, bad := newKey(t), newKey(t)
	repository := s.faulty + "/acme/release"
	der, err := x509.MarshalPKIXPublicKey(good.Public())
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := signature.NewKeys(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), []string{repository}, client)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		by   *ecdsa.PrivateKey
		want string
	}{{nil, "there is no signature of it"}, {bad, "none of the keys made the signature"}, {good, ""}} {
		digest := s.push("acme/release", nil, map[string]string{"manifests/a.yaml": "kind: Namespace\n", "why": c.want})
		if c.by != nil {
			payload := fmt.Appendf(nil, `{"critical":{"identity":{"docker-reference":%q},"image":{"docker-manifest-digest":%q},"type":"cosign container image signature"},"optional":null}`, repository, digest)
			sum := sha256.Sum256(payload)
			signed, err := ecdsa.SignASN1(rand.Reader, c.by, sum[:])
			if err != nil {
				t.Fatal(err)
			}
			img, err := mutate.Append(mutate.MediaType(empty.Image, types.OCIManifestSchema1), mutate.Addendum{
				Layer:       static.NewLayer(payload, "application/vnd.dev.cosign.simplesigning.v1+json"),
				Annotations: map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(signed)},
			})
			if err != nil {
				t.Fatal(err)
			}
			s.write("acme/release:"+strings.Replace(digest, ":", "-", 1)+".sig", img)
		}
		s.storm(2, 0)
		err := verifier.Verify(t.Context(), digest)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
