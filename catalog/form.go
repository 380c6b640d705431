package catalog

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math/bits"
	"strings"
)

// A form is what a Go type makes of a JSON value: which values encoding/json
// would decode into it. Checking a value against its form takes one pass and
// no memory, where decoding builds what is thrown away.
type form struct {
	kind   formKind
	name   string           // of the type, as opm calls it
	elem   *form            // of a list or a map
	fields map[string]*form // of an object; what is not listed may be anything
}

type formKind uint8

const (
	anyForm formKind = iota
	stringForm
	base64Form
	intForm
	boolForm
	listForm
	mapForm
	objectForm
)

var (
	anyValue = &form{}
	textual  = &form{kind: stringForm}
)

func eachOf(elem *form) *form { return &form{kind: listForm, elem: elem} }

func valuesOf(elem *form) *form { return &form{kind: mapForm, elem: elem} }

// fieldsOf makes the form of a struct of that name: texts lists the fields
// that are strings, more has the others.
func fieldsOf(name, texts string, more map[string]*form) *form {
	f := &form{kind: objectForm, name: name, fields: maps.Clone(more)}
	if f.fields == nil {
		f.fields = map[string]*form{}
	}
	for field := range strings.FieldsSeq(texts) {
		f.fields[field] = textual
	}
	return f
}

// maxFormDepth is the depth up to which a value is judged here; deeper ones
// are left to the decoder.
const maxFormDepth = 200

// conforms reports whether data is one JSON value of the form f. It may say
// no to what a decoder would take, never yes to what it would refuse.
func (f *form) conforms(data []byte) bool {
	c := formChecker{data: data}
	c.space()
	if !c.value(f, 0) {
		return false
	}
	c.space()
	return c.pos == len(c.data)
}

type formChecker struct {
	data []byte
	pos  int
}

// space moves behind white space, which is mostly indentation.
func (c *formChecker) space() {
	const spaces = 0x2020202020202020
	for c.pos < len(c.data) {
		switch c.data[c.pos] {
		case ' ', '\n', '\t', '\r':
			c.pos++
			for c.pos+8 <= len(c.data) && binary.LittleEndian.Uint64(c.data[c.pos:]) == spaces {
				c.pos += 8
			}
		default:
			return
		}
	}
}

func (c *formChecker) peek() byte {
	if c.pos < len(c.data) {
		return c.data[c.pos]
	}
	return 0
}

// eat consumes b after any space.
func (c *formChecker) eat(b byte) bool {
	c.space()
	if c.peek() != b {
		return false
	}
	c.pos++
	return true
}

func (c *formChecker) value(s *form, depth int) bool {
	if depth > maxFormDepth {
		return false
	}
	kind := s.kind
	switch b := c.peek(); b {
	case 'n':
		return c.word("null")
	case '"':
		start := c.pos
		if !c.text() {
			return false
		}
		switch kind {
		case anyForm, stringForm:
			return true
		case base64Form:
			return isPlainBase64(c.data[start+1 : c.pos-1])
		}
		return false
	case '{':
		c.pos++
		return (kind == anyForm || kind == objectForm || kind == mapForm) && c.members(s, depth)
	case '[':
		c.pos++
		return (kind == anyForm || kind == listForm) && c.elements(s, depth)
	case 't':
		return (kind == anyForm || kind == boolForm) && c.word("true")
	case 'f':
		return (kind == anyForm || kind == boolForm) && c.word("false")
	default:
		return (kind == anyForm || kind == intForm) && c.number(kind == intForm)
	}
}

func (c *formChecker) word(w string) bool {
	if len(c.data)-c.pos < len(w) || string(c.data[c.pos:c.pos+len(w)]) != w {
		return false
	}
	c.pos += len(w)
	return true
}

func (c *formChecker) members(s *form, depth int) bool {
	if c.eat('}') {
		return true
	}
	for {
		c.space()
		start := c.pos
		if c.peek() != '"' || !c.text() {
			return false
		}
		member, ok := s.member(c.data[start+1 : c.pos-1])
		if !ok || !c.eat(':') {
			return false
		}
		c.space()
		if !c.value(member, depth+1) {
			return false
		}
		if c.eat('}') {
			return true
		}
		if !c.eat(',') {
			return false
		}
	}
}

// member returns the form of the member with the key as it stands in the
// text, quotes apart, and false for a key with an escape. Field names match
// without regard to case.
func (f *form) member(key []byte) (*form, bool) {
	switch f.kind {
	case mapForm:
		return f.elem, true
	case objectForm:
		if field, ok := f.fields[string(key)]; ok {
			return field, true
		}
		if bytes.IndexByte(key, '\\') >= 0 {
			return nil, false
		}
		_, field := f.field(string(key))
		return field, true
	}
	return anyValue, true
}

func (c *formChecker) elements(s *form, depth int) bool {
	elem := anyValue
	if s.kind == listForm {
		elem = s.elem
	}
	if c.eat(']') {
		return true
	}
	for {
		c.space()
		if !c.value(elem, depth+1) {
			return false
		}
		if c.eat(']') {
			return true
		}
		if !c.eat(',') {
			return false
		}
	}
}

// text consumes a string, whose quote is next.
func (c *formChecker) text() bool {
	data, i := c.data, c.pos+1
	for {
		i = plainRun(data, i)
		if i >= len(data) {
			return false
		}
		switch data[i] {
		case '"':
			c.pos = i + 1
			return true
		case '\\':
			n := escapeLength(data[i:])
			if n == 0 {
				return false
			}
			i += n
		default: // a control character
			return false
		}
	}
}

// plainRun returns the first index from i on that holds a quote, a backslash
// or a control character. It looks at eight bytes at a time.
func plainRun(data []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(data); i += 8 {
		w := binary.LittleEndian.Uint64(data[i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		// In each term the high bit of a byte is set if the byte is a quote, a
		// backslash or below 0x20; a false alarm comes after a true one only.
		hit := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w) & highs
		if hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(data); i++ {
		if b := data[i]; b == '"' || b == '\\' || b < 0x20 {
			return i
		}
	}
	return i
}

// escapeLength returns the length of the escape that data begins with, 0 if
// it is none.
func escapeLength(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	switch data[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(data) < 6 {
			return 0
		}
		for _, b := range data[2:6] {
			if !hexByte(b) {
				return 0
			}
		}
		return 6
	}
	return 0
}

func (c *formChecker) digits() int {
	start := c.pos
	for digitByte(c.peek()) {
		c.pos++
	}
	return c.pos - start
}

// number consumes a number; an integer is one that surely fits an int.
func (c *formChecker) number(integer bool) bool {
	if c.peek() == '-' {
		c.pos++
	}
	zero := c.peek() == '0'
	n := c.digits()
	if n == 0 || zero && n > 1 || integer && n > 9 {
		return false
	}
	if c.peek() == '.' {
		c.pos++
		if integer || c.digits() == 0 {
			return false
		}
	}
	if b := c.peek(); b == 'e' || b == 'E' {
		c.pos++
		if b := c.peek(); b == '+' || b == '-' {
			c.pos++
		}
		if integer || c.digits() == 0 {
			return false
		}
	}
	return true
}

// isPlainBase64 reports whether s is standard base64 with its padding and
// nothing else.
func isPlainBase64(s []byte) bool {
	if len(s)%4 != 0 {
		return false
	}
	for n := 0; n < 2 && len(s) > 0 && s[len(s)-1] == '='; n++ {
		s = s[:len(s)-1]
	}
	for _, b := range s {
		if !alnumByte(b) && b != '+' && b != '/' {
			return false
		}
	}
	return true
}
