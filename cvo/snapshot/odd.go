package snapshot

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fairlead/fairlead/internal/doc"
)

// oddity is a field that does not have the expected shape.
type oddity struct {
	at            int    // its offset in the text
	path, problem string // which field, and what is wrong
}

// decode fills a variable that is zero from the JSON text of an object, and reports whether
// it is one. A field whose value does not fit is left out and reported; a number or truth
// value where text is expected is that text, as in quantities that people write.
func decode(text []byte, into any) (odd []oddity, whole bool) {
	if _, err := doc.Unmarshal(text, into); err == nil {
		return nil, len(text) > 0 && text[0] == '{'
	}
	v := doc.Tree(text)
	if v == nil || v.Kind != '{' {
		return nil, false
	}
	var r repairer
	r.value(v, reflect.TypeOf(into).Elem(), "")
	reflect.ValueOf(into).Elem().SetZero()
	_, err := doc.Unmarshal(r.out, into)
	return r.odd, err == nil
}

// repairer writes a text again, without the values that do not fit a type.
type repairer struct {
	out []byte
	odd []oddity
}

func (r *repairer) value(v *doc.Value, t reflect.Type, path string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	custom := reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
	switch {
	case v.Kind == 'n':
		r.out = append(r.out, "null"...)
	case custom:
		r.leaf(v, t, path)
	case t.Kind() == reflect.Struct && v.Kind == '{':
		r.members(v, path, func(name string) reflect.Type { return fieldOf(t, name) })
	case t.Kind() == reflect.Map && v.Kind == '{':
		r.members(v, path, func(string) reflect.Type { return t.Elem() })
	case t.Kind() == reflect.Slice && v.Kind == '[' && t.Elem().Kind() != reflect.Uint8:
		r.out = append(r.out, '[')
		for i := range v.Members {
			if i > 0 {
				r.out = append(r.out, ',')
			}
			r.value(&v.Members[i], t.Elem(), path+"["+strconv.Itoa(i)+"]")
		}
		r.out = append(r.out, ']')
	default:
		r.leaf(v, t, path)
	}
}

// members writes an object; a member without a type is not read, and left out.
func (r *repairer) members(v *doc.Value, path string, of func(string) reflect.Type) {
	r.out = append(r.out, '{')
	first := true
	for i := range v.Members {
		m := &v.Members[i]
		t := of(m.Key)
		if t == nil {
			continue
		}
		if !first {
			r.out = append(r.out, ',')
		}
		first = false
		r.out = append(doc.AppendText(r.out, m.Key), ':')
		r.value(m, t, strings.TrimPrefix(path+"."+m.Key, "."))
	}
	r.out = append(r.out, '}')
}

func (r *repairer) leaf(v *doc.Value, t reflect.Type, path string) {
	switch {
	case json.Unmarshal(v.Raw, reflect.New(t).Interface()) == nil:
		r.out = append(r.out, v.Raw...)
	case t.Kind() == reflect.String && (v.Kind == '0' || v.Kind == 't' || v.Kind == 'f'):
		r.out = doc.AppendText(r.out, string(v.Raw))
	default:
		r.odd = append(r.odd, oddity{v.Offset, path, shown(v.Raw) + " is not " + wanted(t) + "; the field is taken as unknown"})
		r.out = append(r.out, "null"...)
	}
}

// fieldOf returns the type of the field that a member goes into; nil if there is none.
func fieldOf(t reflect.Type, name string) reflect.Type {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			if in := fieldOf(f.Type, name); in != nil {
				return in
			}
		case tag != "" && tag != "-" && strings.EqualFold(tag, name):
			return f.Type
		}
	}
	return nil
}

// shown returns the beginning of a value for a message.
func shown(raw []byte) string {
	const most = 60
	if len(raw) <= most {
		return string(raw)
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(raw[cut]) {
		cut--
	}
	return string(raw[:cut]) + "…"
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Slice:
		return "a list"
	case reflect.Map:
		return "an object"
	case reflect.Bool:
		return "true or false"
	case reflect.Struct:
		if t.Name() == "Time" {
			return "a time such as 2026-01-02T15:04:05Z"
		}
		return "an object"
	}
	return "a whole number"
}
