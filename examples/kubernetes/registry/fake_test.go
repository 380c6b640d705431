package registry_test

import (
	"archive/tar"
	"bytes"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	served "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/fairlead/fairlead/examples/kubernetes/registry"
)

// fake is a registry in this process, with injected faults.
type fake struct {
	t     *testing.T
	host  string
	inner http.Handler
	fault func(w http.ResponseWriter, r *http.Request) bool // returns whether it has answered
	asked atomic.Int64                                      // requests for blobs
}

func newFake(t *testing.T) *fake {
	f := &fake{t: t, inner: served.New(served.WithReferrersSupport(true), served.Logger(log.New(io.Discard, "", 0)))}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
			f.asked.Add(1)
		}
		if f.fault != nil && f.fault(w, r) {
			return
		}
		f.inner.ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(s.Close)
	f.host = strings.TrimPrefix(s.URL, "http://")
	return f
}

// layer returns a layer with files.
func layer(t *testing.T, files map[string]string) v1.Layer {
	t.Helper()
	var data bytes.Buffer
	w := tar.NewWriter(&data)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data.Bytes())), nil })
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// push pushes an image to the registry and returns its digest.
func (f *fake) push(repository string, labels map[string]string, layers ...v1.Layer) string {
	f.t.Helper()
	img, err := mutate.AppendLayers(empty.Image, layers...)
	if err == nil {
		img, err = mutate.Config(img, v1.Config{Labels: labels})
	}
	if err != nil {
		f.t.Fatal(err)
	}
	tag, err := name.NewTag(f.host + "/" + repository + ":v1")
	if err == nil {
		err = remote.Write(tag, img)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	digest, err := img.Digest()
	if err != nil {
		f.t.Fatal(err)
	}
	return digest.String()
}

var (
	catalogLabels = map[string]string{"operators.operatorframework.io.index.configs.v1": "/configs"}
	bundleLabels  = map[string]string{"operators.operatorframework.io.bundle.manifests.v1": "manifests/"}
)

func client(t *testing.T, change func(*registry.Options)) *registry.Client {
	t.Helper()
	o := registry.Options{Cache: filepath.Join(t.TempDir(), "cache"), Pause: time.Millisecond}
	o.Credentials, _ = registry.PullSecrets([]byte(`{"auths":{}}`))
	if change != nil {
		change(&o)
	}
	c, err := registry.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func content(t *testing.T, fsys fs.FS) string {
	t.Helper()
	var all []string
	err := fs.WalkDir(fsys, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(fsys, path)
		all = append(all, path+"="+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}
