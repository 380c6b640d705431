// Package page writes text that fits a terminal.
package page

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Width is the maximum number of columns of a line.
const Width = 100

// Fold writes text after a margin, in lines of at most Width columns; lines
// after the first are indented by the width of the margin. A word that does not
// fit has its own line.
func Fold(out io.Writer, margin, text string) {
	blank := strings.Repeat(" ", utf8.RuneCountInString(margin))
	line := margin
	for i, word := range strings.Fields(text) {
		switch n := utf8.RuneCountInString(line); {
		case i == 0:
			line += word
		case n+1+utf8.RuneCountInString(word) > Width:
			fmt.Fprintln(out, line)
			line = blank + word
		default:
			line += " " + word
		}
	}
	fmt.Fprintln(out, line)
}
