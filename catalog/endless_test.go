package catalog_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead/catalog"
)

// endless is a file system whose file never ends; it says it has a size.
type endless struct {
	fstest.MapFS
	text string
	size int64
}

func (e endless) Open(name string) (fs.File, error) {
	f, err := e.MapFS.Open(name)
	if name == "." || err != nil {
		return f, err
	}
	return &endlessFile{File: f, text: e.text, size: e.size}, nil
}

type endlessFile struct {
	fs.File
	text string
	size int64
	at   int
}

func (f *endlessFile) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = f.text[f.at%len(f.text)]
		f.at++
	}
	return len(p), nil
}

func (f *endlessFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return sized{info, f.size}, err
}

type sized struct {
	fs.FileInfo
	size int64
}

func (s sized) Size() int64 { return s.size }

// TestEndless: a file that never ends is read to its size, and is at fault.
func TestEndless(t *testing.T) {
	filler := strings.Repeat("y", 2000)
	for _, text := range []string{`{"schema": "x", "name": "` + filler + `"}` + "\n", "a", "\x00", " ", "---\nschema: x\nname: " + filler + "\n", `{"a": [`} {
		for _, size := range []int64{0, 1, 100, 1 << 20} {
			done := make(chan error, 1)
			go func() {
				_, err := catalog.Open(context.Background(), endless{fstest.MapFS{"f": {Data: []byte("x")}}, text, size}, &catalog.Options{MaxDocumentSize: 1 << 16, MaxDocuments: 2_000_000})
				done <- err
			}()
			select {
			case err := <-done:
				var faults catalog.Diagnostics
				if !errors.As(err, &faults) || len(faults) == 0 {
					t.Errorf("%q of %d bytes: %v", text, size, err)
				}
			case <-time.After(time.Minute):
				t.Fatalf("%q of %d bytes is read forever", text, size)
			}
		}
	}
}

// TestGrowing: a file that is written while it is read is at fault, and not
// taken for what it was or is.
func TestGrowing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.json")
	line := `{"schema": "x", "name": "` + strings.Repeat("y", 1000) + `"}` + "\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(line, 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := catalog.Open(t.Context(), &growing{os.DirFS(dir), func() {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = io.WriteString(f, line)
		}
		if err != nil || f.Close() != nil {
			t.Error(err)
		}
	}}, nil)
	var faults catalog.Diagnostics
	if !errors.As(err, &faults) || faults[0].Code != catalog.CodeChanged {
		t.Errorf("%v", err)
	}
	if c, err := catalog.Open(t.Context(), os.DirFS(dir), nil); err != nil || len(c.Faults()) > 0 {
		t.Error(err)
	}
}

// growing writes a file after its first part was read.
type growing struct {
	fs.FS
	write func()
}

func (g *growing) Open(name string) (fs.File, error) {
	f, err := g.FS.Open(name)
	if name == "." || err != nil {
		return f, err
	}
	return &growingFile{f, g}, nil
}

type growingFile struct {
	fs.File
	g *growing
}

func (f *growingFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	if f.g.write != nil {
		f.g.write()
		f.g.write = nil
	}
	return n, err
}
