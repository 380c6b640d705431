package doc

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Position is a place in a file. Lines and columns count from one; columns
// count characters, not bytes. A zero Line or Column is unknown.
type Position struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String returns file:line:column, without the parts that are unknown, or "-"
// when nothing is known.
func (p Position) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		if b.Len() > 0 {
			b.WriteByte(':')
		}
		b.WriteString(strconv.Itoa(p.Line))
		if p.Column > 0 {
			b.WriteByte(':')
			b.WriteString(strconv.Itoa(p.Column))
		}
	}
	if b.Len() == 0 {
		return "-"
	}
	return b.String()
}

// Compare orders positions by file, line and column.
func (p Position) Compare(q Position) int {
	return cmp.Or(strings.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// after returns the position behind text that starts at p.
func (p Position) after(text []byte) Position {
	if n := bytes.Count(text, newline); n > 0 {
		p.Line += n
		p.Column = 1
		text = text[bytes.LastIndexByte(text, '\n')+1:]
	}
	p.Column += utf8.RuneCount(text)
	return p
}

var newline = []byte{'\n'}
