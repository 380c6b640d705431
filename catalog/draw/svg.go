package draw

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/diagram"
)

// Measures of the picture, in pixels.
const (
	svgMargin   = 16
	svgNodeH    = 24 // height of a node
	svgMinNodeW = 40 // least width of a node
	svgGapX     = 28 // between the nodes of neighbouring columns
	svgTrack    = 10 // between two lines above or below the nodes of a lane
	svgPad      = 14 // around the contents of a lane
	svgTitleH   = 30
	svgLegendH  = 44
	svgChar     = 7  // width of a character, by estimate
	svgMaxLabel = 24 // characters of a label, longer ones are cut
	svgMinLabel = 14 // where there are many columns
	svgMaxWidth = 2000
	svgWide     = 1200 // width from which lanes have their names at both ends
	svgPort     = 7    // how far from a node's middle lines leave and arrive
)

// svgStyle styles the classes used below.
const svgStyle = `
text{font:12px ui-sans-serif,system-ui,sans-serif;fill:#1b1f24}
.title{font-size:15px;font-weight:600}
.lane{fill:#f6f8fa;stroke:#d0d7de}
.lane.default{stroke:#0969da}
.node{fill:#fff;stroke:#57606a}
.node.head{stroke:#1a7f37;stroke-width:2.5}
.node.skipped{stroke-dasharray:4 3}
.node.deprecated{fill:#ffd8a8;stroke:#b35900}
.edge{fill:none;stroke:#57606a;stroke-width:1.4}
.edge.skips{stroke:#8250df;stroke-dasharray:6 4}
.edge.skipRange{stroke:#0a7ea4;stroke-dasharray:2 3}
.small{font-size:11px;fill:#57606a}
.name{font-weight:600}
`

// svgLane is a lane with the positions of its parts.
type svgLane struct {
	*laneView
	y, height int
	middle    int // of the nodes
	above     []svgLine
	below     []svgLine
}

// svgLine is a line that runs in a track above or below the nodes of its lane:
// from the columns in from to the column to.
type svgLine struct {
	kind     catalog.EdgeKind
	from     []int // columns
	to       int
	lo, hi   int // columns that it spans
	track    int
	describe string
}

// svgLayout is a picture with the positions of its parts.
type svgLayout struct {
	*packageView
	labelW, nodeW int
	label         int // characters of a label
	width, height int
	lanes         []*svgLane
}

// writeSVG draws the view: a lane for each channel, a column for each version,
// so that a version is at the same place in every lane.
func writeSVG(ctx context.Context, w io.Writer, view *packageView) error {
	l, err := layoutSVG(ctx, view)
	if err != nil {
		return err
	}
	out := &svgWriter{w: bufio.NewWriter(w)}
	out.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`+"\n", l.width, l.height, l.width, l.height)
	out.printf("<title>Update graph of %s</title>\n<style>%s</style>\n", diagram.XMLText(view.name), svgStyle)
	for _, kind := range []catalog.EdgeKind{catalog.EdgeReplaces, catalog.EdgeSkips, catalog.EdgeSkipRange} {
		out.printf(`<marker id="%s" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0,0L8,4L0,8z" fill="%s"/></marker>`+"\n", kind, svgColour(kind))
	}
	out.printf(`<rect width="100%%" height="100%%" fill="#fff"/>` + "\n")
	title := "package " + view.name
	if view.deprecated {
		title += " (deprecated)"
	}
	out.printf(`<text class="title" x="%d" y="%d">%s</text>`+"\n", svgMargin, svgMargin+14, diagram.XMLText(title))
	for _, lane := range l.lanes {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		l.writeLane(out, lane)
	}
	l.writeLegend(out)
	out.printf("</svg>\n")
	if out.err == nil {
		out.err = out.w.Flush()
	}
	return out.err
}

func svgColour(kind catalog.EdgeKind) string {
	switch kind {
	case catalog.EdgeSkips:
		return "#8250df"
	case catalog.EdgeSkipRange:
		return "#0a7ea4"
	}
	return "#57606a"
}

// layoutSVG computes the position of everything. The error is that of ctx.
func layoutSVG(ctx context.Context, view *packageView) (*svgLayout, error) {
	l := &svgLayout{packageView: view, label: svgMaxLabel}
	l.measure()
	if l.width > svgMaxWidth {
		l.label = svgMinLabel
		l.measure()
	}
	if l.width > svgMaxWidth {
		runs := view.runs()
		for most := svgMaxWidth / (svgMinNodeW + svgGapX); l.width > svgMaxWidth; most-- { // more never fit
			runs.join(most)
			small, err := view.grouped(ctx, runs.columns)
			if err != nil {
				return nil, err
			}
			l.packageView = small
			l.measure()
		}
		view = l.packageView
	}
	y := svgMargin + svgTitleH
	for i := range view.lanes {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		lane := &svgLane{laneView: &view.lanes[i], y: y}
		lane.route()
		up, down := tracks(lane.above), tracks(lane.below)
		lane.middle = y + svgPad + up*svgTrack + svgNodeH/2
		if up > 0 {
			lane.middle += svgTrack / 2
		}
		lane.height = lane.middle - y + svgNodeH/2 + down*svgTrack + svgPad
		if down > 0 {
			lane.height += svgTrack / 2
		}
		y += lane.height + svgPad/2
		l.lanes = append(l.lanes, lane)
	}
	l.height = y + svgLegendH
	return l, nil
}

