package doc

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// scanError is what stops a scan: a fault at an offset of the data.
type scanError struct {
	offset  int
	kind    Kind
	message string
}

// scanner checks one JSON value at data[pos:] and records its outline. It keeps
// no state between values except buffers, so that one scanner can read a whole
// stream without allocating.
type scanner struct {
	data  []byte
	pos   int
	final bool // data ends where the stream ends
	max   int  // deepest nesting allowed
	level int  // levels of members to record
	nodes []Node
	keys  []keyRef
	fault scanError
	short bool // stopped at the end of the window, not because of a fault

	escaped  bool // the last scanned string has an escape
	repeats  bool // a key may occur again
	repeated bool // one did
}

// keyRef is a key of an object that is being scanned. The hash is a filter:
// keys with equal hashes are compared.
type keyRef struct {
	hash       uint64
	start, end int
}

// scan checks the value that starts at data[pos] and returns the offset after
// it. It returns false if the data ends too early (short is set) or if the
// value is faulty.
func (s *scanner) scan(data []byte, pos int, final bool) (end int, ok bool) {
	s.data, s.pos, s.final = data, pos, final
	s.nodes, s.keys = s.nodes[:0], s.keys[:0]
	s.short, s.repeated, s.fault = false, false, scanError{}
	ok = s.value(1, -1)
	return s.pos, ok
}

// fail records a fault. Near the end of the window, the text that the message
// quotes, at most a backslash and the character after it, may be incomplete:
// then the scan stops and waits for more data.
func (s *scanner) fail(offset int, kind Kind, message string) bool {
	if !s.final && offset+1+utf8.UTFMax > len(s.data) {
		return s.ended()
	}
	s.fault = scanError{offset, kind, message}
	return false
}

// ended is called where the data ends within a value.
func (s *scanner) ended() bool {
	if !s.final {
		s.short = true
		return false
	}
	return s.fail(len(s.data), Syntax, "the JSON text ends before its value does")
}

const spaces = 0x2020202020202020

// space moves to the next byte that is not white space, and reports whether
// there is one.
func (s *scanner) space() bool {
	d, i := s.data, s.pos
	for i < len(d) {
		switch d[i] {
		case ' ', '\n', '\t', '\r':
			i++
			for i+8 <= len(d) {
				other := binary.LittleEndian.Uint64(d[i:]) ^ spaces
				if other != 0 {
					i += bits.TrailingZeros64(other) >> 3
					break
				}
				i += 8
			}
		default:
			s.pos = i
			return true
		}
	}
	s.pos = i
	return s.ended()
}

// value scans the value at s.pos, which is not white space. depth counts the
// containers around it, and the value itself if it is one. at is the index of
// the node to complete, or -1.
func (s *scanner) value(depth, at int) bool {
	if s.pos >= len(s.data) {
		return s.ended()
	}
	start := s.pos
	ok := false
	c := s.data[start]
	switch c {
	case '{':
		ok = s.object(depth)
	case '[':
		ok = s.array(depth)
	case '"':
		ok = s.text()
	case 't':
		ok = s.literal("true")
	case 'f':
		ok = s.literal("false")
	case 'n':
		ok = s.literal("null")
	default:
		if c != '-' && (c < '0' || c > '9') {
			return s.fail(start, Syntax, "a JSON value cannot start with "+quoteByte(s.data[start:]))
		}
		c = '0'
		ok = s.number()
	}
	if ok && at >= 0 {
		n := &s.nodes[at]
		n.Start, n.End, n.Kind, n.next = start, s.pos, c, len(s.nodes)
	}
	return ok
}

func (s *scanner) tooDeep(depth int) bool {
	if depth <= s.max {
		return false
	}
	s.fail(s.pos, Limit, DepthLimit)
	return true
}

func (s *scanner) object(depth int) bool {
	if s.tooDeep(depth) {
		return false
	}
	base := len(s.keys)
	var many map[string]int
	s.pos++
	if !s.space() {
		return false
	}
	if s.data[s.pos] == '}' {
		s.pos++
		return true
	}
	for {
		if s.data[s.pos] != '"' {
			return s.fail(s.pos, Syntax, "a key in double quotes is expected here, not "+quoteByte(s.data[s.pos:]))
		}
		key := s.pos
		if !s.text() || !s.unique(&many, base, key+1, s.pos-1) {
			return false
		}
		at := s.record(depth, key+1, s.pos-1)
		if !s.space() {
			return false
		}
		if s.data[s.pos] != ':' {
			return s.fail(s.pos, Syntax, "a colon is expected here, not "+quoteByte(s.data[s.pos:]))
		}
		s.pos++
		if !s.space() || !s.value(depth+1, at) || !s.space() {
			return false
		}
		switch s.data[s.pos] {
		case ',':
			s.pos++
			if !s.space() {
				return false
			}
		case '}':
			s.pos++
			s.keys = s.keys[:base]
			return true
		default:
			return s.fail(s.pos, Syntax, "a comma or } is expected here, not "+quoteByte(s.data[s.pos:]))
		}
	}
}

func (s *scanner) array(depth int) bool {
	if s.tooDeep(depth) {
		return false
	}
	s.pos++
	if !s.space() {
		return false
	}
	if s.data[s.pos] == ']' {
		s.pos++
		return true
	}
	for {
		at := s.record(depth, 0, 0)
		if !s.value(depth+1, at) || !s.space() {
			return false
		}
		switch s.data[s.pos] {
		case ',':
			s.pos++
			if !s.space() {
				return false
			}
		case ']':
			s.pos++
			return true
		default:
			return s.fail(s.pos, Syntax, "a comma or ] is expected here, not "+quoteByte(s.data[s.pos:]))
		}
	}
}

