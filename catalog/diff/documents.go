package diff

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
)

// Fields returns the names of the fields in which two documents differ,
// sorted: known or not, in whatever form they are written. The order of
// entries, properties and related images does not matter. It reads both
// documents.
func Fields(a, b *catalog.Document) ([]string, error) {
	var r Reader
	names, err := r.Fields(a, b)
	return names, cmp.Or(err, r.Close())
}

// Reader reads pairs of documents one after the other, and keeps the files of both sides open in
// between. It must not be used by several goroutines at once, and must be closed.
type Reader struct{ old, now catalog.Texts }

// Close closes the files that are open.
func (r *Reader) Close() error { return cmp.Or(r.old.Close(), r.now.Close()) }

// Fields is the function [Fields]: the first document is of one side, the second of the other.
func (r *Reader) Fields(a, b *catalog.Document) ([]string, error) {
	if same, err := r.Same(a, b); same || err != nil {
		return nil, err
	}
	before, err := doc.Reload(a)
	if err != nil {
		return nil, err
	}
	after, err := doc.Reload(b)
	if err != nil || bytes.Equal(before.JSON, after.JSON) {
		return nil, err
	}
	old, now := fieldsOf(before), fieldsOf(after)
	var names []string
	for name := range now {
		if _, ok := old[name]; !ok {
			names = append(names, name)
		}
	}
	for name, value := range old {
		if other, ok := now[name]; !ok || !sameField(name, value, other) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Same reports whether two documents are the same text of the same format, as most are: then
// neither has to be parsed.
func (r *Reader) Same(a, b *catalog.Document) (bool, error) {
	if a.Size() != b.Size() || a.IsYAML() != b.IsYAML() {
		return false, nil
	}
	old, err := r.old.Raw(a)
	if err != nil {
		return false, err
	}
	now, err := r.now.Raw(b)
	return bytes.Equal(old, now), err
}

// field is a field of a document: its text, and how many elements it has as a list.
type field struct {
	text     []byte
	kind     byte
	elements int
}

// fieldsOf returns the fields of a document.
func fieldsOf(d *doc.Document) map[string]field {
	fields := map[string]field{}
	for n := range d.Root() {
		f := field{text: d.Value(n), kind: n.Kind}
		if n.Kind == '[' {
			for range d.Children(n) {
				f.elements++
			}
		}
		fields[string(d.Key(n))] = f
	}
	return fields
}

// sameField compares two values of a field. Most differ in what needs no reading.
func sameField(name string, a, b field) bool {
	set := isSet(name) && a.kind == '[' && b.kind == '['
	switch {
	case bytes.Equal(a.text, b.text):
		return true
	case a.kind != b.kind, set && a.elements != b.elements:
		return false
	}
	old, now := doc.Tree(a.text), doc.Tree(b.text)
	if set {
		return bytes.Equal(appendSet(nil, old), appendSet(nil, now))
	}
	return bytes.Equal(doc.AppendCanonical(nil, old, doc.NumbersAsWritten), doc.AppendCanonical(nil, now, doc.NumbersAsWritten))
}

// isSet reports whether the order of a field's elements does not matter.
func isSet(name string) bool {
	switch strings.ToLower(name) {
	case "entries", "properties", "relatedimages":
		return true
	}
	return false
}

// appendSet writes the elements of a list sorted by their text.
func appendSet(out []byte, list *doc.Value) []byte {
	var elements [][]byte
	for i := range list.Members {
		elements = append(elements, doc.AppendCanonical(nil, &list.Members[i], doc.NumbersAsWritten))
	}
	slices.SortFunc(elements, bytes.Compare)
	return append(out, bytes.Join(elements, []byte{'\n'})...)
}

// diffOthers compares the documents of other schemas. Those of one schema,
// package and name are compared in the order they are written.
func diffOthers(ctx context.Context, before, after *catalog.Catalog) ([]DocumentDiff, error) {
	type key struct{ schema, pkg, name string }
	texts := [2]map[key][]byte{{}, {}}
	keys := map[key]bool{}
	for i, c := range []*catalog.Catalog{before, after} {
		for d := range c.Others() {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			text, err := d.JSON()
			if err != nil {
				return nil, err
			}
			k := key{d.Schema(), d.Package(), d.Name()}
			keys[k] = true
			texts[i][k] = append(doc.AppendCanonical(texts[i][k], doc.Tree(text), doc.NumbersAsWritten), '\n')
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
