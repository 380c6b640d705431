package fbc

import (
	"testing"

	"github.com/fairlead/fairlead/examples/internal/args"
)

// The verdict and the codes of findings are coloured, and nothing else.
func TestSeverity(t *testing.T) {
	for _, c := range []struct {
		line, part string
		colour     args.Colour
	}{
		{"valid: 2 packages", "valid", args.Good},
		{"valid, with 3 warnings: 2 packages", "valid, with 3 warnings", args.Warning},
		{"not valid: 1 finding", "not valid", args.Bad},
		{"a.yaml:1:2: a [b] is wrong [cycle]", "[cycle]", args.Bad},
		{"a.yaml:1:2: it is a tag [warning: image-tag]", "[warning: image-tag]", args.Warning},
		{"something else", "", ""},
		{"", "", ""},
	} {
		from, to, colour := severity([]byte(c.line))
		if part := c.line[min(from, to):to]; colour != c.colour || colour != "" && part != c.part {
			t.Errorf("%q: %q in %q, want %q in %q", c.line, part, colour, c.part, c.colour)
		}
	}
}
