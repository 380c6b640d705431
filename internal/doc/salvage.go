package doc

import (
	"bytes"
	"errors"
	"io"
)

// Salvage makes r also read what is left of a list of which elements are damaged, or the end is
// missing: [Document.Lost] has what it left out. A YAML document also ends where another begins
// without a marker, as in the outputs of two commands in one file.
func (r *Reader) Salvage() { r.salvage = true }

// Lost is a part of a document that could not be read, and was left out.
type Lost struct {
	Err  *Error // why
	Text []byte // its source
	Cut  bool   // what follows is missing too
}

// maxLost is how many parts of a document may be damaged; those of large ones are fewer, because each
// costs another reading of all.
func maxLost(size int) int { return min(16, 2+(32<<20)/max(size, 1)) }

// salvageObject reads what is left of a damaged JSON object. It returns nil if that is nothing.
func (r *Reader) salvageObject(fault *Error) (*Document, error) {
	n := 0
	for from, ok := 1, false; ; {
		d := r.buf[r.lo:r.hi]
		if n, ok = objectEnd(d, from); ok || r.eof {
			break
		}
		from = max(len(d)-len("\n---"), from)
		if n > r.limits.Size {
			return nil, nil
		}
		if err := r.fill(); err != nil && err != io.EOF {
			return nil, err
		}
	}
	text, start := bytes.Clone(r.buf[r.lo:r.lo+n]), r.at
	var lost []Lost
	for range maxLost(n) {
		end, ok := r.scan.scan(text, 0, true)
		if ok {
			r.doc = Document{Raw: text[:end], Offset: r.offset, Start: start, Format: JSON, Apart: r.apart, Lost: lost}
			r.doc.outline(&r.scan)
			if len(lost) > 0 && lost[len(lost)-1].Cut {
				end = n
			}
			r.consume(end)
			return &r.doc, nil
		}
		at := r.scan.fault.offset
		from, to, cut := element(text, at)
		if from < 0 {
			return nil, nil
		}
		if len(lost) > 0 {
			fault = r.scan.error(start, 0, r.limits)
		}
		lost = append(lost, Lost{fault, bytes.Clone(text[from:to]), cut})
		if cut {
			text = append(bytes.TrimRight(text[:from], ", \t\r\n"), "]}"...)
			continue
		}
		erase(text[from:to])
		before := bytes.TrimRight(text[:from], " \t\r\n")
		switch rest := bytes.TrimLeft(text[to:], " \t\r\n"); {
		case len(rest) > 0 && rest[0] == ']' && before[len(before)-1] == ',': // the last one
			before[len(before)-1] = ' '
		case len(rest) > 0 && rest[0] == '{' && before[len(before)-1] == '}': // the comma was lost
			text[from] = ','
		}
	}
	return nil, nil
}

// erase replaces a text by white space, so that what follows keeps its place.
func erase(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}

// element returns the element of a list around an offset, up to the next one: the list is a member of
// the object that the text starts with. If no next one can be recognised, cut says so, and to is the
// end. from is negative if the offset is in no element.
func element(text []byte, at int) (from, to int, cut bool) {
	from = -1
	depth, list := 0, false
	for i := 0; i < min(at, len(text)); i++ {
		switch c := text[i]; c {
		case '"':
			for i++; i < len(text) && text[i] != '"' && text[i] != '\n'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			if depth == 2 && list && c == '{' {
				from = i
			}
			depth++
			if depth == 2 {
				list = c == '['
			}
		case '}', ']':
			switch depth--; {
			case depth < 2:
				from = -1
			case depth == 2 && list:
				from = i + 1
			}
		}
	}
	if from < 0 {
		return -1, 0, false
	}
	end := bytes.LastIndexByte(text[:from], '\n') + 1
	indent := text[end : end+len(text[end:])-len(bytes.TrimLeft(text[end:], " \t"))]
	if len(indent) == 0 || len(bytes.TrimLeft(indent, " \t")) > 0 {
		return from, len(text), true
	}
	// The next element, or the end of the list, has its line.
	for i := from; ; {
		next := bytes.IndexByte(text[i:], '\n')
		if next < 0 {
			return from, len(text), true
		}
		i += next + 1
		rest := text[i:]
		switch {
		case i <= at:
		case bytes.HasPrefix(rest, indent) && len(rest) > len(indent) && rest[len(indent)] == '{':
			return from, i, false
		case closes(rest, len(indent)):
			return from, i, false
		}
	}
}

