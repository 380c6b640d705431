package diagram

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// A Gantt shows what happens when: a row for each thing, with bars for what it
// does. The zero Gantt is empty.
type Gantt struct {
	// Title stands above the rows; it may be empty.
	Title string
	// Rows are drawn in this order, from top to bottom.
	Rows []Row
	// Marks are instants that are drawn across all rows.
	Marks []Mark
}

// A Row is one line of a Gantt.
type Row struct {
	// Label stands to the left of the row.
	Label string
	// Bars are drawn in this order; later ones cover earlier ones.
	Bars []Bar
}

// A Bar is what a row does for some time.
type Bar struct {
	// Start and End count from the beginning. An End before Start counts as it.
	Start, End time.Duration
	// Label is shown when one points at the bar.
	Label string
	// Tone chooses one of eight colours; tones that differ by eight are alike.
	Tone int
	// Marked draws the bar in orange: what stands out.
	Marked bool
}

// A Mark is an instant.
type Mark struct {
	At    time.Duration // since the beginning
	Label string        // what happens then
}

// The sizes of a Gantt, in pixels.
const (
	ganttLeft   = 260 // of the bars
	ganttWidth  = 900 // of the bars
	ganttRow    = 16
	ganttTop    = 50
	ganttLetter = 40 // letters of a label at the most
)

var tones = [...]string{"#4e79a7", "#59a14f", "#9c755f", "#76b7b2", "#b07aa1", "#8cd17d", "#499894", "#79706e"}

// WriteSVG writes the chart as an SVG image. Equal charts are equal texts. The
// error is that of w.
func (g *Gantt) WriteSVG(w io.Writer) error {
	out := bufio.NewWriter(w)
	end := time.Duration(0)
	for _, row := range g.Rows {
		for _, b := range row.Bars {
			end = max(end, b.Start, b.End)
		}
	}
	for _, m := range g.Marks {
		end = max(end, m.At)
	}
	scale := func(d time.Duration) float64 {
		if end == 0 {
			return ganttLeft
		}
		return ganttLeft + float64(max(d, 0))/float64(end)*ganttWidth
	}
	bottom := ganttTop + ganttRow*len(g.Rows)
	fmt.Fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">\n", ganttLeft+ganttWidth+40, bottom+20)
	fmt.Fprintf(out, "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"8\" y=\"18\" font-size=\"14\">%s</text>\n", xmlText(g.Title))
	for _, at := range ticks(end) {
		fmt.Fprintf(out, "<path d=\"M%.1f %dV%d\" stroke=\"#ddd\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#555\">%s</text>\n", scale(at), ganttTop-6, bottom, scale(at), ganttTop-10, span(at))
	}
	for i, row := range g.Rows {
		y := ganttTop + ganttRow*i
		fmt.Fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", ganttLeft-8, y+12, xmlText(shorten(row.Label)))
		for _, b := range row.Bars {
			fill := tones[uint(b.Tone)%uint(len(tones))]
			if b.Marked {
				fill = "orange"
			}
			x := scale(b.Start)
			fmt.Fprintf(out, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"><title>%s</title></rect>\n",
				x, y+2, max(scale(b.End)-x, 0.4), ganttRow-4, fill, xmlText(fmt.Sprintf("%s\n%s to %s", b.Label, span(b.Start), span(b.End))))
		}
	}
	for _, m := range g.Marks {
		fmt.Fprintf(out, "<path d=\"M%.1f %dV%d\" stroke=\"#c00\"><title>%s</title></path>\n", scale(m.At), ganttTop-4, bottom, xmlText(m.Label+"\n"+span(m.At)))
	}
	out.WriteString("</svg>\n")
	return out.Flush()
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

// span writes a duration without its trailing zeros: 1h5m, not 1h5m0s.
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

// shorten leaves out the middle of a long label.
func shorten(s string) string {
	r := []rune(strings.ToValidUTF8(s, "\uFFFD"))
	if len(r) <= ganttLetter {
		return string(r)
	}
	return string(r[:ganttLetter-13]) + "…" + string(r[len(r)-12:])
}

func xmlText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder takes all
	return b.String()
}
