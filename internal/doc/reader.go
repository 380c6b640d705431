package doc

import (
	"bytes"
	"errors"
	"io"
)

// Format is how a document is written.
type Format uint8

// The formats.
const (
	JSON Format = iota + 1
	YAML
)

// String returns "JSON" or "YAML".
func (f Format) String() string {
	switch f {
	case JSON:
		return "JSON"
	case YAML:
		return "YAML"
	}
	return "unknown format"
}

// Document is one document of a stream. The memory it refers to is overwritten
// by the next call of Reader.Next.
type Document struct {
	Outline
	Raw    []byte   // the source, without what is between documents
	Offset int64    // of Raw in the stream, in bytes
	Start  Position // of Raw
	Format Format   // how Raw is written
	Apart  bool     // more than white space precedes it: a marker or a comment
	marks  []mark   // YAML only: source positions of the parts of the JSON text
	words  []word   // YAML only: see Truths
	twice  []word   // see Repeats; in JSON, line is the offset in Raw
	cuts   []cut    // JSON only: see Source
	Lost   []Lost   // what was left out: see Reader.Salvage
}

// Position returns the position in the source of the JSON text's byte at
// offset. For YAML, it is the position of the value or key that the byte
// belongs to.
func (d *Document) Position(offset int) Position {
	if d.Format == YAML {
		return placeOf(d.Start, d.marks, offset)
	}
	return after(d.Start, d.Raw[:min(d.Source(offset), len(d.Raw))])
}

// windowSize is the initial size of a Reader's window. It grows to fit the
// largest document.
const windowSize = 512 << 10

// Reader returns the documents of a stream. It keeps one window of the stream
// in memory, which is as large as the largest document seen, and at least 512
// KiB (or the size given to Reset, if that is less).
type Reader struct {
	limits Limits
	src    io.Reader
	buf    []byte // the window's memory
	lo, hi int    // buf[lo:hi] is not consumed yet
	window int    // minimum size of buf
	eof    bool
	offset int64    // of buf[lo] in the stream
	at     Position // of buf[lo]
	scan   scanner
	doc    Document
	yaml   yamlWriter
	apart  bool   // see Document.Apart
	broken error  // what Next returns from now on
	faulty []byte // see Faulty

	salvage bool // see Salvage
}

// NewReader returns a reader of src. file is the name in positions. If src
// reports its length, as readers of memory do, the window is no larger than
// that.
func NewReader(src io.Reader, file string, limits Limits) *Reader {
	r := &Reader{limits: limits.withDefaults()}
	r.scan.max, r.scan.level = r.limits.Depth, levels
	size := int64(0)
	if text, ok := src.(interface{ Len() int }); ok {
		size = int64(text.Len()) + 1
	}
	r.Reset(src, file, size)
	return r
}

// Reset makes r read another stream and reuse its memory. size is the stream's
// length if it is known, which keeps the window small for small files.
func (r *Reader) Reset(src io.Reader, file string, size int64) {
	r.src, r.lo, r.hi, r.eof, r.offset, r.broken = src, 0, 0, false, 0, nil
	r.at = Position{File: file, Line: 1, Column: 1}
	want := windowSize
	if size > 0 && size < windowSize {
		want = int(size) + 1
	}
	r.window = want
}

// Next returns the next document. At the end it returns io.EOF. After an
// *Error, the next call continues after the faulty document, unless that is too
// large, in which case io.EOF follows. Any other error is a read error, and
// final.
func (r *Reader) Next() (*Document, error) {
	r.faulty = nil
	if r.broken != nil {
		return nil, r.broken
	}
	d, err := r.next()
	if err != nil {
		var fault *Error
		if !errors.As(err, &fault) {
			r.broken = err
		}
	}
	return d, err
}

func (r *Reader) next() (*Document, error) {
	r.apart = false
	for {
		if err := r.gap(); err != nil {
			return nil, err
		}
		if r.buf[r.lo] == '{' {
			return r.object()
		}
		end := blockEnd
		if r.salvage {
			end = headEnd
		}
		d, err := r.block(end)
		if d != nil || err != nil {
			return d, err
		}
	}
}

