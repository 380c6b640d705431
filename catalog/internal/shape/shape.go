// Package shape says what the documents of a catalog look like: which fields
// the known schemas have, and of which types, and what values of properties
// must be. Checking a value against its shape takes one pass and no memory,
// where decoding builds what is thrown away.
package shape

import (
	"encoding/json"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

// Shape is what a value may be.
type Shape struct {
	Kind   Kind    // of values
	Name   string  // of the type, as opm calls it; "" where that never shows
	Elem   *Shape  // of a list or a map
	Fields []Field // of an object; what is not listed may be anything
}

// Field is a member of an object.
type Field struct {
	Name   string // as it is spelt
	*Shape        // of its value
}

// Kind is a type of values.
type Kind uint8

// The kinds.
const (
	Any Kind = iota
	Text
	Base64
	Int
	Bool
	List
	Map
	Object
)

var anything, text = &Shape{}, &Shape{Kind: Text}

// Begins returns the kind of JSON value that has this form, as in [doc.Node];
// 0 if any has it.
func (k Kind) Begins() byte {
	switch k {
	case Any:
		return 0
	case Text, Base64:
		return '"'
	case List:
		return '['
	case Map, Object:
		return '{'
	case Bool:
		return 't'
	}
	return '0'
}

// Field finds a member. Like encoding/json, and so like every reader of
// catalogs before, it takes a name in another case. Of a member that is not
// listed the shape is that of anything, and the name is empty.
func (s *Shape) Field(key []byte) Field {
	for _, f := range s.Fields {
		if f.Name == string(key) {
			return f
		}
	}
	for _, f := range s.Fields {
		if strings.EqualFold(f.Name, string(key)) {
			return f
		}
	}
	return Field{Shape: anything}
}

func eachOf(elem *Shape) *Shape { return &Shape{Kind: List, Elem: elem} }

func valuesOf(elem *Shape) *Shape { return &Shape{Kind: Map, Elem: elem} }

// object makes the shape of a struct of that name: texts lists the fields that
// are strings, more has the others.
func object(name, texts string, more ...Field) *Shape {
	s := &Shape{Kind: Object, Name: name}
	for field := range strings.FieldsSeq(texts) {
		s.Fields = append(s.Fields, Field{field, text})
	}
	s.Fields = append(s.Fields, more...)
	return s
}

// properties are those that documents of several schemas may have.
var properties = Field{"properties", eachOf(object("", "type", Field{"value", anything}))}

// schemas are the fields of the known schemas beside schema, package and name.
var schemas = map[string]*Shape{
	"olm.package": object("", "defaultChannel description",
		Field{"icon", object("", "mediatype", Field{"base64data", &Shape{Kind: Base64}})}, properties),
	"olm.channel": object("", "",
		Field{"entries", eachOf(object("", "name replaces skipRange", Field{"skips", eachOf(text)}))}, properties),
	"olm.bundle": object("", "image",
		properties, Field{"relatedImages", eachOf(object("", "name image"))}),
	"olm.deprecations": object("", "",
		Field{"entries", eachOf(object("", "message", Field{"reference", object("", "schema name")}))}),
}

// Schema returns the shape of documents of a schema, beside the fields schema,
// package and name, or nil if the schema is not known.
func Schema(name string) *Shape { return schemas[name] }

// Property returns the type and the value of a property, as places in the
// document; the value is zero if there is none.
func Property(d *doc.Document, n doc.Node) (name []byte, value doc.Node) {
	if t, ok := d.Field(d.Children(n), "type"); ok {
		name, _ = d.Text(t)
	}
	value, _ = d.Field(d.Children(n), "value")
	return name, value
}

// IsBase64 reports whether a JSON string can be decoded into bytes.
func IsBase64(quoted []byte) bool {
	if plainBase64(quoted[1 : len(quoted)-1]) {
		return true
	}
	var data []byte // with escapes or line breaks
	return json.Unmarshal(quoted, &data) == nil
}

// KindName names a kind of JSON value, as in [doc.Node], with its article.
func KindName(kind byte) string {
	switch kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
