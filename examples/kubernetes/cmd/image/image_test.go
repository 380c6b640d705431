package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// write creates a file, in its own directory.
func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// looks checks the files and the metadata of an image for a platform.
func looks(t *testing.T, img v1.Image, architecture, version string) {
	t.Helper()
	if err := validate.Image(img); err != nil {
		t.Error(err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := config.Config
	if config.OS != "linux" || config.Architecture != architecture || c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/operator"}) ||
		len(c.Cmd) > 0 || len(c.Env) > 0 || c.Labels["org.opencontainers.image.version"] != version || !config.Created.Equal(time.Unix(0, 0)) {
		t.Errorf("%+v", config)
	}
	layers, err := img.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	data, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	var files []string
	for r := tar.NewReader(data); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(time.Unix(0, 0)) {
			t.Errorf("%s is of %v", h.Name, h.ModTime)
		}
		files = append(files, fmt.Sprintf("%o %s %d:%d %s", h.Mode, h.Name, h.Uid, h.Gid, text))
	}
	want := []string{"755 etc/ 0:0 ", "755 etc/ssl/ 0:0 ", "755 etc/ssl/certs/ 0:0 ", "444 etc/ssl/certs/ca-certificates.crt 0:0 trusted", "555 operator 0:0 program"}
	if !slices.Equal(files, want) {
		t.Errorf("%q", files)
	}
}

// The same program results in the same digest, in a layout and in a registry.
func TestImage(t *testing.T) {
	server := httptest.NewServer(registry.New())
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	var digests []string
	make := func(args ...string) string {
		t.Helper()
		var out strings.Builder
		args = append(args, "-program", write(t, "program"), "-certificates", write(t, "trusted"), "-platforms=linux/arm64")
		if err := run(t.Context(), args, &out); err != nil {
			t.Fatal(err)
		}
		_, digest, _ := strings.Cut(strings.TrimSpace(out.String()), "sha256:")
		digests = append(digests, digest)
		return strings.TrimSpace(out.String())
	}
	dir := filepath.Join(t.TempDir(), "image")
	make("-layout", dir, "-version=v0.1.0")
	at := make("-push", host+"/team/operator:v0.1.0")
	if len(digests) != 2 || digests[0] == "" || digests[0] != digests[1] {
		t.Errorf("digests %q", digests)
	}
	other := make("-push", host+"/team/operator:v0.2.0")
	if strings.HasSuffix(other, digests[0]) {
		t.Error("another version has the same digest")
	}

	ref, err := name.ParseReference(at)
	if err != nil {
		t.Fatal(err)
	}
	img, err := remote.Image(ref, remote.WithPlatform(v1.Platform{OS: "linux", Architecture: "arm64"}))
	if err != nil {
		t.Fatal(err)
	}
	looks(t, img, "arm64", "v0.1.0")
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if img, err = index.Image(manifest.Manifests[0].Digest); err != nil {
		t.Fatal(err)
	}
	looks(t, img, "arm64", "v0.1.0")
}

func TestMistakes(t *testing.T) {
	here := t.TempDir()
	for args, want := range map[string]string{
		"":                              "either -push REFERENCE or -layout DIR",
		"-push=a -layout=b":             "either -push REFERENCE or -layout DIR",
		"-pull=a":                       "flag provided but not defined: -pull; -help lists the flags",
		"-push=A@b":                     "-push: could not parse reference",
		"-layout=" + here:               "exists",
		"-layout=b x":                   `"x": takes no arguments`,
		"-layout=b -certificates=/none": "-certificates: open /none",
		"-layout=b -platforms=arm64":    `-platforms: "arm64" is not OS/ARCHITECTURE`,
		"-layout=b -program=/none -platforms=linux/amd64": "open /none",
		"-layout=b -program=" + write(t, "x"):             "-program is for a single platform",
	} {
		if !strings.Contains(args, "-certificates") {
			args = strings.TrimSpace("-certificates= " + args)
		}
		if err := run(t.Context(), strings.Fields(args), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

func TestHelp(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), []string{"-help"}, &out); err != nil || !strings.HasPrefix(out.String(), "usage: image ") || !strings.Contains(out.String(), "-layout directory") {
		t.Errorf("%v, %s", err, out.String())
	}
}
