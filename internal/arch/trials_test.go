package arch_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrials: every package that makes a Runner exports its engine, and has a test that runs
// it by CheckEngine.
func TestTrials(t *testing.T) {
	const root = "../.."
	makes, exports, tries := map[string]bool{}, map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name := d.Name(); name == "testdata" || name == "examples" || strings.HasPrefix(name, ".") && len(name) > 2 {
				return fs.SkipDir
			}
			return nil
		case filepath.Ext(file) != ".go" || filepath.Dir(file) == root:
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		dir, is := filepath.Dir(file), func(what string) bool { return strings.Contains(string(text), what) }
		if strings.HasSuffix(file, "_test.go") {
			tries[dir] = tries[dir] || is("fairlead.CheckEngine(")
			return nil
		}
		makes[dir] = makes[dir] || is("fairlead.NewRunner(")
		exports[dir] = exports[dir] || is("\nfunc NewEngine(")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	engines := 0
	for dir, is := range makes {
		if !is {
			continue
		}
		engines++
		if !exports[dir] || !tries[dir] {
			t.Errorf("%s makes a Runner; it exports NewEngine: %v, a test runs it by fairlead.CheckEngine: %v", dir, exports[dir], tries[dir])
		}
	}
	if engines < 9 {
		t.Errorf("only %d engines were found", engines)
	}
}
