package release

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
)

// TestFence: text that contains fences does not end the block that it stands in.
func TestFence(t *testing.T) {
	m := &markdown{left: 1000}
	m.block("diff", "a\n````\n# FORGED\n```\n", 900)
	if got, want := m.String(), "`````diff\na\n````\n# FORGED\n```\n`````\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	m = &markdown{left: 1000} // cut off
	m.block("", strings.Repeat("``````\n", 100), 300)
	if got := m.String(); !strings.HasPrefix(got, "```````\n") || !strings.HasSuffix(got, "\n```````\n") {
		t.Error(got)
	}
}

// A finding says where the other place is that it is about, and one without a subject starts with what
// is wrong.
func TestOtherPlace(t *testing.T) {
	r := &Report{Findings: catalog.Diagnostics{{
		Pos: catalog.Position{File: "b.yaml", Line: 1, Column: 1}, Also: catalog.Position{File: "a.yaml", Line: 3, Column: 1}, Message: "the file repeats 2 documents of another one",
	}}}
	m := &markdown{left: 1000}
	r.verdict(m)
	if got, want := m.String(), "- `b.yaml:1:1` the file repeats 2 documents of another one, at `a.yaml:3:1`\n"; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}
