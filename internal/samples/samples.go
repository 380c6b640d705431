// Package samples opens the catalogs that tests use: those that are written in
// a test as text, and the real data, where it is available.
//
// The real data is not part of the module. It is in the directory that the
// environment variable FAIRLEAD_DATA names, or else in shared/data beside the
// module; a test that needs data that is absent is skipped.
//
// Only tests import this package.
package samples

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
)

// Text opens a catalog whose only file, catalog.yaml, has the given text.
func Text(t testing.TB, text string) *catalog.Catalog {
	t.Helper()
	return Open(t, fstest.MapFS{"catalog.yaml": {Data: []byte(text)}})
}

// Open opens the catalog in fsys, which must have no faults.
func Open(t testing.TB, fsys fs.FS) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Open(t.Context(), fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Data returns the path of a file or directory of the real data, and skips the
// test if it is absent.
func Data(t testing.TB, elem ...string) string {
	t.Helper()
	name := filepath.Join(append([]string{Root()}, elem...)...)
	if _, err := os.Stat(name); err != nil {
		t.Skipf("needs the real data, whose directory FAIRLEAD_DATA names: %v", err)
	}
	return name
}

// Root returns the directory of the real data, which may be absent. A test runs
// in the directory of its package, so the data is beside one of the directories
// above.
func Root() string {
	if root := os.Getenv("FAIRLEAD_DATA"); root != "" {
		return root
	}
	data := filepath.Join("shared", "data")
	for range 8 { // the maximum depth of a package
		if _, err := os.Stat(data); err == nil {
			break
		}
		data = filepath.Join("..", data)
	}
	return data
}

// Archive returns the files of an archive of real catalogs: slim, full-sample,
// published or invalid. They are in memory: slim takes 160 MB.
func Archive(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	files, err := Unpack(Data(t, "catalog", name+".tar.gz"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Unpack returns the files of a .tar.gz that want accepts; nil accepts all.
func Unpack(name string, want func(name string) bool) (fstest.MapFS, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	plain, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	files := fstest.MapFS{}
	for r := tar.NewReader(plain); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		name := path.Clean(h.Name)
		if h.Typeflag != tar.TypeReg || want != nil && !want(name) {
			continue
		}
		text := make([]byte, h.Size)
		if _, err := io.ReadFull(r, text); err != nil {
			return nil, err
		}
		files[name] = &fstest.MapFile{Data: text, ModTime: h.ModTime}
	}
}

// Catalogs returns the real catalogs of archives, by name: each archive is one
// catalog, except published, where each directory is one.
func Catalogs(t testing.TB, archives ...string) iter.Seq2[string, fs.FS] {
	return directories(t, ".", "*", archives)
}

// Packages returns the directories of real catalogs, by name: there is one for
// each package.
func Packages(t testing.TB, archives ...string) iter.Seq2[string, fs.FS] {
	return directories(t, "*", "*/*", archives)
}

// directories returns the directories of archives that match a pattern;
// published has a pattern of its own.
func directories(t testing.TB, pattern, published string, archives []string) iter.Seq2[string, fs.FS] {
	return func(yield func(string, fs.FS) bool) {
		t.Helper()
		for _, name := range archives {
			fsys, pattern := Archive(t, name), pattern
			if name == "published" {
				pattern = published
			}
			dirs, err := fs.Glob(fsys, pattern)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(dirs)
			for _, dir := range dirs {
				sub, err := fs.Sub(fsys, dir)
				if err != nil {
					t.Fatal(err)
				}
				if !yield(name+"/"+dir, sub) {
					return
				}
			}
		}
	}
}
