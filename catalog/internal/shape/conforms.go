package shape

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/fairlead/fairlead/catalog/internal/names"
)

// maxDepth is the depth up to which a value is checked here; deeper ones are
// left to the decoder.
const maxDepth = 200

// Conforms reports whether data is one JSON value of the shape s. It may
// reject what a decoder would accept, but never accepts what a decoder would
// reject.
func (s *Shape) Conforms(data []byte) bool {
	c := checker{data: data}
	c.space()
	if !c.value(s, 0) {
		return false
	}
	c.space()
	return c.pos == len(c.data)
}

type checker struct {
	data []byte
	pos  int
}

// space skips white space, which is mostly indentation.
func (c *checker) space() {
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

func (c *checker) peek() byte {
	if c.pos < len(c.data) {
		return c.data[c.pos]
	}
	return 0
}

// eat consumes b after any space.
func (c *checker) eat(b byte) bool {
	c.space()
	if c.peek() != b {
		return false
	}
	c.pos++
	return true
}

func (c *checker) value(s *Shape, depth int) bool {
	if depth > maxDepth {
		return false
	}
	kind := s.Kind
	switch b := c.peek(); b {
	case 'n':
		return c.word("null")
	case '"':
		start := c.pos
		if !c.text() {
			return false
		}
		switch kind {
		case Any, Text:
			return true
		case Base64:
			return plainBase64(c.data[start+1 : c.pos-1])
		}
		return false
	case '{':
		c.pos++
		return (kind == Any || kind == Object || kind == Map) && c.members(s, depth)
	case '[':
		c.pos++
		return (kind == Any || kind == List) && c.elements(s, depth)
	case 't':
		return (kind == Any || kind == Bool) && c.word("true")
	case 'f':
		return (kind == Any || kind == Bool) && c.word("false")
	default:
		return (kind == Any || kind == Int) && c.number(kind == Int)
	}
}

func (c *checker) word(w string) bool {
	if len(c.data)-c.pos < len(w) || string(c.data[c.pos:c.pos+len(w)]) != w {
		return false
	}
	c.pos += len(w)
	return true
}

func (c *checker) members(s *Shape, depth int) bool {
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

// member returns the form of the member with the key as written, without
// quotes, and false for a key with an escape. Field names match without regard
// to case.
func (s *Shape) member(key []byte) (*Shape, bool) {
	switch s.Kind {
	case Map:
		return s.Elem, true
	case Object:
		if bytes.IndexByte(key, '\\') >= 0 {
			return nil, false
		}
		return s.Field(key).Shape, true
	}
	return anything, true
}

func (c *checker) elements(s *Shape, depth int) bool {
	elem := anything
	if s.Kind == List {
		elem = s.Elem
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
func (c *checker) text() bool {
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

// escapeLength returns the length of the escape that data begins with, or 0.
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
			if !names.IsHex(b) {
				return 0
			}
		}
		return 6
	}
	return 0
}

func (c *checker) digits() int {
	start := c.pos
	for names.IsDigit(c.peek()) {
		c.pos++
	}
	return c.pos - start
}

// number consumes a number; an integer is one that surely fits an int.
func (c *checker) number(integer bool) bool {
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

// plainBase64 reports whether s is standard base64 with padding and nothing
// else.
func plainBase64(s []byte) bool {
	if len(s)%4 != 0 {
		return false
	}
	for n := 0; n < 2 && len(s) > 0 && s[len(s)-1] == '='; n++ {
		s = s[:len(s)-1]
	}
	for _, b := range s {
		if !names.IsAlnum(b) && b != '+' && b != '/' {
			return false
		}
	}
	return true
}
