package release

import (
	"strings"
	"testing"
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
