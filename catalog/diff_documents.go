package catalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

// changedFields returns the names of the fields in which two documents differ,
// sorted.
func changedFields(a, b *Document) ([]string, error) {
	old, err := a.values()
	if err != nil {
		return nil, err
	}
	now, err := b.values()
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range now {
		if _, ok := old[name]; !ok {
			names = append(names, name)
		}
	}
	for name, value := range old {
		if other, ok := now[name]; !ok || !bytes.Equal(value, other) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// values returns the document's fields, each in a form that is equal for equal
// values.
func (d *Document) values() (map[string][]byte, error) {
	text, err := d.JSON()
	if err != nil {
		return nil, err
	}
	values := map[string][]byte{}
	tree := doc.Tree(text)
	for i := range tree.Members {
		m := &tree.Members[i]
		values[m.Key] = appendCanonical(nil, m)
		if isSet(m.Key) && m.Kind == '[' {
			values[m.Key] = appendSet(nil, m)
		}
	}
	return values, nil
}

// isSet reports whether the order of a field's elements means nothing.
func isSet(name string) bool {
	switch strings.ToLower(name) {
	case "entries", "properties", "relatedimages":
		return true
	}
	return false
}

// appendSet writes the elements of a list in the order of their texts.
func appendSet(out []byte, list *doc.Value) []byte {
	var elements [][]byte
	for i := range list.Members {
		elements = append(elements, appendCanonical(nil, &list.Members[i]))
	}
	slices.SortFunc(elements, bytes.Compare)
	return append(out, bytes.Join(elements, []byte{'\n'})...)
}

// appendCanonical writes a value without white space, members sorted, texts
// spelt in one way; numbers stay as they are.
func appendCanonical(out []byte, v *doc.Value) []byte {
	switch v.Kind {
	case '{':
		members := make([]*doc.Value, len(v.Members))
		for i := range v.Members {
			members[i] = &v.Members[i]
		}
		slices.SortFunc(members, func(a, b *doc.Value) int { return cmp.Compare(a.Key, b.Key) })
		out = append(out, '{')
		for i, m := range members {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendCanonical(append(appendText(out, m.Key), ':'), m)
		}
		return append(out, '}')
	case '[':
		out = append(out, '[')
		for i := range v.Members {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendCanonical(out, &v.Members[i])
		}
		return append(out, ']')
	case '"':
		text, _ := v.Text()
		return appendText(out, text)
	}
	return append(out, v.Raw...)
}

func appendText(out []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil { // texts are UTF-8
		return append(out, `""`...)
	}
	return append(out, text...)
}

// diffOthers compares the documents of other schemas. Those of one schema,
// package and name are compared in the order they are written.
func diffOthers(before, after *Catalog) ([]DocumentDiff, error) {
	type key struct{ schema, pkg, name string }
	texts := [2]map[key][]byte{{}, {}}
	keys := map[key]bool{}
	for i, c := range []*Catalog{before, after} {
		for d := range c.Others() {
			text, err := d.JSON()
			if err != nil {
				return nil, err
			}
			k := key{d.schema, d.pkg, d.name}
			keys[k] = true
			texts[i][k] = append(appendCanonical(texts[i][k], doc.Tree(text)), '\n')
		}
	}
	var list []DocumentDiff
	for k := range keys {
		old, now := texts[0][k], texts[1][k]
		if !bytes.Equal(old, now) {
			list = append(list, DocumentDiff{k.schema, k.pkg, k.name, old == nil, now == nil})
		}
	}
	slices.SortFunc(list, func(a, b DocumentDiff) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}
