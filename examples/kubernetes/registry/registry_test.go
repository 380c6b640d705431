package registry_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/kubernetes/registry"
)

func TestOpen(t *testing.T) {
	f := newFake(t)
	digest := f.push("acme/shelf", catalogLabels,
		layer(t, map[string]string{"configs/old/catalog.json": "old", "configs/shop/catalog.json": "1", "bin/opm": "x"}),
		layer(t, map[string]string{"configs/.wh.old": "", "./configs/shop/catalog.json": "2"}))
	f.push("acme/shop", bundleLabels, layer(t, map[string]string{"manifests/csv.yaml": "csv", "metadata/annotations.yaml": "a", "tests/x": "x"}))
	release := f.push("acme/release", nil, layer(t, map[string]string{"manifests/a.yaml": "a", "release-manifests/b.yaml": "b", "usr/bin/x": "x"}))
	c := client(t, nil)
	for image, want := range map[string]string{
		"/acme/shelf:v1": "shop/catalog.json=2", "/acme/shelf@" + digest: "shop/catalog.json=2",
		"/acme/shop:v1": "manifests/csv.yaml=csv metadata/annotations.yaml=a",
	} {
		fsys, err := c.Open(t.Context(), f.host+image)
		if err != nil {
			t.Fatal(err)
		}
		if got := content(t, fsys); got != want {
			t.Errorf("%s has %q, want %q", image, got, want)
		}
		if img := fsys.(*registry.Image); strings.Contains(image, "shelf") && img.Digest != digest {
			t.Errorf("%s: digest %s, want %s", image, img.Digest, digest)
		}
	}
	fsys, err := c.OpenRelease(t.Context(), cvo.Release{Image: f.host + "/acme/release@" + release})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := content(t, fsys), "manifests/a.yaml=a release-manifests/b.yaml=b"; got != want {
		t.Errorf("the release has %q, want %q", got, want)
	}
	// A second client with the same cache downloads no layer.
	before := f.asked.Load()
	if _, err := c.Open(t.Context(), f.host+"/acme/shelf:v1"); err != nil {
		t.Fatal(err)
	}
	if got := f.asked.Load() - before; got != 1 {
		t.Errorf("%d blobs were asked for again, want the configuration alone", got)
	}
}

// TestRetries makes the registry refuse requests for a while, and interrupt
// transfers.
func TestRetries(t *testing.T) {
	f := newFake(t)
	f.push("acme/shelf", catalogLabels, layer(t, map[string]string{"configs/catalog.json": strings.Repeat("shop ", 5000)}))
	var mu sync.Mutex
	seen := map[string]int{}
	f.fault = func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		seen[r.URL.Path]++
		switch {
		case seen[r.URL.Path] <= 2:
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		case seen[r.URL.Path] == 3 && strings.Contains(r.URL.Path, "/blobs/"):
			whole := httptest.NewRecorder()
			f.inner.ServeHTTP(whole, r)
			w.Header().Set("Content-Length", fmt.Sprint(whole.Body.Len()))
			_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
			_ = http.NewResponseController(w).Flush() // the client receives it, and then the connection ends
			panic(http.ErrAbortHandler)
		}
		return false
	}
	c := client(t, nil)
	if _, err := c.Open(t.Context(), f.host+"/acme/shelf:v1"); err != nil {
		t.Fatal(err)
	}
	f.fault = func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	if _, err := c.Open(t.Context(), f.host+"/acme/shelf:v1"); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("a registry that is down gives error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Open(ctx, f.host+"/acme/shelf:v1"); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context has ended: %v", err)
	}
}

