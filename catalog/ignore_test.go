package catalog_test

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/long"
)

// excluded says which of the paths the ignore files exclude.
func excluded(t testing.TB, ignore map[string]string, paths []string) map[string]bool {
	t.Helper()
	files := fstest.MapFS{}
	for name, text := range ignore {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for _, p := range paths {
		files[p] = &fstest.MapFile{Data: []byte("schema: x")}
	}
	c := mustOpen(t, files, nil)
	out := map[string]bool{}
	for _, p := range paths {
		out[p] = true
	}
	for d := range c.Documents() {
		out[d.Pos().File] = false
	}
	for _, p := range paths {
		r, ok := c.Explain(p)
		if (ok && !r.Include) != out[p] {
			t.Fatalf("%s: excluded=%v, but %v explains it: %q", p, out[p], r, ignore)
		}
	}
	return out
}

var patternParts = []string{
	"a", "b", "ab", "a*", "*b", "*", "**", "?", "[ab]", "[!a]", "[a-b]b", `\a`, "a?", "*a*b*", "[]a]", "a**b", "[[:alpha:]]", `\*`, "[^b]", "b-",
}

// randomIgnore writes a few patterns.
func randomIgnore(r *rand.Rand, negated bool) string {
	var out strings.Builder
	for range 1 + r.IntN(4) {
		if negated && r.IntN(3) == 0 {
			out.WriteByte('!')
		}
		if r.IntN(4) == 0 {
			out.WriteByte('/')
		}
		for i := range 1 + r.IntN(3) {
			if i > 0 {
				out.WriteByte('/')
			}
			out.WriteString(patternParts[r.IntN(len(patternParts))])
		}
		if r.IntN(4) == 0 {
			out.WriteByte('/')
		}
		out.WriteString([]string{"\n", "\n", "\r\n", "  \n", "\n\n# a\n"}[r.IntN(5)])
	}
	return out.String()
}

func randomPaths(r *rand.Rand) []string {
	seen := map[string]bool{}
	var paths []string
	for range 12 {
		var parts []string
		for range 1 + r.IntN(4) {
			parts = append(parts, []string{"a", "b", "ab", "aab", "b-", "*"}[r.IntN(6)])
		}
		// Files have names that no directory has.
		parts = append(parts, []string{"fa", "fb", "a.f", "abf"}[r.IntN(4)])
		p := path.Join(parts...)
		if !seen[p] {
			seen[p] = true
			paths = append(paths, p)
		}
	}
	return paths
}

// Git is the oracle, for names in ASCII (git counts bytes): exactly so without "!"; with it, we may take back more,
// since git looks at nothing in an excluded directory.
func TestIgnoreAgainstGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git")
	}
	hits, more := 0, 0
	for seed := range long.N(8, 2000) {
		r := rand.New(rand.NewPCG(5, uint64(seed)))
		paths := randomPaths(r)
		ignore := map[string]string{".indexignore": randomIgnore(r, seed%2 == 1)}
		if r.IntN(2) == 0 {
			deeper := path.Join(path.Dir(paths[0]), ".indexignore")
			if deeper != ".indexignore" {
				ignore[deeper] = randomIgnore(r, seed%2 == 1)
			}
		}
		got := excluded(t, ignore, paths)
		want := gitExcludes(t, git, ignore, paths)
		for _, p := range paths {
			if want[p] {
				hits++
			}
			if got[p] == want[p] {
				continue
			}
			if seed%2 == 0 || got[p] {
				t.Errorf("seed %d: %s excluded=%v, git says %v: %q", seed, p, got[p], want[p], ignore)
			}
			more++
		}
	}
	if hits < 25 || more > hits/2 {
		t.Errorf("git excludes %d paths; we take back %d more", hits, more)
	}
}

