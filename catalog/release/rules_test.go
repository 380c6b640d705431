package release_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/release"
)

// text writes package kiln. A line is a channel, "stable: x, where < is what an entry replaces, ~ what it skips and @ its
// skipRange; a bundle in it is made of its version, with the requirements in needs.
func text(needs map[string]string, channels ...string) string {
	out := fmt.Sprintf(`{"schema": "olm.package", "name": "kiln", "defaultChannel": %q}`, strings.SplitN(channels[0], ":", 2)[0]) + "\n"
	made := map[string]bool{}
	for _, line := range channels {
		name, list, _ := strings.Cut(line, ": ")
		var entries []string
		for _, word := range strings.Fields(list) {
			word, ranged, _ := strings.Cut(word, "@")
			word, skips, _ := strings.Cut(word, "~")
			v, replaces, _ := strings.Cut(word, "<")
			e := fmt.Sprintf(`{"name": "kiln.v%s"`, v)
			if replaces != "" {
				e += fmt.Sprintf(`, "replaces": "kiln.v%s"`, replaces)
			}
			if skips != "" {
				e += `, "skips": ["kiln.v` + strings.ReplaceAll(skips, "~", `", "kiln.v`) + `"]`
			}
			if ranged != "" {
				e += fmt.Sprintf(`, "skipRange": %q`, ranged)
			}
			entries = append(entries, e+"}")
			if made[v] {
				continue
			}
			made[v] = true
			more := ""
			if needs[v] != "" {
				more = ", " + needs[v]
			}
			out += fmt.Sprintf(`{"schema": "olm.bundle", "package": "kiln", "name": "kiln.v%s", "image": "r.io/kiln:%[1]s", "properties": [{"type": "olm.package", "value": {"packageName": "kiln", "version": "%[1]s"}}%s]}`, v, more) + "\n"
		}
		out += fmt.Sprintf(`{"schema": "olm.channel", "package": "kiln", "name": %q, "entries": [%s]}`, name, strings.Join(entries, ", ")) + "\n"
	}
	return out
}

func files(text string) fstest.MapFS { return fstest.MapFS{"catalog.json": {Data: []byte(text)}} }

