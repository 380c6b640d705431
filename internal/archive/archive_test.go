package archive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/archive"
)

// pack returns an archive of entries.
func pack(t testing.TB, compress bool, headers []tar.Header, contents map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.Writer = &out
	if compress {
		z := gzip.NewWriter(&out)
		defer z.Close()
		w = z
	}
	tw := tar.NewWriter(w)
	for _, h := range headers {
		text := contents[h.Name]
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(text))
		}
		if err := tw.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(tw, text[:h.Size]); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if z, ok := w.(*gzip.Writer); ok {
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func file(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644} }

func read(data []byte, opts *archive.Options) (*archive.FS, error) {
	return archive.Read(context.Background(), bytes.NewReader(data), opts)
}

// large is text longer than several blocks, which does not compress to
// nothing.
func large(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcdefgh"[r.IntN(8)]
	}
	return string(b)
}

func TestFileSystem(t *testing.T) {
	contents := map[string]string{"./a/one": "1", "a/b/two": large(700_000), "top": "", "a/one": "once more"}
	headers := []tar.Header{
		{Name: "./", Typeflag: tar.TypeDir}, {Name: "./a/", Typeflag: tar.TypeDir, ModTime: time.Unix(7, 0)},
		file("./a/one"), file("a/b/two"), file("top"), file("a/one"),
		{Name: "a/soft", Typeflag: tar.TypeSymlink, Linkname: "../a/b/two"},
		{Name: "early", Typeflag: tar.TypeSymlink, Linkname: "hard"},
		{Name: "hard", Typeflag: tar.TypeLink, Linkname: "a/one"},
		{Name: "empty/", Typeflag: tar.TypeDir},
	}
	for _, compress := range []bool{true, false} {
		fsys, err := read(pack(t, compress, headers, contents), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := fstest.TestFS(fsys, "a/one", "a/b/two", "a/soft", "hard", "early", "top", "empty"); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"a/one": "once more", "hard": "once more", "early": "once more", "a/soft": contents["a/b/two"], "top": ""} {
			got, err := fs.ReadFile(fsys, name)
			if err != nil || string(got) != want {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
		}
		if info, _ := fs.Stat(fsys, "a"); !info.ModTime().Equal(time.Unix(7, 0)) {
			t.Errorf("time of a: %v", info.ModTime())
		}
	}
}

func TestReadAt(t *testing.T) {
	text := large(1_000_000)
	fsys, err := read(pack(t, true, []tar.Header{file("f")}, map[string]string{"f": text}), nil)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := fsys.Open("f")
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		offset, n := r.IntN(len(text)+10), r.IntN(400_000)
		got := make([]byte, n)
		k, err := f.(io.ReaderAt).ReadAt(got, int64(offset))
		want := ""
		if offset < len(text) {
			want = text[offset:min(offset+n, len(text))]
		}
		if string(got[:k]) != want || (k < n) != (err == io.EOF) {
			t.Fatalf("%d bytes at %d: %d bytes, %v", n, offset, k, err)
		}
	}
	if _, err := f.(io.ReaderAt).ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("read before the start")
	}
	if err := iotest.TestReader(f, []byte(text)); err != nil {
		t.Error(err)
	}
}

