package catalog_test

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/catalog/diff"
	"github.com/fairlead/fairlead/catalog/edit"
	"github.com/fairlead/fairlead/internal/samples"
)

// large returns a catalog of many packages, each in a file of its own.
func large(packages int) (fstest.MapFS, int64) {
	r := rand.New(rand.NewPCG(25, 26))
	fsys, size := fstest.MapFS{}, int64(0)
	for i := range packages {
		s := &synth{}
		name := "p" + strings.Repeat("x", i%5) + string(rune('a'+i%26)) + string(rune('a'+i/26%26))
		s.addPackage(r, name)
		text := s.text()
		size += int64(len(text))
		fsys[name+"/catalog.json"] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys, size
}

func BenchmarkCheck(b *testing.B) {
	fsys, size := large(600)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		_, report, err := check.Open(context.Background(), fsys, nil)
		if err != nil || !report.Valid() {
			b.Fatal(err, report.Err())
		}
	}
}

// BenchmarkCheckReal opens and validates the real catalog of 163 MB.
func BenchmarkCheckReal(b *testing.B) {
	dir := unpack(b, samples.Data(b, "catalog", "slim.tar.gz"))
	b.SetBytes(treeSize(b, dir))
	b.ReportAllocs()
	for b.Loop() {
		_, report, err := check.Open(context.Background(), os.DirFS(dir), nil)
		if err != nil || !report.Valid() {
			b.Fatal(err, report.Err())
		}
	}
}

func treeSize(b *testing.B, dir string) int64 {
	b.Helper()
	var size int64
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return size
}

func BenchmarkChange(b *testing.B) {
	fsys, _ := large(300)
	c, err := catalog.Open(context.Background(), fsys, nil)
	if err != nil {
		b.Fatal(err)
	}
	var all []edit.Selection
	for p := range c.Packages() {
		all = append(all, edit.Selection{Package: p.Name(), Versions: ">=1.1.0"})
	}
	b.Run("filter", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := edit.Filter(context.Background(), c, all, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("compare", func(b *testing.B) {
		for b.Loop() {
			if d, err := diff.Compare(context.Background(), c, c, nil); err != nil || !d.Empty() {
				b.Fatal(err)
			}
		}
	})
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			if err := c.Write(io.Discard, catalog.FormatYAML); err != nil {
				b.Fatal(err)
			}
		}
	})
}
