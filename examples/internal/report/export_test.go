package report

import (
	"encoding/json"
	"io"
)

// Ask writes what a live page asks its engines: what becomes of an input, of which there is
// a report, with the change.
func Ask(to io.Writer, in *Input, before *Report, change Change) error {
	e, err := embed(in)
	if err != nil {
		return err
	}
	return json.NewEncoder(to).Encode(question{e, before, change})
}