func evaluate(t *testing.T, before, after string, opts *release.Options) *release.Report {
	t.Helper()
	old, err := catalog.Open(t.Context(), files(before), nil)
	if err != nil && old == nil {
		t.Fatal(err)
	}
	r, err := release.Evaluate(t.Context(), old, files(after), opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// codes returns the codes of the findings, each once, sorted.
func codes(r *release.Report) string {
	var all []string
	for _, f := range r.Findings {
		if !slices.Contains(all, string(f.Code)) {
			all = append(all, string(f.Code))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestFixes: which edits are offered, and who is left.
func TestFixes(t *testing.T) {
	one := func(channels ...string) []string { return channels }
	many, skipping := "stable: 1.0.0", "stable:"
	for i := 1; i < 80; i++ {
		many += fmt.Sprintf(" 1.%d.0<1.%d.0", i, i-1)
	}
	skipping += " 2.0.0"
	for _, c := range []struct {
		what          string
		before, after []string
		fixes         string
		left          int
	}{
		{"an entry gets back what it replaced", one("stable: 1.0.0 1.1.0<1.0.0"), one("stable: 1.0.0 1.1.0 1.2.0<1.1.0~1.0.5"),
			"package kiln, channel stable: kiln.v1.1.0 replaces kiln.v1.0.0 again", 0},
		{"what it replaces now stays", one("stable: 1.0.0 1.1.0<1.0.0 1.2.0<1.1.0"), one("stable: 1.0.0 1.2.0<1.0.0"),
			"package kiln, channel stable: kiln.v1.2.0 skips kiln.v1.1.0", 0},
		{"an entry gets its skipRange back", one("stable: 1.0.0 1.1.0@<1.1.0"), one("stable: 1.1.0"),
			"package kiln, channel stable: kiln.v1.1.0 has the skipRange \"<1.1.0\" again", 0},
		{"many are skipped by a range", one(many), one(skipping),
			"package kiln, channel stable: kiln.v2.0.0 has the skipRange \">=1.0.0 <2.0.0\" again", 0},
		{"what it replaces now stays, though nobody has it", one("stable: 1.1.0 1.2.0<1.1.0"), one("stable: 1.2.0<1.0.9"),
			"package kiln, channel stable: kiln.v1.2.0 skips kiln.v1.1.0", 0},
		{"of two heads one replaces the other", one("stable: 1.0.0 1.1.0<1.0.0"), one("stable: 1.2.0<1.1.0 1.0.0 1.1.0 1.0.5<1.0.0"),
			"package kiln, channel stable: kiln.v1.1.0 replaces kiln.v1.0.5", 0},
		{"of two heads the newest one skips the other", one("stable: 1.0.0 1.1.0<1.0.0"), one("stable: 1.2.0<1.0.0 1.0.0 1.1.0<1.0.0"),
			"package kiln, channel stable: kiln.v1.2.0 skips kiln.v1.1.0", 0},
		{"a skipRange that is there stays", one(many), one(skipping + "@<0.1.0"), "", -1},
	} {
		r := evaluate(t, text(nil, c.before...), text(nil, c.after...), nil)
		var fixes []string
		for _, f := range r.Fixes {
			fixes = append(fixes, f.String())
		}
		got := strings.Join(fixes, "; ")
		if c.left < 0 {
			if strings.Contains(got, "skipRange") || got == "" {
				t.Errorf("%s: %.200s", c.what, got)
			}
			continue
		}
		if got != c.fixes || len(r.Left) != c.left || r.Patch == nil {
			t.Errorf("%s: %s; left %v", c.what, got, r.Left)
		}
	}
}

// TestNoFix: as long as a document of the new catalog cannot be read, who is stranded is not
// known, and no edit is offered.
func TestNoFix(t *testing.T) {
	broken := text(nil, "stable: 1.1.0") + `{"schema": "olm.channel", "package": "kiln", "name": 7}` + "\n"
	r := evaluate(t, text(nil, "stable: 1.0.0 1.1.0<1.0.0"), broken, nil)
	if r.Passes() || r.Diff.Stranded() != 0 || !slices.Equal(r.Unknown, []string{"kiln"}) || r.Patch != nil || r.Fixes != nil {
		t.Errorf("passes: %v, unknown: %v, fixes: %v", r.Passes(), r.Unknown, r.Fixes)
	}
	var out strings.Builder
	if err := r.WriteMarkdown(&out, nil); err != nil || !strings.HasPrefix(out.String(), "**Not known.** A part of the new catalog") || strings.Contains(out.String(), "What changed") {
		t.Errorf("%v: %s", err, out.String())
	}
}

// TestPasses: what a release does not pass with.
func TestPasses(t *testing.T) {
	old := "stable: 1.0.0 1.1.0<1.0.0"
	for _, c := range []struct {
		what          string
		before, after string
		passes        bool
		codes         string
	}{
		{"nothing changes", text(nil, old), text(nil, old), true, ""},
		{"a part of the old catalog cannot be read", text(nil, old) + `{"schema": "olm.channel", "package": "kiln", "name": 7}` + "\n", text(nil, old), false, ""},
		{"somebody is stranded", text(nil, old), text(nil, "stable: 1.1.0"), false, "stranded-users"},
		{"a fix of an older line that the newer one does not accept",
			text(nil, "v1: 1.0.0", "v2: 2.0.0<1.0.0"), text(nil, "v1: 1.0.0 1.0.1<1.0.0", "v2: 2.0.0<1.0.0"), false, "next-channel"},
		{"the newer line accepts it", text(nil, "v1: 1.0.0", "v2: 2.0.0<1.0.0"), text(nil, "v1: 1.0.0 1.0.1<1.0.0", "v2: 2.0.0<1.0.0@<2.0.0"), true, ""},
		{"it did not accept the head before either", text(nil, "v1: 1.0.0", "v2: 2.0.0"), text(nil, "v1: 1.0.0 1.0.1<1.0.0", "v2: 2.0.0"), true, ""},
		{"the other line is not later", text(nil, "v2: 2.0.0", "v1: 1.0.0<2.0.0"), text(nil, "v2: 2.0.0 2.0.1<2.0.0", "v1: 1.0.0<2.0.0"), true, ""},
		{"no new head, and the newer line no longer accepts it", text(nil, "v1: 1.0.0", "v2: 2.0.0<1.0.0"), text(nil, "v1: 1.0.0", "v2: 2.0.0"), true, ""},
		{"no new head", text(nil, "v1: 1.0.0", "v2: 2.0.0<1.0.0"), text(nil, "v1: 1.0.0", "v2: 2.0.0<1.0.0 2.1.0<2.0.0"), true, ""},
	} {
		r := evaluate(t, c.before, c.after, nil)
		if r.Passes() != c.passes || codes(r) != c.codes {
			t.Errorf("%s: passes: %v, %s, %v", c.what, r.Passes(), codes(r), r.Findings)
		}
	}
}

// TestUsers: a bundle counts once, whatever channels its users follow, and if updates lead
// from it to a head by the rules of v0 or of v1.
func TestUsers(t *testing.T) {
	for want, channels := range map[int][]string{
		2: {"stable: 1.0.0 1.1.0<1.0.0", "fast: 1.0.0 1.1.0<1.0.0"},
		3: {"stable: 1.0.0 1.1.0<1.0.0 1.2.0<1.1.0"},
		5: {"stable: 1.0.0 1.1.0<1.0.0 1.2.0~1.1.0", "fast: 1.3.0 1.4.0<1.3.0"}, // v0 does not install what is skipped
		4: {"stable: 1.0.0 1.1.0<1.0.0 1.2.0<1.1.0~1.0.0", "fast: 1.3.0"},
	} {
		if r := evaluate(t, text(nil, channels...), text(nil, channels...), nil); r.Users != want {
			t.Errorf("%v: %d users", channels, r.Users)
		}
	}
}

// A ruler refuses every user of a catalog that has one of the requirements.
type ruler struct {
	refused string             // what nothing provides, in the text of a property
	unmet   []catalog.Property // of the old catalog
	asked   *[]string
}

func (r ruler) Reach(_ context.Context, c *catalog.Catalog, _, channel string, from catalog.Installed) (string, error) {
	*r.asked = append(*r.asked, channel+" "+from.Name)
	p, _ := c.Package("kiln")
	for b := range p.Bundles() {
		facts, err := b.Facts()
		if err != nil {
			return "", err
		}
		for _, f := range facts {
			if strings.Contains(string(f.Value), r.refused) {
				return r.refused + " is missing", nil
			}
		}
	}
	return "", nil
}

func (r ruler) Unmet(context.Context, *catalog.Catalog) ([]catalog.Property, error) {
	return r.unmet, nil
}

// TestRequirements: who is asked about, and what counts as met.
func TestRequirements(t *testing.T) {
	const old, now = "stable: 1.0.0 1.1.0<1.0.0", "stable: 1.0.0 1.1.0<1.0.0 1.2.0<1.1.0"
	need := func(pkg, versions string) string {
		return fmt.Sprintf(`{"type": "olm.package.required", "value": {"packageName": %q, "versionRange": %q}}`, pkg, versions)
	}
	constraint := `{"type": "olm.constraint", "value": {"failureMessage": "m", "package": {"packageName": "clay", "versionRange": ">=1.0.0"}}}`
	unmet := func(text string) []catalog.Property {
		p := catalog.Property{Type: "olm.package.required", Value: []byte(text)}
		if strings.Contains(text, "kind") {
			p.Type = "olm.gvk.required"
		}
		return []catalog.Property{p}
	}
	for _, c := range []struct {
		what          string
		before, after map[string]string
		unmet         []catalog.Property
		unresolved    int
		asked         int
		elsewhere     int
	}{
		{"nothing is required", nil, nil, nil, 0, 0, 0},
		{"the new head requires something", nil, map[string]string{"1.2.0": need("clay", ">=1.0.0")}, nil, 2, 4, 0},
		{"as a constraint", nil, map[string]string{"1.2.0": constraint}, nil, 2, 4, 0},
		{"it failed before, too", map[string]string{"1.1.0": need("clay", ">=1.0.0")}, map[string]string{"1.1.0": need("clay", ">=1.0.0")}, nil, 0, 4, 0},
		{"nothing met it before: it is elsewhere, whatever the range", map[string]string{"1.1.0": need("clay", ">=1.0.0")},
			map[string]string{"1.1.0": need("clay", ">=1.0.0"), "1.2.0": need("clay", ">=2.0.0")},
			unmet(`{"versionRange": ">=1.0.0", "packageName": "clay"}`), 0, 2, 1},
		{"the same API, written in another order", map[string]string{"1.1.0": `{"type": "olm.gvk.required", "value": {"kind": "clay", "group": "g.io", "version": "v1"}}`},
			map[string]string{"1.1.0": `{"type": "olm.gvk.required", "value": {"kind": "clay", "group": "g.io", "version": "v1"}}`, "1.2.0": `{"type": "olm.gvk.required", "value": {"group": "g.io", "version": "v1", "kind": "clay"}}`},
			unmet(`{"group": "g.io", "kind": "clay", "version": "v1"}`), 0, 2, 1},
		{"of another package of the catalog the range matters", nil, map[string]string{"1.2.0": need("kiln", ">=9.0.0")},
			unmet(`{"packageName": "kiln", "versionRange": ">=8.0.0"}`), 2, 4, 1},
	} {
		var asked []string
		refused := "clay"
		if strings.HasPrefix(c.what, "of another") {
			refused = ">=9.0.0"
		}
		r := evaluate(t, text(c.before, old), text(c.after, now), &release.Options{Resolver: ruler{refused, c.unmet, &asked}})
		if len(r.Unresolved) != c.unresolved || len(asked) != c.asked || r.Resolved != c.asked || r.Elsewhere != c.elsewhere {
			t.Errorf("%s: unresolved %v, asked %q, %d elsewhere", c.what, r.Unresolved, asked, r.Elsewhere)
		}
	}
	// Who is stranded in the graph is not asked about.
	var asked []string
	evaluate(t, text(nil, old), text(map[string]string{"1.2.0": need("clay", "*")}, "stable: 1.1.0 1.2.0<1.1.0"), &release.Options{Resolver: ruler{"clay", nil, &asked}})
	if slices.Contains(asked[:1], "stable kiln.v1.0.0") {
		t.Errorf("asked %q", asked)
	}
}

// TestBreaks: which update is looked at, and what the old bundle did before is no fault.
func TestBreaks(t *testing.T) {
	for _, c := range []struct {
		what          string
		before, after string
		breaks        map[string]string // by "from to": what changes
		codes         string
	}{
		{"a new bundle", text(nil, "stable: 1.0.0 1.1.0<1.0.0"), text(nil, "stable: 1.0.0 1.1.0<1.0.0 1.2.0<1.1.0"), map[string]string{"1.1.0 1.2.0": "a field"}, "breaking-crd"},
		{"from what it replaces, not from what it skips", text(nil, "stable: 1.0.0 1.1.0<1.0.0"), text(nil, "stable: 1.0.0 1.1.0<1.0.0 1.2.0<1.1.0~1.0.0"), map[string]string{"1.0.0 1.2.0": "a field"}, ""},
		{"from what it replaces in one channel, not from what it skips in another", text(nil, "fast: 1.0.0", "stable: 1.0.0 1.1.0<1.0.0"), text(nil, "fast: 1.2.0~1.0.0", "stable: 1.0.0 1.1.0<1.0.0 1.2.0<1.1.0"), map[string]string{"1.0.0 1.2.0": "a field"}, ""},
		{"it did so before", text(nil, "stable: 1.0.0 1.1.0<1.0.0"), text(map[string]string{"1.1.0": `{"type": "olm.maxOpenShiftVersion", "value": "4.20"}`}, "stable: 1.0.0 1.1.0<1.0.0"), map[string]string{"1.0.0 1.1.0": "a field"}, ""},
	} {
		r := evaluate(t, c.before, c.after, &release.Options{Breaks: func(_ context.Context, from, to *catalog.Bundle) ([]string, error) {
			if what := c.breaks[strings.ReplaceAll(from.Name()+" "+to.Name(), "kiln.v", "")]; what != "" {
				return []string{what}, nil
			}
			return nil, nil
		}})
		if codes(r) != c.codes {
			t.Errorf("%s: %v", c.what, r.Findings)
		}
	}
}
