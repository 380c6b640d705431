// Package durations writes policies as JSON with durations as people write
// them, "5m0s", and reads them back.
//
// A policy implements the two interfaces of encoding/json by calling [Marshal]
// and [Unmarshal]; its fields keep the type time.Duration. Names, omitempty,
// omitzero, "-" and embedding work as in encoding/json. Unknown fields are
// errors, so that a misspelt one does not silently leave the default in effect.
package durations

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

var (
	duration      = reflect.TypeFor[time.Duration]()
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// Marshal returns a struct as JSON. A method MarshalJSON of the struct itself is
// not called; those of its contents are.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := encode(&b, reflect.ValueOf(v), true); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func encode(b *bytes.Buffer, v reflect.Value, top bool) error {
	t := v.Type()
	switch {
	case t == duration:
		fmt.Fprintf(b, "%q", v.Interface())
		return nil
	case !top && (t.Implements(marshaler) || t.Implements(textMarshaler)), !holds(t, nil):
	case t.Kind() == reflect.Pointer:
		if v.IsNil() {
			b.WriteString("null")
			return nil
		}
		return encode(b, v.Elem(), top)
	case t.Kind() == reflect.Struct:
		return encodeStruct(b, v)
	case t.Kind() == reflect.Map && !v.IsNil():
		return encodeMap(b, v)
	case t.Kind() == reflect.Slice && !v.IsNil():
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := encode(b, v.Index(i), false); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	data, err := json.Marshal(v.Interface())
	b.Write(data)
	return err
}

func encodeStruct(b *bytes.Buffer, v reflect.Value) error {
	b.WriteByte('{')
	first := true
	for _, f := range fields(v.Type()) {
		value := v.FieldByIndex(f.index)
		if f.omitEmpty && empty(value) || f.omitZero && value.IsZero() {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		fmt.Fprintf(b, "%q:", f.name)
		if err := encode(b, value, false); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func encodeMap(b *bytes.Buffer, v reflect.Value) error {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
	b.WriteByte('{')
	for i, key := range keys {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(key.String())
		if err != nil {
			return err
		}
		b.Write(name)
		b.WriteByte(':')
		if err := encode(b, v.MapIndex(key), false); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// Unmarshal reads JSON into a pointer to a struct. Durations may be text, as in
// "5m0s", or whole numbers of nanoseconds. Errors name the field. A method
// UnmarshalJSON of the struct itself is not called; those of its contents are.
func Unmarshal(data []byte, into any) error {
	return decode(data, reflect.ValueOf(into).Elem(), "", true)
}

func decode(data []byte, v reflect.Value, path string, top bool) error {
	t := v.Type()
	switch {
	case t == duration:
		return decodeDuration(data, v, path)
	case !top && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()), !holds(t, nil), string(data) == "null":
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		return decode(data, v.Elem(), path, top)
	case t.Kind() == reflect.Struct:
		return decodeStruct(data, v, path)
	case t.Kind() == reflect.Map:
		var members map[string]json.RawMessage
		if err := json.Unmarshal(data, &members); err != nil {
			return at(path, err)
		}
		v.Set(reflect.MakeMapWithSize(t, len(members)))
		for name, data := range members {
			value := reflect.New(t.Elem()).Elem()
			if err := decode(data, value, path+"["+name+"]", false); err != nil {
				return err
			}
			v.SetMapIndex(reflect.ValueOf(name).Convert(t.Key()), value)
		}
		return nil
	case t.Kind() == reflect.Slice:
		var elements []json.RawMessage
		if err := json.Unmarshal(data, &elements); err != nil {
			return at(path, err)
		}
		v.Set(reflect.MakeSlice(t, len(elements), len(elements)))
		for i, data := range elements {
			if err := decode(data, v.Index(i), fmt.Sprintf("%s[%d]", path, i), false); err != nil {
				return err
			}
		}
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return at(path, d.Decode(v.Addr().Interface()))
}

func decodeDuration(data []byte, v reflect.Value, path string) error {
	var text string
	if json.Unmarshal(data, &text) != nil {
		return at(path, json.Unmarshal(data, v.Addr().Interface()))
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return at(path, fmt.Errorf("%q is not a duration: write it as in 1h30m or 10s", text))
	}
	v.SetInt(int64(d))
	return nil
}

func decodeStruct(data []byte, v reflect.Value, path string) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return at(path, err)
	}
	known := fields(v.Type())
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names) // so that the same one of two faults is always reported
	for _, name := range names {
		i := slices.IndexFunc(known, func(f field) bool { return f.name == name })
		if i < 0 {
			all := make([]string, len(known))
			for k := range known {
				all[k] = known[k].name
			}
			return at(path, fmt.Errorf("there is no field %q: there are %s", name, strings.Join(all, ", ")))
		}
		inner := known[i].name
		if path != "" {
			inner = path + "." + inner
		}
		if err := decode(members[name], v.FieldByIndex(known[i].index), inner, false); err != nil {
			return err
		}
	}
	return nil
}

func at(path string, err error) error {
	if err == nil || path == "" {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// field is a member of a struct's JSON object.
type field struct {
	name                string
	index               []int
	omitEmpty, omitZero bool
}

// fields returns the members of a struct in the order of its fields, those of
// embedded structs in their place.
func fields(t reflect.Type) []field {
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" && options == "", !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			for _, inner := range fields(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				all = append(all, inner)
			}
			continue
		case name == "":
			name = f.Name
		}
		has := func(option string) bool { return slices.Contains(strings.Split(options, ","), option) }
		all = append(all, field{name, []int{i}, has("omitempty"), has("omitzero")})
	}
	return all
}

// holds reports whether a value of the type may contain a duration that
// encoding/json would write.
func holds(t reflect.Type, seen []reflect.Type) bool {
	if t == duration {
		return true
	}
	if slices.Contains(seen, t) {
		return false
	}
	seen = append(seen, t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return holds(t.Elem(), seen)
	case reflect.Map:
		return t.Key().Kind() == reflect.String && holds(t.Elem(), seen)
	case reflect.Struct:
		return len(seen) == 1 || slices.ContainsFunc(fields(t), func(f field) bool { return holds(t.FieldByIndex(f.index).Type, seen) })
	}
	return false
}

func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map, reflect.Slice, reflect.String, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
