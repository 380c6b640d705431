package catalog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead/catalog"
)

// describe is all that a catalog says without reading its files again.
func describe(t testing.TB, c *catalog.Catalog) string {
	t.Helper()
	var out strings.Builder
	for d := range c.Documents() {
		fmt.Fprintf(&out, "%s %d %s %q %q %v\n", d.Pos(), d.Size(), d.Schema(), d.Package(), d.Name(), d.IsYAML())
	}
	for p := range c.Packages() {
		fmt.Fprintf(&out, "package %s %q %s\n", p.Name(), p.DefaultChannel(), p.Document().Pos())
		for ch := range p.Channels() {
			fmt.Fprintf(&out, "  channel %s %s %+v\n", ch.Name(), ch.Document().Pos(), ch.Entries())
		}
		for b := range p.Bundles() {
			facts, err := b.Facts()
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "  bundle %s %s %s %s\n", b.Name(), b.Version(), b.Image(), b.Document().Pos())
			for _, f := range facts {
				fmt.Fprintf(&out, "    %s %s\n", f.Type, string(f.Value))
			}
		}
	}
	return out.String()
}

// generated is a catalog of n packages in JSON and YAML, one directory each.
func generated(n int) fstest.MapFS {
	files := fstest.MapFS{}
	for i := range n {
		var out bytes.Buffer
		name := fmt.Sprintf("package-%03d", i)
		fmt.Fprintf(&out, "{\"schema\":\"olm.package\",\"name\":%q,\"defaultChannel\":\"stable\"}\n", name)
		fmt.Fprintf(&out, "{\"schema\":\"olm.channel\",\"package\":%q,\"name\":\"stable\",\"entries\":[{\"name\":\"%s.v1\"},{\"name\":\"%s.v2\",\"replaces\":\"%s.v1\"}]}\n", name, name, name, name)
		for v := 1; v <= 10; v++ {
			fmt.Fprintf(&out, `{"schema":"olm.bundle","package":%q,"name":"%s.v%d","image":"r/%s:%d","properties":[`, name, name, v, name, v)
			fmt.Fprintf(&out, `{"type":"olm.package","value":{"packageName":%q,"version":"%d.0.0"}},{"type":"olm.gvk","value":{"group":"g%d","version":"v1","kind":"K"}},`, name, v, i%7)
			fmt.Fprintf(&out, "{\"type\":\"olm.csv.metadata\",\"value\":{\"description\":%q}}]}\n", strings.Repeat("long ", 200))
		}
		ext := ".json"
		if i%3 == 1 {
			ext = ".yaml" // JSON documents are YAML, too
			out.WriteString("---\nschema: example.com/note\npackage: " + name + "\n")
		}
		files[name+"/catalog"+ext] = &fstest.MapFile{Data: out.Bytes(), ModTime: time.Unix(1, 0)}
	}
	return files
}

func mustOpen(t testing.TB, fsys fs.FS, o *catalog.Options) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Open(context.Background(), fsys, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Equal input gives equal output at every number of workers and processors,
// faults included.
func TestDeterministic(t *testing.T) {
	files := generated(40)
	for i := range 12 {
		files[fmt.Sprintf("bad-%02d/catalog.json", i)] = &fstest.MapFile{Data: []byte(`{"schema":"olm.bundle","name":7}` + "\n{]")}
	}
	want := ""
	for _, procs := range []int{1, 2, 8} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		for _, workers := range []int{0, 1, 3, 16} {
			c, err := catalog.Open(context.Background(), files, &catalog.Options{Workers: workers})
			var all catalog.Diagnostics
			if !errors.As(err, &all) || len(all) != 24 {
				t.Fatalf("%v", err)
			}
			got := describe(t, c)
			for _, d := range all {
				got += d.Error() + "\n"
			}
			if want == "" {
				want = got
			}
			if got != want {
				t.Fatalf("with %d workers:\n%s\nnot\n%s", workers, got, want)
			}
		}
	}
}

