package catalog

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

// A shape is the type that a field of a known schema has.
type shape struct {
	kind   byte // of JSON, as in doc.Node; 0 takes anything
	base64 bool // a text that has to be base64
	elem   *shape
	fields []fieldShape
}

type fieldShape struct {
	name string
	shape
}

var (
	text       = shape{kind: '"'}
	anything   = shape{}
	texts      = shape{kind: '[', elem: &text}
	properties = listOf(fieldShape{"type", text}, fieldShape{"value", anything})
)

func object(fields ...fieldShape) shape { return shape{kind: '{', fields: fields} }

func listOf(fields ...fieldShape) shape {
	elem := object(fields...)
	return shape{kind: '[', elem: &elem}
}

// shapes are the fields of the known schemas beside schema, package and name.
// Fields that are not listed may hold anything.
var shapes = map[string]shape{
	SchemaPackage: object(
		fieldShape{"defaultChannel", text},
		fieldShape{"description", text},
		fieldShape{"icon", object(fieldShape{"base64data", shape{kind: '"', base64: true}}, fieldShape{"mediatype", text})},
		fieldShape{"properties", properties},
	),
	SchemaChannel: object(
		fieldShape{"entries", listOf(
			fieldShape{"name", text}, fieldShape{"replaces", text}, fieldShape{"skips", texts}, fieldShape{"skipRange", text},
		)},
		fieldShape{"properties", properties},
	),
	SchemaBundle: object(
		fieldShape{"image", text},
		fieldShape{"properties", properties},
		fieldShape{"relatedImages", listOf(fieldShape{"name", text}, fieldShape{"image", text})},
	),
	SchemaDeprecations: object(
		fieldShape{"entries", listOf(
			fieldShape{"reference", object(fieldShape{"schema", text}, fieldShape{"name", text})},
			fieldShape{"message", text},
		)},
	),
}

// field finds a field's shape. Like encoding/json, and so like every reader of
// catalogs before, it takes a name in another case.
func (s *shape) field(key []byte) *fieldShape {
	for i := range s.fields {
		if s.fields[i].name == string(key) {
			return &s.fields[i]
		}
	}
	for i := range s.fields {
		if strings.EqualFold(s.fields[i].name, string(key)) {
			return &s.fields[i]
		}
	}
	return nil
}

// step leads from a value to one in it: to a field, or to an element if the
// name is empty.
type step struct {
	name  string
	index int
}

// check checks the value of n, to which x.path leads, against want. A null
// stands for the empty value of any type.
func (x *indexer) check(n doc.Node, want *shape) {
	if want.kind == 0 || n.Kind == 'n' {
		return
	}
	if n.Kind != want.kind {
		hint := ""
		if want.kind == '"' && n.Kind == '0' {
			hint = "write " + strconv.Quote(string(x.doc.Value(n))) + ", in quotes"
		} else if want.kind == '"' && (n.Kind == 't' || n.Kind == 'f') {
			hint = "put it in quotes if it is text"
		}
		x.fault(CodeType, n, x.place()+" is "+kindName(n.Kind)+" where "+kindName(want.kind)+" belongs", hint)
		return
	}
	if want.base64 && !isBase64(x.doc.Value(n)) {
		x.fault(CodeType, n, x.place()+" is no base64", "encode the data in base64")
		return
	}
	i := 0
	for c := range x.doc.Children(n) {
		if want.elem != nil {
			x.checkIn(step{index: i}, c, want.elem)
		} else if f := want.field(x.doc.Key(c)); f != nil {
			x.checkIn(step{name: f.name}, c, &f.shape)
		}
		i++
	}
}

// isBase64 reports whether a JSON string can be decoded into bytes.
func isBase64(quoted []byte) bool {
	if isPlainBase64(quoted[1 : len(quoted)-1]) {
		return true
	}
	var data []byte // with escapes or line breaks
	return json.Unmarshal(quoted, &data) == nil
}

// checkIn checks a value one step further.
func (x *indexer) checkIn(s step, n doc.Node, want *shape) {
	x.path = append(x.path, s)
	x.check(n, want)
	x.path = x.path[:len(x.path)-1]
}

// place is x.path as messages have it: entries[1].name.
func (x *indexer) place() string {
	var b strings.Builder
	for i, s := range x.path {
		switch {
		case s.name == "":
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case i > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	return b.String()
}

func kindName(kind byte) string {
	switch kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case 't', 'f':
		return "a truth value"
	case 'n':
		return "null"
	}
	return "a number"
}
