// Package page writes text that fits a terminal.
package page

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fairlead/fairlead/internal/words"
)

// Width is the maximum number of columns of a line that does not go to a terminal.
const Width = 100

// Columns returns the number of columns for lines of a writer: those of the terminal, if it is one
// and says how wide it is, as [github.com/fairlead/fairlead/examples/internal/args.Terminal] does.
func Columns(out io.Writer) int {
	if t, ok := out.(interface{ Columns() int }); ok {
		if n := t.Columns(); n > 0 {
			return n
		}
	}
	return Width
}

// Buffer keeps what is written for another writer, and folds as for that one.
type Buffer struct {
	bytes.Buffer
	columns int
}

// NewBuffer returns an empty buffer of what is written to out afterwards.
func NewBuffer(out io.Writer) *Buffer { return &Buffer{columns: Columns(out)} }

// Columns returns how wide the other writer is.
func (b *Buffer) Columns() int { return b.columns }

// Fold writes text after a margin, in lines of at most Width columns, or as wide as the terminal;
// lines after the first are indented by the width of the margin, and by two spaces at
// least, so that no word of the text is taken for the beginning of another one.
// A word or a command that does not fit has its own line.
func Fold(out io.Writer, margin, text string) {
	fold(out, margin, strings.Repeat(" ", max(2, utf8.RuneCountInString(margin))), text)
}

// fold writes text after one margin in the first line, and after another in the rest.
func fold(out io.Writer, margin, rest, text string) {
	for _, line := range Wrap(margin, rest, strings.Join(strings.Fields(text), " "), Columns(out)) {
		words.Fprintf(out, "%s\n", line)
	}
}

// Wrap returns text after one margin in the first line, and after another in the rest, in lines of at
// most width columns. Neither a word nor a command is broken: they are to be copied. Spaces stay but
// where a line ends.
func Wrap(margin, rest, text string, width int) (lines []string) {
	line, end := margin, 0 // of the last unit
	for i, u := range units(text) {
		gap, word := text[end:u.from], text[u.from:u.to]
		if i > 0 && utf8.RuneCountInString(line+gap+word) > width {
			lines = append(lines, line)
			line = rest + word
		} else {
			line += gap + word
		}
		end = u.to
	}
	return append(lines, line)
}

// unit is a part of a text that is not broken.
type unit struct{ from, to int }

// commands are the programs whose calls stand in texts.
var commands = []string{"kubectl", "oc", "fairlead", "opm"}

// units returns the words of a text, each command with its arguments as one of them. In prose, a
// command ends where a word outside quotation marks ends with punctuation.
func units(text string) (found []unit) {
	open, quoted, last := false, false, "" // a command, and a quotation mark in it; the word before
	for from := 0; ; {
		from += len(text[from:]) - len(strings.TrimLeft(text[from:], " \t\r\n"))
		if from == len(text) {
			return found
		}
		to := len(text)
		if n := strings.IndexAny(text[from:], " \t\r\n"); n >= 0 {
			to = from + n
		}
		word := text[from:to]
		if open {
			found[len(found)-1].to = to
		} else {
			found = append(found, unit{from, to})
			open = slices.Contains(commands, strings.TrimLeft(word, "(`")) && last != "as" // "as kubectl does" is no call
		}
		quoted = open && quoted != (strings.Count(word, "'")%2 == 1)
		if open && !quoted && strings.ContainsAny(word[len(word)-1:], ";,.):`") {
			open = false
		}
		from, last = to, word
	}
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
