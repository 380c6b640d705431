package graph_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/internal/samples"
)

// The largest recorded graph: 1,085 releases and 19,478 updates.
func largest(b *testing.B) []byte {
	text, err := os.ReadFile(filepath.Join(samples.Data(b, "graph"), "cincinnati-fixtures", "20211124.083150", "graph-gb-raw.json"))
	if err != nil {
		b.Fatal(err)
	}
	return text
}

func BenchmarkParse(b *testing.B) {
	text := largest(b)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if g, _ := graph.Parse(text, nil); g == nil {
			b.Fatal("no graph")
		}
	}
}

func BenchmarkUpdates(b *testing.B) {
	g, _ := graph.Parse(largest(b), nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Updates("4.7.1+amd64"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPaths(b *testing.B) {
	g, _ := graph.Parse(largest(b), nil)
	for _, c := range []struct {
		name string
		opts graph.PathOptions
	}{
		{"shortest", graph.PathOptions{}},
		{"fewest-risks", graph.PathOptions{Prefer: graph.FewestRisks}},
		{"best-10", graph.PathOptions{Max: 10}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if paths, err := g.Paths(b.Context(), "4.3.40+amd64", "4.8.21+amd64", &c.opts); err != nil || len(paths) == 0 {
					b.Fatal(paths, err)
				}
			}
		})
	}
}

func BenchmarkWhyNot(b *testing.B) {
	g, _ := graph.Parse(largest(b), nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.WhyNot(b.Context(), "4.3.40+amd64", "4.8.21+amd64", nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAssemble(b *testing.B) {
	raw, _ := graph.Parse(largest(b), nil)
	data, _ := graph.ReadData(os.DirFS(filepath.Join(samples.Data(b, "graph"), "cincinnati-fixtures", "20211124.083150", "cincinnati-graph-data")))
	for b.Loop() {
		data.Assemble(raw, &graph.AssembleOptions{Channel: "stable-4.8", Architecture: "amd64"})
	}
}
