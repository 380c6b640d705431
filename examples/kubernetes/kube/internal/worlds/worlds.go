// Package worlds checks whether backends observe everything that their engines
// use.
package worlds

import (
	"reflect"
	"slices"
)

// Unset returns the sorted names of those fields of an engine's World that are
// set in none of the observed worlds. Fields of embedded structs count as the
// World's own. All worlds have the same type.
func Unset[W any](observed ...*W) []string {
	var names []string
	collect(reflect.TypeFor[W](), func(name string, index []int) {
		for _, w := range observed {
			if f, err := reflect.ValueOf(w).Elem().FieldByIndexErr(index); err == nil && !f.IsZero() {
				return
			}
		}
		names = append(names, name)
	}, nil)
	slices.Sort(names)
	return names
}

func collect(t reflect.Type, visit func(name string, index []int), at []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(slices.Clone(at), i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			collect(f.Type, visit, index)
		} else if f.IsExported() {
			visit(f.Name, index)
		}
	}
}
