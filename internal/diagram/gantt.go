package diagram

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A Gantt shows what happens when: a row for each item, with bars for what it
// does. The zero Gantt is empty.
type Gantt struct {
	// Title is written above the rows; it may be empty.
	Title string
	// Alarm is written in red below the title: that what is shown does not end, or failed.
	Alarm string
	// Rows are drawn in this order, from top to bottom.
	Rows []Row
	// Marks are instants that are drawn across all rows.
	Marks []Mark
	// Keys explain the tones of bars in the legend, in this order.
	Keys []Key
	// Start is when the chart begins: the axis below the rows shows the time of day,
	// in UTC. Zero means that it is not known.
	Start time.Time
}

// A Row is one line of a Gantt.
type Row struct {
	// Label is written to the left of the row.
	Label string
	// Bars are drawn in this order; later ones cover earlier ones.
	Bars []Bar
}

// A Bar is what a row does for some time.
type Bar struct {
	// Start and End count from the beginning. An End before Start counts as
	// Start.
	Start, End time.Duration
	// Label is shown when the pointer is on the bar, and Text in the bar if there
	// is room for it.
	Label, Text string
	// ID is how a page finds the bar; it may be empty.
	ID string
	// Tone chooses one of eight colours; tones that differ by eight have the
	// same one.
	Tone int
	// Marked draws the bar in orange and hatched: trouble.
	Marked bool
	// Open means that it has not ended: the bar has no right edge, but an arrow.
	Open bool
	// Forecast draws the bar with a dotted edge and no colour: it has not happened.
	Forecast bool
}

// A Mark is an instant.
type Mark struct {
	At    time.Duration // since the beginning
	Label string        // what happens then
}

// layout is where the parts of a Gantt are.
type layout struct {
	end                     time.Duration
	left, top, row, letters int // of the bars; letters: the maximum length of a label
}

// measure places everything: the more rows, the lower each of them.
func (g *Gantt) measure() layout {
	l := layout{top: 34, row: 24}
	longest := 0
	for _, row := range g.Rows {
		longest = max(longest, utf8.RuneCountInString(row.Label))
		for _, b := range row.Bars {
			l.end = max(l.end, b.Start, b.End)
		}
	}
	for _, m := range g.Marks {
		l.end = max(l.end, m.At)
	}
	if len(g.Rows) > 60 {
		l.row = 16
	}
	l.letters = min(longest, 66)
	l.left = svgMargin + 12 + int(svgChar*float64(l.letters))
	return l
}

// x returns the horizontal position of an instant.
func (l *layout) x(d time.Duration) float64 {
	if l.end == 0 {
		return float64(l.left)
	}
	return float64(l.left) + float64(max(d, 0))/float64(l.end)*float64(svgWidth-l.left-svgMargin-16)
}

// WriteSVG writes the chart as a separate SVG image, with an axis of durations above and below, one
// of times of day below it if the start is known, and a legend. Equal charts give equal texts. The
// error is that of w.
func (g *Gantt) WriteSVG(w io.Writer) error { return g.write(writer(w, true)) }

// WriteInline writes the chart as an SVG element for a page that has Style.
func (g *Gantt) WriteInline(w io.Writer) error { return g.write(writer(w, false)) }

func (g *Gantt) write(out *svg) error {
	l := g.measure()
	if g.Title == "" {
		l.top = 8
	}
	if g.Alarm != "" {
		l.top += 20
	}
	// The height of the legend is only known after writing it, so it is written
	// twice.
	keys := g.keys()
	top := writer(io.Discard, false).legend(keys, svgMargin, l.top) + 24
	labels, lines := g.labels(&l)
	top += 14 * lines
	bottom := top + l.row*len(g.Rows)
	out.open(svgWidth, bottom+42, g.Title)
	out.heading(shorten(g.Title, 130))
	if g.Alarm != "" {
		fmt.Fprintf(out, `<text class="h alarm" x="%d" y="%d">%s</text>`+"\n", svgMargin, l.top-8, XMLText(shorten("✕ "+g.Alarm, 150)))
	}
	out.legend(keys, svgMargin, l.top)
	for i := 1; i < len(g.Rows); i += 2 {
		fmt.Fprintf(out, `<rect class="band" x="%d" y="%d" width="%d" height="%d"/>`+"\n", svgMargin, top+l.row*i, svgWidth-2*svgMargin, l.row)
	}
	g.axis(out, &l, top, bottom)
	for i, m := range g.Marks { // below the bars, whose texts they would cross
		at := &labels[i]
		y := top - 25 - 14*at.line
		fmt.Fprintf(out, `<path class="n" d="M%.1f %dv3M%.1f %dV%d">%s</path>`, at.x, y+3, at.x, top-5, bottom, title(m.Label+"\n"+span(m.At)))
		fmt.Fprintf(out, `<text%s x="%.1f" y="%d">%s</text>`+"\n", at.anchor, at.x, y, XMLText(m.Label))
	}
	for i, row := range g.Rows {
		g.row(out, &l, row, top+l.row*i)
	}
	return out.close()
}

// label is where the label of a mark is: above its line, in one of several lines of text.
type label struct {
	x      float64
	anchor string // an attribute; empty at the left end
	line   int    // 0 is the lowest
}

