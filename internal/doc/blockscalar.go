package doc

import (
	"bytes"
	"unicode/utf8"
)

// scalar reads the scalar that starts here, in a block at column indent, and
// moves to the line after it.
func (r *blockReader) scalar(indent, depth int) bool {
	if !r.mark(r.p, depth-1) {
		return false
	}
	w := r.w
	switch c := r.d[r.p]; c {
	case '|', '>':
		if !r.block(indent) {
			return false
		}
	case '"', '\'':
		if !r.quoted() || !r.endLine() {
			return false
		}
	case '[', '{':
		if r.p+1 >= len(r.d) || r.d[r.p+1] != c+2 || depth > w.limits.Depth {
			return false
		}
		w.out = append(w.out, c, c+2)
		r.p += 2
		return r.endLine()
	case '-':
		if r.ends(r.p + 1) {
			return false
		}
		return r.plain(indent)
	case '?', ':', ',', ']', '}', '#', '&', '*', '!', '%', '@', '`', '\t':
		return false
	default:
		return r.plain(indent)
	}
	w.out = appendText(w.out, string(r.text))
	return true
}

// plain reads a plain scalar, which continues on the lines that are indented
// more deeply than the block.
func (r *blockReader) plain(indent int) bool {
	first, firstLine, firstStart := r.p, r.line, r.start
	text, comment, ok := r.plainLine()
	if !ok {
		return false
	}
	r.text = append(r.text[:0], text...)
	for breaks := 0; ; {
		i := r.p
		for i < len(r.d) && r.d[i] == ' ' {
			i++
		}
		switch {
		case i < len(r.d) && r.d[i] == '\n':
			breaks++
			r.p = i
			r.skipLine()
			continue
		case i < len(r.d) && (r.d[i] == '\t' || r.d[i] == '#' && i-r.start > indent):
			return false
		case i == len(r.d) || i-r.start <= indent:
			return r.writePlain(first, firstLine, firstStart)
		case comment:
			return false
		}
		r.p = i
		if text, comment, ok = r.plainLine(); !ok {
			return false
		}
		if breaks == 0 {
			r.text = append(r.text, ' ')
		}
		for ; breaks > 0; breaks-- {
			r.text = append(r.text, '\n')
		}
		r.text = append(r.text, text...)
	}
}

// plainLine reads the part of a plain scalar that is on this line, and moves to
// the next line. comment means that a comment ends the scalar.
func (r *blockReader) plainLine() (text []byte, comment, ok bool) {
	text = r.d[r.p:]
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	if bytes.IndexByte(text, '\t') >= 0 {
		return nil, false, false
	}
	if i := bytes.Index(text, []byte(" #")); i >= 0 {
		text, comment = text[:i], true
	}
	text = bytes.TrimRight(text, " ")
	for rest := text; ; {
		i := bytes.IndexByte(rest, ':')
		if i < 0 {
			break
		}
		if rest = rest[i+1:]; len(rest) == 0 || rest[0] == ' ' {
			return nil, false, false
		}
	}
	r.skipLine()
	return text, comment, true
}

// writePlain writes the plain scalar in r.text, which started at first.
func (r *blockReader) writePlain(first, line, start int) bool {
	w := r.w
	if surelyText(r.text) {
		w.out = appendText(w.out, string(r.text))
		return true
	}
	here, hereStart := r.line, r.start
	r.line, r.start = line, start
	r.scalarNode(r.text, first)
	r.line, r.start = here, hereStart
	return w.scalar(&r.node) == nil
}

// quoted reads a quoted scalar into r.text and moves past its closing quote.
// Within it, a line break and the spaces around it become a space; several line
// breaks become one fewer.
func (r *blockReader) quoted() bool {
	quote := r.d[r.p]
	r.text, r.solid = r.text[:0], 0
	r.p++
	for {
		from := r.p
		for r.p < len(r.d) && r.d[r.p] != quote && r.d[r.p] != '\n' && r.d[r.p] != '\\' {
			r.p++
		}
		r.text = append(r.text, r.d[from:r.p]...)
		if r.p == len(r.d) {
			return false
		}
		switch c := r.d[r.p]; {
		case c == '\n':
			for len(r.text) > r.solid && r.text[len(r.text)-1] == ' ' {
				r.text = r.text[:len(r.text)-1]
			}
			if bytes.HasSuffix(r.text[r.solid:], []byte{'\t'}) || !r.fold(true) {
				return false
			}
		case c == '\\' && quote == '\'':
			r.text = append(r.text, c)
			r.p++
		case c == '\\':
			if !r.escape() {
				return false
			}
		case quote == '\'' && r.p+1 < len(r.d) && r.d[r.p+1] == '\'':
			r.text = append(r.text, '\'')
			r.p += 2
		default:
			r.p++
			return true
		}
	}
}