// measure computes widths.
func (l *svgLayout) measure() {
	l.labelW, l.nodeW = 80, svgMinNodeW
	for _, c := range l.columns {
		l.nodeW = max(l.nodeW, svgChar*utf8.RuneCountInString(shorten(c, l.label))+14)
	}
	for _, lane := range l.packageView.lanes {
		for _, n := range lane.nodes {
			l.nodeW = max(l.nodeW, svgChar*utf8.RuneCountInString(shorten(n.label, l.label))+14)
		}
		l.labelW = max(l.labelW, svgChar*utf8.RuneCountInString(shorten(lane.name, svgMaxLabel))+2*svgPad, svgChar*len(lane.note)+svgPad)
	}
	l.width = max(2*svgMargin+l.labelW+len(l.columns)*(l.nodeW+svgGapX)+svgPad, 640)
	if l.width > svgWide {
		l.width += l.labelW
	}
}

// route gives each edge of the lane a line: a straight one between neighbours,
// for other replaces edges one above the nodes, and below them one for all
// that an entry skips and one for all that its skipRange covers.
func (lane *svgLane) route() {
	for _, e := range lane.edges {
		to := lane.nodes[e.to]
		line := svgLine{kind: e.kind, to: to.column, lo: to.column, hi: to.column, describe: e.describe}
		for _, i := range e.from {
			column := lane.nodes[i].column
			line.from = append(line.from, column)
			line.lo, line.hi = min(line.lo, column), max(line.hi, column)
		}
		switch {
		case len(line.from) == 0:
		case e.kind != catalog.EdgeReplaces:
			lane.below = append(lane.below, line)
		case !lane.neighbours(line.from[0], to.column):
			lane.above = append(lane.above, line)
		}
	}
	assignTracks(lane.above)
	assignTracks(lane.below)
}

// neighbours reports whether no node of the lane is between the columns from
// (left) and to.
func (lane *svgLane) neighbours(from, to int) bool {
	if from >= to {
		return false
	}
	for _, n := range lane.nodes {
		if from < n.column && n.column < to {
			return false
		}
	}
	return true
}

// assignTracks gives lines that overlap different tracks, short lines the
// inner ones.
func assignTracks(lines []svgLine) {
	order := make([]*svgLine, len(lines))
	for i := range lines {
		order[i] = &lines[i]
	}
	slices.SortStableFunc(order, func(a, b *svgLine) int { return cmp.Compare(a.hi-a.lo, b.hi-b.lo) })
	var taken [][]*svgLine
	for _, line := range order {
		for line.track = 0; line.track < len(taken); line.track++ {
			if !slices.ContainsFunc(taken[line.track], func(o *svgLine) bool { return line.lo < o.hi && o.lo < line.hi || line.to == o.to }) {
				break
			}
		}
		if line.track == len(taken) {
			taken = append(taken, nil)
		}
		taken[line.track] = append(taken[line.track], line)
	}
}

func tracks(lines []svgLine) int {
	n := 0
	for _, line := range lines {
		n = max(n, line.track+1)
	}
	return n
}

// x returns the middle of a column.
func (l *svgLayout) x(column int) int {
	return svgMargin + l.labelW + column*(l.nodeW+svgGapX) + svgGapX + l.nodeW/2
}

func (l *svgLayout) writeLane(out *svgWriter, lane *svgLane) {
	class := "lane"
	if lane.isDefault {
		class += " default"
	}
	out.printf(`<g><title>%s</title>`+"\n", diagram.XMLText(lane.describe))
	out.printf(`<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="6"/>`+"\n", class, svgMargin, lane.y, l.width-2*svgMargin, lane.height)
	out.printf(`<text class="name" x="%d" y="%d">%s</text>`+"\n", svgMargin+svgPad, lane.middle+4, diagram.XMLText(shorten(lane.name, svgMaxLabel)))
	if l.width > svgWide {
		out.printf(`<text class="name" x="%d" y="%d" text-anchor="end">%s</text>`+"\n", l.width-svgMargin-svgPad, lane.middle+4, diagram.XMLText(shorten(lane.name, svgMaxLabel)))
	}
	if lane.note != "" {
		out.printf(`<text class="small" x="%d" y="%d">%s</text>`+"\n", svgMargin+svgPad, lane.middle+18, diagram.XMLText(lane.note))
	}
	out.printf("</g>\n")
	for _, line := range lane.below {
		l.writeBelow(out, lane, &line)
	}
	for _, line := range lane.above {
		l.writeAbove(out, lane, &line)
	}
	l.writeStraight(out, lane)
	for _, n := range lane.nodes {
		class := "node"
		for _, name := range n.classes() {
			class += " " + name
		}
		x := l.x(n.column)
		out.printf(`<g><title>%s</title><rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="5"/>`, diagram.XMLText(n.describe), class, x-l.nodeW/2, lane.middle-svgNodeH/2, l.nodeW, svgNodeH)
		out.printf(`<text x="%d" y="%d" text-anchor="middle">%s</text></g>`+"\n", x, lane.middle+4, diagram.XMLText(shorten(n.label, l.label)))
	}
}

