package snapshot

import (
	"maps"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

// listOf reads a list. base is the offset of its text in the document.
func (f *file) listOf(d *doc.Document, h head, text []byte, base int) {
	kind := strings.TrimSuffix(h.kind, "List")
	if h.kind == "List" {
		kind = ""
	}
	known := kindOf("", kind)
	if known != nil && h.apiVersion != "" && h.apiVersion != "v1" {
		known = kindOf(h.apiVersion, kind)
	}
	if kind == "" && f.hint.kind != nil {
		known = f.hint.kind
	}
	outline := &d.Outline
	if base > 0 {
		var err error
		if outline, err = doc.Parse(text, limits); err != nil {
			return
		}
		h.items = headOf(outline, outline.Root()).items
	}
	spaces := map[table]map[string]bool{} // the namespaces of what is listed
	within := func(l table) map[string]bool {
		if spaces[l] == nil {
			spaces[l] = map[string]bool{}
		}
		return spaces[l]
	}
	for n := range outline.Children(h.items) {
		at := base + n.Start
		if base == 0 && n.End == h.items.End-1 && torn(d, h) && f.last(d, n) {
			break
		}
		if n.Kind != '{' {
			f.nameless(d, at, head{kind: kind})
			continue
		}
		item := headOf(outline, outline.Children(n))
		if item.items.Kind != 0 && strings.HasSuffix(item.kind, "List") {
			f.listOf(d, item, outline.Value(n), at)
			continue
		}
		item.kind = orElse(item.kind, kind)
		if item.kind == "" && known != nil {
			item.kind = known.name
		}
		if item.kind == "" {
			if !f.plain(d, outline.Value(n), at) {
				f.skip(d, at)
			}
			continue
		}
		if l := f.object(d, outline.Value(n), at, item, h.apiVersion); l != nil {
			within(l)[item.namespace] = true
		}
	}
	if known != nil {
		within(known.list(&f.s))
	}
	f.lookedAt(spaces, f.position(d, base), h.cursor)
}

// lookedAt records that a list was read, which has objects of these namespaces by kind.
func (f *file) lookedAt(spaces map[table]map[string]bool, where Position, cursor string) {
	all := map[string]bool{}
	for _, in := range spaces {
		maps.Copy(all, in)
	}
	delete(all, "")
	for l, in := range spaces {
		f.listed = append(f.listed, l)
		f.looked(l, in, len(all) > 1, where, cursor)
	}
}

// torn reports whether the end of a list is missing. As kubectl and oc write YAML, its kind follows
// its items.
func torn(d *doc.Document, h head) bool {
	return d.Format == doc.YAML && h.kind == "" && h.apiVersion == "v1" && h.items.Kind == '['
}

// last passes over the last element of a list that is cut off, of which a part may be missing; false if
// that was lost already.
func (f *file) last(d *doc.Document, n doc.Node) bool {
	where := f.position(d, n.Start)
	if last := len(d.Lost) - 1; last >= 0 && d.Lost[last].Err.Pos.Line > where.Line {
		d.Lost[last].Cut = true
		return false
	}
	d.Lost = append(d.Lost, doc.Lost{Err: &doc.Error{Pos: where, Message: "the list is cut off here: its end is missing"}, Text: d.Value(n), Cut: true})
	return true
}
