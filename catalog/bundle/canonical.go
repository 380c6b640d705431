package bundle

import (
	"encoding/json"
	"strings"
)

// marshal returns v as compact JSON without the escapes for HTML, as the
// reference builds the properties it derives.
func marshal(v any) json.RawMessage {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("bundle: marshal " + err.Error()) // the types of this package can always be marshalled
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}