func TestConcurrentReaders(t *testing.T) {
	c := mustOpen(t, generated(20), nil)
	want := describe(t, c)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			if got := describe(t, c); got != want {
				t.Error("readers see different catalogs")
			}
			n := 0
			for b := range c.Providers(catalog.GVK{Group: "g1", Version: "v1", Kind: "K"}) {
				props, err := b.Properties()
				if err != nil || len(props) != 3 {
					t.Errorf("%v", err)
				}
				n++
			}
			p, _ := c.Package(fmt.Sprintf("package-%03d", i))
			ch, _ := p.Channel("stable")
			if path, ok := ch.Graph(catalog.AsWritten).Path(p.Name()+".v1", p.Name()+".v2"); !ok || len(path) != 1 || n != 30 {
				t.Errorf("%v %v, %d providers", path, ok, n)
			}
		})
	}
	group.Wait()
}

// counting counts how often each file is opened.
type counting struct {
	fs.FS
	mu     sync.Mutex
	opened map[string]int
}

func (c *counting) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	if err == nil {
		if info, _ := f.Stat(); !info.IsDir() {
			c.mu.Lock()
			c.opened[name]++
			c.mu.Unlock()
		}
	}
	return f, err
}

func TestReopen(t *testing.T) {
	files := generated(10)
	files["package-006/catalog.json"].ModTime = time.Time{} // as embedded files have it
	files["old/catalog.yaml"] = &fstest.MapFile{Data: []byte("schema: olm.package\nname: old\n"), ModTime: time.Unix(1, 0)}
	files["bad/catalog.yaml"] = &fstest.MapFile{Data: []byte("schema: ["), ModTime: time.Unix(1, 0)}
	fsys := &counting{FS: files, opened: map[string]int{}}
	before, err := catalog.Open(context.Background(), fsys, nil)
	if err == nil {
		t.Fatal("no fault")
	}
	old := describe(t, before)

	// Change one file, add one, remove one; one has no modification time.
	changed := bytes.ReplaceAll(files["package-003/catalog.json"].Data, []byte(`"version":"7.0.0"`), []byte(`"version":"7.0.1"`))
	files["package-003/catalog.json"] = &fstest.MapFile{Data: changed, ModTime: time.Unix(2, 0)}
	files["new/catalog.yaml"] = &fstest.MapFile{Data: []byte("schema: olm.package\nname: new\n"), ModTime: time.Unix(1, 0)}
	delete(files, "old/catalog.yaml")
	files["package-005/catalog.json"].ModTime = time.Time{}
	fsys.opened = map[string]int{}
	after, err := before.Reopen(context.Background(), nil)
	if err == nil || !strings.Contains(err.Error(), "bad/catalog.yaml:1:1") {
		t.Fatalf("the fault of a file that did not change: %v", err)
	}
	want := map[string]int{"package-003/catalog.json": 1, "new/catalog.yaml": 1, "package-005/catalog.json": 1, "package-006/catalog.json": 1}
	if !maps.Equal(fsys.opened, want) {
		t.Fatalf("opened %v", fsys.opened)
	}
	if describe(t, before) != old {
		t.Error("reopening changed the catalog that was open")
	}
	fresh, _ := catalog.Open(context.Background(), files, nil)
	if got, want := describe(t, after), describe(t, fresh); got != want {
		t.Errorf("reopened:\n%s\nopened:\n%s", got, want)
	}
	// What lies in a changed file is not read with old offsets.
	p, _ := before.Package("package-003")
	b, _ := p.Bundle("package-003.v7")
	var d *catalog.Diagnostic
	if _, err := b.Properties(); !errors.As(err, &d) || d.Code != catalog.CodeChanged {
		t.Errorf("%v", err)
	}
	p, _ = after.Package("package-003")
	b, _ = p.Bundle("package-003.v7")
	if props, err := b.Properties(); err != nil || b.Version() != "7.0.1" || len(props) != 3 {
		t.Errorf("%v %v", props, err)
	}
}

// plainFile hides all abilities of a file but Read.
type plainFile struct{ file fs.File }

func (f plainFile) Read(p []byte) (int, error) { return f.file.Read(p) }
func (f plainFile) Stat() (fs.FileInfo, error) { return f.file.Stat() }
func (f plainFile) Close() error               { return f.file.Close() }

// seekingFile hides all but Read and Seek.
type seekingFile struct {
	plainFile
	io.Seeker
}

type hiding struct {
	fs.FS
	seek bool
}

func (h hiding) Open(name string) (fs.File, error) {
	f, err := h.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if info, _ := f.Stat(); info.IsDir() {
		return f, nil
	}
	if h.seek {
		return seekingFile{plainFile{f}, f.(io.Seeker)}, nil
	}
	return plainFile{f}, nil
}