// writeStraight draws the edges between neighbours, and a stub for an entry that
// replaces a bundle outside the channel.
func (l *svgLayout) writeStraight(out *svgWriter, lane *svgLane) {
	for _, e := range lane.edges {
		if e.kind != catalog.EdgeReplaces {
			continue
		}
		to := lane.nodes[e.to].column
		x1, x2 := l.x(to)-l.nodeW/2-svgGapX+6, l.x(to)-l.nodeW/2
		if len(e.from) > 0 {
			from := lane.nodes[e.from[0]].column
			if !lane.neighbours(from, to) {
				continue
			}
			x1 = l.x(from) + l.nodeW/2
		}
		l.path(out, e.kind, e.describe, fmt.Sprintf("M%d,%dH%d", x1, lane.middle, x2))
	}
}

// writeAbove draws a replaces edge that passes over other nodes.
func (l *svgLayout) writeAbove(out *svgWriter, lane *svgLane, line *svgLine) {
	top := lane.middle - svgNodeH/2
	y := top - svgTrack - line.track*svgTrack
	out1, in := l.x(line.from[0])+svgPort, l.x(line.to)-svgPort
	l.path(out, line.kind, line.describe, fmt.Sprintf("M%d,%dV%dH%dV%d", out1, top, y, in, top))
}

// writeBelow draws all that one entry skips: a line with a stem to each
// skipped node and an arrow to the entry.
func (l *svgLayout) writeBelow(out *svgWriter, lane *svgLane, line *svgLine) {
	bottom := lane.middle + svgNodeH/2
	y := bottom + svgTrack + line.track*svgTrack
	far := line.from[0]
	var stems strings.Builder
	for _, column := range line.from {
		if abs(column-line.to) > abs(far-line.to) {
			far = column
		}
	}
	for _, column := range line.from {
		if column != far {
			fmt.Fprintf(&stems, "M%d,%dV%d", l.x(column)+svgPort, bottom, y)
		}
	}
	fmt.Fprintf(&stems, "M%d,%dV%dH%dV%d", l.x(far)+svgPort, bottom, y, l.x(line.to)-svgPort, bottom)
	l.path(out, line.kind, line.describe, stems.String())
}

func (l *svgLayout) path(out *svgWriter, kind catalog.EdgeKind, describe, d string) {
	out.printf(`<path class="edge %s" d="%s" marker-end="url(#%s)"><title>%s</title></path>`+"\n", kind, d, kind, diagram.XMLText(describe))
}

func (l *svgLayout) writeLegend(out *svgWriter) {
	y, x := l.height-svgLegendH/2, svgMargin
	for _, kind := range []catalog.EdgeKind{catalog.EdgeReplaces, catalog.EdgeSkips, catalog.EdgeSkipRange} {
		out.printf(`<path class="edge %s" d="M%d,%dh34" marker-end="url(#%s)"/>`, kind, x, y-4, kind)
		out.printf(`<text class="small" x="%d" y="%d">%s</text>`+"\n", x+40, y, kind)
		x += 40 + svgChar*len(kind.String()) + 16
	}
	for _, class := range []string{"head", "skipped", "deprecated"} {
		out.printf(`<rect class="node %s" x="%d" y="%d" width="26" height="14" rx="3"/>`, class, x, y-11)
		out.printf(`<text class="small" x="%d" y="%d">%s</text>`+"\n", x+32, y, class)
		x += 32 + svgChar*len(class) + 16
	}
}

// shorten cuts a label that is too long in the middle: versions and names differ
// at both ends.
func shorten(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most/2]) + "…" + string(r[len(r)-(most-1)/2:])
}

func abs(n int) int { return max(n, -n) }

// svgWriter keeps the first error.
type svgWriter struct {
	w   *bufio.Writer
	err error
}

func (o *svgWriter) printf(format string, args ...any) {
	if o.err == nil {
		_, o.err = fmt.Fprintf(o.w, format, args...)
	}
}