// closes reports whether a line ends a list whose elements are indented by more.
func closes(line []byte, indent int) bool {
	text := bytes.TrimLeft(line, " \t")
	return len(text) > 0 && text[0] == ']' && len(line)-len(text) < indent
}

// salvageBlock reads what is left of a damaged YAML list. It returns nil if that is nothing.
func (r *Reader) salvageBlock(raw []byte, start Position, offset int64, err error) *Document {
	var lost []Lost
	text := bytes.Clone(raw)
	for range maxLost(len(raw)) {
		var fault *Error
		if !errors.As(err, &fault) || fault.Kind == NotObject || fault.Kind == Limit {
			return nil
		}
		from, to := item(text, fault.Pos.Line-start.Line)
		if from < 0 {
			from, to = stray(text, fault.Pos.Line-start.Line)
		}
		flow := from < 0 && text[0] == '{' && len(lost) == 0
		if flow {
			from, to = whole(text), len(text)
			end := *fault // it is at the start of the document
			end.Pos.Line, end.Pos.Column = start.Line+bytes.Count(bytes.TrimSpace(text), []byte{'\n'}), 1
			fault = &end
		}
		if from < 0 {
			return nil
		}
		lost = append(lost, Lost{Err: fault, Text: bytes.Clone(text[from:to]), Cut: flow})
		if flow {
			text = append(text[:from], "]}"...)
		} else {
			erase(text[from:to])
		}
		json, marks, again := r.yaml.convert(text, start, r.limits, &r.scan)
		if again == nil && json != nil {
			d := r.yamlDocument(text, json, marks)
			d.Start, d.Offset, d.Lost = start, offset, lost
			return d
		}
		err = again
	}
	return nil
}

// item returns the element of a block list at the beginning of lines around a line, which counts
// from 0. from is negative if there is none.
func item(text []byte, line int) (from, to int) {
	from = -1
	n := 0
	for at := 0; at < len(text); n++ {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		switch first := text[at]; {
		case n > line && from >= 0 && first != ' ' && first != '\n' && first != '\r':
			return from, at
		case n > line && from < 0:
			return -1, 0
		case first == '-' && bytes.HasPrefix(text[at:], []byte("- ")):
			from = at
		case first != ' ' && first != '\n' && first != '\r' && n < line:
			from = -1
		}
		at = end
	}
	return from, len(text)
}

// whole returns the end of the last whole element of a list that is a member of the object in flow style
// that a text starts with, if the end of the text is missing; -1 if there is none.
func whole(text []byte) (end int) {
	end = -1
	var open []byte // what is not closed yet
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'':
			if !bytes.ContainsRune([]byte(" \t\n[{,:"), rune(text[max(i-1, 0)])) { // inside of a word
				continue
			}
			for i++; i < len(text) && text[i] != c; i++ {
				if c == '"' && text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			open = append(open, c)
		case '}', ']':
			if len(open) < 2 { // nothing is missing
				return -1
			}
			open = open[:len(open)-1]
			if string(open) == "{[" {
				end = i + 1
			} else if len(open) == 1 {
				end = -1
			}
		}
	}
	return end
}

// stray returns a line, at or just before another one, that is neither indented nor a key: a text
// beside the document. from is negative if there is none.
func stray(text []byte, line int) (from, to int) {
	from = -1
	n := 0
	for at := 0; at < len(text) && n <= line; n++ {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if is := text[at:end]; n >= line-1 && len(bytes.TrimSpace(is)) > 0 && is[0] != ' ' && is[0] != '-' && is[0] != '#' && bytes.IndexByte(is, ':') < 0 {
			from, to = at, end
		}
		at = end
	}
	return from, to
}
