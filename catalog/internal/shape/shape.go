// Package shape describes the documents of a catalog: the fields of the known
// schemas and their types, and the values of properties. Checking a value
// against its shape takes one pass and no memory, whereas decoding builds
// values only to discard them.
package shape

import (
	"encoding/json"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

// Shape is what a value may be.
type Shape struct {
	Kind   Kind    // of values
	Name   string  // of the type, as opm calls it; "" if that is never shown
	Elem   *Shape  // of a list or a map
	Fields []Field // of an object; fields that are not listed may be anything
}

// Field is a member of an object.
type Field struct {
	Name   string // its name
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
// 0 for any.
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

// Field finds a member. Like encoding/json, and so like every other reader of
// catalogs, it ignores the case of the name. A member that is not listed has
// the shape of anything, and an empty name.
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

// properties is the field that documents of several schemas have.
var properties = Field{"properties", eachOf(object("", "type", Field{"value", anything}))}

// schemas are the fields of the known schemas other than schema, package and
// name.
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

// Schema returns the shape of documents of a schema, without the fields
// schema, package and name, or nil if the schema is unknown.
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
