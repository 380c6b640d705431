package whatif

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/diagram"
	"github.com/fairlead/fairlead/internal/words"
)

// Measures of the picture, in pixels.
const (
	svgLeft  = 170 // names of nodes
	svgWidth = 760 // the time
	svgLane  = 22  // height of a node
	svgTop   = 40  // the events
	svgLanes = 60  // nodes at most; what happens to others is not drawn
)

// WriteSVG draws the prediction: a lane for each of the first 60 nodes that
// something happens to, in that order; bars for taints of effect NoExecute; dots
// for evictions, filled if the pod has nowhere to go or no controller; lines for
// events and for zones that change. Pointing at a mark shows what it is. The error
// is that of w.
func (p *Prediction) WriteSVG(w io.Writer) error {
	d := &drawing{Prediction: p, out: bufio.NewWriter(w), lanes: map[string]int{}, bars: map[string]time.Time{}}
	d.assign()
	height := svgTop + svgLane*len(d.names) + 40
	fmt.Fprintf(d.out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", svgLeft+svgWidth+40, height)
	fmt.Fprintf(d.out, `<rect width="100%%" height="100%%" fill="white"/>`+"\n")
	for i, name := range d.names {
		y := d.y(i)
		fmt.Fprintf(d.out, `<text x="8" y="%d">%s</text><line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#ddd"/>`+"\n", y+4, diagram.XMLText(words.Shorten(name, 24)), svgLeft, y, svgLeft+svgWidth, y)
	}
	d.axis(height - 25)
	for i := range p.Entries {
		d.mark(&p.Entries[i], height)
	}
	for _, name := range d.names {
		for _, key := range d.open[name] {
			d.bar(name, key, p.End)
		}
	}
	for _, dot := range d.dots {
		d.out.WriteString(dot)
	}
	if d.left > 0 {
		fmt.Fprintf(d.out, `<text x="8" y="%d" fill="#666">%s not drawn</text>`+"\n", height-8, words.Count(d.left, "node is", "nodes are"))
	}
	d.out.WriteString("</svg>\n")
	return d.out.Flush()
}

// drawing is one call of WriteSVG.
type drawing struct {
	*Prediction
	out   *bufio.Writer
	names []string             // of nodes, from the top
	lanes map[string]int       // by name
	bars  map[string]time.Time // when a taint came, by node and key
	open  map[string][]string  // keys of taints, by node
	dots  []string             // evictions, drawn last
	left  int                  // nodes without a lane
}

func (d *drawing) assign() {
	d.open = map[string][]string{}
	missing := map[string]bool{}
	for i := range d.Entries {
		name := d.Entries[i].Node
		if _, known := d.lanes[name]; known || name == "" {
			continue
		}
		if len(d.names) == svgLanes {
			missing[name] = true
			continue
		}
		d.lanes[name] = len(d.names)
		d.names = append(d.names, name)
	}
	d.left = len(missing)
}

func (d *drawing) y(lane int) int { return svgTop + lane*svgLane + svgLane/2 }

func (d *drawing) x(t time.Time) float64 {
	all := max(d.End.Sub(d.Start), time.Second)
	return svgLeft + svgWidth*float64(t.Sub(d.Start))/float64(all)
}

// axis draws five points in time.
func (d *drawing) axis(y int) {
	all := max(d.End.Sub(d.Start), time.Second)
	before := time.Duration(-1)
	for i := range 5 {
		after := (all * time.Duration(i) / 4).Round(time.Second)
		if after == before {
			continue
		}
		before = after
		x := d.x(d.Start.Add(after))
		fmt.Fprintf(d.out, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#eee"/><text x="%.1f" y="%d" text-anchor="middle" fill="#666">+%s</text>`+"\n",
			x, svgTop, x, y-12, x, y, after)
	}
}

func (d *drawing) mark(e *Entry, height int) {
	lane, drawn := d.lanes[e.Node]
	title := "+" + e.At.Sub(d.Start).String() + " " + line([]Entry{*e})
	switch {
	case e.Kind == EntryEvent || e.Kind == EntryZone:
		colour := "#333"
		if e.Kind == EntryZone {
			colour = "#888"
		}
		fmt.Fprintf(d.out, `<g><title>%s</title><line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="%s" stroke-dasharray="4 3"/></g>`+"\n",
			diagram.XMLText(title), d.x(e.At), svgTop-12, d.x(e.At), height-37, colour)
		if e.Kind == EntryEvent {
			fmt.Fprintf(d.out, `<text x="%.1f" y="%d">%s</text>`+"\n", d.x(e.At), svgTop-18, diagram.XMLText(words.Shorten(e.Text, 60)))
		}
	case !drawn:
	case e.Kind == EntryTaint && e.Taint.Effect == fairlead.NoExecute:
		if _, there := d.bars[e.Node+" "+e.Taint.Key]; !there {
			d.bars[e.Node+" "+e.Taint.Key] = e.At
			d.open[e.Node] = append(d.open[e.Node], e.Taint.Key)
		}
	case e.Kind == EntryUntaint && e.Taint.Effect == fairlead.NoExecute:
		d.bar(e.Node, e.Taint.Key, e.At)
	case e.Kind == EntryEvict:
		fill := "white"
		if e.Fate == FateStranded || e.Fate == FateLost {
			fill = "#c00"
		}
		d.dots = append(d.dots, fmt.Sprintf(`<circle cx="%.1f" cy="%d" r="4" fill="%s" stroke="#c00"><title>%s</title></circle>`+"\n",
			d.x(e.At), d.y(lane), fill, diagram.XMLText(title)))
	}
}

// bar draws a taint until the given time.
func (d *drawing) bar(node, key string, until time.Time) {
	from, there := d.bars[node+" "+key]
	if !there {
		return
	}
	delete(d.bars, node+" "+key)
	fmt.Fprintf(d.out, `<rect x="%.1f" y="%d" width="%.1f" height="10" fill="orange" fill-opacity="0.6"><title>%s</title></rect>`+"\n",
		d.x(from), d.y(d.lanes[node])-5, max(d.x(until)-d.x(from), 1), diagram.XMLText(key+" from +"+from.Sub(d.Start).String()+" to +"+until.Sub(d.Start).String()))
}
