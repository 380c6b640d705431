package fairlead_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

func TestMemStore(t *testing.T) {
	var s fairlead.MemStore
	if err := fairlead.CheckStore(t.Context(), func() (fairlead.Store, error) { return &s, nil }); err != nil {
		t.Error(err)
	}
}

func TestFileStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	if err := fairlead.CheckStore(t.Context(), func() (fairlead.Store, error) { return fairlead.OpenFileStore(dir) }); err != nil {
		t.Error(err)
	}
}

var (
	_ fairlead.Watcher = (*fairlead.MemStore)(nil)
	_ fairlead.Watcher = (*fairlead.FileStore)(nil)
)

func openStore(t *testing.T, dir string) *fairlead.FileStore {
	t.Helper()
	s, err := fairlead.OpenFileStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestFileStoreLocked(t *testing.T) {
	if slices.Contains([]string{"aix", "illumos", "js", "plan9", "solaris", "wasip1"}, runtime.GOOS) {
		t.Skip("FileStore takes no lock on ", runtime.GOOS)
	}
	dir := t.TempDir()
	s := openStore(t, dir)
	_, err := fairlead.OpenFileStore(dir)
	var locked *fairlead.LockedError
	if !errors.As(err, &locked) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("the second opening returned %v, want a *LockedError that names %s", err, dir)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	openStore(t, dir)
}

func TestFileStoreClosed(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, t.TempDir())
	rev, err := s.Put(ctx, "a", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	watched := make(chan error)
	go func() {
		var last error
		for _, last = range s.Watch(ctx, "") {
		}
		watched <- last
	}()
	listed := s.List(ctx, "")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = s.Get(ctx, "a")
	calls := map[string]error{"Get": err, "Delete": s.Delete(ctx, "a", rev), "Close": s.Close(), "Watch": <-watched}
	_, calls["Put"] = s.Put(ctx, "a", nil, rev)
	for _, err := range listed {
		calls["List"] = err
	}
	for call, err := range calls {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s after Close returned %v, want fs.ErrClosed", call, err)
		}
	}
}

