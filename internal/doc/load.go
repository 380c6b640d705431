package doc

import "math"

// Load parses the source of one document that a Reader has yielded before, and
// checked against its limits. YAML is read as after [Reader.YAML11]. The text
// is kept, not copied.
func Load(raw []byte, start Position, format Format) (*Document, error) {
	limits := Limits{Size: math.MaxInt, Depth: math.MaxInt - 1, Nodes: math.MaxInt}
	d := &Document{Raw: raw, Start: start, Format: format}
	s := scanner{max: limits.Depth, level: levels}
	if format == YAML {
		w := &yamlWriter{old: true}
		json, marks, err := w.convert(raw, start, limits, &s)
		if err != nil {
			return nil, err
		}
		d.JSON, d.marks, d.words = json, marks, w.words
	} else if _, ok := s.scan(raw, 0, true); ok {
		d.JSON = raw
	} else {
		return nil, s.error(start, 0, limits)
	}
	d.nodes = s.nodes
	return d, nil
}
