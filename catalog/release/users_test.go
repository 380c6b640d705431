package release_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
)

// TestSeveralHeads: OLM v0 resolves nothing for users of a channel with several heads, those
// of the old head among them.
func TestSeveralHeads(t *testing.T) {
	for _, c := range []struct{ what, after, stranded string }{
		{"the new head replaces nothing", "stable: 1.0.0 1.1.0<1.0.0 1.2.0", "1.0.0 1.1.0"},
		{"the old one is listed last", "stable: 1.2.0 1.0.0 1.1.0<1.0.0", "1.0.0 1.1.0"},
		{"the new one is a fork", "stable: 1.0.0 1.2.0<1.0.0 1.1.0<1.0.0", "1.0.0 1.1.0"},
		{"one head", "stable: 1.0.0 1.1.0<1.0.0 1.2.0<1.1.0", ""},
	} {
		r := evaluate(t, text(nil, "stable: 1.0.0 1.1.0<1.0.0"), text(nil, c.after), nil)
		var stranded []string
		for _, p := range r.Diff.Packages {
			for _, s := range p.Stranded {
				stranded = append(stranded, strings.TrimPrefix(s.Bundle, "kiln.v"))
				if !strings.Contains(s.Why, "2 heads") || !slices.Contains(s.Rules, catalog.OLMv0) {
					t.Errorf("%s: %s by %v: %s", c.what, s.Bundle, s.Rules, s.Why)
				}
			}
		}
		if got := strings.Join(stranded, " "); got != c.stranded || r.Passes() != (got == "") {
			t.Errorf("%s: stranded %q; %v", c.what, got, r.Findings)
		}
	}
	// Who had several heads before is not newly stranded by OLM v0.
	r := evaluate(t, text(nil, "stable: 1.0.0 1.1.0"), text(nil, "stable: 1.0.0 1.1.0 1.2.0<1.1.0"), nil)
	if r.Diff.Stranded() != 0 {
		t.Error(r.Findings)
	}
}

// TestTakenBack: a head that skips what is newer than itself says whose users it takes back.
func TestTakenBack(t *testing.T) {
	before, after := text(nil, "stable: 1.0.0 1.1.0<1.0.0 1.2.0<1.1.0 1.3.0<1.2.0"), text(nil, "stable: 1.0.0 1.1.0<1.0.0")
	r := evaluate(t, before, after, nil)
	if len(r.Fixes) != 1 || !slices.Equal(r.Fixes[0].Back, []string{"kiln.v1.2.0", "kiln.v1.3.0"}) || !slices.Equal(r.Fixes[0].Skips, r.Fixes[0].Back) {
		t.Fatalf("%+v", r.Fixes)
	}
	if want := "takes users of kiln.v1.2.0 and kiln.v1.3.0 back to an older version"; !strings.HasSuffix(r.Fixes[0].String(), want) {
		t.Errorf("%s, want %s", r.Fixes[0], want)
	}
	// Who is skipped by a newer head is not taken back.
	r = evaluate(t, text(nil, "stable: 1.0.0 1.1.0<1.0.0"), text(nil, "stable: 1.0.0 1.2.0<1.0.0"), nil)
	if len(r.Fixes) != 1 || r.Fixes[0].Back != nil || !slices.Equal(r.Fixes[0].Skips, []string{"kiln.v1.1.0"}) {
		t.Errorf("%+v", r.Fixes)
	}
}

// TestImages: a bundle whose image changed while its version stayed is a warning, and does not
// keep a release from passing.
func TestImages(t *testing.T) {
	a, b := "@sha256:"+strings.Repeat("a", 64), "@sha256:"+strings.Repeat("b", 64)
	const first = "r.io/kiln:1.0.0"
	before := text(nil, "stable: 1.0.0 1.1.0<1.0.0")
	for _, c := range []struct {
		old, now string
		warned   bool
	}{
		{first, first, false},
		{first, "r.io/kiln:1.0.0-2", true},
		{"r.io/kiln" + a, "r.io/kiln" + b, true},
		{"r.io/kiln" + a, "mirror.example/oven/kiln" + a, false},
		{"r.io/kiln:1.0.0" + a, "r.io/kiln:1.0.0" + b, true},
		{first, "mirror.example/oven/kiln:1.0.0", false},
		{first, "r.io/kiln" + a, false}, // pinned: whether to the same is not known
		{first, "r.io/oven" + a, true},
		{first, "not a reference", true},
	} {
		old, now := strings.Replace(before, first, c.old, 1), strings.Replace(before, first, c.now, 1)
		r := evaluate(t, old, now, nil)
		if warned := len(r.Warnings) == 1 && r.Warnings[0].Code == "image-changed"; warned != c.warned || !c.warned && len(r.Warnings) > 0 {
			t.Errorf("%s, then %s: %v", c.old, c.now, r.Warnings)
		}
		if !r.Passes() && c.now != "not a reference" {
			t.Errorf("%s, then %s: %v", c.old, c.now, r.Findings)
		}
	}
	// Both bundles are one warning, in each format, and another version is none.
	both := strings.ReplaceAll(before, "r.io/kiln:", "r.io/kiln:again-")
	r := evaluate(t, before, both, nil)
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Message, "2 bundles (kiln.v1.0.0 and kiln.v1.1.0)") || r.Warnings[0].Pos.Line != 2 || r.Warnings[0].Pos.Column == 1 {
		t.Errorf("%v", r.Warnings)
	}
	var page, sarif, commands strings.Builder
	for format, err := range map[string]error{"markdown": r.WriteMarkdown(&page, files(both)), "sarif": r.WriteSARIF(&sarif), "github": r.WriteGitHub(&commands)} {
		if err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
	if !strings.HasPrefix(page.String(), "**Passes.**") || !strings.Contains(page.String(), "kiln.v1.0.0 and kiln.v1.1.0") ||
		!strings.Contains(sarif.String(), `"level": "warning"`) || !strings.HasPrefix(commands.String(), "::warning file=catalog.json,line=2,") {
		t.Errorf("%s\n%s\n%s", page.String(), sarif.String(), commands.String())
	}
	newer := strings.NewReplacer("r.io/kiln:1.0.0", "r.io/kiln:1.0.1", `"version": "1.0.0"`, `"version": "1.0.1"`).Replace(before)
	if r := evaluate(t, before, newer, nil); len(r.Warnings) > 0 {
		t.Error(r.Warnings)
	}
}
