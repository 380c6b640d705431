package diagram

import (
	"fmt"
	"io"
	"math"
	"unicode/utf8"
)

// Lanes shows versions and the paths between them: a lane for each line of versions, such
// as a minor version or a channel, with its versions in a row that is wrapped if it is
// too long. The zero Lanes is empty.
type Lanes struct {
	// Title is written above the lanes; it may be empty.
	Title string
	// Lanes are drawn in this order, from top to bottom.
	Lanes []Lane
	// Links are drawn below the dots, in this order.
	Links []Link
	// Keys explain the tones of dots in the legend, in this order.
	Keys []Key
}

// A Lane is one line of versions.
type Lane struct {
	Label string // to the left of it
	Dots  []Dot  // in this order
}

// A Dot is one version.
type Dot struct {
	ID     string // identifies it; links refer to it, and a page finds the dot by it
	Label  string // what is shown; empty means the ID
	Title  string // what is shown when the pointer is on it; may be empty
	Tone   int    // chooses one of eight colours
	Marked bool   // orange, for what needs attention
	Here   bool   // with a bold border, for the current version or the target
}

// A Link is a path from one version to another.
type Link struct {
	From, To string // IDs of dots; a link to a dot that does not exist is not drawn
	Title    string // what is shown when the pointer is on it; may be empty
	ID       string // how a page finds the link; may be empty
	Dashed   bool   // drawn with dashes
	Bold     bool   // the path that is taken
}

// The sizes of lanes, in pixels.
const (
	laneRow = 34
	lanePad = 8
	dotHigh = 20
)

// WriteSVG writes the lanes as a separate SVG image. Equal lanes give equal texts.
// The error is that of w.
func (g *Lanes) WriteSVG(w io.Writer) error { return g.write(writer(w, true)) }

// WriteInline writes the lanes as an SVG element for a page that has Style.
func (g *Lanes) WriteInline(w io.Writer) error { return g.write(writer(w, false)) }

// place is where a dot is.
type place struct{ left, middle, right, y float64 }

func (g *Lanes) write(out *svg) error {
	label, longest := 0, 0
	for _, lane := range g.Lanes {
		label = max(label, utf8.RuneCountInString(lane.Label))
		for _, d := range lane.Dots {
			longest = max(longest, utf8.RuneCountInString(d.label()))
		}
	}
	label, longest = min(label, 30), min(longest, 26)
	left := 2*svgMargin + int(math.Ceil(svgChar*float64(label)))
	cell := 26 + int(math.Ceil(svgChar*float64(longest)))
	columns := max((svgWidth-svgMargin-left)/cell, 1)

	y := below(g.Title)
	top := writer(io.Discard, false).legend(g.Keys, svgMargin, y)
	places := map[string]place{}
	tops := make([]int, len(g.Lanes)+1)
	tops[0] = top
	for i, lane := range g.Lanes {
		for k, d := range lane.Dots {
			x := float64(left + k%columns*cell)
			places[d.ID] = place{x, x + float64(cell-14)/2, x + float64(cell-14), float64(tops[i] + lanePad + k/columns*laneRow + dotHigh/2)}
		}
		rows := max((len(lane.Dots)+columns-1)/columns, 1)
		tops[i+1] = tops[i] + 2*lanePad + rows*laneRow - (laneRow - dotHigh) + 6
	}
	out.open(svgWidth, tops[len(g.Lanes)]+svgMargin, g.Title)
	out.heading(shorten(g.Title, 130))
	out.legend(g.Keys, svgMargin, y)
	for i, lane := range g.Lanes {
		fmt.Fprintf(out, `<rect class="band" x="%d" y="%d" width="%d" height="%d" rx="4"/><text class="d" x="%d" y="%d">%s%s</text>`+"\n",
			svgMargin/2, tops[i], svgWidth-svgMargin, tops[i+1]-tops[i]-6, svgMargin, tops[i]+lanePad+dotHigh/2+4, title(lane.Label), XMLText(shorten(lane.Label, label)))
	}
	for _, k := range g.Links {
		from, known := places[k.From]
		if to, there := places[k.To]; known && there {
			out.link(&k, from, to)
		}
	}
	for _, lane := range g.Lanes {
		for _, d := range lane.Dots {
			out.dot(&d, places[d.ID])
		}
	}
	return out.close()
}

func (d *Dot) label() string {
	if d.Label == "" {
		return d.ID
	}
	return d.Label
}

func (s *svg) dot(d *Dot, at place) {
	class := fill(d.Tone, d.Marked)
	if d.Here {
		class += " here"
	}
	fmt.Fprintf(s, `<rect class="b %s" x="%.0f" y="%.0f" width="%.0f" height="%d" rx="10"%s>%s</rect><text class="m" x="%.0f" y="%.0f" pointer-events="none">%s</text>`+"\n",
		class, at.left, at.y-dotHigh/2, at.right-at.left, dotHigh, id(d.ID), title(d.Title), at.middle, at.y+4, XMLText(shorten(d.label(), 26)))
}

// link writes a curve: along a row above its dots, and otherwise from edge to edge.
func (s *svg) link(k *Link, from, to place) {
	class := "l"
	if k.Bold {
		class = "p"
	}
	if k.Dashed {
		class += " x"
	}
	var d string
	if from.y == to.y {
		high := from.y - dotHigh/2 - min(9, 3+math.Abs(to.middle-from.middle)/60)
		d = fmt.Sprintf("M%.0f %.0fC%.0f %.0f %.0f %.0f %.0f %.0f", from.middle, from.y-dotHigh/2, from.middle, high-4, to.middle, high-4, to.middle, to.y-dotHigh/2)
	} else {
		side := float64(dotHigh / 2)
		if to.y < from.y {
			side = -side
		}
		bend := (to.y - from.y) / 2
		d = fmt.Sprintf("M%.0f %.0fC%.0f %.0f %.0f %.0f %.0f %.0f", from.middle, from.y+side, from.middle, from.y+bend, to.middle, to.y-bend, to.middle, to.y-side)
	}
	fmt.Fprintf(s, `<path class="%s" d="%s"%s>%s</path>`+"\n", class, d, id(k.ID), title(k.Title))
}
