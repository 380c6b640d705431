package payload

import (
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

// Hash returns the hash of manifests in their order, as ClusterVersion shows it
// in status.versionHash: FNV-64 over the text of each, in base64. The JSON
// objects that a file begins with, with nothing but white space around them,
// count as they are written. All else, JSON behind a marker or comment, too,
// counts as JSON without white space and with sorted keys.
func Hash(manifests []*Manifest) string {
	h := fnv.New64()
	var text []byte
	for _, m := range manifests {
		if m.asWritten {
			h.Write(m.JSON)
			continue
		}
		text = appendCanonical(text[:0], doc.Tree(m.JSON))
		h.Write(text)
	}
	return base64.URLEncoding.EncodeToString(h.Sum(nil))
}

// appendCanonical appends a value with sorted keys, without white space, and
// with numbers and text written as encoding/json does.
func appendCanonical(out []byte, v *doc.Value) []byte {
	if v == nil {
		return append(out, "null"...)
	}
	switch v.Kind {
	case '{':
		members := make([]*doc.Value, len(v.Members))
		for i := range v.Members {
			members[i] = &v.Members[i]
		}
		slices.SortFunc(members, func(a, b *doc.Value) int { return strings.Compare(a.Key, b.Key) })
		out = append(out, '{')
		for i, m := range members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendString(out, m.Key), ':')
			out = appendCanonical(out, m)
		}
		return append(out, '}')
	case '[':
		out = append(out, '[')
		for i := range v.Members {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendCanonical(out, &v.Members[i])
		}
		return append(out, ']')
	case '"':
		text, _ := v.Text()
		return appendString(out, text)
	case '0':
		return appendNumber(out, string(v.Raw))
	}
	return append(out, v.Raw...)
}

func appendString(out []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, _ := json.Marshal(s) // a string always has a JSON form
			return append(out, text...)
		}
	}
	return append(append(append(out, '"'), s...), '"')
}

// appendNumber writes whole numbers of up to 64 bits as they are, and others as
// the float64 that they mean.
func appendNumber(out []byte, digits string) []byte {
	if i, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return strconv.AppendInt(out, i, 10)
	}
	if i, err := strconv.ParseUint(digits, 10, 64); err == nil {
		return strconv.AppendUint(out, i, 10)
	}
	f, _ := strconv.ParseFloat(digits, 64)
	text, err := json.Marshal(f)
	if err != nil { // beyond what a float64 holds
		return append(out, digits...)
	}
	return append(out, text...)
}
