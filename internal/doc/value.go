package doc

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Value is a JSON value with everything below it, and its position in the text
// of its document. An [Outline] is for picking a few fields out of a large
// document; a Value is for documents that are read as a whole.
//
// A Value shares memory with the text that it was made from, and does not
// change, so that it may be read by several goroutines.
type Value struct {
	Kind      byte    // first byte of the value: { [ " t f n, or 0 for a number
	Offset    int     // of the value in the text
	Raw       []byte  // the text of the value
	Key       string  // the key of a member, escapes resolved; "" for elements
	KeyOffset int     // of the key's opening quote; that of the value for elements
	Members   []Value // members of an object or elements of an array, in order
}

// Tree reads text, which must be one well-formed JSON value as returned by
// [Parse] and [Reader], and returns it as a Value. It returns nil for any other
// text.
func Tree(text []byte) *Value {
	r := valueReader{text: text}
	r.space()
	v, ok := r.value(0)
	if r.space(); !ok || r.pos != len(text) {
		return nil
	}
	return &v
}

// valueReader builds Values. It checks only as much as is needed to stay within
// the text.
type valueReader struct {
	text    []byte
	pos     int
	pending []Value // members of containers that are not closed yet
}

// maxTree bounds the recursion for a caller that did not check the text.
const maxTree = 100_000

func (r *valueReader) space() {
	for r.pos < len(r.text) {
		switch r.text[r.pos] {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return
		}
	}
}

func (r *valueReader) value(depth int) (v Value, ok bool) {
	if r.pos >= len(r.text) || depth > maxTree {
		return v, false
	}
	start := r.pos
	v = Value{Kind: r.text[start], Offset: start, KeyOffset: start}
	switch v.Kind {
	case '{', '[':
		ok = r.members(&v, depth)
	case '"':
		ok = r.skipString()
	case 't', 'f', 'n':
		for r.pos < len(r.text) && 'a' <= r.text[r.pos] && r.text[r.pos] <= 'z' {
			r.pos++
		}
		word := string(r.text[start:r.pos])
		ok = word == "true" || word == "false" || word == "null"
	default:
		v.Kind = '0'
		r.pos, ok = numberEnd(r.text, start)
	}
	v.Raw = r.text[start:r.pos:r.pos]
	return v, ok
}

// members reads the inside of an object or array.
func (r *valueReader) members(v *Value, depth int) bool {
	closing := v.Kind + 2 // } and ] are two after { and [
	r.pos++
	if r.space(); r.pos < len(r.text) && r.text[r.pos] == closing {
		r.pos++
		return true
	}
	first := len(r.pending)
	for {
		key := r.pos
		if v.Kind == '{' {
			if r.pos >= len(r.text) || r.text[r.pos] != '"' || !r.skipString() {
				return false
			}
			if r.space(); r.pos >= len(r.text) || r.text[r.pos] != ':' {
				return false
			}
			r.pos++
			r.space()
		}
		m, ok := r.value(depth + 1)
		if !ok {
			return false
		}
		if v.Kind == '{' {
			_, end := stringEnd(r.text, key+1)
			m.Key, m.KeyOffset = string(unescaped(r.text[key+1:end])), key
		}
		r.pending = append(r.pending, m)
		if r.space(); r.pos >= len(r.text) {
			return false
		}
		c := r.text[r.pos]
		r.pos++
		if c == closing {
			v.Members = slices.Clone(r.pending[first:])
			r.pending = r.pending[:first]
			return true
		}
		if c != ',' {
			return false
		}
		r.space()
	}
}

func (r *valueReader) skipString() bool {
	_, end := stringEnd(r.text, r.pos+1)
	if end >= len(r.text) {
		return false
	}
	r.pos = end + 1
	return true
}

// Get follows keys down from v and returns the value there, or nil. Of
// duplicate keys it uses the last one, as encoding/json does.
func (v *Value) Get(keys ...string) *Value {
	for _, key := range keys {
		if v = v.member(key); v == nil {
			return nil
		}
	}
	return v
}

// Field returns the member of an object by its name, ignoring the case of
// letters; an exact match is preferred. It returns nil if there is none.
func (v *Value) Field(name string) *Value {
	found := v.member(name)
	if found != nil || v == nil || v.Kind != '{' {
		return found
	}
	for i := range v.Members {
		if strings.EqualFold(v.Members[i].Key, name) {
			return &v.Members[i]
		}
	}
	return nil
}

func (v *Value) member(key string) *Value {
	if v == nil || v.Kind != '{' {
		return nil
	}
	for i := len(v.Members) - 1; i >= 0; i-- {
		if v.Members[i].Key == key {
			return &v.Members[i]
		}
	}
	return nil
}

// At follows a path of keys (string) and indices (int) as far as it exists and
// returns the last value that it finds: the place for a message about something
// that may be absent.
func (v *Value) At(path ...any) *Value {
	for _, step := range path {
		next := (*Value)(nil)
		switch step := step.(type) {
		case string:
			next = v.member(step)
		case int:
			if v.Kind == '[' && step >= 0 && step < len(v.Members) {
				next = &v.Members[step]
			}
		}
		if next == nil {
			return v
		}
		v = next
	}
	return v
}

// Text returns the string that v is, and whether it is one. A nil Value is not
// a string.
func (v *Value) Text() (string, bool) {
	if v == nil || v.Kind != '"' || len(v.Raw) < 2 {
		return "", false
	}
	return string(unescaped(v.Raw[1 : len(v.Raw)-1])), true
}

// Scalar returns v as text if it is a string, a number or a truth value, and
// reports whether it is one of them. The number 1.10 becomes "1.1".
func (v *Value) Scalar() (string, bool) {
	if v.Null() {
		return "", false
	}
	switch v.Kind {
	case '"':
		return v.Text()
	case 't', 'f':
		return string(v.Raw), true
	case '0':
		if i, err := strconv.ParseInt(string(v.Raw), 10, 64); err == nil {
			return strconv.FormatInt(i, 10), true
		}
		f, err := strconv.ParseFloat(string(v.Raw), 64)
		return strconv.FormatFloat(f, 'g', -1, 64), err == nil
	}
	return "", false
}

// Null reports whether v is absent (nil) or the JSON null.
func (v *Value) Null() bool { return v == nil || v.Kind == 'n' }

// Type names the JSON type of v for messages: "object", "array", "string",
// "number", "boolean" or "null".
func (v *Value) Type() string {
	if v.Null() {
		return "null"
	}
	switch v.Kind {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	}
	return "number"
}

// Describe returns the type of v with its article: "an object", "null".
func (v *Value) Describe() string { return article(v.Type()) }

func article(noun string) string {
	switch noun[0] {
	case 'n':
		if noun == "null" {
			return noun
		}
	case 'a', 'e', 'i', 'o', 'u':
		return "an " + noun
	}
	return "a " + noun
}

// JSON returns the text of v as a json.RawMessage that shares no memory with
// the document.
func (v *Value) JSON() json.RawMessage { return append(json.RawMessage(nil), v.Raw...) }

// Clone returns a copy of d that later calls of [Reader.Next] do not overwrite.
func (d *Document) Clone() *Document {
	c := *d
	c.Raw = bytes.Clone(d.Raw)
	c.JSON = c.Raw
	if d.Format == YAML || len(d.cuts) > 0 {
		c.JSON = bytes.Clone(d.JSON)
	}
	c.nodes, c.marks = slices.Clone(d.nodes), slices.Clone(d.marks)
	c.words, c.twice, c.cuts = slices.Clone(d.words), slices.Clone(d.twice), slices.Clone(d.cuts)
	return &c
}
