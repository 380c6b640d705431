package doc

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// manyKeys is the number of keys from which an object's keys are put into a
// map, so that an object with a million keys does not need a million squared
// comparisons.
const manyKeys = 64

// unique records the key data[start:end] of the object whose keys begin at
// base, and fails if the object already has it.
func (s *scanner) unique(many *map[string]int, base, start, end int) bool {
	if *many != nil {
		key := string(unescaped(s.data[start:end]))
		first, dup := (*many)[key]
		if dup {
			return s.duplicate(start, first)
		}
		(*many)[key] = start
		return true
	}
	key := s.data[start:end]
	if s.escaped {
		key = unescaped(key)
	}
	h := hashKey(key)
	for _, k := range s.keys[base:] {
		if k.hash == h && bytes.Equal(unescaped(s.data[k.start:k.end]), key) {
			return s.duplicate(start, k.start)
		}
	}
	s.keys = append(s.keys, keyRef{h, start, end})
	if len(s.keys)-base == manyKeys {
		*many = make(map[string]int, 2*manyKeys)
		for _, k := range s.keys[base:] {
			(*many)[string(unescaped(s.data[k.start:k.end]))] = k.start
		}
	}
	return true
}

func (s *scanner) duplicate(start, first int) bool {
	if s.repeats {
		s.repeated = true
		return true
	}
	line := 1 + bytes.Count(s.data[first:start], newline)
	where := "on the same line"
	if line > 1 {
		where = strconv.Itoa(line-1) + " line"
		if line > 2 {
			where += "s"
		}
		where += " above"
	}
	_, end := stringEnd(s.data, start)
	return s.fail(start-1, DuplicateKey, "the key "+strconv.Quote(string(unescaped(s.data[start:end])))+" is already in this object, "+where)
}

// stringEnd finds the end of the string whose text starts at i; the string is
// known to be well formed.
func stringEnd(d []byte, i int) (start, end int) {
	for j := i; j < len(d); j++ {
		switch d[j] {
		case '\\':
			j++
		case '"':
			return i, j
		}
	}
	return i, len(d)
}

// hashKey mixes length and both ends of a key.
func hashKey(key []byte) uint64 {
	const mul = 0x9e3779b97f4a7c15
	n := len(key)
	if n >= 8 {
		return (binary.LittleEndian.Uint64(key)*mul^binary.LittleEndian.Uint64(key[n-8:]))*mul ^ uint64(n)
	}
	h := uint64(n)
	for _, c := range key {
		h = h<<8 | uint64(c)
	}
	return h * mul
}

// unescaped returns the text of a well-formed JSON string (without its quotes).
// If there is no escape in it, it returns the argument itself.
func unescaped(text []byte) []byte {
	i := bytes.IndexByte(text, '\\')
	if i < 0 {
		return text
	}
	out := append(make([]byte, 0, len(text)), text[:i]...)
	for i < len(text) {
		c := text[i]
		if c != '\\' || i+1 >= len(text) {
			out = append(out, c)
			i++
			continue
		}
		i += 2
		switch c := text[i-1]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, n := unescapeRune(text[i-2:])
			out = utf8.AppendRune(out, r)
			i += n - 2
		default:
			out = append(out, c)
		}
	}
	return out
}

// unescapeRune reads one \u escape, or a surrogate pair of them, and returns
// its length.
func unescapeRune(text []byte) (rune, int) {
	if len(text) < 6 {
		return utf8.RuneError, len(text)
	}
	r, ok := hexRune(text[2:6])
	if !ok {
		return utf8.RuneError, 6
	}
	if utf16.IsSurrogate(r) && len(text) >= 12 && text[6] == '\\' && text[7] == 'u' {
		if low, ok := hexRune(text[8:12]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
	}
	return r, 6
}

// quoteByte returns the first character of text, quoted for a message.
func quoteByte(text []byte) string {
	r, n := utf8.DecodeRune(text)
	if n == 0 {
		return "the end"
	}
	if r == utf8.RuneError && n == 1 {
		return "0x" + strconv.FormatUint(uint64(text[0]), 16)
	}
	return strconv.QuoteRune(r)
}
