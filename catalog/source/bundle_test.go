package source_test

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/source"
)

// TestOpenBundle: a bundle is the same wherever it lies.
func TestOpenBundle(t *testing.T) {
	csv, notes := member{name: "manifests/csv.yaml", text: "kind: ClusterServiceVersion\n"}, member{name: "metadata/annotations.yaml", text: "annotations: {}\n"}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tree", csv.name), []byte(csv.text))
	write(t, filepath.Join(dir, "tree", notes.name), []byte(notes.text))
	write(t, filepath.Join(dir, "root.tar"), archive(t, csv, notes))
	write(t, filepath.Join(dir, "named.tar.gz"), zipped(t, archive(t, member{name: "x-1.0/" + csv.name, text: csv.text}, member{name: "x-1.0/" + notes.name, text: notes.text})))
	labels := map[string]string{source.ManifestsLabel: "manifests/"}
	image := newImage(t)
	layout := image.index(image.manifest(labels, archive(t, csv), zipped(t, archive(t, notes))))
	below := newImage(t)
	inner := below.index(below.manifest(map[string]string{source.ManifestsLabel: "/bundle/manifests/"},
		archive(t, member{name: "bundle/" + csv.name, text: csv.text}, member{name: "bundle/" + notes.name, text: notes.text}, member{name: "etc/x", text: "no"})))
	for _, path := range []string{filepath.Join(dir, "tree"), filepath.Join(dir, "root.tar"), filepath.Join(dir, "named.tar.gz"), layout, inner} {
		s, err := source.OpenBundle(t.Context(), path, &source.Options{TempDir: t.TempDir()})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for _, m := range []member{csv, notes} {
			if text, err := fs.ReadFile(s, m.name); err != nil || string(text) != m.text {
				t.Errorf("%s: %s: %q, %v", path, m.name, text, err)
			}
		}
		if _, err := fs.Stat(s, "etc"); err == nil {
			t.Errorf("%s: what is beside the bundle is unpacked", path)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := source.OpenBundle(t.Context(), write(t, filepath.Join(dir, "text"), []byte("x")), nil); err == nil || !strings.Contains(err.Error(), "neither a directory nor an archive") {
		t.Error(err)
	}
	if _, err := source.Open(t.Context(), layout, nil); err == nil || !strings.Contains(err.Error(), "it is not a catalog image") {
		t.Error(err)
	}
}

// TestDecoders: layers of a kind that the standard library does not have are
// read by a decoder, which is closed, and refused without one.
func TestDecoders(t *testing.T) {
	var packed bytes.Buffer
	packed.WriteString(source.MagicZstd)
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(archive(t, member{name: "configs/x", text: "1"})); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	image := newImage(t)
	dir := image.index(image.manifest(labels, packed.Bytes()))
	if _, err := contents(t, dir, nil); err == nil || !strings.Contains(err.Error(), "or give Options.Decoders one that reads it") {
		t.Error(err)
	}
	open := 0
	decoder := source.Decoder{Magic: source.MagicZstd, Open: func(r io.Reader) (io.ReadCloser, error) {
		open++
		if _, err := io.CopyN(io.Discard, r, int64(len(source.MagicZstd))); err != nil {
			return nil, err
		}
		z := flate.NewReader(r)
		return closer{z, func() error { open--; return z.Close() }}, nil
	}}
	if got, err := contents(t, dir, &source.Options{Decoders: []source.Decoder{decoder}}); err != nil || got != "x=1" || open != 0 {
		t.Errorf("%q, %v, %d left open", got, err, open)
	}
	whole := filepath.Join(t.TempDir(), "x.tar.zst")
	if err := os.WriteFile(whole, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := source.Open(t.Context(), whole, &source.Options{Decoders: []source.Decoder{decoder}}); err != nil || open != 0 {
		t.Errorf("an archive: %v, %d left open", err, open)
	} else if text, err := fs.ReadFile(s, "configs/x"); err != nil || string(text) != "1" {
		t.Errorf("an archive: %q, %v", text, err)
	}
	broken := source.Decoder{Magic: source.MagicZstd, Open: func(io.Reader) (io.ReadCloser, error) { return nil, errors.New("no") }}
	if _, err := contents(t, dir, &source.Options{Decoders: []source.Decoder{broken}}); err == nil || !strings.Contains(err.Error(), "malformed: no") {
		t.Error(err)
	}
}

type closer struct {
	io.Reader
	close func() error
}

func (c closer) Close() error { return c.close() }

// TestWrite: a catalog becomes files, which can be edited, and nothing outside
// of the directory is reached.
func TestWrite(t *testing.T) {
	d, err := catalog.NewDocument([]byte(`{"schema": "olm.package", "name": "kiln", "defaultChannel": "stable"}`), catalog.Position{})
	if err != nil {
		t.Fatal(err)
	}
	c := catalog.New([]*catalog.Document{d})
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := source.WriteTree(root, c, catalog.FormatYAML); err != nil {
		t.Fatal(err)
	}
	back, err := catalog.Open(t.Context(), root.FS(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := back.Package("kiln"); !ok || p.DefaultChannel() != "stable" {
		t.Error("the package is not there")
	}
	if err := source.WriteTree(root, c, catalog.FormatYAML); !errors.Is(err, fs.ErrExist) {
		t.Errorf("written twice: %v", err)
	}
	if err := os.Chmod(filepath.Join(dir, "kiln", "catalog.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := source.WriteFiles(root, map[string][]byte{"kiln/catalog.yaml": []byte("x: y\n"), "new/file": []byte("1")}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"kiln/catalog.yaml": "x: y\n", "new/file": "1"} {
		if text, err := fs.ReadFile(root.FS(), name); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "kiln", "catalog.yaml")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the permissions are %v, %v", info.Mode(), err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"link", "../out", "new"} {
		if err := source.WriteFiles(root, map[string][]byte{name: nil}); err == nil {
			t.Errorf("%s is written", name)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*", ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v is left behind, %v", left, err)
	}
}
