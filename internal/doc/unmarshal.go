//go:build !goexperiment.jsonv2

package doc

import (
	"encoding/json"
	"errors"
)

// Unmarshal decodes JSON text that the scan has passed, so it is well formed,
// UTF-8 and free of duplicate keys. Field names are taken in any case. at is
// the offset of what does not fit, or lies within it.
func Unmarshal(text []byte, v any) (at int, err error) {
	err = json.Unmarshal(text, v)
	if e := (*json.UnmarshalTypeError)(nil); errors.As(err, &e) {
		at = max(int(e.Offset)-1, 0)
	}
	return at, err
}
