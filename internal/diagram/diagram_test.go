package diagram_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/diagram"
)

func upgrades() *diagram.Graph {
	return &diagram.Graph{
		Name:      `etcd "stable"`,
		Rightward: true,
		Nodes: []diagram.Node{
			{ID: "etcd.v1", Shape: diagram.Dashed},
			{ID: "etcd.v2", Label: "etcd 2\n<head> #1 \\o/", Shape: diagram.Hexagon},
			{ID: "begin", Shape: diagram.Round},
		},
		Edges: []diagram.Edge{
			{From: "begin", To: "etcd.v1"},
			{From: "etcd.v1", To: "etcd.v2", Label: `>=1 "x"|y`, Dashed: true},
		},
	}
}

func ExampleGraph_WriteDOT() {
	if err := upgrades().WriteDOT(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// digraph "etcd \"stable\"" {
	// 	rankdir=LR;
	// 	node [shape=box];
	// 	"etcd.v1" [label="etcd.v1", style=dashed];
	// 	"etcd.v2" [label="etcd 2\n<head> #1 \\o/", shape=hexagon];
	// 	"begin" [label="begin", style=rounded];
	// 	"begin" -> "etcd.v1";
	// 	"etcd.v1" -> "etcd.v2" [label=">=1 \"x\"|y", style=dashed];
	// }
}

func ExampleGraph_WriteMermaid() {
	if err := upgrades().WriteMermaid(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// ---
	// title: "etcd \"stable\""
	// ---
	// flowchart LR
	//     n0["etcd.v1"]
	//     n1{{"etcd 2<br>#60;head#62; #35;1 #92;o/"}}
	//     n2("begin")
	//     n2 --> n0
	//     n0 -.->|"#62;=1 #34;x#34;|y"| n1
	//     style n0 stroke-dasharray: 5 5
}

func TestErrors(t *testing.T) {
	for want, g := range map[string]*diagram.Graph{
		`node "a" is listed twice`: {Nodes: []diagram.Node{{ID: "a"}, {ID: "a"}}},
		`edge from "a" to "b": there is no node "b"`: {
			Nodes: []diagram.Node{{ID: "a"}}, Edges: []diagram.Edge{{From: "a", To: "b"}}},
		`edge from "c" to "a": there is no node "c"`: {
			Nodes: []diagram.Node{{ID: "a"}}, Edges: []diagram.Edge{{From: "c", To: "a"}}},
	} {
		var out strings.Builder
		for _, err := range []error{g.WriteDOT(&out), g.WriteMermaid(&out)} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want %s", err, want)
			}
		}
		if out.Len() > 0 {
			t.Errorf("wrote %q", out.String())
		}
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteError(t *testing.T) {
	for _, err := range []error{upgrades().WriteDOT(brokenWriter{}), upgrades().WriteMermaid(brokenWriter{})} {
		if !errors.Is(err, errBroken) {
			t.Errorf("got error %v", err)
		}
	}
}

func TestInvalidText(t *testing.T) {
	g := &diagram.Graph{Nodes: []diagram.Node{{ID: "\xff\x00\r\n\"", Label: "\xfe"}}}
	var dot, mermaid strings.Builder
	if err := errors.Join(g.WriteDOT(&dot), g.WriteMermaid(&mermaid)); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{dot.String(), mermaid.String()} {
		if strings.ToValidUTF8(out, "?") != out || strings.ContainsAny(out, "\x00\r") {
			t.Errorf("not plain text: %q", out)
		}
	}
}

// Nodes of one group are drawn in a box, and marked ones on their own
// background.
func ExampleGraph_groups() {
	g := &diagram.Graph{
		Nodes: []diagram.Node{
			{ID: "a", Group: "one"}, {ID: "b", Group: "one", Marked: true},
			{ID: "c", Group: "t\"wo", Marked: true, Shape: diagram.Dashed},
			{ID: "d"},
		},
		Edges: []diagram.Edge{{From: "a", To: "d"}},
	}
	if err := g.WriteDOT(os.Stdout); err != nil {
		panic(err)
	}
	if err := g.WriteMermaid(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// digraph "" {
	// 	node [shape=box];
	// 	subgraph cluster_0 {
	// 	label="one";
	// 	"a" [label="a"];
	// 	"b" [label="b", fillcolor=orange, style=filled];
	// 	}
	// 	subgraph cluster_1 {
	// 	label="t\"wo";
	// 	"c" [label="c", fillcolor=orange, style="dashed,filled"];
	// 	}
	// 	"d" [label="d"];
	// 	"a" -> "d";
	// }
	// flowchart TD
	//     subgraph g0["one"]
	//     n0["a"]
	//     n1["b"]
	//     end
	//     subgraph g1["t#34;wo"]
	//     n2["c"]
	//     end
	//     n3["d"]
	//     n0 --> n3
	//     style n1 fill:orange
	//     style n2 stroke-dasharray: 5 5,fill:orange
}
