package bundle

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

// numbers says how a number is spelt in canonical text.
type numbers int

const (
	// yamlNumbers keeps integers up to 64 bits, signed or not: what becomes of
	// a YAML document that is turned into JSON.
	yamlNumbers numbers = iota
	// objectNumbers keeps integers up to 64 bits, signed: what becomes of a
	// manifest that went through Kubernetes' generic object.
	objectNumbers
)

// appendCanonical appends v with sorted keys, no white space, and strings and
// numbers as encoding/json writes those of Go values: the text that the
// reference makes of a document, byte for byte. What gets lost in it (the
// spelling of numbers, order) gets lost there.
func appendCanonical(out []byte, v *doc.Value, how numbers) []byte {
	switch v.Kind {
	case '{':
		members := slices.Clone(v.Members)
		slices.SortStableFunc(members, func(a, b doc.Value) int { return strings.Compare(a.Key, b.Key) })
		out = append(out, '{')
		for i := range members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendText(out, members[i].Key), ':')
			out = appendCanonical(out, &members[i], how)
		}
		return append(out, '}')
	case '[':
		out = append(out, '[')
		for i := range v.Members {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendCanonical(out, &v.Members[i], how)
		}
		return append(out, ']')
	case '"':
		if plain(v.Raw) {
			return append(out, v.Raw...)
		}
		text, _ := v.Text()
		return appendText(out, text)
	case '0':
		return appendNumber(out, v.Raw, how)
	}
	return append(out, v.Raw...)
}

// plain reports whether a JSON string stands in the text as encoding/json
// writes it.
func plain(raw []byte) bool {
	for _, c := range raw {
		if c == '\\' || c == '<' || c == '>' || c == '&' || c >= 0x80 || c == 0x7f {
			return false
		}
	}
	return true
}

func appendText(out []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // of a string: never fails
	return append(out, quoted...)
}

func appendNumber(out, raw []byte, how numbers) []byte {
	text := string(raw)
	if !strings.ContainsAny(text, ".eE") {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return strconv.AppendInt(out, i, 10)
		}
		if u, err := strconv.ParseUint(text, 10, 64); err == nil && how == yamlNumbers {
			return strconv.AppendUint(out, u, 10)
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return append(out, raw...)
	}
	quoted, _ := json.Marshal(f) // of a finite number: never fails
	return append(out, quoted...)
}

// marshal returns v as compact JSON without the escapes for HTML, as the
// reference builds the properties it derives.
func marshal(v any) json.RawMessage {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("bundle: marshal " + err.Error()) // the types of this package always marshal
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}
