package doc_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
)

// eachRealFile calls f with the files of a real archive, up to a total size.
func eachRealFile(t testing.TB, name string, size int, f func(name string, text []byte)) {
	t.Helper()
	archive, err := os.Open(samples.Data(t, "catalog", name))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	z, err := gzip.NewReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); size > 0; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		size -= len(text)
		f(h.Name, text)
	}
}

// TestBlockOnRealCatalogs checks that every document of the published catalogs
// is of the kind that is read fast, and is read correctly.
func TestBlockOnRealCatalogs(t *testing.T) {
	eachRealFile(t, "published.tar.gz", long.N(4<<20, 1<<30), func(name string, text []byte) {
		if !strings.HasSuffix(name, ".yaml") {
			return
		}
		for part := range bytes.SplitSeq(text, []byte("\n---\n")) {
			part = append(bytes.TrimPrefix(part, []byte("---\n")), '\n')
			if ok, difference := doc.BlockAgainstParser(part, true); !ok || difference != "" {
				t.Fatalf("%s: accepted=%v %.2000s\n%.1000s", name, ok, difference, part)
			}
		}
	})
}

func BenchmarkReader(b *testing.B) {
	for _, c := range []struct{ name, archive, ext string }{
		{"JSON", "slim.tar.gz", ".json"}, {"YAML", "published.tar.gz", ".yaml"},
	} {
		b.Run(c.name, func(b *testing.B) {
			var files [][]byte
			size := 0
			eachRealFile(b, c.archive, 40<<20, func(name string, text []byte) {
				if strings.HasSuffix(name, c.ext) {
					files = append(files, text)
					size += len(text)
				}
			})
			b.SetBytes(int64(size))
			b.ReportAllocs()
			r := doc.NewReader(nil, "", doc.Limits{})
			for b.Loop() {
				for _, text := range files {
					r.Reset(bytes.NewReader(text), "", int64(len(text)))
					for {
						if _, err := r.Next(); err == io.EOF {
							break
						} else if err != nil {
							b.Fatal(err)
						}
					}
				}
			}
		})
	}
}