func TestFaults(t *testing.T) {
	good := pack(t, true, []tar.Header{file("a/one"), file("b")}, map[string]string{"a/one": large(100_000), "b": "x"})
	one := func(h tar.Header) []byte { return pack(t, true, []tar.Header{file("x"), h}, nil) }
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 0x55
	checksum := bytes.Clone(good)
	checksum[len(checksum)-5] ^= 1
	for _, c := range []struct {
		name string
		data []byte
		opts *archive.Options
		want string
	}{
		{"empty", nil, nil, "the file is empty"},
		{"text", []byte("hello"), nil, "neither a tar archive nor compressed with gzip"},
		{"zip", []byte("PK\x03\x04"), nil, "zip archive"},
		{"header only", good[:5], nil, "the archive is cut off: it ends after 5 bytes"},
		{"cut", good[:len(good)/2], nil, "entry \"a/one\": the archive is cut off"},
		{"cut checksum", good[:len(good)-3], nil, "the archive is cut off"},
		{"flipped", flipped, nil, "damaged"},
		{"checksum", checksum, nil, "damaged"},
		{"gzip of text", gzipped("hello"), nil, "cut off"},
		{"gzip of zeros and more", gzipped(strings.Repeat("\x00", 4<<20)), nil, "follows the end of the archive"},
		{"parent", one(file("../x")), nil, "leads out of the archive"},
		{"hidden parent", one(file("a/../../x")), nil, "leads out of the archive"},
		{"absolute", one(file("/etc/passwd")), nil, "leads out of the archive"},
		{"backslash", one(file(`a\b`)), nil, "leads out of the archive, or is not a path"},
		{"long", one(file(strings.Repeat("a/", 1000) + "b")), nil, "length of a name"},
		{"device", one(tar.Header{Name: "d", Typeflag: tar.TypeBlock}), nil, "device"},
		{"link up", one(tar.Header{Name: "a/l", Typeflag: tar.TypeSymlink, Linkname: "../../x"}), nil, "leads out of the archive"},
		{"link to root", one(tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "/x"}), nil, "leads out of the archive"},
		{"link to nothing", one(tar.Header{Name: "l", Typeflag: tar.TypeLink, Linkname: "y"}), nil, "not in the archive"},
		{"link to itself", one(tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "l"}), nil, "not in the archive"},
		{"link to a directory", one(tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "."}), nil, "directory"},
		{"file as directory", one(file("x/y")), nil, "both a file and a directory"},
		{"directory as file", pack(t, true, []tar.Header{file("x/y"), file("x")}, nil), nil, "both a file and a directory"},
		{"root as file", one(file(".")), nil, "both a file and a directory"},
		{"size", good, &archive.Options{MaxSize: 1000}, "entry \"a/one\": limit exceeded: size of all files in bytes is more than 1000"},
		{"memory", good, &archive.Options{MaxMemory: 1000}, "compressed size in memory"},
		{"files", good, &archive.Options{MaxFiles: 1}, "limit exceeded: number of files and directories is more than 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys, err := read(c.data, c.opts)
			if err == nil || fsys != nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v", err)
			}
			var typed *archive.Error
			if !errors.As(err, &typed) {
				t.Errorf("%T", err)
			}
			var limit *fairlead.InputLimitError
			if c.opts != nil && !errors.As(err, &limit) {
				t.Errorf("%v is no LimitError", err)
			}
		})
	}
}

func gzipped(text string) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return out.Bytes()
}

// TestCut checks that an archive cut at any place is an error, never a smaller
// archive.
func TestCut(t *testing.T) {
	good := pack(t, true, []tar.Header{file("a"), file("b")}, map[string]string{"a": large(300), "b": large(10)})
	for n := range good {
		if fsys, err := read(good[:n], nil); err == nil || fsys != nil {
			t.Fatalf("%d of %d bytes make an archive", n, len(good))
		}
	}
}

func TestReaderErrors(t *testing.T) {
	good := pack(t, true, []tar.Header{file("a")}, map[string]string{"a": large(3000)})
	want := errors.New("disk on fire")
	r := io.MultiReader(bytes.NewReader(good[:1000]), iotest.ErrReader(want))
	if _, err := archive.Read(context.Background(), r, nil); err != want {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(want)
	if _, err := archive.Read(ctx, bytes.NewReader(good), nil); err != want {
		t.Errorf("%v", err)
	}
}

// FuzzRead checks that any bytes give an archive that is a proper file system,
// or an error.
func FuzzRead(f *testing.F) {
	good := pack(f, false, []tar.Header{file("a/b"), {Name: "c", Typeflag: tar.TypeSymlink, Linkname: "a/b"}}, map[string]string{"a/b": "text"})
	f.Add(good)
	f.Add(pack(f, true, []tar.Header{file("a")}, map[string]string{"a": "text"}))
	f.Add(good[:700])
	f.Fuzz(func(t *testing.T, data []byte) {
		fsys, err := read(data, &archive.Options{MaxSize: 1 << 20, MaxMemory: 1 << 20, MaxFiles: 100})
		if err != nil {
			return
		}
		err = fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			_, err = fs.ReadFile(fsys, path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	text := strings.Repeat(large(50_000), 200)
	data := pack(b, true, []tar.Header{file("a")}, map[string]string{"a": text})
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := read(data, nil); err != nil {
			b.Fatal(err)
		}
	}
}
