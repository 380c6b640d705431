package edit

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
)

// composer builds a catalog from documents of others, some of them changed.
// Unchanged documents are not read: they stay where they are.
type composer struct{ docs []*catalog.Document }

// keep adds a document unchanged.
func (k *composer) keep(d *catalog.Document) { k.docs = append(k.docs, d) }

// edit adds a document with changes to its text, as JSON. Its position stays
// that of the old one.
func (k *composer) edit(d *catalog.Document, change func(v *doc.Value) []edit) error {
	text, err := d.JSON()
	if err != nil {
		return err
	}
	made, err := catalog.NewDocument(apply(text, change(doc.Tree(text))), d.Start())
	if err != nil {
		return err
	}
	k.keep(made)
	return nil
}

// catalog returns the documents added, in the order of files.
func (k *composer) catalog() *catalog.Catalog {
	slices.SortStableFunc(k.docs, func(a, b *catalog.Document) int { return a.Start().Compare(b.Start()) })
	return catalog.New(k.docs)
}

// edit replaces an extent of a text.
type edit struct {
	start, end int
	text       []byte
}

// apply applies edits, which do not overlap.
func apply(text []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, text[at:e.start]...), e.text...)
		at = e.end
	}
	return append(out, text[at:]...)
}

// keepElements returns the edit that leaves the elements of a list for which
// keep is true. Everything between them stays as it is.
func keepElements(list *doc.Value, keep func(i int, e *doc.Value) bool) edit {
	whole := edit{start: list.Offset, end: list.Offset + len(list.Raw)}
	var out []byte
	last := -1
	for i := range list.Members {
		e := &list.Members[i]
		if !keep(i, e) {
			continue
		}
		lead := list.Raw[1 : list.Members[0].Offset-list.Offset]
		if last >= 0 {
			previous := &list.Members[i-1]
			lead = list.Raw[previous.Offset+len(previous.Raw)-list.Offset : e.Offset-list.Offset]
		}
		out = append(append(out, lead...), e.Raw...)
		last = i
	}
	tail := []byte("]")
	if last >= 0 {
		end := &list.Members[len(list.Members)-1]
		tail = list.Raw[end.Offset+len(end.Raw)-list.Offset:]
	}
	whole.text = bytes.Join([][]byte{[]byte("["), out, tail}, nil)
	return whole
}
