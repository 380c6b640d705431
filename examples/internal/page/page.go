// Package page writes text that fits a terminal.
package page

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/fairlead/fairlead/internal/words"
)

// Width is the maximum number of columns of a line.
const Width = 100

// Fold writes text after a margin, in lines of at most Width columns; lines
// after the first are indented by the width of the margin, and by two spaces at
// least, so that no word of the text is taken for the beginning of another one.
// A word that does not fit has its own line.
func Fold(out io.Writer, margin, text string) {
	fold(out, margin, strings.Repeat(" ", max(2, utf8.RuneCountInString(margin))), text)
}

// fold writes text after one margin in the first line, and after another in the rest.
func fold(out io.Writer, margin, rest, text string) {
	line := margin
	for i, word := range strings.Fields(text) {
		switch n := utf8.RuneCountInString(line); {
		case i == 0:
			line += word
		case n+1+utf8.RuneCountInString(word) > Width:
			words.Fprintf(out, "%s\n", line)
			line = rest + word
		default:
			line += " " + word
		}
	}
	words.Fprintf(out, "%s\n", line)
}

// Quote writes a message of somebody else after a margin, with a bar before each line, so that
// none of them passes for a line of ours.
func Quote(out io.Writer, margin, text string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		bar := margin + "| " + line[:min(indent, 20)]
		fold(out, bar, bar, line)
	}
}
