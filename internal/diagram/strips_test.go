package diagram_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/diagram"
)

// wellFormed fails if a text is not XML.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}

// Strips draw each cell with its sign and marks, several alike ones as one with their number, and
// gauges with what is required.
func TestStrips(t *testing.T) {
	g := &diagram.Strips{Title: "nodes", Strips: []diagram.Strip{
		{Label: "worker", Cells: []diagram.Cell{
			{ID: "node:0", Label: "w-<0>", Title: "w-<0>: down", Tone: 7, Sign: "✕", Corner: true, Framed: true},
			{Label: "updated", Tone: 1, Sign: "✓", Count: 1200},
		}},
		{Label: "shop/db", Gauge: &diagram.Gauge{Value: 2, Least: 2, Most: 3, Text: "2 of 3 healthy, 2 required"}},
	}, Keys: []diagram.Sign{{Cell: diagram.Cell{Tone: 7, Sign: "✕"}, Means: "not ready"}}}
	var b strings.Builder
	if err := g.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, b.String())
	for _, want := range []string{"w-&lt;0&gt;", `class="b t7 bad"`, "✕", "1200 updated", "2 required", "not ready", "shop/db"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not drawn", want)
		}
	}
}

// A gauge is red if nothing more may be missing: also at what is required.
func TestGauge(t *testing.T) {
	for value, tone := range map[int]string{1: "t7", 2: "t7", 3: "t1"} {
		var b strings.Builder
		g := &diagram.Strips{Strips: []diagram.Strip{{Gauge: &diagram.Gauge{Value: value, Least: 2, Most: 3}}}}
		if err := g.WriteInline(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), `class="b `+tone+`"`) {
			t.Errorf("%d of 2 required is not %s:\n%s", value, tone, b.String())
		}
	}
}

// A graph is drawn in layers from left to right; circles are drawn, and no word of a label is lost.
func TestLayers(t *testing.T) {
	g := &diagram.Graph{Nodes: []diagram.Node{{ID: "a", Label: "the update is not complete"}, {ID: "b"}, {ID: "c", Label: "a-name-that-is-longer-than-any-line-of-a-box"}, {ID: "d", Marked: true, Key: "wait:d"}},
		Edges: []diagram.Edge{{From: "a", To: "b"}, {From: "b", To: "c"}, {From: "c", To: "d"}, {From: "a", To: "d", Dashed: true}, {From: "d", To: "b"}}}
	var b strings.Builder
	if err := g.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	wellFormed(t, text)
	if n := strings.Count(text, `class="l`); n != len(g.Edges) {
		t.Errorf("%d arrows are drawn of %d", n, len(g.Edges))
	}
	for _, want := range []string{">a-name-that-is-longer-th<", ">an-any-line-of-a-box<", `class="b hot bad"`, `data-k="wait:d"`, `class="l x"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not drawn in\n%s", want, text)
		}
	}
	if err := (&diagram.Graph{Edges: []diagram.Edge{{From: "x", To: "y"}}}).WriteSVG(io.Discard); err == nil {
		t.Error("an edge without nodes is drawn")
	}
}

// What does not end has an arrow, trouble is hatched, what is expected has no colour, and the alarm is
// written.
func TestGanttUnfinished(t *testing.T) {
	g := &diagram.Gantt{Alarm: "does not end: node w-0", Rows: []diagram.Row{{Label: "node w-0", Bars: []diagram.Bar{
		{End: 100, Marked: true, Open: true, Label: "drains"}, {Start: 100, End: 200, Forecast: true, Label: "updated"}}}}}
	var b strings.Builder
	if err := g.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, b.String())
	for _, want := range []string{"✕ does not end: node w-0", `class="z"`, "it has not ended", "has not ended</text>", "expected</text>", `class="b ground x"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not drawn", want)
		}
	}
}
