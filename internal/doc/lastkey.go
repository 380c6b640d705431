package doc

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// Lenient makes r read what Kubernetes' tools read, too: objects in which a key
// stands twice, of which the last one counts ([Document.Repeats] lists them),
// and YAML documents that are null, which do not count. JSON text with such a
// key is read as the YAML that it is, too.
func (r *Reader) Lenient() { r.yaml.last = true }

// Repeat is a key that stands again in an object which has it already.
type Repeat struct {
	Pos Position // where it stands again
	Key string   // what it is
}

// Repeats returns the keys that stand again in the object they belong to, in
// the order of the document, if it was read with [Reader.Lenient].
func (d *Document) Repeats() []Repeat {
	all := make([]Repeat, 0, len(d.twice))
	for _, w := range d.twice {
		all = append(all, Repeat{relative(d.Start, w.line, w.column), w.text})
	}
	slices.SortStableFunc(all, func(a, b Repeat) int { return a.Pos.Compare(b.Pos) })
	return slices.Compact(all) // an alias writes a key out again
}

// lastKeys returns where each key of a mapping stands last, if that counts.
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