// labels places the labels of the marks so that none covers another one, and counts their lines.
func (g *Gantt) labels(l *layout) (all []label, lines int) {
	var ends [][][2]float64 // of the labels of each line
	for _, m := range g.Marks {
		at := label{x: l.x(m.At), anchor: ` class="m"`}
		wide := svgChar * float64(utf8.RuneCountInString(m.Label))
		from := at.x - wide/2
		switch {
		case at.x+wide/2 > svgWidth-svgMargin:
			at.anchor, from = ` class="e"`, at.x-wide
		case from < svgMargin:
			at.anchor, from = "", at.x
		}
		for at.line < len(ends) && slices.ContainsFunc(ends[at.line], func(e [2]float64) bool { return from < e[1]+6 && e[0] < from+wide+6 }) {
			at.line++
		}
		if at.line == len(ends) {
			ends = append(ends, nil)
		}
		ends[at.line] = append(ends[at.line], [2]float64{from, from + wide})
		all = append(all, at)
	}
	return all, len(ends)
}

// keys is the legend: what the chart says, and how trouble, what is open and what is expected look.
func (g *Gantt) keys() []Key {
	keys := slices.Clone(g.Keys)
	var trouble, open, forecast bool
	for _, r := range g.Rows {
		for _, b := range r.Bars {
			trouble, open, forecast = trouble || b.Marked, open || b.Open, forecast || b.Forecast
		}
	}
	if trouble && !slices.ContainsFunc(keys, func(k Key) bool { return k.Marked }) {
		keys = append(keys, Key{Marked: true, Label: "trouble"})
	}
	if open {
		keys = append(keys, Key{open: true, Label: "has not ended"})
	}
	if forecast {
		keys = append(keys, Key{forecast: true, Label: "expected"})
	}
	return keys
}

// axis writes the lines of instants with their labels.
func (g *Gantt) axis(out *svg, l *layout, top, bottom int) {
	form := "15:04"
	switch {
	case l.end > 48*time.Hour:
		form = "Jan 2 15:04"
	case l.end < 5*time.Minute:
		form = "15:04:05"
	}
	for _, at := range ticks(l.end) {
		x := l.x(at)
		fmt.Fprintf(out, `<path class="g" d="M%.1f %dV%d"/><text class="d m" x="%.1f" y="%d">%s</text><text class="d m" x="%.1f" y="%d">%s</text>`, x, top-4, bottom+3, x, top-8, span(at), x, bottom+15, span(at))
		if !g.Start.IsZero() {
			fmt.Fprintf(out, `<text class="d m" x="%.1f" y="%d">%s</text>`, x, bottom+30, g.Start.Add(at).UTC().Format(form))
		}
		out.WriteString("\n")
	}
}

// row writes a row at a height.
func (g *Gantt) row(out *svg, l *layout, row Row, y int) {
	base := y + l.row/2 + 4
	fmt.Fprintf(out, `<text class="e" x="%d" y="%d">%s%s</text>`+"\n", l.left-8, base, title(row.Label), XMLText(shorten(row.Label, l.letters)))
	for i := range row.Bars {
		b := &row.Bars[i]
		x := l.x(b.Start)
		wide := max(l.x(b.End)-x, 1.5)
		ends := fmt.Sprintf("%s\n%s to %s", b.Label, span(b.Start), span(b.End))
		if b.Open {
			ends = fmt.Sprintf("%s\nsince %s; it has not ended", b.Label, span(b.Start))
		}
		class := fill(b.Tone, b.Marked)
		if b.Forecast {
			class = "ground x"
		}
		high := l.row - 4
		fmt.Fprintf(out, `<rect class="b %s" x="%.1f" y="%d" width="%.1f" height="%d" rx="2"%s>%s</rect>`, class, x, y+2, wide, high, id(b.ID), title(ends))
		if b.Marked {
			out.hatch(x, y+2, wide, high)
		}
		if b.Open {
			fmt.Fprintf(out, `<path class="k" d="M%.1f %dl8 %dl-8 %dz"/>`, x+wide, y+2, high/2, high-high/2)
		}
		if b.Text != "" && wide > svgChar*float64(utf8.RuneCountInString(b.Text))+8 {
			fmt.Fprintf(out, `<text x="%.1f" y="%d" pointer-events="none">%s</text>`, x+4, base, XMLText(b.Text))
		}
		out.WriteString("\n")
	}
}

// hatch draws lines across a bar, lightly, so that its text can be read.
func (s *svg) hatch(x float64, y int, wide float64, high int) {
	s.WriteString(`<path class="z" d="`)
	for at := x; at+float64(high)/2 <= x+wide; at += 7 {
		fmt.Fprintf(s, "M%.0f %dl%d -%d", at, y+high, high/2, high)
	}
	s.WriteString(`"/>`)
}

// ticks returns up to about ten round instants.
func ticks(end time.Duration) []time.Duration {
	step := time.Millisecond
	for _, s := range []time.Duration{
		time.Second, 5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute,
		time.Hour, 3 * time.Hour, 6 * time.Hour, 24 * time.Hour,
	} {
		if end/step > 10 {
			step = s
		}
	}
	step *= max(end/step/20, 1)
	var all []time.Duration
	for i := time.Duration(0); i <= end/step; i++ {
		all = append(all, i*step)
	}
	return all
}

// span returns a duration without trailing zeros: 1h5m, not 1h5m0s.
func span(d time.Duration) string {
	text := d.Round(time.Millisecond).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