// fill reads more of the stream behind buf[lo:hi], moving it to the front and
// growing the window if needed. It reads as much again as there is, so that
// scanning a document after each fill takes time proportional to its size even
// if reads are short. At the end of the stream it returns io.EOF.
func (r *Reader) fill() error {
	total, enough := 0, r.hi-r.lo
	for {
		n, err := r.more()
		total += n
		if err == io.EOF && total > 0 || err == nil && total >= enough {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// more reads once.
func (r *Reader) more() (int, error) {
	if r.eof {
		return 0, io.EOF
	}
	if r.lo > 0 {
		r.hi = copy(r.buf, r.buf[r.lo:r.hi])
		r.lo = 0
	}
	if len(r.buf) < r.window {
		r.buf = append(make([]byte, 0, r.window), r.buf[:r.hi]...)[:r.window]
	}
	if r.hi == len(r.buf) {
		if r.hi > r.limits.Size {
			return 0, r.tooLarge()
		}
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	for range 100 {
		n, err := r.src.Read(r.buf[r.hi:])
		r.hi += n
		r.eof = err == io.EOF
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// need ensures that n bytes are in the window, if the stream has as many.
func (r *Reader) need(n int) error {
	for r.hi-r.lo < n {
		if err := r.fill(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// consume moves past n bytes of the window.
func (r *Reader) consume(n int) {
	r.at = after(r.at, r.buf[r.lo:r.lo+n])
	r.lo += n
	r.offset += int64(n)
}

var (
	bom      = []byte("\xef\xbb\xbf")
	utf16BOM = [][]byte{{0xff, 0xfe}, {0xfe, 0xff}}
)

// gap consumes what precedes a document: white space, byte order mark, document
// markers, and comments before a JSON object. At the end of the stream it
// returns io.EOF.
func (r *Reader) gap() error {
	if r.offset == 0 {
		if err := r.mark(); err != nil {
			return err
		}
	}
	for {
		d := r.buf[r.lo:r.hi]
		i, comment := blank(d)
		r.apart = r.apart || comment >= 0
		if i == len(d) {
			// Only white space and comments so far. Keep what may belong to a
			// YAML document: comments, and the indentation of its first line.
			keep := bytes.LastIndexByte(d, '\n') + 1
			if comment >= 0 {
				keep = comment
			}
			r.consume(keep)
			if err := r.fill(); err == io.EOF && comment >= 0 {
				r.consume(r.hi - r.lo)
			} else if err != nil {
				return err
			}
			continue
		}
		if len(d)-i < markerSize && !r.eof {
			// Whether this is a marker is not known yet.
			if err := r.fill(); err != nil && err != io.EOF {
				return err
			}
			continue
		}
		line := bytes.LastIndexByte(d[:i], '\n') + 1
		switch {
		case d[i] == '{' || line == 0 && r.at.Column > 1 || comment >= 0 && line == i && startsMarker(d[i:]):
			r.consume(i)
		case comment >= 0:
			r.consume(comment)
			return nil
		default:
			r.consume(line)
		}
		if err := r.need(4); err != nil {
			return err
		}
		if r.at.Column > 1 || !isMarker(r.buf[r.lo:r.hi]) {
			return nil
		}
		r.apart = true
		r.consume(markerSize)
	}
}

// blank returns the length of the white space and comments that d starts with,
// and the offset of the first comment, or -1. An unfinished comment reaches to
// the end.
func blank(d []byte) (n, comment int) {
	comment = -1
	for n < len(d) {
		switch d[n] {
		case ' ', '\n', '\t', '\r':
			n++
		case '#':
			if comment < 0 {
				comment = n
			}
			end := bytes.IndexByte(d[n:], '\n')
			if end < 0 {
				return len(d), comment
			}
			n += end + 1
		default:
			return n, comment
		}
	}
	return n, comment
}

// mark consumes a byte order mark at the start of the stream.
func (r *Reader) mark() error {
	if err := r.need(len(bom)); err != nil {
		return err
	}
	d := r.buf[r.lo:r.hi]
	if bytes.HasPrefix(d, bom) {
		r.lo += len(bom)
		r.offset += int64(len(bom))
	}
	for _, m := range utf16BOM {
		if bytes.HasPrefix(d, m) {
			r.broken = io.EOF
			return &Error{Pos: r.at, Kind: Encoding, Message: "the file is UTF-16", Hint: "save it as UTF-8"}
		}
	}
	return nil
}

// markerSize is the length of a document marker, in bytes.
const markerSize = len("---")

// startsMarker reports whether d begins like a document marker.
func startsMarker(d []byte) bool {
	return bytes.HasPrefix(d, []byte("---")) || bytes.HasPrefix(d, []byte("..."))
}

// isMarker reports whether a line that begins with d starts or ends a YAML
// document. d has at least four bytes unless the stream ends before that.
func isMarker(d []byte) bool {
	return startsMarker(d) && (len(d) == 3 || d[3] == ' ' || d[3] == '\t' || d[3] == '\n' || d[3] == '\r')
}

// object reads the JSON object at the start of the window, or, if its first key
// is not in quotes, the YAML flow mapping that it may be.
func (r *Reader) object() (*Document, error) {
	for {
		r.scan.repeats = r.yaml.last
		end, ok := r.scan.scan(r.buf[r.lo:r.hi], 0, r.eof)
		r.scan.repeats = false
		if ok && end > r.limits.Size {
			return nil, r.tooLarge()
		}
		if ok {
			raw := r.buf[r.lo : r.lo+end]
			r.doc = Document{Raw: raw, Offset: r.offset, Start: r.at, Format: JSON, Apart: r.apart}
			r.doc.outline(&r.scan)
			r.consume(end)
			return &r.doc, nil
		}
		if !r.scan.short {
			break
		}
		if err := r.fill(); err != nil && err != io.EOF {
			return nil, err
		}
	}
	if r.scan.fault.kind == Syntax && !meantJSON(r.scan.data) {
		return r.block(flowEnd)
	}
	fault := r.scan.error(r.at, 0, r.limits)
	if r.salvage && fault.Kind != Limit {
		if d, err := r.salvageObject(fault); d != nil || err != nil {
			return d, err
		}
	}
	return nil, r.skip(fault)
}

// outline sets the JSON text and the outline of a document whose source s has scanned.
func (d *Document) outline(s *scanner) {
	d.JSON, d.nodes = d.Raw, s.nodes
	if s.repeated {
		d.JSON, d.cuts, d.twice = leaveOut(d.Raw)
		s.scan(d.JSON, 0, true)
		d.nodes = s.nodes
	}
}

// meantJSON reports whether an object starts like a JSON object. Much broken
// JSON is valid YAML, but with a meaning that its author did not intend.
func meantJSON(d []byte) bool {
	d = bytes.TrimLeft(d[1:], " \t\r\n")
	return len(d) > 0 && (d[0] == '"' || d[0] == '}')
}

// tooLarge returns the error for a document that exceeds the size limit. The
// rest of the stream is not read.
func (r *Reader) tooLarge() error {
	r.broken = io.EOF
	return limitError(r.at, SizeLimit, r.limits.Size)
}

// maxFaulty is how much of a faulty object is kept for [Reader.Faulty].
const maxFaulty = 1 << 20

// skip moves past a faulty object, to the next line that can start a document,
// and returns fault. If there is no such line within the maximum size of a
// document, it drops the rest of the stream.
func (r *Reader) skip(fault *Error) error {
	start := r.offset
	for from := 1; ; {
		if r.offset-start > int64(r.limits.Size) {
			r.broken = io.EOF
			return fault
		}
		d := r.buf[r.lo:r.hi]
		end, ok := objectEnd(d, from)
		if len(r.faulty) < maxFaulty {
			r.faulty = append(r.faulty, d[:min(end, maxFaulty)]...)
		}
		if ok || r.eof {
			r.consume(end)
			return fault
		}
		r.consume(max(len(d)-len("\n---"), 0)) // may be the start of a marker
		from = 0
		if err := r.fill(); err != nil && err != io.EOF {
			return err
		}
	}
}

// block reads a YAML document, whose end is found by end. It returns neither a
// document nor an error if there are only comments.
func (r *Reader) block(end ending) (*Document, error) {
	from, n := 0, 0
	for ok := false; ; {
		d := r.buf[r.lo:r.hi]
		if n, ok = end(d, from); ok || r.eof {
			if !ok && n == len(d) && n > 3 && isMarker(d[len(d)-3:]) && d[len(d)-4] == '\n' {
				n -= 3 // a marker as the very last thing
			}
			break
		}
		from = max(len(d)-len("\n---"), from)
		if err := r.fill(); err != nil && err != io.EOF {
			return nil, err
		}
	}
	if n > r.limits.Size {
		return nil, r.tooLarge()
	}
	raw, start, offset := r.buf[r.lo:r.lo+n], r.at, r.offset
	r.consume(n)
	json, marks, err := r.yaml.convert(raw, start, r.limits, &r.scan)
	if err != nil && r.salvage {
		if d := r.salvageBlock(raw, start, offset, err); d != nil {
			return d, nil
		}
	}
	if err != nil {
		r.faulty = raw
	}
	if err != nil || json == nil {
		return nil, err
	}
	d := r.yamlDocument(raw, json, marks)
	d.Start, d.Offset = start, offset
	return d, nil
}

// yamlDocument returns a document that was just converted.
func (r *Reader) yamlDocument(raw, json []byte, marks []mark) *Document {
	r.doc = Document{
		Outline: Outline{JSON: json, nodes: r.scan.nodes},
		Raw:     raw, Format: YAML, Apart: r.apart, marks: marks, words: r.yaml.words, twice: r.yaml.twice,
	}
	return &r.doc
}
