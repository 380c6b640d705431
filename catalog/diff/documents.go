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
	before, err := a.JSON()
	if err != nil {
		return nil, err
	}
	after, err := b.JSON()
	if err != nil || bytes.Equal(before, after) {
		return nil, err
	}
	old, now := valuesOf(before), valuesOf(after)
	var names []string
	for name := range now {
		if _, ok := old[name]; !ok {
			names = append(names, name)
		}
	}
	for name, value := range old {
		if other, ok := now[name]; !ok || !sameField(value, other) {
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

// valuesOf returns the fields of a document.
func valuesOf(text []byte) map[string]*doc.Value {
	values := map[string]*doc.Value{}
	tree := doc.Tree(text)
	for i := range tree.Members {
		values[tree.Members[i].Key] = &tree.Members[i]
	}
	return values
}

// sameField compares two values of a field.
func sameField(a, b *doc.Value) bool {
	if !isSet(a.Key) || a.Kind != '[' || b.Kind != '[' {
		return bytes.Equal(doc.AppendCanonical(nil, a, doc.NumbersAsWritten), doc.AppendCanonical(nil, b, doc.NumbersAsWritten))
	}
	return len(a.Members) == len(b.Members) && bytes.Equal(appendSet(nil, a), appendSet(nil, b))
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
