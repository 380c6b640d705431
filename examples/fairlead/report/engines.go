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

	"github.com/fairlead/fairlead/examples/internal/args"
)

const (
	module    = "github.com/fairlead/fairlead"
	enginesOf = "./examples/internal/live" // of the module
	wasmName  = "fairlead.wasm"
)

// engines returns the program that a live page runs: the file that is named, the one beside
// this program, or else one that is built of the same source.
func engines(c *args.Call, file string) ([]byte, error) {
	if file != "" {
		return checked(file)
	}
	if self, err := os.Executable(); err == nil {
		wasm, err := checked(filepath.Join(filepath.Dir(self), wasmName))
		if !errors.Is(err, fs.ErrNotExist) {
			return wasm, err
		}
	}
	dir, err := clone(c.Context)
	if err != nil {
		return nil, noEngines(err)
	}
	c.Doing("building the engines for the page, which takes a minute the first time")
	work, err := os.MkdirTemp("", "fairlead")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	out := filepath.Join(work, wasmName)
	if _, err := command(c.Context, dir, "build", "-trimpath", "-ldflags=-s -w", "-o", out, enginesOf); err != nil {
		return nil, noEngines(err)
	}
	return checked(out)
}

// checked reads a program for WebAssembly.
func checked(file string) ([]byte, error) {
	wasm, err := os.ReadFile(file)
	if err == nil && !bytes.HasPrefix(wasm, []byte("\x00asm")) {
		err = fmt.Errorf("%s: it is not a WebAssembly program", file)
	}
	return wasm, err
}

// clone finds the source of this program: the clone that it is called in, or else its version
// in the module cache, where the go command puts it if need be.
func clone(ctx context.Context) (string, error) {
	if list, err := command(ctx, "", "list", "-m", "-f", "{{.Dir}}", module); err == nil && len(bytes.TrimSpace(list)) > 0 {
		return string(bytes.TrimSpace(list)), nil
	} else if errors.Is(err, exec.ErrNotFound) {
		return "", err
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != module || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "", errors.New("this program does not say which version it is, and is not called in a clone of its source")
	}
	text, err := command(ctx, "", "mod", "download", "-json", module+"@"+info.Main.Version)
	if err != nil {
		return "", err
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(text, &m); err != nil {
		return "", err
	}
	return m.Dir, nil
}

// command runs the go command for WASI in a directory.
func command(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("go %s: %s", args[0], bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}

// noEngines says how else to get them.
func noEngines(err error) error {
	return fmt.Errorf(`the engines for -live were not found beside this program, and cannot be built: %w
Take %s from a release, or build it in a clone, and name it with -wasm %[2]s:
  GOOS=wasip1 GOARCH=wasm go build -ldflags='-s -w' -o %[2]s %s`, err, wasmName, enginesOf)
}
