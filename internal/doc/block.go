package doc

import (
	"bytes"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// blockReader converts the YAML that tools write, block style with plain,
// quoted and block scalars, to JSON about ten times faster than a parser of
// full YAML. It reports no errors: it refuses documents that are of another
// kind or faulty, and yaml.v3 reads them instead. What it accepts, it reads as
// yaml.v3 does, which tests compare.
//
// It refuses flow style other than [] and {}, anchors, aliases, tags, merge
// keys, "?" keys, tabs and carriage returns outside of quotes, and line breaks
// beyond ASCII.
type blockReader struct {
	w      *yamlWriter
	d      []byte
	p      int // the current offset
	line   int // number of the line that contains p, from 1
	start  int // offset of that line
	indent int // of the content line that next found; -1 at the end
	node   yaml.Node
	text   []byte // of the current scalar
	solid  int    // length of the beginning of a quoted text from which a line break removes no spaces
}

// read converts raw, and reports whether it could.
func (r *blockReader) read(w *yamlWriter, raw []byte) bool {
	if w.start.Column != 1 || !plainCharacters(raw) {
		return false
	}
	r.w, r.d, r.p, r.line, r.start = w, raw, 0, 1, 0
	return r.next() && r.indent >= 0 && r.d[r.p] != '%' && r.key() && r.mapping(r.indent, 1) && r.indent < 0
}

// plainCharacters reports whether the text has none of the characters that YAML
// forbids or treats as line breaks.
func plainCharacters(raw []byte) bool {
	for i := 0; i < len(raw); {
		c := raw[i]
		if c >= ' ' && c < 0x7f || c == '\n' {
			i++
			continue
		}
		r, n := utf8.DecodeRune(raw[i:])
		if r < 0xa0 && c != '\t' || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff || r == utf8.RuneError {
			return false
		}
		i += n
	}
	return true
}

// next moves from the start of a line to the next content. It returns false at
// indentation with tabs.
func (r *blockReader) next() bool {
	for {
		i := r.p
		for i < len(r.d) && r.d[i] == ' ' {
			i++
		}
		switch {
		case i == len(r.d):
			r.p, r.indent = i, -1
			return true
		case r.d[i] == '\t':
			return false
		case r.d[i] != '\n' && r.d[i] != '#':
			r.p, r.indent = i, i-r.start
			return true
		}
		r.p = i
		r.skipLine()
	}
}

// skipLine moves to the start of the next line.
func (r *blockReader) skipLine() {
	if i := bytes.IndexByte(r.d[r.p:], '\n'); i >= 0 {
		r.p += i + 1
		r.line++
		r.start = r.p
		return
	}
	r.p = len(r.d)
	r.start = r.p
}

// endLine moves to the next line if only spaces or a comment are left.
func (r *blockReader) endLine() bool {
	i := r.p
	for i < len(r.d) && r.d[i] == ' ' {
		i++
	}
	if i < len(r.d) && r.d[i] != '\n' && (r.d[i] != '#' || i == r.p) {
		return false
	}
	r.skipLine()
	return true
}

// ends reports whether offset i ends a word: whether there is a space, or the
// end of the line or of the text.
func (r *blockReader) ends(i int) bool { return i >= len(r.d) || r.d[i] == ' ' || r.d[i] == '\n' }

func (r *blockReader) dash() bool { return r.d[r.p] == '-' && r.ends(r.p+1) }

// mark records the position of the value or key at offset p, and reports
// whether the limits still hold.
func (r *blockReader) mark(p, depth int) bool {
	w := r.w
	w.count++
	w.marks = append(w.marks, mark{len(w.out), r.line, 1 + utf8.RuneCount(r.d[r.start:p])})
	return w.count <= w.limits.Nodes && len(w.out) <= w.limits.Size && depth <= w.limits.Depth
}

// key reports whether a key of a mapping starts here that ends on the same
// line.
func (r *blockReader) key() bool {
	switch c := r.d[r.p]; {
	case c == '"' || c == '\'':
		end := r.p + 1
		for end < len(r.d) && r.d[end] != c && r.d[end] != '\n' {
			if r.d[end] == '\\' && c == '"' {
				end++
			}
			end++
		}
		return end+1 < len(r.d) && r.d[end] == c && r.d[end+1] == ':' && r.ends(end+2)
	case isKeyStart(c):
		return r.colon() > 0
	}
	return false
}

// isKeyStart reports whether a plain key may start with c. YAML allows more.
func isKeyStart(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '/' || c == '$'
}

// colon returns the offset of the colon that ends a plain key here, or 0.
func (r *blockReader) colon() int {
	for i := r.p; i < len(r.d) && i < r.p+1000; i++ {
		switch r.d[i] {
		case '\n', '\t':
			return 0
		case '#':
			if r.d[i-1] == ' ' {
				return 0
			}
		case ':':
			if r.ends(i + 1) {
				if r.d[i-1] == ' ' {
					return 0
				}
				return i
			}
		}
	}
	return 0
}

// mapping reads a mapping whose keys are at column indent, the first of them
// here.
func (r *blockReader) mapping(indent, depth int) bool {
	if !r.mark(r.p, depth) {
		return false
	}
	w := r.w
	w.out = append(w.out, '{')
	for first := true; ; first = false {
		if !first {
			w.out = append(w.out, ',')
		}
		w.marks = append(w.marks, mark{len(w.out), r.line, 1 + utf8.RuneCount(r.d[r.start:r.p])})
		if !r.member() {
			return false
		}
		w.out = append(w.out, ':')
		if !r.value(indent, depth+1, true) {
			return false
		}
		if r.indent < indent {
			w.out = append(w.out, '}')
			return true
		}
		if r.indent > indent || !r.key() {
			return false
		}
	}
}

// member writes the key that starts here and moves past its colon.
func (r *blockReader) member() bool {
	if c := r.d[r.p]; c == '"' || c == '\'' {
		if !r.quoted() {
			return false
		}
		r.w.out = appendText(r.w.out, string(r.text))
		r.p++
		return true
	}
	end := r.colon()
	name := r.d[r.p:end]
	if surelyText(name) {
		r.w.out = append(append(append(r.w.out, '"'), name...), '"')
		if bytes.IndexByte(name, '"') >= 0 || bytes.IndexByte(name, '\\') >= 0 {
			return false
		}
	} else {
		r.scalarNode(name, r.p)
		key, err := r.w.key(&r.node)
		if err != nil {
			return false
		}
		r.w.out = appendText(r.w.out, key)
	}
	r.p = end + 1
	return true
}

// surelyText reports whether a plain scalar can only be text: the words for
// null and truth values have at most five letters, and numbers and dates start
// with a digit, a sign or a dot.
func surelyText(s []byte) bool {
	c := s[0] | 0x20
	if c < 'a' || c > 'z' {
		return false
	}
	return len(s) > 5 || bytes.IndexByte([]byte("ynotf"), c) < 0
}

// scalarNode makes a node of a plain scalar that starts at offset p.
func (r *blockReader) scalarNode(value []byte, p int) {
	r.node = yaml.Node{
		Kind: yaml.ScalarNode, Value: string(value), Line: r.line, Column: 1 + utf8.RuneCount(r.d[r.start:p]),
	}
}

// sequence reads a sequence whose dashes are at column indent, the first of
// them here.
func (r *blockReader) sequence(indent, depth int) bool {
	if !r.mark(r.p, depth) {
		return false
	}
	w := r.w
	w.out = append(w.out, '[')
	for first := true; ; first = false {
		if !first {
			w.out = append(w.out, ',')
		}
		r.p++
		if !r.value(indent, depth+1, false) {
			return false
		}
		if r.indent > indent {
			return false
		}
		if r.indent < indent || !r.dash() {
			w.out = append(w.out, ']')
			return true
		}
	}
}

// value reads what follows the colon of a key, or the dash of an entry, at
// column indent.
func (r *blockReader) value(indent, depth int, ofKey bool) bool {
	behind, line, start := r.p, r.line, r.start
	for r.p < len(r.d) && r.d[r.p] == ' ' {
		r.p++
	}
	if r.p < len(r.d) && r.d[r.p] != '\n' && (r.d[r.p] != '#' || r.p == behind) {
		switch {
		case !ofKey && r.dash():
			return r.sequence(r.p-r.start, depth)
		case !ofKey && r.key():
			return r.mapping(r.p-r.start, depth)
		}
		return r.scalar(indent, depth) && r.next()
	}
	r.skipLine()
	if !r.next() {
		return false
	}
	switch {
	case r.indent > indent && r.dash():
		return r.sequence(r.indent, depth)
	case r.indent > indent && r.key():
		return r.mapping(r.indent, depth)
	case r.indent > indent:
		return r.scalar(indent, depth) && r.next()
	case ofKey && r.indent == indent && r.dash():
		return r.sequence(indent, depth)
	}
	here, hereStart := r.line, r.start
	r.line, r.start = line, start
	ok := r.mark(behind, depth-1)
	r.line, r.start = here, hereStart
	r.w.out = append(r.w.out, "null"...)
	return ok
}