// fold moves from a line break within quotes to the next text. visible means
// that the first break counts.
func (r *blockReader) fold(visible bool) bool {
	breaks := 0
	for r.p < len(r.d) {
		switch r.d[r.p] {
		case ' ':
			r.p++
		case '\n':
			breaks++
			r.skipLine()
		case '\t':
			return false
		default:
			if visible && breaks == 1 {
				r.text = append(r.text, ' ')
			}
			if visible {
				breaks--
			}
			for ; breaks > 0; breaks-- {
				r.text = append(r.text, '\n')
			}
			return true
		}
	}
	return false
}

// escapes are the escapes of one letter in double quotes.
var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': "\"", '/': "/", '\\': "\\", 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

// escape reads the escape sequence that starts here.
func (r *blockReader) escape() bool {
	if r.p+1 >= len(r.d) {
		return false
	}
	c := r.d[r.p+1]
	r.p += 2
	digits := 0
	switch c {
	case '\n':
		r.p--
		r.skipLine()
		return r.fold(false)
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		text, ok := escapes[c]
		r.text = append(r.text, text...)
		r.solid = len(r.text)
		return ok
	}
	if r.p+digits > len(r.d) {
		return false
	}
	code, ok := hexRune(r.d[r.p : r.p+digits])
	if !ok || !utf8.ValidRune(code) {
		return false
	}
	r.text = utf8.AppendRune(r.text, code)
	r.p += digits
	r.solid = len(r.text)
	return true
}

// block reads a literal or folded scalar into r.text, and moves to the line
// after it.
func (r *blockReader) block(indent int) bool {
	literal := r.d[r.p] == '|'
	r.p++
	chomp, explicit := byte(0), 0
	for ; r.p < len(r.d) && r.d[r.p] != ' ' && r.d[r.p] != '\n'; r.p++ {
		switch c := r.d[r.p]; {
		case (c == '+' || c == '-') && chomp == 0:
			chomp = c
		case '1' <= c && c <= '9' && explicit == 0:
			explicit = int(c - '0')
		default:
			return false
		}
	}
	if !r.endLine() {
		return false
	}
	column, ok := r.blockIndent(indent, explicit)
	if !ok {
		return false
	}
	r.text = r.text[:0]
	breaks := 0      // line breaks of blank lines after the last text
	pending := false // the break at the end of the last text is not written yet
	spaced := false  // the last text starts with a space
	for {
		var more bool
		if breaks, more, ok = r.blankLines(column, breaks); !ok {
			return false
		}
		if !more {
			break
		}
		leading := r.d[r.p] == ' ' || r.d[r.p] == '\t'
		switch {
		case !pending:
		case literal || spaced || leading:
			r.text = append(r.text, '\n')
		case breaks == 0:
			r.text = append(r.text, ' ')
		}
		for ; breaks > 0; breaks-- {
			r.text = append(r.text, '\n')
		}
		spaced = leading
		from := r.p
		r.skipLine()
		text := r.d[from:r.p]
		if pending = bytes.HasSuffix(text, newline); pending {
			text = text[:len(text)-1]
		}
		r.text = append(r.text, text...)
	}
	if chomp != '-' && pending {
		r.text = append(r.text, '\n')
	}
	for ; chomp == '+' && breaks > 0; breaks-- {
		r.text = append(r.text, '\n')
	}
	return true
}

// blockIndent returns the column of a block scalar's text: that of its first
// line, or the one that its header states.
func (r *blockReader) blockIndent(indent, explicit int) (int, bool) {
	if explicit > 0 {
		return max(indent, 0) + explicit, true
	}
	longest := 0
	for i := r.p; ; i++ {
		from := i
		for i < len(r.d) && r.d[i] == ' ' {
			i++
		}
		if i < len(r.d) && r.d[i] == '\n' {
			longest = max(longest, i-from)
			continue
		}
		if i == len(r.d) && i > from || i < len(r.d) && r.d[i] == '\t' || longest > i-from {
			return 0, false
		}
		return max(i-from, indent+1, 1), true
	}
}

// blankLines skips lines that end before column. It adds them to breaks, and
// reports whether text at column follows; if not, it stays at the start of the
// line.
func (r *blockReader) blankLines(column, breaks int) (int, bool, bool) {
	for {
		i := r.p
		for i < len(r.d) && i-r.start < column && r.d[i] == ' ' {
			i++
		}
		switch {
		case i == len(r.d):
			r.p = i
			return breaks, false, true
		case r.d[i] == '\n':
			r.p = i
			r.skipLine()
			breaks++
			continue
		case r.d[i] == '\t' && i-r.start < column:
			return 0, false, false
		case i-r.start < column:
			return breaks, false, true
		}
		r.p = i
		return breaks, true, true
	}
}
