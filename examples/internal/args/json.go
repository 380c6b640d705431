package args

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Beside adds a member to every JSON object that the call prints, such as the clock that its ages
// count from. The first value of a name counts; nil keeps it out.
func (c *Call) Beside(name string, value any) {
	if c.beside == nil {
		c.beside = map[string]any{}
	}
	if _, there := c.beside[name]; !there {
		c.beside[name] = value
	}
}

// JSON prints a value as indented JSON: an object with what is [Call.Beside] it.
func (c *Call) JSON(v any) error {
	text, err := c.Compact(v)
	var out bytes.Buffer
	if err == nil {
		err = json.Indent(&out, text, "", "  ")
	}
	if err == nil {
		out.WriteByte('\n')
		_, err = c.Stdout.Write(out.Bytes())
	}
	return err
}

// Compact is what JSON prints, in a line.
func (c *Call) Compact(v any) ([]byte, error) {
	beside := maps.Clone(c.beside)
	maps.DeleteFunc(beside, func(_ string, value any) bool { return value == nil })
	text, err := compact(v)
	if object, is := bytes.CutSuffix(text, []byte("}")); err == nil && is && len(object) > 1 && len(beside) > 0 {
		var more []byte
		if more, err = compact(beside); err == nil {
			text = slices.Concat(object, []byte(","), more[1:])
		}
	}
	return text, err
}

// compact is the JSON of a value, in a line, without escapes for HTML.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
