// Package samples opens the catalogs that tests use: those that stand in a test
// as text, and the real data, where it is at hand.
//
// The real data is no part of the module. It lies in the directory that the
// environment variable FAIRLEAD_DATA names, else in shared/data beside the
// module; a test that wants what is not there is skipped.
//
// Only tests import this package.
package samples

import (
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/archive"
)

// Text opens a catalog that is written in the test. A test of the one file's
// name may refer to it as catalog.yaml.
func Text(t testing.TB, text string) *catalog.Catalog {
	t.Helper()
	return Open(t, fstest.MapFS{"catalog.yaml": {Data: []byte(text)}})
}

// Open opens the catalog in fsys, which has to be without faults.
func Open(t testing.TB, fsys fs.FS) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Open(t.Context(), fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Data returns the path of a file or directory of the real data, and skips the
// test where it is absent.
func Data(t testing.TB, elem ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{Root()}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs the real data, whose directory FAIRLEAD_DATA names: %v", err)
	}
	return path
}

// Root returns the directory of the real data, which may be absent. A test runs
// in the directory of its package, somewhere below what the data lies beside.
func Root() string {
	if root := os.Getenv("FAIRLEAD_DATA"); root != "" {
		return root
	}
	data := filepath.Join("shared", "data")
	for range 8 { // as deep as a package may lie
		if _, err := os.Stat(data); err == nil {
			break
		}
		data = filepath.Join("..", data)
	}
	return data
}

// Archive opens an archive of real catalogs: slim, full-sample, published or
// invalid.
func Archive(t testing.TB, name string) *archive.FS {
	t.Helper()
	f, err := os.Open(Data(t, "catalog", name+".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fsys, err := archive.Read(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

// Catalogs returns the real catalogs of archives, by name: an archive is one, but
// for published, of which each directory is.
func Catalogs(t testing.TB, archives ...string) iter.Seq2[string, fs.FS] {
	return directories(t, ".", "*", archives)
}

// Packages returns the directories of real catalogs, by name: there is one for
// each package.
func Packages(t testing.TB, archives ...string) iter.Seq2[string, fs.FS] {
	return directories(t, "*", "*/*", archives)
}

// directories returns those of archives that match a pattern, which is another
// one for published.
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
