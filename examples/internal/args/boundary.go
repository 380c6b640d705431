package args

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/internal/words"
)

// boundary is what all text passes on its way to a terminal, a log or a pipe: names and messages
// in it were written by others. It keeps the rest of a line until the line ends, or flush.
//
//  1. Control and invisible characters are shown, as words.Visible does, not sent.
//  2. No line is a command to what runs a CI job and reads its log: "::" at the beginning, as
//     GitHub reads it, and "##[", "##vso[" and "##teamcity[" anywhere, as it, Azure and TeamCity do.
//     The first character of such a mark is shown by its code point.
//
// A document, see [Call.Document], passes unchanged unless it goes to a terminal.
type boundary struct {
	to       io.Writer
	line     []byte                                          // begun
	paint    func(line []byte) (from, to int, colour Colour) // may be nil
	document bool
	columns  string // the environment variable COLUMNS
}

// Write implements io.Writer. An error is that of to; the text may have been kept.
func (b *boundary) Write(text []byte) (int, error) {
	if b.document && !isTerminal(b.to) {
		if err := b.flush(); err != nil {
			return 0, err
		}
		return b.to.Write(text)
	}
	end := bytes.LastIndexByte(text, '\n') + 1
	if end == 0 {
		b.line = append(b.line, text...)
		return len(text), nil
	}
	var out bytes.Buffer
	width := b.Columns()
	for line := range bytes.Lines(append(b.line, text[:end]...)) {
		for _, part := range b.wrap(line, width) {
			out.Write(b.safe(part))
		}
	}
	b.line = append([]byte(nil), text[end:]...)
	if _, err := b.to.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// flush writes a line that has not ended.
func (b *boundary) flush() error {
	if len(b.line) == 0 {
		return nil
	}
	line := b.safe(b.line)
	b.line = nil
	_, err := b.to.Write(line)
	return err
}

// IsTerminal implements Terminal.
func (b *boundary) IsTerminal() bool { return isTerminal(b.to) }

// The narrowest and the widest line on a terminal: longer ones are hard to read.
const narrowest, widest = 60, 200

// Columns implements Terminal: between 60 and 200. On a terminal, the environment variable COLUMNS
// wins, as in other programs.
func (b *boundary) Columns() int {
	if !isTerminal(b.to) {
		return 0
	}
	n, err := strconv.Atoi(b.columns)
	if err != nil || n <= 0 {
		n = width(b.to)
	}
	if n <= 0 {
		return 0
	}
	return min(max(n, narrowest), widest)
}

// wrap breaks a line at words if it is wider than the terminal; the rest is indented. The width 0
// breaks nothing.
func (b *boundary) wrap(line []byte, width int) (parts [][]byte) {
	if b.document || width == 0 || utf8.RuneCount(line) <= width+1 {
		return [][]byte{line}
	}
	body := strings.TrimLeft(string(line), " ")
	margin := string(line[:len(line)-len(body)])
	for _, part := range page.Wrap(margin, margin+"  ", body, width) {
		parts = append(parts, []byte(part+"\n"))
	}
	return parts
}

// marks are what a CI job obeys anywhere in a line.
var marks = regexp.MustCompile(`(?i)##(?:vso|teamcity)?\[`)

// safe returns a line that controls nothing, painted.
func (b *boundary) safe(line []byte) []byte {
	text := words.Visible(string(line))
	if !b.document {
		text = inert(text)
	}
	if b.paint == nil {
		return []byte(text)
	}
	from, to, colour := b.paint([]byte(strings.TrimSuffix(text, "\n")))
	if colour != "" {
		text = text[:from] + string(colour) + text[from:to] + "\x1b[0m" + text[to:]
	}
	return []byte(text)
}

// inert returns a line that no CI job takes for a command.
func inert(line string) string {
	if body := strings.TrimLeftFunc(line, unicode.IsSpace); strings.HasPrefix(body, "::") {
		line = line[:len(line)-len(body)] + "⟨U+003A⟩" + body[1:]
	}
	if strings.Contains(line, "##") {
		line = marks.ReplaceAllStringFunc(line, func(mark string) string { return "⟨U+0023⟩" + mark[1:] })
	}
	return line
}

// textFormats are the values of -o that are read by people. All others are documents.
var textFormats = []string{"text", "wide", "markdown", "opm"}

// Document makes standard output exact from now on: what is written is a document for another
// program, such as JSON or a patch. On a terminal, control characters are still shown.
func (c *Call) Document() {
	if b, ok := c.Stdout.(*boundary); ok {
		b.document = true
	}
}
