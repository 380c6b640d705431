package doc

import (
	"bytes"
	"unicode/utf8"
)

// after returns the position after text that starts at p.
func after(p Position, text []byte) Position {
	if n := bytes.Count(text, newline); n > 0 {
		p.Line += n
		p.Column = 1
		text = text[bytes.LastIndexByte(text, '\n')+1:]
	}
	p.Column += utf8.RuneCount(text)
	return p
}

var newline = []byte{'\n'}
