package doc

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strconv"
)

// Numbers is how [AppendCanonical] writes numbers.
type Numbers int

// The ways of writing numbers. With all but the first, a number that is not one
// of the integers is written as the float64 that it denotes.
const (
	NumbersAsWritten Numbers = iota
	NumbersOfYAML            // integers up to 64 bits, signed or not: as in a YAML document that is converted to JSON
	NumbersOfObject          // integers up to 64 bits, signed: as after decoding into Kubernetes' generic object
)

// AppendCanonical appends a value without white space, with sorted members and
// one way of writing each string, as encoding/json does. A nil value is null.
func AppendCanonical(out []byte, v *Value, how Numbers) []byte {
	if v == nil {
		return append(out, "null"...)
	}
	switch v.Kind {
	case '{':
		members := make([]*Value, len(v.Members))
		for i := range v.Members {
			members[i] = &v.Members[i]
		}
		slices.SortStableFunc(members, func(a, b *Value) int { return cmp.Compare(a.Key, b.Key) })
		out = append(out, '{')
		for i, m := range members {
			if i > 0 {
				out = append(out, ',')
			}
			out = AppendCanonical(append(AppendText(out, m.Key), ':'), m, how)
		}
		return append(out, '}')
	case '[':
		out = append(out, '[')
		for i := range v.Members {
			if i > 0 {
				out = append(out, ',')
			}
			out = AppendCanonical(out, &v.Members[i], how)
		}
		return append(out, ']')
	case '"':
		text, _ := v.Text()
		return AppendText(out, text)
	case '0':
		return appendNumber(out, v.Raw, how)
	}
	return append(out, v.Raw...)
}

func appendNumber(out, raw []byte, how Numbers) []byte {
	if how == NumbersAsWritten {
		return append(out, raw...)
	}
	digits := string(raw)
	if i, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return strconv.AppendInt(out, i, 10)
	}
	if u, err := strconv.ParseUint(digits, 10, 64); err == nil && how == NumbersOfYAML {
		return strconv.AppendUint(out, u, 10)
	}
	f, _ := strconv.ParseFloat(digits, 64)
	text, err := json.Marshal(f)
	if err != nil { // beyond the range of a float64
		return append(out, raw...)
	}
	return append(out, text...)
}

// AppendText appends a string as JSON.
func AppendText(out []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, _ := json.Marshal(s) // a string always has a JSON form
			return append(out, text...)
		}
	}
	return append(append(append(out, '"'), s...), '"')
}

// WriteIndented writes a value as JSON for people to read: indented, and
// without escapes for HTML.
func WriteIndented(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(value)
}
