package doc

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
)

// AppendCanonical writes a value without white space, members sorted, texts
// spelt in one way; numbers stay as they are.
func AppendCanonical(out []byte, v *Value) []byte {
	switch v.Kind {
	case '{':
		members := make([]*Value, len(v.Members))
		for i := range v.Members {
			members[i] = &v.Members[i]
		}
		slices.SortFunc(members, func(a, b *Value) int { return cmp.Compare(a.Key, b.Key) })
		out = append(out, '{')
		for i, m := range members {
			if i > 0 {
				out = append(out, ',')
			}
			out = AppendCanonical(append(AppendText(out, m.Key), ':'), m)
		}
		return append(out, '}')
	case '[':
		out = append(out, '[')
		for i := range v.Members {
			if i > 0 {
				out = append(out, ',')
			}
			out = AppendCanonical(out, &v.Members[i])
		}
		return append(out, ']')
	case '"':
		text, _ := v.Text()
		return AppendText(out, text)
	}
	return append(out, v.Raw...)
}

// AppendText writes a string as JSON.
func AppendText(out []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil { // texts are UTF-8
		return append(out, `""`...)
	}
	return append(out, text...)
}

// WriteIndented writes a value as JSON for people: indented, without escapes
// for HTML.
func WriteIndented(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(value)
}