// record adds a node for a member of the container at depth, unless it is too
// deep, and returns its index or -1.
func (s *scanner) record(depth, keyStart, keyEnd int) int {
	if depth > s.level {
		return -1
	}
	if len(s.nodes) == cap(s.nodes) {
		s.nodes = slices.Grow(s.nodes, max(len(s.nodes), 64)) // twice as many, however many there are
	}
	s.nodes = append(s.nodes, Node{KeyStart: keyStart, KeyEnd: keyEnd})
	return len(s.nodes) - 1
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// text scans the string at s.pos. Eight bytes are tested together: the lowest
// bit set in m is the first byte that is a quote, a backslash, a control
// character or not ASCII. (The borrow of a subtraction affects only bytes after
// the first hit.)
func (s *scanner) text() bool {
	d, i := s.data, s.pos+1
	s.escaped = false
	for {
		for i+8 <= len(d) {
			w := binary.LittleEndian.Uint64(d[i:])
			q, b := w^(ones*'"'), w^(ones*'\\')
			m := ((q-ones)&^q | (b-ones)&^b | (w-ones*0x20)&^w | w) & highs
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
			if d[i] != '\\' || i+1 >= len(d) || !shortEscape[d[i+1]] {
				break
			}
			s.escaped = true
			i += 2
		}
		if i >= len(d) {
			return s.ended()
		}
		switch c := d[i]; {
		case c == '"':
			s.pos = i + 1
			return true
		case c == '\\':
			s.escaped = true
			n, ok := s.escape(i)
			if !ok {
				return false
			}
			i += n
		case c < 0x20:
			return s.fail(i, Syntax, "a string cannot hold the control character "+quoteByte(d[i:])+"; write it as an escape")
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(d[i:])
			if r == utf8.RuneError && n == 1 {
				return s.fail(i, Encoding, "the byte "+quoteByte(d[i:])+" is not UTF-8")
			}
			i += n
		}
	}
}

// shortEscape are the characters that form an escape of two characters.
var shortEscape = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// escape checks the escape sequence at d[i] and returns its length.
func (s *scanner) escape(i int) (int, bool) {
	d := s.data
	if i+1 >= len(d) {
		return 0, s.ended()
	}
	if shortEscape[d[i+1]] {
		return 2, true
	}
	if d[i+1] == 'u' {
		r, ok := s.hex4(i)
		if !ok {
			return 0, false
		}
		if r < 0xd800 || r > 0xdfff {
			return 6, true
		}
		if i+8 > len(d) && !s.final {
			return 0, s.ended()
		}
		if r < 0xdc00 && i+8 <= len(d) {
			if d[i+6] == '\\' && d[i+7] == 'u' {
				low, ok := s.hex4(i + 6)
				if !ok {
					return 0, false
				}
				if low >= 0xdc00 && low <= 0xdfff {
					return 12, true
				}
			}
		}
		return 0, s.fail(i, Syntax, "the escape "+string(d[i:i+6])+" is half of a surrogate pair")
	}
	return 0, s.fail(i, Syntax, "a backslash cannot precede "+quoteByte(d[i+1:]))
}

// hex4 reads the four digits of the \u escape at d[i].
func (s *scanner) hex4(i int) (rune, bool) {
	if i+6 > len(s.data) {
		return 0, s.ended()
	}
	r, ok := hexRune(s.data[i+2 : i+6])
	if !ok {
		return 0, s.fail(i, Syntax, "\\u takes four hexadecimal digits")
	}
	return r, true
}

func hexRune(digits []byte) (rune, bool) {
	var r rune
	for _, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

func (s *scanner) literal(word string) bool {
	d, i := s.data, s.pos
	for k := range len(word) {
		if i+k >= len(d) {
			return s.ended()
		}
		if d[i+k] != word[k] {
			return s.fail(i, Syntax, "a word that starts like "+word+" can only be "+word)
		}
	}
	s.pos = i + len(word)
	return true
}

// number scans the number at s.pos. At the end of the data, a number is only
// complete if the stream ends there.
func (s *scanner) number() bool {
	i, ok := numberEnd(s.data, s.pos)
	if i >= len(s.data) && !s.final {
		return s.ended()
	}
	if !ok {
		return s.fail(s.pos, Syntax, "this is not a JSON number")
	}
	s.pos = i
	return true
}

// numberEnd returns the offset after the number at d[i], and whether there is
// one.
func numberEnd(d []byte, i int) (int, bool) {
	if i < len(d) && d[i] == '-' {
		i++
	}
	start := i
	i = digits(d, i)
	if i == start || (d[start] == '0' && i > start+1) {
		return i, false
	}
	if i < len(d) && d[i] == '.' {
		start = i + 1
		if i = digits(d, start); i == start {
			return i, false
		}
	}
	if i < len(d) && (d[i] == 'e' || d[i] == 'E') {
		i++
		if i < len(d) && (d[i] == '+' || d[i] == '-') {
			i++
		}
		start = i
		if i = digits(d, start); i == start {
			return i, false
		}
	}
	return i, true
}

func digits(d []byte, i int) int {
	for i < len(d) && '0' <= d[i] && d[i] <= '9' {
		i++
	}
	return i
}
