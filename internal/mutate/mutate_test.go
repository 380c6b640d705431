package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// small writes a package with one rule and a test that covers half of it, and
// returns its directory.
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
	s, err := newSuite(t.Context(), dir, all, t.TempDir(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range all {
		got, by, err := s.try(t.Context(), strconv.Itoa(i+1), &m)
		if err != nil || got != want[i] || by != map[verdict]string{killed: "TestAge"}[got] {
			t.Errorf("%s: got %s by %q, %v; want %s", m.rule, got, by, err, want[i])
		}
	}
}

// TestNamed runs the test that a row names, and the others if that one notices
// nothing.
func TestNamed(t *testing.T) {
	dir := small(t, strings.Replace(rows, "file small.go\n", "file small.go\ntest TestAge\n", 1))
	all, err := chosen(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSuite(t.Context(), dir, all[:1], t.TempDir(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if v, by, err := s.try(t.Context(), "1", &all[0]); v != killed || by != "TestAge" || err != nil || s.groups != nil {
		t.Errorf("%s by %q, %v; all tests were measured: %v", v, by, err, s.groups)
	}
	all[0].tests = []string{"TestNone"}
	if v, by, err := s.try(t.Context(), "1", &all[0]); v != killed || by != "TestAge" || err != nil || len(s.groups) != 1 {
		t.Errorf("%s by %q, %v, in %v", v, by, err, s.groups)
	}
}

// TestGroups checks that quick tests are run first and slow ones alone.
func TestGroups(t *testing.T) {
	got, err := groups("=== RUN A\n--- PASS: TestSlow (3.00s)\n    --- PASS: TestSlow/part (2.00s)\n--- PASS: TestA (0.00s)\n--- SKIP: TestB (0.05s)\n--- PASS: TestSlower (4.00s)\n--- PASS: TestC (0.20s)\nPASS\n")
	want := []group{{"^(TestA|TestB)$", 21 * time.Second}, {"^(TestC)$", 24 * time.Second}, {"^(TestSlow)$", 80 * time.Second}, {"^(TestSlower)$", 100 * time.Second}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := groups("--- PASS: TestA (soon)\n"); err == nil {
		t.Error("that is not a duration")
	}
}

func TestRowsThatDoNotFit(t *testing.T) {
	for rows, want := range map[string]string{
		"# r\nfile small.go\n- nowhere\n+ x\n":                 "was not found",
		"# r\nfile small.go\n- }\n+ x\n":                       "is at line 6 and at line 8",
		"# r\nfile other.go\n- x\n+ x\n":                       "other.go",
		"file small.go\n- return asked\n":                      "line 1: a mutant needs a rule",
		"# r\nreturn asked\n":                                  "begins with none of",
		"# r\nfile small.go\n+ only\n\n# s\nfile small.go\n-x": "a mutant needs a rule",
	} {
		if _, err := chosen(small(t, rows)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", rows, err, want)
		}
	}
	if all, err := chosen(t.TempDir()); err != nil || all != nil {
		t.Error(all, err)
	}
}

// TestDraw checks that the same seed draws the same mutants, and that each
// differs from the file in one place.
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

// declared reports whether a package has a test of that name.
func declared(t *testing.T, dir, name string) bool {
	files, err := filepath.Glob(dir + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "\nfunc "+name+"(")
	})
}

// TestRows checks that every chosen mutant of the module matches the current code and
// names existing tests.
func TestRows(t *testing.T) {
	n := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(filepath.ToSlash(path), "/"+rowsFile) {
			return err
		}
		dir := strings.TrimSuffix(filepath.ToSlash(path), "/"+rowsFile)
		all, err := chosen(dir)
		n += len(all)
		if err != nil {
			t.Error(err)
		}
		for _, m := range all {
			for _, name := range m.tests {
				if !declared(t, dir, name) {
					t.Errorf("%s: %s: there is no test %s", dir, m.rule, name)
				}
			}
		}
		return nil
	})
	if err != nil || n == 0 {
		t.Errorf("%d rows: %v", n, err)
	}
}
