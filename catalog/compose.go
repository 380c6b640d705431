package catalog

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

// composer makes a catalog of documents of others, some of them changed. What
// is not changed is not read: it stays where it lies.
type composer struct {
	file *fileIndex
	x    *indexer
}

func newComposer() *composer {
	o := (*Options)(nil).withDefaults()
	k := &composer{file: &fileIndex{}, x: newIndexer(&o)}
	k.x.file = k.file
	return k
}

// keep takes over a document as it is.
func (k *composer) keep(d *Document) { k.file.docs = append(k.file.docs, d) }

func (k *composer) keepPackage(r *packageRecord) {
	k.keep(r.doc)
	k.file.packages = append(k.file.packages, r)
}

func (k *composer) keepChannel(r *channelRecord) {
	k.keep(r.doc)
	k.file.channels = append(k.file.channels, r)
}

func (k *composer) keepBundle(r *bundleRecord) {
	k.keep(r.doc)
	k.file.bundles = append(k.file.bundles, r)
}

func (k *composer) keepDeprecations(d *Document) {
	k.keep(d)
	k.file.deprecations = append(k.file.deprecations, d)
}

// replace takes in another text, of JSON, for a document. Its position stays
// that of the old one.
func (k *composer) replace(d *Document, text []byte) error {
	loaded, err := doc.Load(text, d.start, doc.JSON)
	if err != nil {
		return Diagnose(err)
	}
	n := len(k.file.docs)
	k.x.document(loaded)
	if len(k.file.faults) > 0 {
		return k.file.faults
	}
	for _, made := range k.file.docs[n:] {
		made.src, made.offset = memory(text), 0
	}
	return nil
}

// catalog returns what has been taken in, in the order of files.
func (k *composer) catalog() *Catalog {
	c := &Catalog{opts: (*Options)(nil).withDefaults(), files: []*fileIndex{k.file}}
	slices.SortStableFunc(k.file.docs, func(a, b *Document) int { return a.start.Compare(b.start) })
	slices.SortStableFunc(k.file.packages, func(a, b *packageRecord) int { return a.doc.start.Compare(b.doc.start) })
	slices.SortStableFunc(k.file.channels, func(a, b *channelRecord) int { return a.doc.start.Compare(b.doc.start) })
	slices.SortStableFunc(k.file.bundles, func(a, b *bundleRecord) int { return a.doc.start.Compare(b.doc.start) })
	c.assemble()
	return c
}

// edit is a change of a text: what stands at an extent gives way to another.
type edit struct {
	start, end int
	text       []byte
}

// apply makes edits, which do not overlap.
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

// keepElements returns the edit that leaves of a list the elements that keep
// takes. All that stands between those left stays as it is.
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

// memberOf returns the member of an object by its name, in any case.
func memberOf(v *doc.Value, name string) *doc.Value {
	found := v.Get(name)
	for i := range v.Members {
		if found == nil && strings.EqualFold(v.Members[i].Key, name) {
			found = &v.Members[i]
		}
	}
	return found
}
