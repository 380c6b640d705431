package arch_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead/internal/arch"
)

// TestModuleFile pins how go.mod is read: blocks, comments and line numbers.
func TestModuleFile(t *testing.T) {
	const text = `// The module.
module example.com/m

go 1.26.0 // not later

require (
	// why it is here
	example.com/a v1.0.0

	example.com/b v2.0.0 // indirect
)

require example.com/c v3.0.0
replace example.com/c => ../c
`
	tree, err := arch.Load(fstest.MapFS{
		"go.mod":                {Data: []byte(text)},
		"sub/go.mod":            {Data: []byte("module example.com/m/sub\n")},
		"sub/testdata/x/go.mod": {Data: []byte("module broken\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []*arch.Module{
		{Path: "go.mod", Directives: []arch.Directive{
			{Line: 2, Verb: "module", Args: []string{"example.com/m"}},
			{Line: 4, Verb: "go", Args: []string{"1.26.0"}, Comment: "not later"},
			{Line: 8, Verb: "require", Args: []string{"example.com/a", "v1.0.0"}},
			{Line: 10, Verb: "require", Args: []string{"example.com/b", "v2.0.0"}, Comment: "indirect"},
			{Line: 13, Verb: "require", Args: []string{"example.com/c", "v3.0.0"}},
			{Line: 14, Verb: "replace", Args: []string{"example.com/c", "=>", "../c"}},
		}},
		{Path: "sub/go.mod", Directives: []arch.Directive{
			{Line: 1, Verb: "module", Args: []string{"example.com/m/sub"}},
		}},
	}
	if diff := cmp.Diff(want, tree.Mods); diff != "" {
		t.Errorf("modules differ (-want +got):\n%s", diff)
	}
}
