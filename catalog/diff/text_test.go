package diff_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog/diff"
)

// TestTextOfHostileNames checks that no name begins a line of the text, wherever it stands.
func TestTextOfHostileNames(t *testing.T) {
	const name = "x```\n\n# FORGED\n"
	was := &diff.Values{Old: name, New: name}
	set := &diff.Lists{Added: []string{name}, Removed: []string{name}}
	d := &diff.Diff{
		Packages: []diff.PackageDiff{{
			Name: name, DefaultChannel: was,
			Channels: []diff.ChannelDiff{{Name: name, Heads: was, Entries: set, Edges: set}, {Name: name, Added: true, Heads: was}, {Name: name, Fields: []string{name}}},
			Bundles:  []diff.BundleDiff{{Name: name, Fields: []string{name}, Version: was, Image: was, APIs: set}},
			Stranded: []diff.Stranded{{Channel: name, Bundle: name, Why: name}},
		}},
		Others: []diff.DocumentDiff{{Schema: name, Name: name, Package: name}},
	}
	var out strings.Builder
	if err := d.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if first := strings.TrimLeft(line, " "); first == line && !strings.HasPrefix(line, "~ ") || !strings.ContainsAny(first[:1], "~+-!") {
			t.Errorf("a name begins a line: %q", line)
		}
	}
	if n := strings.Count(out.String(), "# FORGED"); n < 20 {
		t.Errorf("%d names are shown:\n%s", n, out.String())
	}
}
