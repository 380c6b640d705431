package release_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/release"
)

// listing returns the files of a catalog of one channel, with a bundle for each entry.
func listing(entries ...catalog.Entry) fstest.MapFS {
	var text strings.Builder
	list, err := json.Marshal(entries)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(&text, `{"schema": "olm.package", "name": "kiln", "defaultChannel": "stable"}
{"schema": "olm.channel", "package": "kiln", "name": "stable", "entries": %s}
`, list)
	for _, e := range entries {
		fmt.Fprintf(&text, `{"schema": "olm.bundle", "package": "kiln", "name": %q, "image": %q, "properties": [{"type": "olm.package", "value": {"packageName": "kiln", "version": %q}}]}
`, e.Name, "quay.io/kiln/"+e.Name, strings.TrimPrefix(e.Name, "kiln.v"))
	}
	return fstest.MapFS{"c.json": {Data: []byte(text.String())}}
}

// TestCorrected: what an entry replaces is corrected as validation advises, instead of being
// skipped around, and the corrected catalog passes.
func TestCorrected(t *testing.T) {
	first, second := catalog.Entry{Name: "kiln.v1.0.0"}, catalog.Entry{Name: "kiln.v1.1.0", Replaces: "kiln.v1.0.0"}
	third := catalog.Entry{Name: "kiln.v1.2.0", Replaces: "kiln.v1.1.0"}
	replacing := func(name, what string) catalog.Entry { return catalog.Entry{Name: name, Replaces: what} }
	for what, c := range map[string]struct {
		after []catalog.Entry
		want  string
	}{
		"without the prefix":    {[]catalog.Entry{first, second, third, replacing("kiln.v1.3.0", "v1.2.0")}, "kiln.v1.3.0 replaces kiln.v1.2.0 instead of v1.2.0"},
		"a digit too few":       {[]catalog.Entry{first, second, third, replacing("kiln.v1.3.0", "kiln.v1.20")}, "kiln.v1.3.0 replaces kiln.v1.2.0 instead of kiln.v1.20"},
		"a build that is gone":  {[]catalog.Entry{first, second, third, replacing("kiln.v1.3.0", "kiln.v1.2.0-7")}, "kiln.v1.3.0 replaces kiln.v1.2.0 instead of kiln.v1.2.0-7"},
		"forgotten":             {[]catalog.Entry{first, second, third, {Name: "kiln.v1.3.0"}}, "kiln.v1.3.0 replaces kiln.v1.2.0"},
		"a fork is meant":       {[]catalog.Entry{first, second, third, replacing("kiln.v1.3.0", "kiln.v1.1.0")}, "kiln.v1.3.0 skips kiln.v1.2.0"},
		"changed in the middle": {[]catalog.Entry{first, replacing("kiln.v1.1.0", "kiln.v1.0.O"), third}, "kiln.v1.1.0 replaces kiln.v1.0.0 instead of kiln.v1.0.O"},
		"lost in the middle":    {[]catalog.Entry{first, {Name: "kiln.v1.1.0"}, third}, "kiln.v1.1.0 replaces kiln.v1.0.0 again"},
	} {
		before, err := catalog.Open(t.Context(), listing(first, second, third), nil)
		if err != nil {
			t.Fatal(err)
		}
		after := listing(c.after...)
		r, err := release.Evaluate(t.Context(), before, after, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Passes() || len(r.Fixes) != 1 || r.Fixes[0].String() != "package kiln, channel stable: "+c.want {
			t.Errorf("%s: %v, want %s", what, r.Fixes, c.want)
			continue
		}
		fixed, err := r.Patch.Patched(after)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := release.Evaluate(t.Context(), before, fixed, nil); err != nil || !again.Passes() {
			t.Errorf("%s: corrected, it does not pass: %v, %v", what, again.Findings, err)
		}
	}
}
