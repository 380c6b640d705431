package report

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/examples/internal/args"
)

const (
	module    = "github.com/fairlead/fairlead"
	enginesOf = "./examples/internal/live" // of the module
	wasmName  = "fairlead.wasm"
)

// engines returns the program that a live page runs: the named file, the one beside this
// program, or else one built from the same source; compiled is where the compiler read this file.
func engines(c *args.Call, file, compiled string) ([]byte, error) {
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
	wasm, err := build(c, compiled)
	if err != nil {
		err = errors.Join(fmt.Errorf("the engines for -live were not found beside this program, and cannot be built: %w", err),
			fmt.Errorf("take %s from a release, or build it in a clone as follows, and name it with -wasm %[1]s", wasmName),
			fmt.Errorf("  GOOS=wasip1 GOARCH=wasm go build -tags nocel,nohttp -ldflags='-s -w' -o %s %s", wasmName, enginesOf))
	}
	return wasm, err
}

// build builds the engines from the source of this program. The file stays in the user's
// cache, so that the go command does not link it again.
func build(c *args.Call, compiled string) ([]byte, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	c.Doing("building the engines for the page, which takes a minute the first time")
	cache = filepath.Join(cache, "fairlead")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, err
	}
	dir, err := origin(c.Context, cache, compiled)
	if err != nil {
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
// command puts it, and verifies its checksum, if necessary; or, if it was built in a clone, that
// clone. Nothing in the current directory counts, since that may be a dump of somebody else.
func origin(ctx context.Context, cache, compiled string) (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path == module && info.Main.Sum != "" {
		text, err := command(ctx, cache, nil, "mod", "download", "-json", module+"@"+info.Main.Version)
		var m struct{ Dir, Error string }
		if bad := json.Unmarshal(text, &m); bad == nil && m.Error != "" {
			err = errors.New(m.Error)
		} else if err == nil {
			err = bad
		}
		return m.Dir, err
	}
	dir, ok := strings.CutSuffix(filepath.ToSlash(compiled), "/examples/fairlead/report/engines.go")
	if !ok || !filepath.IsAbs(filepath.FromSlash(dir)) {
		return "", errors.New("this program is not a release, and does not say where its source is (it was built with -trimpath)")
	}
	if now, err := os.ReadFile(compiled); err != nil || !bytes.Equal(now, ownSource) {
		return "", fmt.Errorf("the source that this program was built from is not in %s any more", dir)
	}
	return filepath.FromSlash(dir), nil
}

// ownSource is this file, as it was compiled.
//
//go:embed engines.go
var ownSource []byte

// compiledFrom returns where the compiler read this file; with -trimpath that is no path.
func compiledFrom() string {
	_, file, _, _ := runtime.Caller(0)
	return file
}

// command runs the go command for WASI in a directory, with additional environment
// variables.
func command(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, slices.Concat(os.Environ(), []string{"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOWORK=off"}, env)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("go %s: %s", args[0], bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}
