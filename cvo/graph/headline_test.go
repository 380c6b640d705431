package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/graph"
)

// made writes a graph of ten minor versions with a hundred releases each; each
// has updates to the next twenty of its minor version, and to some of the next
// one.
func made() (text string, edges int) {
	var nodes, list []string
	for i := range 1000 {
		minor, patch := i/100, i%100
		nodes = append(nodes, fmt.Sprintf(`{"version":"4.%d.%d","payload":"example.com/release@sha256:%064x"}`, minor, patch, i))
		for d := 1; d <= 20 && patch+d < 100; d++ {
			list = append(list, fmt.Sprintf("[%d,%d]", i, i+d))
		}
		for d := 0; d < 5 && minor < 9; d++ {
			list = append(list, fmt.Sprintf("[%d,%d]", i, (minor+1)*100+(patch/2+d*7)%100))
		}
	}
	return `{"nodes":[` + strings.Join(nodes, ",") + `],"edges":[` + strings.Join(list, ",") + `]}`, len(list)
}

// BenchmarkHeadline reads a graph as large as that of all channels, and finds
// the shortest path over nine minor versions.
func BenchmarkHeadline(b *testing.B) {
	text, edges := made()
	g, err := graph.Parse([]byte(text), nil)
	if g == nil {
		b.Fatal(err)
	}
	b.Run(fmt.Sprintf("parse/releases=1000/updates=%d", edges), func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if g, _ := graph.Parse([]byte(text), nil); g == nil {
				b.Fatal("no graph")
			}
		}
	})
	b.Run(fmt.Sprintf("path/releases=1000/updates=%d", edges), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if paths, err := g.Paths(b.Context(), "4.0.10", "4.9.90", nil); err != nil || len(paths) == 0 {
				b.Fatal(paths, err)
			}
		}
	})
}
