package diagram

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// The sizes of drawn graphs, in pixels.
const (
	boxLetters = 24 // of a line in a box
	boxLine    = 15
	boxGap     = 10
	layerGap   = 34
	boxPad     = 7
)

// WriteSVG writes the graph as a separate SVG image, in layers from left to right: every arrow leads
// to a layer further right, but for those that close a circle. Labels are wrapped and never cut. Equal
// graphs give equal texts. The error is that of w, or says which node or edge is wrong.
func (g *Graph) WriteSVG(w io.Writer) error { return g.draw(writer(w, true)) }

// WriteInline writes the graph as an SVG element for a page that has Style.
func (g *Graph) WriteInline(w io.Writer) error { return g.draw(writer(w, false)) }

// box is where a node is.
type box struct {
	layer     int
	lines     []string
	x, y      int
	high      int
	backwards []int // nodes of earlier layers that lead to it
}

func (g *Graph) draw(out *svg) error {
	at, err := g.number()
	if err != nil {
		return err
	}
	boxes, ways := g.routed(at)
	top := below(g.Name)
	wide := boxLetters*13/2 + 2*boxPad
	layers, height := order(boxes), 0
	for l, layer := range layers {
		y := top
		for _, i := range layer {
			b := &boxes[i]
			b.x, b.y, b.high = svgMargin+l*(wide+layerGap), y, max(len(b.lines)*boxLine+2*boxPad-2, 6)
			y += b.high + boxGap
		}
		height = max(height, y)
	}
	for _, layer := range layers { // each layer in the middle of the height
		if len(layer) == 0 {
			continue
		}
		last := &boxes[layer[len(layer)-1]]
		down := (height - boxGap - last.y - last.high) / 2
		for _, i := range layer {
			boxes[i].y += down
		}
	}
	out.open(max(svgMargin*2+len(layers)*(wide+layerGap)-layerGap, 400), height+svgMargin, g.Name)
	out.heading(g.Name)
	for k := range g.Edges {
		out.arrow(boxes, ways[k], &g.Edges[k], wide)
	}
	for i := range g.Nodes {
		out.box(&g.Nodes[i], &boxes[i], wide)
	}
	return out.close()
}

// routed returns the boxes of the nodes, and for each edge the boxes that it passes: those of layers
// in between have no text, and keep room for it.
func (g *Graph) routed(at map[string]int) (boxes []box, ways [][]int) {
	boxes = g.layered(at)
	for _, e := range g.Edges {
		from, to := at[e.From], at[e.To]
		way := []int{from}
		for l := boxes[from].layer + 1; l < boxes[to].layer; l++ {
			boxes = append(boxes, box{layer: l, backwards: []int{way[len(way)-1]}})
			way = append(way, len(boxes)-1)
		}
		if n := len(way); n > 1 {
			boxes[to].backwards = append(boxes[to].backwards, way[n-1])
		}
		ways = append(ways, append(way, to))
	}
	for i := range g.Nodes { // what is next to a node places it
		near := slices.DeleteFunc(slices.Clone(boxes[i].backwards), func(k int) bool { return boxes[k].layer != boxes[i].layer-1 })
		if len(near) > 0 {
			boxes[i].backwards = near
		}
	}
	return boxes, ways
}

// layered puts each node into a layer: one more than the last of those that lead to it.
func (g *Graph) layered(at map[string]int) []box {
	boxes := make([]box, len(g.Nodes))
	next := make([][]int, len(g.Nodes))
	for _, e := range g.Edges {
		next[at[e.From]] = append(next[at[e.From]], at[e.To])
	}
	const open, done = 1, 2
	state, sorted := make([]int, len(boxes)), make([]int, 0, len(boxes))
	var visit func(int)
	visit = func(i int) {
		state[i] = open
		next[i] = slices.DeleteFunc(next[i], func(k int) bool { return state[k] == open }) // it closes a circle
		for _, k := range next[i] {
			if state[k] == 0 {
				visit(k)
			}
		}
		state[i] = done
		sorted = append(sorted, i)
	}
	for i := range boxes {
		if state[i] == 0 {
			visit(i)
		}
		boxes[i].lines = wrapped(g.Nodes[i].label(), boxLetters)
	}
	for _, i := range slices.Backward(sorted) {
		for _, k := range next[i] {
			boxes[k].layer = max(boxes[k].layer, boxes[i].layer+1)
			boxes[k].backwards = append(boxes[k].backwards, i)
		}
	}
	for _, i := range sorted { // as far right as what it leads to allows
		least := -1
		for _, k := range next[i] {
			if least < 0 || boxes[k].layer < least {
				least = boxes[k].layer
			}
		}
		if least > 0 {
			boxes[i].layer = least - 1
		}
	}
	return boxes
}

