package doc

import "math"

// Load parses the source of one document that a Reader has returned before and
// checked against its limits. It is read as after [Reader.YAML11] and
// [Reader.LastKeys]. The text is kept, not copied.
func Load(raw []byte, start Position, format Format) (*Document, error) {
	limits := Limits{Size: math.MaxInt, Depth: math.MaxInt - 1, Nodes: math.MaxInt}
	d := &Document{Raw: raw, Start: start, Format: format}
	s := scanner{max: limits.Depth, level: levels, repeats: format == JSON}
	if format == YAML {
		w := &yamlWriter{old: true, last: true}
		json, marks, err := w.convert(raw, start, limits, &s)
		if err != nil {
			return nil, err
		}
		d.JSON, d.nodes, d.marks, d.words, d.twice = json, s.nodes, marks, w.words, w.twice
		return d, nil
	}
	if _, ok := s.scan(raw, 0, true); !ok {
		return nil, s.error(start, 0, limits)
	}
	s.repeats = false
	d.outline(&s)
	return d, nil
}

// Source is a document that was read before, with its position.
type Source interface {
	Raw() ([]byte, error) // its text, read now
	Start() Position      // where it begins in its file
	IsYAML() bool         // whether it is YAML, and not JSON
}

// Reload reads the text of a document again, and parses it with [Load]. An
// error of Load is returned as a *Diagnostic.
func Reload(s Source) (*Document, error) {
	raw, err := s.Raw()
	if err != nil {
		return nil, err
	}
	format := JSON
	if s.IsYAML() {
		format = YAML
	}
	d, err := Load(raw, s.Start(), format)
	if err != nil {
		return nil, Diagnose(err)
	}
	return d, nil
}