// TestHostile uses registries that serve content with wrong digests, or too
// much.
func TestHostile(t *testing.T) {
	bomb := func() []byte {
		var data bytes.Buffer
		z := gzip.NewWriter(&data)
		_, _ = z.Write(make([]byte, 8<<20))
		_ = z.Close()
		return data.Bytes()
	}()
	for what, tt := range map[string]struct {
		options func(*registry.Options)
		fault   func(f *fake, w http.ResponseWriter, r *http.Request) bool
		image   string
		want    string
		limit   bool
	}{
		"other layer": {fault: func(f *fake, w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, "/blobs/") || f.asked.Load() < 2 {
				return false
			}
			_, _ = w.Write(bomb)
			return true
		}, want: "error verifying sha256 checksum"},
		"other manifest": {image: "@sha256:" + strings.Repeat("0", 64), fault: func(_ *fake, w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, "/manifests/") {
				return false
			}
			w.Header().Set("Content-Type", string(types.OCIManifestSchema1))
			_, _ = io.WriteString(w, `{"schemaVersion":2}`)
			return true
		}, want: "does not match requested digest"},
		"endless manifest": {fault: func(_ *fake, w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, "/manifests/") {
				return false
			}
			return endless(w)
		}, want: "size in bytes of an answer", limit: true},
		"endless manifest of a repository named blobs": {image: "/blobs/x:v1", fault: func(_ *fake, w http.ResponseWriter, r *http.Request) bool {
			return strings.Contains(r.URL.Path, "/manifests/") && endless(w)
		}, want: "size in bytes of an answer", limit: true},
		"endless token": {fault: func(f *fake, w http.ResponseWriter, r *http.Request) bool {
			blob := "/v2/t/blobs/sha256:" + strings.Repeat("0", 64)
			if r.URL.Path == blob {
				return endless(w)
			}
			w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+f.host+blob+`",service="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}, want: "exceeds 65536 byte limit"},
		"large index": {fault: func(_ *fake, w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, "/manifests/") {
				return false
			}
			w.Header().Set("Content-Type", string(types.OCIImageIndex))
			d := fmt.Sprintf(`{"mediaType":%q,"size":2,"digest":"sha256:%s"}`, types.OCIManifestSchema1, strings.Repeat("0", 64))
			_, _ = io.WriteString(w, `{"schemaVersion":2,"mediaType":"`+string(types.OCIImageIndex)+`","manifests":[`+d+strings.Repeat(","+d, 9999)+`]}`)
			return true
		}, want: "number of images in the index is 10000", limit: true},
		"large image":  {options: func(o *registry.Options) { o.MaxImage = 100 }, want: "size of the image's layers", limit: true},
		"much content": {options: func(o *registry.Options) { o.MaxUnpacked = 100 }, want: "size of the unpacked image", limit: true},
		"large files":  {options: func(o *registry.Options) { o.MaxFiles = 100 }, want: "size of all files", limit: true},
		"no name":      {image: ":::", want: "is not the name of an image"},
		"not there":    {image: ":v2", want: "MANIFEST_UNKNOWN"},
	} {
		t.Run(what, func(t *testing.T) {
			f := newFake(t)
			f.push("acme/shelf", catalogLabels, layer(t, map[string]string{"configs/catalog.json": strings.Repeat("x", 1000)}))
			f.asked.Store(0)
			if tt.fault != nil {
				f.fault = func(w http.ResponseWriter, r *http.Request) bool { return tt.fault(f, w, r) }
			}
			var cache string
			c := client(t, func(o *registry.Options) {
				o.Attempts = 2
				cache = o.Cache
				if tt.options != nil {
					tt.options(o)
				}
			})
			image := tt.image
			if image == "" {
				image = ":v1"
			}
			_, err := c.Open(t.Context(), f.host+"/acme/shelf"+image)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got error %v, want one with %q", err, tt.want)
			}
			if limit := (*fairlead.InputLimitError)(nil); errors.As(err, &limit) != tt.limit {
				t.Errorf("got error %#v, want a limit: %v", err, tt.limit)
			}
			if strings.HasPrefix(what, "other") {
				if left, _ := os.ReadDir(cache); len(left) > 0 {
					t.Errorf("%v is in the cache", left)
				}
			}
		})
	}
}

// endless answers with more than any document has.
func endless(w http.ResponseWriter) bool {
	w.Header().Set("Content-Type", string(types.OCIManifestSchema1))
	for range 20 {
		_, _ = w.Write(make([]byte, 1<<20))
	}
	return true
}

// TestHardLinks opens a catalog with a file that is a hard link to another one.
func TestHardLinks(t *testing.T) {
	f := newFake(t)
	var data bytes.Buffer
	w := tar.NewWriter(&data)
	for _, h := range []tar.Header{
		{Name: "configs/shop/catalog.json", Typeflag: tar.TypeReg, Size: 1, Mode: 0o644},
		{Name: "configs/again.json", Typeflag: tar.TypeLink, Linkname: "configs/shop/catalog.json"},
	} {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			_, _ = io.WriteString(w, "1")
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data.Bytes())), nil })
	if err != nil {
		t.Fatal(err)
	}
	f.push("acme/shelf", catalogLabels, l)
	fsys, err := client(t, nil).Open(t.Context(), f.host+"/acme/shelf:v1")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := content(t, fsys), "again.json=1 shop/catalog.json=1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPaths opens layers whose members lead out of the image.
func TestPaths(t *testing.T) {
	f := newFake(t)
	f.push("acme/shelf", catalogLabels, layer(t, map[string]string{"configs/../../etc/passwd": "x", "configs/catalog.json": "1"}))
	if fsys, err := client(t, nil).Open(t.Context(), f.host+"/acme/shelf:v1"); err == nil && content(t, fsys) != "catalog.json=1" {
		t.Errorf("opened %q", content(t, fsys))
	}
}

func TestDamagedCache(t *testing.T) {
	f := newFake(t)
	f.push("acme/shelf", catalogLabels, layer(t, map[string]string{"configs/catalog.json": "1"}))
	var cache string
	c := client(t, func(o *registry.Options) { cache = o.Cache })
	for range 2 {
		fsys, err := c.Open(t.Context(), f.host+"/acme/shelf:v1")
		if err != nil || content(t, fsys) != "catalog.json=1" {
			t.Fatal(content(t, fsys), err)
		}
		layers, err := filepath.Glob(filepath.Join(cache, "sha256-*"))
		if err != nil || len(layers) != 1 {
			t.Fatal(layers, err)
		}
		text, err := os.ReadFile(layers[0])
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)/2] ^= 1
		if err := os.WriteFile(layers[0], text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCacheLimit keeps the most recently used layers.
func TestCacheLimit(t *testing.T) {
	f := newFake(t)
	var cache string
	c := client(t, func(o *registry.Options) { cache, o.MaxCache = o.Cache, 400 })
	for i := range 5 {
		repository := fmt.Sprint("acme/shelf", i)
		f.push(repository, catalogLabels, layer(t, map[string]string{"configs/catalog.json": fmt.Sprint(i)}))
		if _, err := c.Open(t.Context(), f.host+"/"+repository+":v1"); err != nil {
			t.Fatal(err)
		}
	}
	// Files left over by a writer that died are removed once they are old;
	// files being written stay.
	old, young := filepath.Join(cache, ".partial-old"), filepath.Join(cache, ".partial-young")
	for _, path := range []string{old, young} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	f.push("acme/last", catalogLabels, layer(t, map[string]string{"configs/catalog.json": "last"}))
	if _, err := c.Open(t.Context(), f.host+"/acme/last:v1"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("a day-old partial file is still there")
	}
	if err := os.Remove(young); err != nil {
		t.Error("a file being written is gone")
	}
	var size int64
	entries, _ := os.ReadDir(cache)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > 400 || len(entries) == 0 {
		t.Errorf("the cache has %d layers of %d bytes, and may have 400", len(entries), size)
	}
}

// TestCredentials uses a registry that requires a token from its token service.
func TestCredentials(t *testing.T) {
	const password = "hunter2-is-secret"
	f := newFake(t)
	f.push("acme/shelf", catalogLabels, layer(t, map[string]string{"configs/catalog.json": "1"}))
	f.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			if _, got, _ := r.BasicAuth(); got != password {
				http.Error(w, `{"errors":[{"code":"DENIED","message":"wrong"}]}`, http.StatusUnauthorized)
				return true
			}
			_, _ = io.WriteString(w, `{"token":"t0ken"}`)
			return true
		}
		if r.Header.Get("Authorization") == "Bearer t0ken" {
			return false
		}
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s/token",service="shelf"`, f.host))
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	for secret, works := range map[string]bool{password: true, "other-" + password: false} {
		keys, err := registry.PullSecrets([]byte(fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, f.host+"/acme", base64.StdEncoding.EncodeToString([]byte("joe:"+secret)))))
		if err != nil {
			t.Fatal(err)
		}
		_, err = client(t, func(o *registry.Options) { o.Credentials = keys }).Open(t.Context(), f.host+"/acme/shelf:v1")
		if (err == nil) != works {
			t.Errorf("with %q: %v", secret, err)
		}
		if err != nil && (strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), base64.StdEncoding.EncodeToString([]byte("joe:"+secret)))) {
			t.Errorf("the secret is in the error: %v", err)
		}
	}
	for _, bad := range []string{"hunter2", `{}`, `{"auths":{"x":{"auth":"hunter2"}}}`} {
		if _, err := registry.PullSecrets([]byte(bad)); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: error %v", bad, err)
		}
	}
}

