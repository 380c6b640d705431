package source_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog/source"
)

// member is a member of an archive.
type member struct {
	name, text, link string
	dir              bool
}

func archive(t *testing.T, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.text)), Typeflag: tar.TypeReg}
		if m.dir {
			h.Typeflag, h.Mode = tar.TypeDir, 0o755
		}
		if m.link != "" {
			h.Typeflag, h.Linkname = tar.TypeSymlink, m.link
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(m.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func write(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// contents opens a source and returns its files as "name=text" words, and
// closes it.
func contents(t *testing.T, path string, opts *source.Options) (string, error) {
	t.Helper()
	temp := t.TempDir()
	if opts == nil {
		opts = &source.Options{}
	}
	opts.TempDir = temp
	s, err := source.Open(t.Context(), path, opts)
	var words []string
	if err == nil {
		err = fs.WalkDir(s, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := fs.ReadFile(s, path)
			words = append(words, path+"="+string(text))
			return err
		})
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("%s is left behind", left[0].Name())
	}
	return strings.Join(words, " "), err
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tree", "a", "x.json"), []byte("1"))
	members := []member{{name: "./", dir: true}, {name: "./a/", dir: true}, {name: "./a/x.json", text: "1"}, {name: "y", text: "2"}}
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"tree", "a/x.json=1", nil},
		{"one.jsonl", "one.jsonl={}", []byte("{}")},
		{"empty", "empty=", []byte("")},
		{"a.tar", "a/x.json=1 y=2", archive(t, members...)},
		{"a.tar.gz", "a/x.json=1 y=2", zipped(t, archive(t, members...))},
		{"misnamed.yaml", "a/x.json=1 y=2", zipped(t, archive(t, members...))},
		{"twice.tar", "x=2", archive(t, member{name: "x", text: "1"}, member{name: "x", text: "2"})},
		{"inner.tar", "l=1 x=1", archive(t, member{name: "x", text: "1"}, member{name: "l", link: "x"})},
	} {
		path := filepath.Join(dir, c.name)
		if c.data != nil {
			write(t, path, c.data)
		}
		if got, err := contents(t, path, nil); err != nil || got != c.want {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

func TestOpenFails(t *testing.T) {
	dir := t.TempDir()
	big := archive(t, member{name: "a", text: strings.Repeat("x", 5000)}, member{name: "b", text: strings.Repeat("x", 5000)})
	for _, c := range []struct {
		name, want string
		data       []byte
		opts       *source.Options
	}{
		{"absent", "absent: no such file or directory", nil, nil},
		{"z.tar.zst", "it is compressed with zstd", []byte("\x28\xb5\x2f\xfd...."), nil},
		{"g.gz", "its gzip data is malformed", []byte("\x1f\x8b...."), nil},
		{"cut.tar", "the archive is cut off", big[:600], nil},
		{"cut.tar.gz", "unexpected EOF", zipped(t, big)[:100], nil},
		{"big.tar", `entry "b": limit exceeded: size of all files in bytes is more than 8000`, big, &source.Options{MaxSize: 8000}},
		{"many.tar", "limit exceeded: number of files and directories is more than 1", big, &source.Options{MaxFiles: 1}},
		{"out.tar", "leads out of the archive", archive(t, member{name: "../../escaped", text: "1"}), nil},
		{"leads-out.tar", "leads out of the archive", archive(t, member{name: "l", link: "/etc/hostname"}), nil},
		{"through.tar", "leads out of the archive", archive(t, member{name: "l", link: ".."}, member{name: "l/x", text: "1"}), nil},
	} {
		path := filepath.Join(dir, c.name)
		if c.data != nil {
			write(t, path, c.data)
		}
		_, err := contents(t, path, c.opts)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		var limit *fairlead.InputLimitError
		if c.opts != nil && !errors.As(err, &limit) {
			t.Errorf("%s: not a LimitError: %v", c.name, err)
		}
	}
}

// image is an image layout under construction.
type image struct {
	t   *testing.T
	dir string
}

func newImage(t *testing.T) *image {
	i := &image{t, t.TempDir()}
	write(t, filepath.Join(i.dir, "oci-layout"), []byte(`{"imageLayoutVersion":"1.0.0"}`))
	return i
}

type object = map[string]any

func (i *image) blob(data []byte) object {
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	write(i.t, filepath.Join(i.dir, "blobs", "sha256", name), data)
	return object{"digest": "sha256:" + name, "size": len(data)}
}

func (i *image) json(value any) object {
	data, err := json.Marshal(value)
	if err != nil {
		i.t.Fatal(err)
	}
	return i.blob(data)
}

func (i *image) manifest(labels map[string]string, layers ...[]byte) object {
	var list []object
	for _, l := range layers {
		list = append(list, i.blob(l))
	}
	return i.json(object{"config": i.json(object{"config": object{"Labels": labels}}), "layers": list})
}

func (i *image) index(manifests ...object) string {
	data, _ := json.Marshal(object{"manifests": manifests})
	write(i.t, filepath.Join(i.dir, "index.json"), data)
	return i.dir
}

var labels = map[string]string{"operators.operatorframework.io.index.configs.v1": "/configs"}

func TestLayout(t *testing.T) {
	i := newImage(t)
	base := archive(t, member{name: "configs/a/x", text: "1"}, member{name: "configs/a/y", text: "1"}, member{name: "configs/b/z", text: "1"}, member{name: "bin/opm", text: "no"})
	top := zipped(t, archive(t, member{name: "configs/a/.wh.x"}, member{name: "configs/b/.wh..wh..opq"}, member{name: "configs/b/w", text: "2"}))
	attestation := i.json(object{"config": i.json(object{}), "layers": []object{i.blob([]byte("{}"))}})
	index := i.json(object{"manifests": []object{attestation, i.manifest(labels, base, top)}})
	dir := i.index(index)
	if got, err := contents(t, dir, nil); err != nil || got != "a/y=1 b/w=2" {
		t.Errorf("%q, %v", got, err)
	}
	// The same as an archive.
	var members []member
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, _ := os.ReadFile(path)
			name, _ := filepath.Rel(dir, path)
			members = append(members, member{name: filepath.ToSlash(name), text: string(text)})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, filepath.Join(t.TempDir(), "layout.tar.gz"), zipped(t, archive(t, members...)))
	if got, err := contents(t, path, nil); err != nil || got != "a/y=1 b/w=2" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLayoutFails(t *testing.T) {
	layer := archive(t, member{name: "configs/x", text: "1"})
	for _, c := range []struct {
		name, want string
		build      func(i *image) string
	}{
		{"no label", "none of the 1 images of the layout has the label", func(i *image) string { return i.index(i.manifest(nil, layer)) }},
		{"no directory", "the image has no directory /configs, which its label", func(i *image) string {
			return i.index(i.manifest(labels, archive(t, member{name: "etc/x", text: "1"})))
		}},
		{"link for a directory", "the image has no directory /configs, which its label", func(i *image) string {
			return i.index(i.manifest(labels, archive(t, member{name: "configs", link: "data"}, member{name: "data/x", text: "1"})))
		}},
		{"no image", "none of the 0 images", func(i *image) string { return i.index() }},
		{"no blob", "the blob sha256:0000", func(i *image) string {
			return i.index(object{"digest": "sha256:" + strings.Repeat("0", 64)})
		}},
		{"damaged", "is damaged", func(i *image) string {
			d := i.manifest(labels, layer)
			name := strings.TrimPrefix(fmt.Sprint(d["digest"]), "sha256:")
			path := filepath.Join(i.dir, "blobs", "sha256", name)
			data, _ := os.ReadFile(path)
			write(t, path, append(data, ' '))
			return i.index(d)
		}},
		{"digest", `the digest "../../x" has an unknown algorithm`, func(i *image) string { return i.index(object{"digest": "../../x"}) }},
		{"digest", "is malformed", func(i *image) string { return i.index(object{"digest": "sha256:../x"}) }},
		{"index", "index.json is malformed", func(i *image) string {
			write(t, filepath.Join(i.dir, "index.json"), []byte("["))
			return i.dir
		}},
		{"circle", "is damaged", func(i *image) string { // a manifest cannot contain its own digest
			d := i.json(object{})
			name := strings.TrimPrefix(fmt.Sprint(d["digest"]), "sha256:")
			data, _ := json.Marshal(object{"manifests": []object{d}})
			write(t, filepath.Join(i.dir, "blobs", "sha256", name), data)
			return i.index(d)
		}},
		{"many", "limit exceeded: number of manifests in the layout is more than 1000", func(i *image) string {
			d := i.json(object{})
			var many []object
			for range 2000 {
				many = append(many, d)
			}
			return i.index(many...)
		}},
		{"layer that leads out", "path escapes from parent", func(i *image) string {
			return i.index(i.manifest(labels, archive(t, member{name: "configs/l", link: ".."}, member{name: "configs/l/x", text: "1"})))
		}},
		{"layer", "layer sha256:", func(i *image) string { return i.index(i.manifest(labels, layer[:400])) }},
	} {
		if _, err := contents(t, c.build(newImage(t)), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
