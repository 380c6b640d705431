package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/fairlead/fairlead/examples/internal/args"
)

const (
	module    = "github.com/fairlead/fairlead"
	enginesOf = "./examples/internal/live" // of the module
	wasmName  = "fairlead.wasm"
)

// engines returns the program that a live page runs: the named file, the one beside this
// program, or else one built from the same source.
func engines(c *args.Call, file string) ([]byte, error) {
	if file != "" {
		wasm, err := checked(file)
		if err != nil {
			err = fmt.Errorf("-wasm: %w", err)
		}
		return wasm, err
	}
	if self, err := os.Executable(); err == nil {
		wasm, err := checked(filepath.Join(filepath.Dir(self), wasmName))
		if !errors.Is(err, fs.ErrNotExist) {
			return wasm, err
		}
	}
	wasm, err := build(c)
	if err != nil {
		err = fmt.Errorf(`the engines for -live were not found beside this program, and cannot be built: %w
Take %s from a release, or build it in a clone, and name it with -wasm %[2]s:
  GOOS=wasip1 GOARCH=wasm go build -tags nocel,nohttp -ldflags='-s -w' -o %[2]s %s`, err, wasmName, enginesOf)
	}
	return wasm, err
}

// build builds the engines from the source of this program. The file stays in the user's
// cache, so that the go command does not link it again.
func build(c *args.Call) ([]byte, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	c.Doing("building the engines for the page, which takes a minute the first time")
	dir, err := origin(c.Context)
	if err != nil {
		return nil, err
	}
	cache = filepath.Join(cache, "fairlead")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, err
	}
	out := filepath.Join(cache, wasmName)
	// Build beside the old file and move the new one there whole: others may be reading it.
	// Leave out the state of the clone, because the same source must give the same bytes.
	if _, err := command(c.Context, dir, []string{"GOTMPDIR=" + cache}, "build", "-tags", "nocel,nohttp", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", out, enginesOf); err != nil {
		return nil, err
	}
	return checked(out)
}

// checked reads a WebAssembly program and checks that it is one.
func checked(file string) ([]byte, error) {
	wasm, err := os.ReadFile(file)
	if err == nil && !bytes.HasPrefix(wasm, []byte("\x00asm")) {
		err = fmt.Errorf("%s: it is not a WebAssembly program", file)
	}
	return wasm, err
}

// origin finds the source of this program: its version in the module cache, where the go
// command puts it if necessary; or, if it was built in a clone, the clone that it runs in.
func origin(ctx context.Context) (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path == module && info.Main.Sum != "" {
		text, err := command(ctx, "", nil, "mod", "download", "-json", module+"@"+info.Main.Version)
		var m struct{ Dir, Error string }
		if bad := json.Unmarshal(text, &m); bad == nil && m.Error != "" {
			err = errors.New(m.Error)
		} else if err == nil {
			err = bad
		}
		return m.Dir, err
	}
	text, err := command(ctx, "", nil, "list", "-m", "-f", "{{.Dir}}", module)
	if errors.Is(err, exec.ErrNotFound) {
		return "", err
	}
	dir := string(bytes.TrimSpace(text))
	if err != nil || dir == "" {
		return "", errors.New("this program is not a release build, and does not run in a clone of its source")
	}
	return dir, nil
}

// command runs the go command for WASI in a directory, with additional environment
// variables.
func command(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, slices.Concat(os.Environ(), []string{"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0"}, env)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("go %s: %s", args[0], bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}