// Documents are the same from files of every ability.
func TestRawFromEveryFile(t *testing.T) {
	files := generated(3)
	for name, fsys := range map[string]fs.FS{"at": files, "seek": hiding{files, true}, "read": hiding{files, false}} {
		n := 0
		for d := range mustOpen(t, fsys, nil).Documents() {
			raw, err := d.Raw()
			if err != nil || !bytes.Contains(files[d.Pos().File].Data, raw) || len(raw) != d.Size() || !bytes.Contains(raw, []byte(d.Schema())) {
				t.Fatalf("%s: %s: %v %q", name, d.Pos(), err, raw)
			}
			n++
		}
		if n != 37 {
			t.Errorf("%s: %d documents", name, n)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	if _, err := catalog.Open(context.Background(), nil, nil); err == nil || !strings.Contains(err.Error(), "nil") {
		t.Errorf("nil: %v", err)
	}
	if _, err := catalog.Open(context.Background(), os.DirFS(filepath.Join(t.TempDir(), "none")), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	if c, err := catalog.Open(ctx, generated(3), nil); err != cause || c != nil {
		t.Errorf("cancelled: %v", err)
	}
}

// cancelling ends its context when the n-th file is opened.
type cancelling struct {
	fs.FS
	mu     sync.Mutex
	n      int
	cancel func(error)
}

func (c *cancelling) Open(name string) (fs.File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n--; c.n == 0 {
		c.cancel(errors.New("enough"))
	}
	return c.FS.Open(name)
}

func TestCancelWhileReading(t *testing.T) {
	files := generated(40)
	for n := 1; n < 60; n++ {
		ctx, cancel := context.WithCancelCause(context.Background())
		c, err := catalog.Open(ctx, &cancelling{FS: files, n: n, cancel: cancel}, nil)
		if err == nil || err.Error() != "enough" || c != nil {
			t.Fatalf("at %d: %v", n, err)
		}
	}
}

// What the machine does not let us read is told, and the rest is read.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("good/catalog.yaml", "schema: olm.package\nname: good\n")
	write("file/catalog.yaml", "schema: olm.package\nname: file\n")
	write("dir/catalog.yaml", "schema: olm.package\nname: dir\n")
	write("outside/x", "x")
	if err := os.Symlink("catalog.yaml", filepath.Join(dir, "good", "link.yaml")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	for link, target := range map[string]string{"dangling": "nothing", "to-dir": "good"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	fsys := denying{os.DirFS(dir), []string{"file/catalog.yaml", "dir"}}
	c, err := catalog.Open(context.Background(), fsys, nil)
	var all catalog.Diagnostics
	if !errors.As(err, &all) {
		t.Fatal(err)
	}
	var got []string
	for _, d := range all {
		if d.Code == catalog.CodeRead {
			got = append(got, d.Pos.File)
		}
	}
	if want := []string{"dangling", "dir", "file/catalog.yaml", "to-dir"}; !slices.Equal(got, want) {
		t.Errorf("%q: %v", got, all)
	}
	if !errors.Is(err, fs.ErrPermission) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the causes are lost: %v", err)
	}
	if _, ok := c.Package("good"); !ok || count(c) != 2 {
		t.Error("the rest is not read")
	}
	// An excluded directory is not even listed.
	write(".indexignore", "dir\n/dangling\nto-dir\noutside/\nfile/\n")
	if _, err := catalog.Open(context.Background(), fsys, nil); err != nil {
		t.Error(err)
	}
}

// denying refuses to open some names, as a file system does without rights.
type denying struct {
	fs.FS
	names []string
}

func (d denying) Open(name string) (fs.File, error) {
	if slices.Contains(d.names, name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return d.FS.Open(name)
}

// A file that is full of faults is given up, and says so.
func TestManyFaults(t *testing.T) {
	_, err := open(t, map[string]string{"bad.json": strings.Repeat("{]\n", 1000), "more.json": "{]"})
	var all catalog.Diagnostics
	if !errors.As(err, &all) || len(all) != 102 || !strings.Contains(all[0].Message, "more than 100 faults") {
		t.Fatalf("%d faults: %v", len(all), err)
	}
	if got := all.Error(); !strings.HasSuffix(got, "(and 101 more)") {
		t.Error(got)
	}
}
