package diagram

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/fairlead/fairlead/internal/words"
)

// The sizes of images, in pixels.
const (
	svgWidth  = 1160
	svgMargin = 12
	svgChar   = 6.3 // average width of a letter in a label
)

// palette replaces the names of colours in the style by the colours for a light or
// a dark background.
func palette(dark bool) *strings.Replacer {
	if dark {
		return strings.NewReplacer(
			"var(--ground)", "#0d1117", "var(--band)", "#161b22", "var(--ink)", "#e6edf3", "var(--dim)", "#9ba7b4", "var(--line)", "#30363d", "var(--edge)", "#8b949e",
			"var(--hot)", "#9a5700", "var(--now)", "#79c0ff", "var(--bad)", "#ff9088",
			"var(--t0)", "#1f5a96", "var(--t1)", "#2a6b3a", "var(--t2)", "#70552f", "var(--t3)", "#20696b", "var(--t4)", "#63458c", "var(--t5)", "#56661f", "var(--t6)", "#4a5a6d", "var(--t7)", "#823a55")
	}
	return strings.NewReplacer(
		"var(--ground)", "#ffffff", "var(--band)", "#f6f8fa", "var(--ink)", "#1f2328", "var(--dim)", "#59636e", "var(--line)", "#d8dee4", "var(--edge)", "#57606a",
		"var(--hot)", "#ffb757", "var(--now)", "#0550ae", "var(--bad)", "#b42318",
		"var(--t0)", "#9ecbff", "var(--t1)", "#a8e0b2", "var(--t2)", "#e3c9a8", "var(--t3)", "#a5dede", "var(--t4)", "#dcc3f5", "var(--t5)", "#d4e59a", "var(--t6)", "#c5cfda", "var(--t7)", "#f3b8c8")
}

// Style is the style sheet for pages that contain inline images. The page must define
// the custom properties that it uses.
const Style = `.fd text{font:11px ui-sans-serif,system-ui,sans-serif;fill:var(--ink)}
.fd .h{font-size:14px;font-weight:600}
.fd .d{fill:var(--dim)}
.fd .e{text-anchor:end}
.fd .m{text-anchor:middle}
.fd .ground{fill:var(--ground)}
.fd .band{fill:var(--band)}
.fd .g{stroke:var(--line);fill:none}
.fd .n{stroke:var(--now);fill:none;stroke-width:1.5}
.fd .b{stroke:var(--edge);stroke-width:.6}
.fd .l{stroke:var(--edge);fill:none;stroke-opacity:.55}
.fd .p{stroke:var(--now);fill:none;stroke-width:2.5}
.fd .x{stroke-dasharray:5 4}
.fd .k{fill:var(--ink)}
.fd .z{stroke:var(--bad);stroke-opacity:.45;fill:none}
.fd .alarm{fill:var(--bad)}
.fd .s{font-weight:700}
.fd .bad{stroke:var(--bad);stroke-width:2.5}
.fd .here{stroke:var(--now);stroke-width:2.5}
.fd .t0{fill:var(--t0)}.fd .t1{fill:var(--t1)}.fd .t2{fill:var(--t2)}.fd .t3{fill:var(--t3)}
.fd .t4{fill:var(--t4)}.fd .t5{fill:var(--t5)}.fd .t6{fill:var(--t6)}.fd .t7{fill:var(--t7)}
.fd .hot{fill:var(--hot)}
`

// svg writes an image.
type svg struct {
	*bufio.Writer
	alone bool // a separate file, not a part of a page
}

// open begins an image, with its own style if it is a separate file.
func (s *svg) open(width, height int, title string) {
	if !s.alone {
		fmt.Fprintf(s, `<svg class="fd" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="group" aria-label="%s">`+"\n", width, height, XMLText(title))
		return
	}
	fmt.Fprintf(s, `<svg xmlns="http://www.w3.org/2000/svg" class="fd" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d">`+"\n", width, height)
	fmt.Fprintf(s, "<title>%s</title>\n<style>\n%s@media(prefers-color-scheme:dark){\n%s}\n</style>\n", XMLText(title), palette(false).Replace(Style), palette(true).Replace(Style))
	fmt.Fprintf(s, `<rect class="ground" width="100%%" height="100%%"/>`+"\n")
}

// heading writes the title of an image, if it has one.
func (s *svg) heading(title string) {
	if title != "" {
		fmt.Fprintf(s, `<text class="h" x="%d" y="22">%s</text>`+"\n", svgMargin, XMLText(title))
	}
}

// below returns where an image goes on below its title.
func below(title string) int {
	if title == "" {
		return svgMargin
	}
	return 36
}

// close ends an image. The error is that of the writer.
func (s *svg) close() error {
	s.WriteString("</svg>\n")
	return s.Flush()
}

// A Key explains a tone in the legend of an image.
type Key struct {
	Tone   int    // that of a Bar or Dot
	Marked bool   // means orange, for any tone
	Label  string // what it means

	open, forecast bool // how bars look that have not ended, or not happened
}

// fill returns the class of a tone.
func fill(tone int, marked bool) string {
	if marked {
		return "hot"
	}
	return fmt.Sprintf("t%d", uint(tone)%8)
}

// legend writes the meanings of tones, beginning at x and y, and returns the y below
// them.
func (s *svg) legend(keys []Key, x, y int) int {
	if len(keys) == 0 {
		return y
	}
	left := x
	for _, k := range keys {
		label := shorten(k.Label, 60)
		wide := 30 + int(svgChar*float64(utf8.RuneCountInString(label)))
		if x+wide > svgWidth && x > left {
			x, y = left, y+18
		}
		switch {
		case k.open:
			fmt.Fprintf(s, `<path class="k" d="M%d %dl8 6l-8 6z"/>`, x+4, y)
		case k.forecast:
			fmt.Fprintf(s, `<rect class="b ground x" x="%d" y="%d" width="14" height="12" rx="2"/>`, x, y)
		default:
			fmt.Fprintf(s, `<rect class="b %s" x="%d" y="%d" width="14" height="12" rx="2"/>`, fill(k.Tone, k.Marked), x, y)
		}
		fmt.Fprintf(s, `<text class="d" x="%d" y="%d">%s</text>`+"\n", x+19, y+10, XMLText(label))
		x += wide
	}
	return y + 20
}

// id returns the attribute by which a page finds an element.
func id(of string) string {
	if of == "" {
		return ""
	}
	return ` data-k="` + XMLText(of) + `"`
}

// title returns the element whose text is shown when the pointer is on a mark.
func title(text string) string {
	if text == "" {
		return ""
	}
	return "<title>" + XMLText(text) + "</title>"
}

// shorten leaves out the middle of a text that is longer than most letters.
func shorten(s string, most int) string {
	r := []rune(strings.ToValidUTF8(s, "\uFFFD"))
	if len(r) <= most {
		return string(r)
	}
	tail := most / 3
	return string(r[:most-tail-1]) + "…" + string(r[len(r)-tail:])
}

// XMLText returns text for the inside of an element or an attribute of an image; hidden characters
// are shown.
func XMLText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(words.Visible(s))) // a strings.Builder takes all
	return b.String()
}

// writer returns a writer for an image.
func writer(w io.Writer, alone bool) *svg { return &svg{bufio.NewWriter(w), alone} }