// gitExcludes asks git check-ignore.
func gitExcludes(t *testing.T, git string, ignore map[string]string, paths []string) map[string]bool {
	t.Helper()
	dir := t.TempDir()
	run := func(stdin string, args ...string) string {
		c := exec.Command(git, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		c.Stdin = strings.NewReader(stdin)
		out, err := c.Output()
		if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) {
			t.Skipf("git %v: %v", args, err)
		}
		return string(out)
	}
	run("", "init", "-q")
	for name, text := range ignore {
		name = filepath.Join(dir, path.Dir(name), ".gitignore")
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := map[string]bool{}
	answer := run(strings.Join(paths, "\x00")+"\x00", "check-ignore", "--no-index", "-z", "--stdin")
	for p := range strings.SplitSeq(strings.TrimSuffix(answer, "\x00"), "\x00") {
		out[p] = true
	}
	return out
}

func TestIgnoreLimits(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("x", 1<<20+1):  "size of an .indexignore file in bytes is more than 1048576",
		strings.Repeat("x\n", 10_001): "number of rules in .indexignore files is more than 10000",
	} {
		files := fstest.MapFS{".indexignore": {Data: []byte(text)}, "a": {Data: []byte("schema: a")}}
		_, err := catalog.Open(context.Background(), files, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v", err)
		}
	}
}

// A pattern made to try every way takes no time.
func TestIgnoreHostilePattern(t *testing.T) {
	name := strings.Repeat("a", 250)
	got := excluded(t, map[string]string{".indexignore": strings.Repeat("*a", 120) + "b\n" + strings.Repeat("**/", 100) + "c\n"},
		[]string{name, strings.Repeat("d/", 100) + "e"})
	for p, x := range got {
		if x {
			t.Errorf("%s is excluded", p)
		}
	}
}

func TestIgnoreEscapes(t *testing.T) {
	got := excluded(t, map[string]string{".indexignore": "a\\ \nb\\\\  \n\\ c\n  d\t \n\ufeffe\n"},
		[]string{"a ", "a", "b\\", "b", " c", "c", "d", "e", "\ufeffe"})
	for p, want := range map[string]bool{"a ": true, "a": false, "b\\": true, "b": false, " c": true, "c": false, "d": true, "e": false, "\ufeffe": true} {
		if got[p] != want {
			t.Errorf("%q excluded=%v", p, got[p])
		}
	}
}

// translated is what a pattern without slash means, as a regular expression:
// another way to say the same, for the parts that both have.
func translated(pattern string) (*regexp.Regexp, bool) {
	if strings.ContainsAny(pattern, "[]\\/!#\r\n\t \x00") || pattern == "" {
		return nil, false
	}
	quoted := regexp.QuoteMeta(pattern)
	quoted = strings.ReplaceAll(strings.ReplaceAll(quoted, `\*`, `.*`), `\?`, `.`)
	re, err := regexp.Compile(`^(?s:` + quoted + `)$`)
	return re, err == nil
}

func FuzzIgnore(f *testing.F) {
	for seed := range 20 {
		r := rand.New(rand.NewPCG(6, uint64(seed)))
		f.Add(randomIgnore(r, true), randomPaths(r)[0])
	}
	f.Add("*a*b", "xaayb")
	f.Add("[", "[")
	f.Add("[]-a]", "]")
	f.Add("[a-", "a")
	f.Add("\\", "\\")
	f.Fuzz(func(t *testing.T, text, name string) {
		if name == "" || path.Clean(name) != name || path.IsAbs(name) || strings.HasPrefix(name, "..") || name == "." || strings.Contains(name, ".indexignore") {
			return
		}
		files := fstest.MapFS{".indexignore": {Data: []byte(text)}, name: {Data: []byte("schema: x")}}
		c, err := catalog.Open(context.Background(), files, nil)
		if err != nil {
			return
		}
		rule, ok := c.Explain(name)
		if read := count(c) == 1; read != (!ok || rule.Include) {
			t.Fatalf("read=%v, but %+v", read, rule)
		}
		if re, plain := translated(text); plain && !strings.Contains(name, "/") && ok != re.MatchString(name) {
			t.Fatalf("%q matches %q: %v", text, name, ok)
		}
	})
}
