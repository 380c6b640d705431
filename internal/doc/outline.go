package doc

import (
	"bytes"
	"iter"
	"strings"
)

// levels is how deep outlines go: document, list, element, value, member. That
// is enough to read a property of a catalog's bundle.
const levels = 4

// Node is one member of an object or element of an array: the positions of its
// key and its value in the JSON text of the document.
type Node struct {
	KeyStart, KeyEnd int  // the key without quotes; both 0 for an element
	Start, End       int  // the value
	Kind             byte // first byte of the value: one of { [ " t f n, and 0 (the digit) for any number
	next             int  // index of the node after this one and all below it
}

// Outline is the extents of a JSON object's members, four levels deep.
type Outline struct {
	JSON  []byte // the text that the nodes refer to
	nodes []Node
}

// Parse checks text, which must be one JSON value, with white space around it
// allowed, and returns its outline. The text is kept, not copied. Errors are of
// type *Error, with a position without a file name.
func Parse(text []byte, limits Limits) (*Outline, error) {
	limits = limits.withDefaults()
	s := scanner{max: limits.Depth, level: levels}
	start := Position{Line: 1, Column: 1}
	if len(text) > limits.Size {
		return nil, limitError(start, SizeLimit, limits.Size)
	}
	s.data, s.final = text, true
	ok := s.space()
	end := s.pos
	if ok {
		end, ok = s.scan(text, s.pos, true)
	}
	if rest := bytes.TrimLeft(text[end:], " \t\r\n"); ok && len(rest) > 0 {
		ok = s.fail(len(text)-len(rest), Syntax, "nothing should follow the value, but here is "+quoteByte(rest))
	}
	if !ok {
		return nil, s.error(start, 0, limits)
	}
	return &Outline{JSON: text, nodes: s.nodes}, nil
}

// error returns an Error for the scanner's fault. start is the position of
// data[from].
func (s *scanner) error(start Position, from int, limits Limits) *Error {
	pos := after(start, s.data[from:s.fault.offset])
	e := &Error{Pos: pos, Kind: s.fault.kind, Message: s.fault.message}
	switch s.fault.kind {
	case Limit:
		return limitError(pos, DepthLimit, limits.Depth)
	case Syntax:
		if s.fault.offset == len(s.data) {
			e.Hint = "the file may be cut off"
		} else if strings.HasSuffix(e.Message, "surrogate pair") {
			e.Hint = "write both halves, or the character itself"
		}
	case DuplicateKey:
		e.Hint = "keep one of the two"
	case Encoding:
		e.Hint = "save the file as UTF-8"
	}
	return e
}

// Root returns the members of the document itself.
func (o *Outline) Root() iter.Seq[Node] { return o.between(0, len(o.nodes)) }

// Children returns the members or elements of n, in the order they are
// written. It is empty for scalars and below the fourth level.
func (o *Outline) Children(n Node) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		i := o.index(n)
		for c := range o.between(i+1, n.next) {
			if !yield(c) {
				return
			}
		}
	}
}

// Field finds one of members by its key, ignoring the case of letters; an exact
// match is preferred.
func (o *Outline) Field(members iter.Seq[Node], name string) (found Node, ok bool) {
	for n := range members {
		if key := o.Key(n); string(key) == name {
			return n, true
		} else if !ok && strings.EqualFold(string(key), name) {
			found, ok = n, true
		}
	}
	return found, ok
}

// index finds the node that n is a copy of: nodes are ordered by the start of
// their values.
func (o *Outline) index(n Node) int {
	lo, hi := 0, len(o.nodes)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if o.nodes[mid].Start < n.Start {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func (o *Outline) between(from, to int) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for i := from; i < to; i = o.nodes[i].next {
			if !yield(o.nodes[i]) {
				return
			}
		}
	}
}

// Key returns the key of n with its escapes resolved. The result may share
// memory with the outline's text.
func (o *Outline) Key(n Node) []byte { return unescaped(o.JSON[n.KeyStart:n.KeyEnd]) }

// Value returns the text of n's value, shared with the outline's text.
func (o *Outline) Value(n Node) []byte { return o.JSON[n.Start:n.End] }

// Text returns the string that n's value is, and whether it is one. The result
// may share memory with the outline's text.
func (o *Outline) Text(n Node) ([]byte, bool) {
	if n.Kind != '"' {
		return nil, false
	}
	return unescaped(o.JSON[n.Start+1 : n.End-1]), true
}
