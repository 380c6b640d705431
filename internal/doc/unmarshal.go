//go:build !goexperiment.jsonv2

package doc

import (
	"encoding/json"
	"errors"
)

// Unmarshal decodes JSON text that has passed the scan, and so is well formed,
// UTF-8 and free of duplicate keys. Field names match in any case. at is the
// offset of the value that does not fit, or an offset within it.
func Unmarshal(text []byte, v any) (at int, err error) {
	err = json.Unmarshal(text, v)
	if e := (*json.UnmarshalTypeError)(nil); errors.As(err, &e) {
		at = max(int(e.Offset)-1, 0)
	}
	return at, err
}
