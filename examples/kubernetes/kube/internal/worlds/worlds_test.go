package worlds

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type part struct{ A, B int }

type world struct {
	part
	Part part
	C    []string
	d    int
}

func TestUnset(t *testing.T) {
	if got := Unset[world](); !slices.Equal(got, []string{"A", "B", "C", "Part"}) {
		t.Errorf("of no world: %q", got)
	}
	one, two := &world{part: part{A: 1}, d: 1}, &world{C: []string{}}
	if got := Unset(one, two); !slices.Equal(got, []string{"B", "Part"}) {
		t.Errorf("of two: %q", got)
	}
}

// TestEveryAdapter checks that each package that observes the World of an engine
// has a test which verifies that it fills in all fields.
func TestEveryAdapter(t *testing.T) {
	dirs, err := filepath.Glob("../../*")
	if err != nil {
		t.Fatal(err)
	}
	adapters := 0
	for _, dir := range dirs {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		observes, compared := false, false
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(name, "_test.go") {
				compared = compared || strings.Contains(string(text), "worlds.Unset(")
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				observes = observes || ok && fn.Recv != nil && strings.HasPrefix(fn.Name.Name, "Observe")
			}
		}
		if observes {
			adapters++
		}
		if observes && !compared {
			t.Errorf("%s observes a World, but no test of it calls worlds.Unset", filepath.Base(dir))
		}
	}
	if adapters < 6 {
		t.Errorf("%d adapters are seen; the test looks in the wrong place", adapters)
	}
}
