package doc

import "bytes"

// An ending finds the end of the document that d starts with, searching from
// offset from. If there is none, it returns len(d) and false.
type ending func(d []byte, from int) (int, bool)

// blockEnd ends a document at a line that is a document marker.
func blockEnd(d []byte, from int) (int, bool) { return lineEnd(d, from, false) }

// objectEnd ends a document at a marker, or where a line begins with a brace. d
// may also be the rest of an object, because no directives precede one.
func objectEnd(d []byte, from int) (int, bool) { return lineEnd(d, from, true) }

// headEnd ends a document like blockEnd, and where another one begins: its first line states the API
// again.
func headEnd(d []byte, from int) (int, bool) {
	head := []byte("\napiVersion:")
	end, ok := lineEnd(d, from, false)
	start, _ := blank(d)
	if !bytes.HasPrefix(d[start:], head[1:]) {
		return end, ok
	}
	from = min(max(from-len(head), start), end)
	if i := bytes.Index(d[from:end], head); i >= 0 {
		return from + i + 1, true
	}
	return end, ok
}

// flowEnd ends a flow mapping like objectEnd, but not where a line that begins with a brace is inside of
// the mapping. One that is not closed ends at the first such line, for what follows to be read.
func flowEnd(d []byte, _ int) (int, bool) {
	var open flowDepth
	first, from := -1, 0
	for {
		end, ok := objectEnd(d, from)
		if first < 0 && (ok || end == len(d)) {
			first = end
		}
		open.read(d[from:end])
		switch {
		case open.level <= 0:
			return end, ok
		case !ok || d[end] != '{': // it is not closed
			return first, ok
		}
		from = end
	}
}

// flowDepth counts the brackets and braces that are open in text of YAML in flow style.
type flowDepth struct {
	level int
	quote byte // of the string that the text is in, or 0
}

// read reads more of the text. It must end with a line.
func (f *flowDepth) read(text []byte) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		begins := i == 0 || bytes.IndexByte([]byte(" \t\r\n[{,:"), text[i-1]) >= 0
		switch {
		case f.quote != 0:
			if c == '\\' && f.quote == '"' {
				i++
			} else if c == f.quote { // two single ones are one, which ends and begins it again
				f.quote = 0
			}
		case (c == '"' || c == '\'') && (begins || i > 0 && text[i-1] == c):
			f.quote = c
		case c == '#' && begins:
			if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
				i += n
			}
		case c == '{' || c == '[':
			f.level++
		case c == '}' || c == ']':
			f.level--
		}
	}
}

func lineEnd(d []byte, from int, brace bool) (int, bool) {
	for {
		i := bytes.IndexByte(d[from:], '\n')
		if i < 0 {
			return len(d), false
		}
		from += i + 1
		rest := d[from:]
		if len(rest) > 0 && rest[0] == '{' && brace {
			return from, true
		}
		if len(rest) > 3 && isMarker(rest) && (brace || !onlyDirectives(d[:from])) {
			return from, true
		}
	}
}

// onlyDirectives reports whether text is only YAML directives and comments: the
// marker after them starts the document that they belong to.
func onlyDirectives(text []byte) bool {
	if text[0] != '%' && text[0] != '#' {
		return false
	}
	directive := false
	for line := range bytes.Lines(text) {
		switch line[0] {
		case '%':
			directive = true
		case '#', '\n', '\r':
		default:
			return false
		}
	}
	return directive
}
