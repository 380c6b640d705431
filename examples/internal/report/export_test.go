package report

import (
	"encoding/json"
	"io"
)

// Ask writes the question of a live page to its engines: an input, its report, and the
// change to try.
func Ask(to io.Writer, in *Input, before *Report, change Change) error {
	e, err := embed(in)
	if err != nil {
		return err
	}
	return json.NewEncoder(to).Encode(question{e, before, change})
}
