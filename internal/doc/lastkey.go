package doc

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// Lenient makes r also read what Kubernetes' tools accept: objects with
// duplicate keys, of which the last one counts ([Document.Repeats] lists them),
// and YAML documents that are null, which are skipped. JSON text with such a
// key is read as YAML, which it also is.
func (r *Reader) Lenient() { r.yaml.last = true }

// Repeat is a key that occurs again in an object that already has it.
type Repeat struct {
	Pos Position // where it occurs again
	Key string   // the key
}

// Repeats returns the keys that occur again in the same object, in the order of
// the document, if it was read with [Reader.Lenient].
func (d *Document) Repeats() []Repeat {
	all := make([]Repeat, 0, len(d.twice))
	for _, w := range d.twice {
		all = append(all, Repeat{relative(d.Start, w.line, w.column), w.text})
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
