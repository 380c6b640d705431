package olm

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
)

const jointShelf = `
{"schema":"olm.package","name":"a","defaultChannel":"s"}
{"schema":"olm.channel","package":"a","name":"s","entries":[{"name":"a.v1"}]}
{"schema":"olm.bundle","package":"a","name":"a.v1","image":"x/a:1","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}},{"type":"olm.package.required","value":{"packageName":"b","versionRange":">=1.0.0"}}]}
{"schema":"olm.package","name":"b","defaultChannel":"s"}
{"schema":"olm.channel","package":"b","name":"s","entries":[{"name":"b.v1"}]}
{"schema":"olm.bundle","package":"b","name":"b.v1","image":"x/b:1","properties":[{"type":"olm.package","value":{"packageName":"b","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"B"}}]}
{"schema":"olm.package","name":"c","defaultChannel":"s"}
{"schema":"olm.channel","package":"c","name":"s","entries":[{"name":"c.v1"}]}
{"schema":"olm.bundle","package":"c","name":"c.v1","image":"x/c:1","properties":[{"type":"olm.package","value":{"packageName":"c","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"B"}}]}
`

// TestCheckTogether breaks each rule of a joint answer.
func TestCheckTogether(t *testing.T) {
	held, err := catalog.Open(t.Context(), fstest.MapFS{"c.json": {Data: []byte(jointShelf)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewResolver([]Source{{SourceKey: SourceKey{Name: "shelf"}, Catalog: held}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := &Extension{Package: "a", AllowRequirements: true}
	y := &Extension{Package: "c", AllowRequirements: true, Installed: &InstalledBundle{Name: "c.v1", Version: "1.0.0"}}
	joint := &together{r: r, xs: []*Extension{x, y}, dependencies: true, known: map[*entry]*bundleMember{}, out: &ExtensionSet{Choices: make([]ExtensionAnswer, 2)}}
	joint.gather()
	if _, _, err := joint.encode(t.Context()); err != nil {
		t.Fatal(err)
	}
	member := func(name string, stays bool) *entry {
		at := slices.IndexFunc(joint.members, func(m *bundleMember) bool { return m.name == name && m.isInstalled() == stays })
		if at < 0 {
			t.Fatalf("%s is not among the members", name)
		}
		return joint.members[at].entry
	}
	a, b, c, stays := member("a.v1", false), member("b.v1", false), member("c.v1", false), member("c.v1", true)
	for _, tc := range []struct {
		selected []*entry
		problem  string
	}{
		{[]*entry{stays}, ""},
		{[]*entry{c}, ""},
		{[]*entry{a, c}, "a.v1 of extension 1 requires"},
		{[]*entry{a, b, c}, "both provide"},
		{[]*entry{c, stays}, "both for package c"},
		{[]*entry{a, b}, "was dropped"},
		{nil, "was dropped"},
		{[]*entry{b, c}, "both provide"},
	} {
		err := joint.check(context.Background(), tc.selected)
		if (err == nil) != (tc.problem == "") || err != nil && !strings.Contains(err.Error(), tc.problem) {
			t.Errorf("%v: %v, want %q", tc.selected, err, tc.problem)
		}
	}
	alone := &together{r: r, xs: []*Extension{x}, dependencies: true, known: map[*entry]*bundleMember{}, out: &ExtensionSet{Choices: make([]ExtensionAnswer, 1)}}
	alone.gather()
	if _, _, err := alone.encode(t.Context()); err != nil {
		t.Fatal(err)
	}
	var all []*entry
	for _, m := range alone.members {
		all = append(all, m.entry)
	}
	if err := alone.check(t.Context(), all); err != nil {
		t.Error(err)
	}
	if err := alone.check(t.Context(), all[1:]); err == nil || !strings.Contains(err.Error(), "nothing wants it") {
		t.Errorf("%v", err)
	}
}