// A damaged file is named, whatever the damage, and nothing is opened.
func TestFileStoreCorrupt(t *testing.T) {
	ctx := t.Context()
	damages := []struct {
		name   string
		damage func(data []byte) []byte
		want   string
	}{
		{"cut", func(d []byte) []byte { return d[:len(d)-1] }, "checksum"},
		{"empty", func(d []byte) []byte { return nil }, `does not begin with "fairlead record 1 "`},
		{"longer", func(d []byte) []byte { return append(d, 0) }, "checksum"},
		{"zeros", func(d []byte) []byte { return make([]byte, len(d)) }, "does not begin"},
		{"bit in the value", func(d []byte) []byte { d[len(d)-1] ^= 4; return d }, "checksum"},
		{"bit in the checksum", func(d []byte) []byte { d[30] ^= 1; return d }, "checksum"},
		{"of a later release", func(d []byte) []byte { d[len("fairlead record ")]++; return d }, "does not begin"},
		{"no lines", func([]byte) []byte {
			return []byte("fairlead record 1 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n")
		}, "not the lines of a record"},
	}
	for _, tt := range damages {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s := openStore(t, dir)
			for _, key := range []string{"good", "bad"} {
				if _, err := s.Put(ctx, key, []byte("some value"), ""); err != nil {
					t.Fatal(err)
				}
			}
			s.Close()
			file := recordFile(t, dir, "bad")
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, tt.damage(data), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = fairlead.OpenFileStore(dir)
			var corrupt *fairlead.CorruptError
			if !errors.As(err, &corrupt) || corrupt.File != file || !strings.Contains(corrupt.Reason, tt.want) {
				t.Fatalf("got %v, want a *CorruptError that names %s and says %q", err, file, tt.want)
			}
			// The way out that the message names.
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			s = openStore(t, dir)
			if _, err := s.Get(ctx, "bad"); !errors.Is(err, fairlead.ErrNotFound) {
				t.Errorf("after the file was moved away: %v, want ErrNotFound", err)
			}
			if _, err := s.Get(ctx, "good"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A record under another key's name, as a careless copy leaves it, is damage.
func TestFileStoreMisplaced(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	if _, err := s.Put(t.Context(), "a", nil, ""); err != nil {
		t.Fatal(err)
	}
	s.Close()
	data, err := os.ReadFile(recordFile(t, dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "r-b-0123456789abcdef0123456789abcdef"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = fairlead.OpenFileStore(dir)
	if err == nil || !strings.Contains(err.Error(), `r-b-0123456789abcdef0123456789abcdef: holds key "a", whose file is r-a-`) {
		t.Errorf("got %v, want an error that names both files", err)
	}
}

// Whatever is not ours is left alone; what a cut write has left is removed.
func TestFileStoreOtherFiles(t *testing.T) {
	const hash = "-0123456789abcdef0123456789abcdef"
	dir := t.TempDir()
	others := []string{".DS_Store", "R-a" + hash, "lock", "notes.txt", "r-a" + hash + ".bak", "r-copy", "t-0", "temp" + hash}
	for _, name := range append(others, "t-a"+hash) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := openStore(t, dir)
	for rec, err := range s.List(t.Context(), "") {
		t.Errorf("listed %v, %v in a directory without records", rec, err)
	}
	entries, err := os.ReadDir(dir)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if err != nil || !slices.Equal(left, others) {
		t.Errorf("left are %q, %v, want %q", left, err, others)
	}
}

func TestFileStoreNowhere(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "no", "store"), filepath.Join(file, "store"), file} {
		if s, err := fairlead.OpenFileStore(path); err == nil || !strings.HasPrefix(err.Error(), "filestore "+path+": ") {
			t.Errorf("got %v, %v, want an error about %s", s, err, path)
		}
	}
}

// recordFile returns the path of the only file whose name is made of key.
func recordFile(t *testing.T, dir, key string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "r-"+key+"-*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files of key %q: %q, %v", key, files, err)
	}
	return files[0]
}

// Of changes that a watcher is too slow for, it sees the last of each key.
func TestWatchCoalesces(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var s fairlead.MemStore
	rev, err := s.Put(ctx, "a", []byte("0"), "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for rec, err := range s.Watch(ctx, "") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rec.Key+"="+string(rec.Value))
		switch len(got) {
		case 1:
			for i := range 3 {
				if rev, err = s.Put(ctx, "a", []byte{byte('1' + i)}, rev); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Put(ctx, "b", nil, mustRevision(t, &s, "b")); err != nil {
					t.Fatal(err)
				}
			}
		case 3:
			cancel()
		}
		if len(got) == 3 {
			break
		}
	}
	if want := "a=0 a=3 b="; strings.Join(got, " ") != want {
		t.Errorf("watched %q, want %q", strings.Join(got, " "), want)
	}
}

func mustRevision(t *testing.T, s fairlead.Store, key string) fairlead.Revision {
	t.Helper()
	rec, err := s.Get(t.Context(), key)
	if err != nil && !errors.Is(err, fairlead.ErrNotFound) {
		t.Fatal(err)
	}
	return rec.Revision
}

func TestCheckLimits(t *testing.T) {
	long := strings.Repeat("k", fairlead.MaxKeySize)
	for _, tt := range []struct {
		key  string
		size int
		want string
	}{
		{"a", 0, ""},
		{long, fairlead.MaxValueSize, ""},
		{"...", 0, `store: key "...": is "." or begins with "..": begin it with another character`},
		{"", 0, `store: key "": is empty: give it 1 to 253 bytes`},
		{"a/b", 0, `store: key "a/b": has "/" at byte 1: use only a-z, A-Z, 0-9, '-', '_' and '.'`},
		{"aä", 0, `store: key "aä": has "ä" at byte 1: use only a-z, A-Z, 0-9, '-', '_' and '.'`},
		{"a\xff", 0, `store: key "a\xff": has "\xff" at byte 1: use only a-z, A-Z, 0-9, '-', '_' and '.'`},
		{long + "k", 0, `store: key "` + long[:64] + `...": has 254 bytes: shorten it to at most 253`},
		{"a", fairlead.MaxValueSize + 1, `store: key "a": has a value of 1044481 bytes: store less, or split it over several keys; at most 1044480 are kept`},
	} {
		err := fairlead.CheckLimits(tt.key, make([]byte, tt.size))
		var limit *fairlead.LimitError
		switch {
		case tt.want == "" && err == nil:
		case !errors.As(err, &limit) || limit.Key != tt.key || err.Error() != tt.want:
			t.Errorf("key %q, %d bytes\n got %v\nwant %s", tt.key, tt.size, err, tt.want)
		}
	}
}

// Close lets the writes under way end: what they were told is durable is there
// when the directory is opened again.
func TestFileStoreCloseWhileWriting(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	var group sync.WaitGroup
	last := make([]fairlead.Revision, 8)
	started := make(chan struct{}, len(last))
	for i := range last {
		group.Go(func() {
			for {
				rev, err := s.Put(t.Context(), fmt.Sprint("key-", i), []byte("value"), last[i])
				if err != nil {
					if !errors.Is(err, fs.ErrClosed) {
						t.Error(err)
					}
					return
				}
				if last[i] == "" {
					started <- struct{}{}
				}
				last[i] = rev
				runtime.Gosched() // where there is one thread, the others want it, too
			}
		})
	}
	for range last {
		<-started
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	group.Wait()
	s = openStore(t, dir)
	for i, rev := range last {
		if at := mustRevision(t, s, fmt.Sprint("key-", i)); at != rev {
			t.Errorf("key %d is at %q, and %q was durable", i, at, rev)
		}
	}
}