// order returns the nodes of each layer, each near the middle of those that lead to it.
func order(boxes []box) [][]int {
	last := 0
	for i := range boxes {
		last = max(last, boxes[i].layer)
	}
	layers := make([][]int, last+1)
	for i := range boxes {
		layers[boxes[i].layer] = append(layers[boxes[i].layer], i)
	}
	row := make([]float64, len(boxes))
	for _, layer := range layers {
		for _, i := range layer {
			sum := 0.0
			for _, k := range boxes[i].backwards {
				sum += row[k]
			}
			if n := len(boxes[i].backwards); n > 0 {
				row[i] = sum / float64(n)
			}
		}
		slices.SortStableFunc(layer, func(a, b int) int { return cmp.Compare(row[a], row[b]) })
		for r, i := range layer {
			row[i] = float64(r) / float64(len(layer))
		}
	}
	return layers
}

// wrapped returns the lines of a text, with at most so many letters each; only words that are longer
// are divided.
func wrapped(text string, letters int) (lines []string) {
	for part := range strings.SplitSeq(text, "\n") {
		line := ""
		for _, word := range strings.Fields(part) {
			for utf8.RuneCountInString(word) > letters {
				if line != "" {
					lines, line = append(lines, line), ""
				}
				r := []rune(word)
				lines, word = append(lines, string(r[:letters])), string(r[letters:])
			}
			switch {
			case line == "":
				line = word
			case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > letters:
				lines, line = append(lines, line), word
			default:
				line += " " + word
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// box writes a node.
func (s *svg) box(n *Node, b *box, wide int) {
	class := "b ground"
	if n.Marked {
		class = "b hot bad"
	}
	if n.Shape == Dashed {
		class += " x"
	}
	round := 4
	if n.Shape == Round {
		round = 12
	}
	fmt.Fprintf(s, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="%d"%s>%s</rect>`, class, b.x, b.y, wide, b.high, round, id(n.Key), title(n.label()))
	for i, line := range b.lines {
		fmt.Fprintf(s, `<text x="%d" y="%d" pointer-events="none">%s</text>`, b.x+boxPad, b.y+boxPad+11+i*boxLine, XMLText(line))
	}
	s.WriteString("\n")
}

// arrow writes an edge from the right side of a box to the left side of another, past the boxes on its
// way.
func (s *svg) arrow(boxes []box, way []int, e *Edge, wide int) {
	class := "l"
	if e.Dashed {
		class += " x"
	}
	from, to := &boxes[way[0]], &boxes[way[len(way)-1]]
	x, y := from.x+wide, from.y+from.high/2
	toX, toY := to.x, to.y+to.high/2
	if to.layer <= from.layer { // it closes a circle: below the boxes
		y, toY = from.y+from.high, to.y+to.high
		x, toX = from.x+wide/2, to.x+wide/2
		fmt.Fprintf(s, `<path class="%s" d="M%d %dC%d %d %d %d %d %d"><title>%s</title></path>`, class, x, y, x, y+40, toX, toY+40, toX, toY, XMLText(e.title()))
		fmt.Fprintf(s, `<path class="k" d="M%d %dl-4 7h8z"/>`+"\n", toX, toY)
		return
	}
	fmt.Fprintf(s, `<path class="%s" d="M%d %d`, class, x, y)
	for _, i := range way[1:] {
		b := &boxes[i]
		into, middle := b.x, b.y+b.high/2
		if b == to {
			into -= 5
		}
		fmt.Fprintf(s, "C%d %d %d %d %d %d", x+layerGap/2, y, b.x-layerGap/2, middle, into, middle)
		if x, y = b.x+wide, middle; b != to {
			fmt.Fprintf(s, "H%d", x)
		}
	}
	fmt.Fprintf(s, `"><title>%s</title></path><path class="k" d="M%d %dl-7 -4v8z"/>`+"\n", XMLText(e.title()), toX, toY)
}

func (e *Edge) title() string { return cmp.Or(e.Label, e.From+" to "+e.To) }
