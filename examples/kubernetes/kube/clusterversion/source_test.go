package clusterversion_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/clusterversion"
)

func TestDirectory(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"releases/sha256/aaaa", "releases/1.0.0", "releases/v2", "elsewhere"} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name, "name"), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "releases", "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	d := clusterversion.Directory(filepath.Join(root, "releases"))
	for _, c := range []struct{ image, version, want, err string }{
		{"registry.example/release@sha256:aaaa", "1.0.0", "releases/sha256/aaaa", ""},
		{"registry.example:5000/release:v2", "1.0.0", "releases/v2", ""},
		{"registry.example:5000/release", "1.0.0", "releases/1.0.0", ""},
		{"registry.example/release@sha256:bbbb", "", "", "not on disk"},
		{"release:file", "", "", "is not a directory"},
		{"release@sha256:../../../elsewhere", "", "", "identifies a release"},
		{"release@sha256:a/b", "", "", "identifies a release"},
		{"release@..:elsewhere", "", "", "identifies a release"},
		{"release:..", "", "", "identifies a release"},
		{"release@/etc", "", "", "identifies a release"},
		{"release", "", "", "identifies a release"},
		{"release", "../elsewhere", "", "identifies a release"},
		{"", "", "", "identifies a release"},
	} {
		files, err := d.Open(t.Context(), cvo.Release{Image: c.image, Version: c.version})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s %s: %v, want %q", c.image, c.version, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %s: %v", c.image, c.version, err)
			continue
		}
		if got, err := fs.ReadFile(files, "name"); err != nil || string(got) != c.want {
			t.Errorf("%s %s: %q, %v, want %q", c.image, c.version, got, err, c.want)
		}
	}
}
