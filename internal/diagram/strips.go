package diagram

import (
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// Strips show many alike things, such as the nodes of pools: a strip for each group, with a cell for
// each thing that stands out and one long cell for all that are alike. Cells are drawn in their order:
// the worst come first. The zero Strips is empty.
type Strips struct {
	Title  string  // above the strips; may be empty
	Strips []Strip // from top to bottom
	Keys   []Sign  // what the signs mean, for the legend
}

// A Strip is one group.
type Strip struct {
	Label string // above its cells
	Cells []Cell // in this order
	Gauge *Gauge // drawn instead of cells; nil for none
}

// A Cell is one thing, or several that are alike.
type Cell struct {
	ID     string // by which a page finds it; may be empty
	Label  string // its name: shown where all cells of the strip have room for theirs
	Title  string // shown when the pointer is on it
	Tone   int    // one of eight colours
	Marked bool   // orange instead
	Sign   string // one letter or symbol, so that colour alone says nothing
	Corner bool   // has a dark corner
	Framed bool   // has a red frame
	Count  int    // how many things it stands for; 0 and 1 are one
}

// A Gauge is a number in a range.
type Gauge struct {
	Value, Least, Most int    // what there is, what there must be, and what there can be
	Text               string // beside it
	ID, Title          string // as of a Cell
}

// A Sign explains a kind of cell in the legend.
type Sign struct {
	Cell         // how it looks
	Means string // what that means
}

// The sizes of strips, in pixels.
const (
	cellSize  = 22
	cellGap   = 3
	namedWide = 150
	gaugeWide = 260
)

// WriteSVG writes the strips as a separate SVG image. Equal strips give equal texts. The error is
// that of w.
func (g *Strips) WriteSVG(w io.Writer) error { return g.write(writer(w, true)) }

// WriteInline writes the strips as an SVG element for a page that has Style.
func (g *Strips) WriteInline(w io.Writer) error { return g.write(writer(w, false)) }

func (g *Strips) write(out *svg) error {
	y := below(g.Title)
	// The height is only known after drawing, so all is drawn twice.
	height := g.draw(writer(io.Discard, false), y)
	out.open(svgWidth, height, g.Title)
	out.heading(shorten(g.Title, 130))
	g.draw(out, y)
	return out.close()
}

// draw draws everything from a height on, and returns the height below.
func (g *Strips) draw(out *svg, y int) int {
	y = out.signs(g.Keys, y)
	label := 0
	for i := range g.Strips {
		if g.Strips[i].Gauge != nil {
			label = max(label, utf8.RuneCountInString(g.Strips[i].Label))
		}
	}
	for i := range g.Strips {
		s := &g.Strips[i]
		if s.Gauge != nil {
			y = out.gauge(s, min(label, 60), y)
			continue
		}
		if s.Label != "" {
			fmt.Fprintf(out, `<text class="d" x="%d" y="%d">%s</text>`+"\n", svgMargin, y+11, XMLText(shorten(s.Label, 170)))
			y += 18
		}
		y = out.cells(s.Cells, y) + 10
	}
	return y + svgMargin/2
}

// signs writes the legend.
func (s *svg) signs(keys []Sign, y int) int {
	if len(keys) == 0 {
		return y
	}
	x := svgMargin
	for i := range keys {
		wide := cellSize + 14 + int(svgChar*float64(utf8.RuneCountInString(keys[i].Means)))
		if x+wide > svgWidth && x > svgMargin {
			x, y = svgMargin, y+cellSize+4
		}
		s.cell(&keys[i].Cell, x, y, cellSize-4, cellSize-4, "")
		fmt.Fprintf(s, `<text class="d" x="%d" y="%d">%s</text>`+"\n", x+cellSize+1, y+13, XMLText(keys[i].Means))
		x += wide
	}
	return y + cellSize + 8
}

// cells writes cells, wrapped, and returns the height below.
func (s *svg) cells(cells []Cell, y int) int {
	named := len(cells) > 0 && len(cells) <= 3*(svgWidth/namedWide)
	x := svgMargin
	for i := range cells {
		c := &cells[i]
		wide, label := cellSize, ""
		switch {
		case c.Count > 1:
			label = strconv.Itoa(c.Count) + " " + c.Label
			wide = min(svgWidth-2*svgMargin, max(cellSize+24+int(svgChar*float64(utf8.RuneCountInString(label))), min(c.Count*3, svgWidth/2)))
		case named:
			wide, label = namedWide, shorten(c.Label, 19)
		}
		if x+wide > svgWidth-svgMargin && x > svgMargin {
			x, y = svgMargin, y+cellSize+cellGap
		}
		s.cell(c, x, y, wide, cellSize, label)
		x += wide + cellGap
	}
	return y + cellSize
}

// cell writes one cell.
func (s *svg) cell(c *Cell, x, y, wide, high int, label string) {
	class := fill(c.Tone, c.Marked)
	if c.Framed {
		class += " bad"
	}
	fmt.Fprintf(s, `<rect class="b %s" x="%d" y="%d" width="%d" height="%d" rx="3"%s>%s</rect>`, class, x, y, wide, high, id(c.ID), title(c.Title))
	if c.Corner {
		fmt.Fprintf(s, `<path class="k" d="M%d %dh9l-9 9z"/>`, x, y)
	}
	if c.Sign != "" {
		fmt.Fprintf(s, `<text class="m s" x="%d" y="%d" pointer-events="none">%s</text>`, x+cellSize/2, y+high/2+4, XMLText(c.Sign))
	}
	if label != "" {
		fmt.Fprintf(s, `<text x="%d" y="%d" pointer-events="none">%s</text>`, x+cellSize, y+high/2+4, XMLText(label))
	}
	s.WriteString("\n")
}

// gauge writes a strip with a gauge, and returns the height below.
func (s *svg) gauge(strip *Strip, letters, y int) int {
	g := strip.Gauge
	left := svgMargin + int(svgChar*float64(letters)) + 10
	most := max(g.Most, g.Value, g.Least, 1)
	at := func(n int) int { return left + gaugeWide*n/most }
	tone := 1
	if g.Value <= g.Least {
		tone = 7
	}
	fmt.Fprintf(s, `<text x="%d" y="%d">%s%s</text><rect class="b ground" x="%d" y="%d" width="%d" height="12" rx="2"/>`, svgMargin, y+11, title(strip.Label), XMLText(shorten(strip.Label, letters)), left, y+1, gaugeWide)
	fmt.Fprintf(s, `<rect class="b t%d" x="%d" y="%d" width="%d" height="12" rx="2"%s>%s</rect>`, tone, left, y+1, max(at(g.Value)-left, 1), id(g.ID), title(g.Title))
	fmt.Fprintf(s, `<path class="n" d="M%d %dv18"><title>%d required</title></path><text class="d" x="%d" y="%d">%s</text>`+"\n", at(g.Least), y-2, g.Least, left+gaugeWide+10, y+11, XMLText(g.Text))
	return y + 20
}
