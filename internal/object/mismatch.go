package object

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
)

// Mismatch returns the path of the first value in a JSON document that does not
// decode into a variable of the type of the one that into points to, such as
// spec.taints[0].key, and what is wrong with it. The path is that of the JSON;
// both are empty if everything decodes. It is for messages: the error of
// json.Unmarshal names the type, but not which element of a list is at fault.
func Mismatch(data []byte, into any) (path, problem string) {
	return mismatch("", data, reflect.TypeOf(into).Elem())
}

func mismatch(path string, data []byte, t reflect.Type) (string, string) {
	if string(data) == "null" {
		return "", ""
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if custom(t) {
		return leaf(path, data, t)
	}
	switch t.Kind() {
	case reflect.Struct:
		return members(path, data, t)
	case reflect.Slice:
		var list []json.RawMessage
		if json.Unmarshal(data, &list) != nil {
			return path, "it is not a list"
		}
		for i, element := range list {
			if p, problem := mismatch(fmt.Sprintf("%s[%d]", path, i), element, t.Elem()); problem != "" {
				return p, problem
			}
		}
		return "", ""
	case reflect.Map:
		return entries(path, data, t)
	}
	return leaf(path, data, t)
}

// custom reports whether a type decodes its JSON itself.
func custom(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

func members(path string, data []byte, t reflect.Type) (string, string) {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		return path, "it is not an object"
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		value, there := object[name]
		if !there || name == "" {
			continue
		}
		if p, problem := mismatch(words.Field(path, name), value, t.Field(i).Type); problem != "" {
			return p, problem
		}
	}
	return "", ""
}

func entries(path string, data []byte, t reflect.Type) (string, string) {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		return path, "it is not an object"
	}
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if p, problem := mismatch(words.Field(path, name), object[name], t.Elem()); problem != "" {
			return p, problem
		}
	}
	return "", ""
}

// maxShown is how many bytes of a value a message repeats.
const maxShown = 60

func leaf(path string, data []byte, t reflect.Type) (string, string) {
	if json.Unmarshal(data, reflect.New(t).Interface()) == nil {
		return "", ""
	}
	want := "a " + t.Kind().String()
	switch {
	case t == reflect.TypeFor[time.Time]():
		want = "a time such as 2026-01-02T15:04:05Z"
	case t == reflect.TypeFor[fairlead.IntOrString]():
		want = `a whole number or a percentage such as "30%"`
	case t.Kind() == reflect.String:
		want = "a string"
	case t.Kind() == reflect.Bool:
		want = "true or false"
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		want = fmt.Sprintf("a whole number of %d bits", t.Bits())
	}
	shown := string(data)
	if len(shown) > maxShown {
		shown = strings.ToValidUTF8(shown[:maxShown], "") + "…"
	}
	return path, shown + " is not " + want
}
