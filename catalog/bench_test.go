package catalog_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/draw"
	"github.com/fairlead/fairlead/internal/samples"
)

// BenchmarkOpen opens and indexes the real catalogs from a directory.
func BenchmarkOpen(b *testing.B) {
	for _, name := range []string{"slim", "published", "full-sample"} {
		b.Run(name, func(b *testing.B) {
			fsys := os.DirFS(unpack(b, samples.Data(b, "catalog", name+".tar.gz")))
			size := 0
			for d := range mustOpen(b, fsys, nil).Documents() {
				size += d.Size()
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				mustOpen(b, fsys, nil)
			}
		})
	}
}

// BenchmarkQueries is what a resolver asks of an open catalog.
func BenchmarkQueries(b *testing.B) {
	c := samples.Open(b, samples.Archive(b, "slim"))
	b.Run("facts", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for p := range c.Packages() {
				for bundle := range p.Bundles() {
					if _, err := bundle.Facts(); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
	})
	p, _ := c.Package("hive-operator")
	b.Run("properties", func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			n = 0
			for bundle := range p.Bundles() {
				if _, err := bundle.Properties(); err != nil {
					b.Fatal(err)
				}
				n += bundle.Document().Size()
			}
		}
		b.SetBytes(int64(n))
	})
	ch, _ := p.Channel(p.DefaultChannel())
	entries := ch.Entries()
	b.Run("path", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ch.Graph(catalog.AsWritten).Path(entries[0].Name, ch.Heads()[0])
		}
	})
}

// BenchmarkReopen changes one file among 300 packages with 3,000 bundles.
func BenchmarkReopen(b *testing.B) {
	dir := b.TempDir()
	for name, f := range generated(300) {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	c := mustOpen(b, os.DirFS(dir), nil)
	one := filepath.Join(dir, "package-150", "catalog.json")
	i := 0
	for b.Loop() {
		i++
		if err := os.Chtimes(one, time.Unix(int64(i), 0), time.Unix(int64(i), 0)); err != nil {
			b.Fatal(err)
		}
		next, err := c.Reopen(context.Background(), nil)
		if err != nil {
			b.Fatal(err)
		}
		c = next
	}
	if n := count(c); n != 300*12+100 {
		b.Fatal(fmt.Sprint(n, " documents"))
	}
}

// BenchmarkGraph builds the largest graphs there are in practice.
func BenchmarkGraph(b *testing.B) {
	entries := []catalog.Entry{}
	versions := map[string]int{}
	for i := range 20 {
		entries = append(entries, catalog.Entry{Name: fmt.Sprintf("b%d", i), Replaces: fmt.Sprintf("b%d", i-1), SkipRange: fmt.Sprintf(">=1.0.0 <1.%d.0", i)})
		versions[fmt.Sprintf("b%d", i)] = i
	}
	ch := channelOf(b, entries, versions)
	b.ReportAllocs()
	for b.Loop() {
		catalog.NewGraph(ch)
	}
}

// BenchmarkSVG draws a channel of 500 versions, each of which skips a range, and
// the widest package of a real catalog.
func BenchmarkSVG(b *testing.B) {
	var text strings.Builder
	text.WriteString(`{"schema": "olm.package", "name": "p", "defaultChannel": "c"}{"schema": "olm.channel", "package": "p", "name": "c", "entries": [{"name": "p.v1.0.0"}`)
	for i := 1; i < 500; i++ {
		fmt.Fprintf(&text, `, {"name": "p.v1.%d.0", "replaces": "p.v1.%d.0", "skipRange": ">=1.0.0 <1.%d.0"}`, i, i-1, i)
	}
	text.WriteString("]}")
	for i := range 500 {
		fmt.Fprintf(&text, `{"schema": "olm.bundle", "package": "p", "name": "p.v1.%d.0", "image": "r.io/p", "properties": [{"type": "olm.package", "value": {"packageName": "p", "version": "1.%d.0"}}]}`, i, i)
	}
	for _, bench := range []struct {
		name, pkg string
		open      func(b *testing.B) *catalog.Catalog
	}{
		{"500", "p", func(b *testing.B) *catalog.Catalog { return openText(b, text.String()) }},
		{"project-quay", "project-quay", func(b *testing.B) *catalog.Catalog { return samples.Open(b, samples.Archive(b, "slim")) }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			p, ok := bench.open(b).Package(bench.pkg)
			if !ok {
				b.Fatalf("there is no package %s", bench.pkg)
			}
			for b.Loop() {
				if err := draw.SVG(b.Context(), io.Discard, p, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