func TestMirrors(t *testing.T) {
	f := newFake(t)
	digest := f.push("mirror/acme/shelf", catalogLabels, layer(t, map[string]string{"configs/catalog.json": "1"}))
	mirrors, err := registry.ReadMirrors([]byte(fmt.Sprintf(`
kind: List
items:
- kind: ImageDigestMirrorSet
  spec:
    imageDigestMirrors:
    - {source: registry.example/acme, mirrors: [%[1]s/none, %[1]s/mirror/acme], mirrorSourcePolicy: NeverContactSource}
    - {source: registry.example, mirrors: [%[1]s/wrong]}
- kind: ImageTagMirrorSet
  spec:
    imageTagMirrors:
    - {source: "*.example", mirrors: [%[1]s/mirror]}
`, f.host)))
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, func(o *registry.Options) { o.Mirrors = mirrors })
	for _, image := range []string{"registry.example/acme/shelf@" + digest, "registry.example/acme/shelf:v1"} {
		fsys, err := c.Open(t.Context(), image)
		if err != nil {
			t.Fatal(err)
		}
		if got := fsys.(*registry.Image).Name; !strings.HasPrefix(got, f.host+"/mirror/acme/shelf") {
			t.Errorf("%s was found at %s", image, got)
		}
	}
	_, err = c.Open(t.Context(), "registry.example/acme/shelf@sha256:"+strings.Repeat("0", 64))
	if err == nil || strings.Contains(err.Error(), "registry.example") {
		t.Errorf("the source was asked, though its mirror set forbids it: %v", err)
	}
	// The longest source is used, and mirror sets for tags do not apply to
	// digests.
	for _, tt := range []struct {
		mirrors []registry.Mirror
		found   bool
	}{
		{[]registry.Mirror{{Source: "registry.example/acme", Mirrors: []string{f.host + "/mirror/acme"}, NeverContactSource: true}}, true},
		{[]registry.Mirror{
			{Source: "registry.example", Mirrors: []string{f.host + "/mirror"}, NeverContactSource: true},
			{Source: "registry.example/acme", Mirrors: []string{f.host + "/none"}, NeverContactSource: true},
		}, false},
		{[]registry.Mirror{
			{Source: "registry.example/acme", Mirrors: []string{f.host + "/none"}, NeverContactSource: true},
			{Source: "registry.example", Mirrors: []string{f.host + "/mirror"}, NeverContactSource: true},
		}, false},
		{[]registry.Mirror{
			{Source: "registry.example/acme", Mirrors: []string{f.host + "/mirror/acme"}, NeverContactSource: true},
			{Source: "registry.example/acme/shelf", Mirrors: []string{f.host + "/none"}, NeverContactSource: true, Tags: true},
		}, true},
		{[]registry.Mirror{{Source: "registry.example/ac", Mirrors: []string{f.host + "/mirror/ac"}, NeverContactSource: true}, {Source: "registry.example", Mirrors: []string{f.host + "/none"}, NeverContactSource: true}}, false},
	} {
		c := client(t, func(o *registry.Options) { o.Mirrors = tt.mirrors })
		if _, err := c.Open(t.Context(), "registry.example/acme/shelf@"+digest); (err == nil) != tt.found {
			t.Errorf("with the mirrors %v: %v", tt.mirrors, err)
		}
	}
	for _, bad := range []string{`kind: Pod`, `kind: ImageDigestMirrorSet
spec: {imageDigestMirrors: [{source: a, mirrorSourcePolicy: Sometimes}]}`, `kind: ImageTagMirrorSet
spec: {imageTagMirrors: [{mirrors: [a]}]}`, `{`} {
		if _, err := registry.ReadMirrors([]byte(bad)); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}
