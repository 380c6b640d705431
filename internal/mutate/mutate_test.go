package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// small is a package with one rule, and a test that looks at half of it.
func small(t *testing.T, rows string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module small\n\ngo 1.26.0\n",
		"small.go":  "package small\n\nfunc may(age int, asked bool) bool {\n\tif age < 18 {\n\t\treturn false\n\t}\n\treturn asked\n}\n",
		"s_test.go": "package small\n\nimport \"testing\"\n\nfunc TestAge(t *testing.T) {\n\tif may(17, true) || !may(18, true) {\n\t\tt.Error(\"age\")\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "testdata", "mutants"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, rowsFile), []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

const rows = `# Who is 18 may.
file small.go
- if age < 18 {
+ if age <= 18 {

# Who did not ask may not.
file small.go
- return asked
+ return true

# What does not build
# is no mutant.
file small.go
- return asked
+ return never
`

func TestVerdicts(t *testing.T) {
	dir := small(t, rows)
	all, err := chosen(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []verdict{killed, alive, unfit}
	if len(all) != len(want) || all[2].rule != "What does not build is no mutant." {
		t.Fatal(all)
	}
	for i, m := range all {
		if got, err := try(t.Context(), dir, m, time.Minute, ""); err != nil || got != want[i] {
			t.Errorf("%s: got %s, %v; want %s", m.rule, got, err, want[i])
		}
	}
}

func TestRowsThatDoNotFit(t *testing.T) {
	for rows, want := range map[string]string{
		"# r\nfile small.go\n- nowhere\n+ x\n":                 "is not there any more",
		"# r\nfile small.go\n- }\n+ x\n":                       "stands at line 6 and at line 8",
		"# r\nfile other.go\n- x\n+ x\n":                       "other.go",
		"file small.go\n- return asked\n":                      "line 1: a mutant has a rule",
		"# r\nreturn asked\n":                                  "begins with none of",
		"# r\nfile small.go\n+ only\n\n# s\nfile small.go\n-x": "a mutant has a rule",
	} {
		if _, err := chosen(small(t, rows)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", rows, err, want)
		}
	}
	if all, err := chosen(t.TempDir()); err != nil || all != nil {
		t.Error(all, err)
	}
}

// TestDraw: the same seed draws the same mutants, and each differs from the file
// in one place.
func TestDraw(t *testing.T) {
	dir := small(t, "")
	first, err := draw(dir, 100, 1)
	if err != nil {
		t.Fatal(err)
	}
	again, err := draw(dir, 100, 1)
	if err != nil || len(first) != 2 || len(again) != 2 {
		t.Fatal(first, again, err)
	}
	if first[0].rule != "< becomes <=: if age <= 18 {" || first[1].rule != "false becomes true: return true" || string(first[0].text) != string(again[0].text) {
		t.Errorf("%q", first)
	}
	if one, err := draw(dir, 1, 2); err != nil || len(one) != 1 {
		t.Error(one, err)
	}
}

// TestRows has every chosen mutant of the module fit the code as it is.
func TestRows(t *testing.T) {
	n := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(filepath.ToSlash(path), "/"+rowsFile) {
			return err
		}
		all, err := chosen(strings.TrimSuffix(filepath.ToSlash(path), "/"+rowsFile))
		n += len(all)
		if err != nil {
			t.Error(err)
		}
		return nil
	})
	if err != nil || n == 0 {
		t.Errorf("%d rows: %v", n, err)
	}
}
