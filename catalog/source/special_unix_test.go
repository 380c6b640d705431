//go:build unix

package source_test

import (
	"context"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/bundle"
	"github.com/fairlead/fairlead/catalog/source"
)

// special puts what must not be opened into a directory, with links to each.
func special(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Skipf("no sockets here: %v", err)
	}
	t.Cleanup(func() { _ = l.Close() })
	for name, target := range map[string]string{"link": "pipe", "endless": "/dev/zero", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSpecialFiles: what is not a regular file is a finding at once, and what
// else there is counts. Nothing waits for a pipe.
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	special(t, dir)
	write(t, filepath.Join(dir, "catalog.yaml"), []byte("schema: olm.package\nname: a\n"))
	if err := syscall.Mkfifo(filepath.Join(dir, ".indexignore"), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	sub, err := fs.Sub(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	for what, fsys := range map[string]fs.FS{"source": src, "os.DirFS": os.DirFS(dir), "fs.Sub": sub} {
		within(t, what, func() {
			c, err := catalog.Open(context.Background(), fsys, nil)
			if c == nil || err == nil {
				t.Errorf("%s: %v", what, err)
				return
			}
			if _, ok := c.Package("a"); !ok {
				t.Errorf("%s: the good file does not count", what)
			}
			text := ""
			for _, d := range c.Faults() {
				text += d.Error() + "\n"
			}
			for _, want := range []string{".indexignore: cannot be read: it is a named pipe", "endless: ", "link: ", "loop: ", "pipe: cannot be read: it is a named pipe, not a regular file", "socket: cannot be read: it is a socket"} {
				if !strings.Contains(text, want) {
					t.Errorf("%s: no %q in\n%s", what, want, text)
				}
			}
		})
	}
}

// TestSpecialFilesInBundle is the same for directories of bundles.
func TestSpecialFilesInBundle(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"manifests", "metadata"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	special(t, filepath.Join(dir, "manifests"))
	within(t, "bundle", func() {
		b, err := bundle.Read(context.Background(), os.DirFS(dir), nil)
		if err != nil {
			t.Error(err)
			return
		}
		text := b.Validate(nil).Error()
		for _, name := range []string{"pipe", "socket", "link", "endless", "loop"} {
			found := false
			for _, d := range b.Validate(nil) {
				found = found || d.Pos.File == "manifests/"+name
			}
			if !found {
				t.Errorf("nothing is said of %s: %s", name, text)
			}
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := bundle.Read(ctx, os.DirFS(dir), nil); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

// within fails the test if do does not return.
func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatalf("%s: waits", what)
	}
}
