package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/script"
)

// goTrace is where the test's binary, called as the go command, records its arguments.
const goTrace = "FAIRLEAD_TEST_GO"

// TestMain lets the test's binary act as the go command: it has one clone, and builds a program
// of eight bytes.
func TestMain(m *testing.M) {
	if os.Getenv(goTrace) == "" {
		os.Exit(m.Run())
	}
	if err := playGo(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func playGo(words []string) error {
	trace, err := os.OpenFile(os.Getenv(goTrace), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		dir, _ := os.Getwd()
		_, err = fmt.Fprintf(trace, "%s for %s in %s\n", words[0], os.Getenv("GOOS"), filepath.Base(dir))
	}
	switch {
	case err != nil:
		return err
	case os.Getenv("BROKEN") != "":
		return fmt.Errorf("live.go:1:1: syntax error")
	}
	return os.WriteFile(words[slices.Index(words, "-o")+1], []byte("\x00asm\x01\x00\x00\x00"), 0o600)
}

// TestScripts runs the verb with the scripts of testdata.
func TestScripts(t *testing.T) { script.Run(t, "report", Command().Program("fairlead report")) }

// Engines are those beside the program; else the go command builds them in the clone, into the
// user's cache. Errors there are reported with what to do.
func TestEngines(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.Symlink(self, filepath.Join(home, "go")); err != nil {
		t.Skip(err) // the go command cannot be replaced
	}
	compiled := filepath.Join(home, "clone", "examples", "fairlead", "report", "engines.go")
	if err := errors.Join(os.MkdirAll(filepath.Dir(compiled), 0o700), os.WriteFile(compiled, ownSource, 0o600)); err != nil {
		t.Fatal(err)
	}
	// What the current directory has does not count, though it looks like a clone.
	evil := t.TempDir()
	if err := os.WriteFile(filepath.Join(evil, "go.mod"), []byte("module "+module+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(evil)
	trace := filepath.Join(home, "trace")
	for name, value := range map[string]string{"PATH": home, "HOME": home, "XDG_CACHE_HOME": filepath.Join(home, "cache"), goTrace: trace} {
		t.Setenv(name, value)
	}
	find := func() ([]byte, string) {
		wasm, err := engines(&args.Call{Context: t.Context()}, "", compiled)
		return wasm, fmt.Sprint(err)
	}

	if wasm, err := find(); len(wasm) != 8 || err != "<nil>" {
		t.Errorf("built: %q, %s", wasm, err)
	}
	if got, _ := os.ReadFile(trace); string(got) != "build for wasip1 in clone\n" {
		t.Errorf("the go command is asked\n%s", got)
	}
	if cache, err := os.UserCacheDir(); err != nil {
		t.Fatal(err)
	} else if _, err := os.Stat(filepath.Join(cache, "fairlead", wasmName)); err != nil {
		t.Errorf("the go command does not find them the next time: %v", err)
	}

	t.Run("broken", func(t *testing.T) {
		t.Setenv("BROKEN", "1")
		if wasm, err := find(); wasm != nil || !strings.Contains(err, "go build: live.go:1:1: syntax error") || !strings.Contains(err, "-wasm "+wasmName) {
			t.Errorf("%q, %s", wasm, err)
		}
	})
	if err := os.WriteFile(compiled, []byte("package other"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{compiled, filepath.Join(home, "gone", "examples", "fairlead", "report", "engines.go"), module + "/examples/fairlead/report/engines.go"} {
		if wasm, err := engines(&args.Call{Context: t.Context()}, "", at); wasm != nil || err == nil {
			t.Errorf("built from %s: %q, %v", at, wasm, err)
		}
	}
	if got, _ := os.ReadFile(trace); strings.Contains(string(got), filepath.Base(evil)) || strings.Count(string(got), "\n") != 2 {
		t.Errorf("the go command is asked\n%s", got)
	}

	beside := filepath.Join(filepath.Dir(self), wasmName)
	t.Cleanup(func() { os.Remove(beside) })
	for text, want := range map[string]string{"\x00asm and more": "<nil>", "text": "it is not a WebAssembly program"} {
		if err := os.WriteFile(beside, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if wasm, err := find(); string(wasm) != text && want == "<nil>" || !strings.HasSuffix(err, want) {
			t.Errorf("beside: %q, %s", wasm, err)
		}
	}
}

// TestWrite checks that a file is replaced as a whole, or not at all, and that
// nothing else is left behind.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "report.html")
	for _, c := range []struct{ text, want string }{{"first", "first"}, {"", "first"}, {"second", "second"}} {
		err := write(name, func(w io.Writer) error {
			fmt.Fprint(w, c.text)
			if c.text == "" {
				return errors.New("broken")
			}
			return nil
		})
		if (err != nil) != (c.text == "") {
			t.Errorf("%q: %v", c.text, err)
		}
		if text, err := os.ReadFile(name); string(text) != c.want || err != nil {
			t.Errorf("%q, %v, want %q", text, err, c.want)
		}
	}
	page := func(w io.Writer) error { _, err := fmt.Fprint(w, "x"); return err }
	if write(dir, page) == nil || write(filepath.Join(dir, "nosuch", "x"), page) == nil {
		t.Error("a directory, or a file in one that does not exist, was written")
	}
	if err := write(os.DevNull, page); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a new page can be read by others: %v, %v", info.Mode(), err)
	}
	left, err := os.ReadDir(dir)
	if len(left) != 1 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
