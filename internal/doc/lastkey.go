package doc

import (
	"slices"
	"sort"

	"gopkg.in/yaml.v3"
)

// Lenient makes r also read what Kubernetes' tools accept: what [Reader.LastKeys] says,
// and YAML documents that are null, which are skipped.
func (r *Reader) Lenient() {
	r.LastKeys()
	r.yaml.nulls = true
}

// LastKeys makes r also read objects with duplicate keys, of which the last one counts:
// Document.JSON lacks the others, and [Document.Repeats] lists them.
func (r *Reader) LastKeys() { r.yaml.last = true }

// Repeat is a key that occurs again in an object that already has it.
type Repeat struct {
	Pos Position // where it occurs again
	Key string   // the key
}

// Repeats returns the keys that occur again in the same object, in the order of
// the document, if it was read with [Reader.LastKeys].
func (d *Document) Repeats() []Repeat {
	all := make([]Repeat, 0, len(d.twice))
	for _, w := range d.twice {
		pos := relative(d.Start, w.line, w.column)
		if d.Format == JSON {
			pos = after(d.Start, d.Raw[:w.line])
		}
		all = append(all, Repeat{pos, w.text})
	}
	slices.SortStableFunc(all, func(a, b Repeat) int { return a.Pos.Compare(b.Pos) })
	return slices.Compact(all) // an alias repeats a key
}

// lastKeys returns where each key of a mapping occurs last, if the last one
// counts.
func (w *yamlWriter) lastKeys(mapping *yaml.Node) map[string]int {
	if !w.last {
		return nil
	}
	at := make(map[string]int, len(mapping.Content)/2)
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if k := mapping.Content[i]; k.Kind != yaml.ScalarNode || k.ShortTag() != "!!merge" {
			if key, err := w.key(k); err == nil {
				at[key] = i
			}
		}
	}
	return at
}

// cut is a place in a JSON text where a member of the source was left out.
type cut struct {
	at      int // offset in the JSON text
	removed int // bytes of the source that are left out before it
}

// Source returns the offset in d.Raw of the byte of the JSON text at an offset, if d is
// written in JSON.
func (d *Document) Source(offset int) int {
	i := sort.Search(len(d.cuts), func(i int) bool { return d.cuts[i].at > offset })
	if i == 0 {
		return offset
	}
	return offset + d.cuts[i-1].removed
}

// leaveOut returns the text of an object without the members whose key occurs again,
// where they were, and the offsets of the keys that occur again.
func leaveOut(text []byte) (rest []byte, cuts []cut, again []word) {
	rest = make([]byte, 0, len(text))
	from := 0
	var walk func(v *Value)
	walk = func(v *Value) {
		last := make(map[string]int, len(v.Members))
		for i := range v.Members {
			m := &v.Members[i]
			if _, ok := last[m.Key]; ok && v.Kind == '{' {
				again = append(again, word{m.KeyOffset, 0, m.Key})
			}
			last[m.Key] = i
		}
		for i := range v.Members {
			m := &v.Members[i]
			if v.Kind == '[' || last[m.Key] == i {
				walk(m)
				continue
			}
			rest = append(rest, text[from:m.KeyOffset]...)
			from = v.Members[i+1].KeyOffset
			cuts = append(cuts, cut{len(rest), from - len(rest)})
		}
	}
	walk(Tree(text))
	return append(rest, text[from:]...), cuts, again
}
