package snapshot

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
)

// What is longer, unpacked, than is read is used as far as it was read; the limit is named, and nothing
// is known to be absent.
func TestUnpackedBound(t *testing.T) {
	text := func(n int) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Node\nmetadata:\n  name: n%d\n", n)
	}
	zipped := func(write func(io.Writer)) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		write(z)
		_ = z.Close()
		return b.String()
	}
	for name, input := range map[string]string{
		"gzip": zipped(func(w io.Writer) {
			_, _ = io.WriteString(w, strings.Repeat("#\n", 100<<10)+text(1)+"---\n"+strings.Repeat("#\n", 100<<10)+text(2)+"---\n"+text(3))
		}),
		"tar.gz": zipped(func(w io.Writer) {
			files := tar.NewWriter(w)
			for i := range 3 {
				_ = files.WriteHeader(&tar.Header{Name: fmt.Sprintf("n%d.yaml", i), Mode: 0o644, Size: int64(len(text(i))), Typeflag: tar.TypeReg})
				_, _ = io.WriteString(files, text(i))
			}
			_ = files.Close()
		}),
		"zip": func() string {
			var b bytes.Buffer
			z := zip.NewWriter(&b)
			for i := range 3 {
				f, _ := z.Create(fmt.Sprintf("n%d.yaml", i))
				_, _ = io.WriteString(f, text(i))
			}
			_ = z.Close()
			return b.String()
		}(),
	} {
		for most, whole := range map[int64]bool{map[string]int64{"gzip": 300 << 10, "tar.gz": 1600, "zip": 70}[name]: false, 1 << 20: true} {
			r := Reader{most: most}
			if err := r.Stream(strings.NewReader(input), name); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			s, err := r.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			told := len(s.Warnings) > 0 && strings.Contains(s.Warnings[len(s.Warnings)-1].Problem, "limit exceeded")
			if n := len(s.Nodes.Items); whole && (n != 3 || told) || !whole && (n == 0 || n == 3 || !told || len(s.Pods.Scope.Gaps) == 0) {
				t.Errorf("%s, at most %d: %d nodes, %v", name, most, n, s.Warnings)
			}
		}
	}
}

// What is as long as may be is read to its end; one byte more is an error.
func TestBoundTie(t *testing.T) {
	for most, fails := range map[int64]bool{2: true, 3: false, 4: false} {
		text, err := io.ReadAll(bounded{strings.NewReader("abc"), &most})
		if (err != nil) != fails || !fails && string(text) != "abc" {
			t.Errorf("%q, %v", text, err)
		}
	}
}

// An archive of which nothing but a directory can be read is an error; a file of an archive that is beyond
// a limit of its own does not end the archive.
func TestArchiveGoesOn(t *testing.T) {
	var b bytes.Buffer
	files := tar.NewWriter(&b)
	_ = files.WriteHeader(&tar.Header{Name: "all/", Mode: 0o755, Typeflag: tar.TypeDir})
	_ = files.Flush()
	var r Reader
	if err := r.Stream(strings.NewReader(b.String()+strings.Repeat("x", 1024)), "x.tar"); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a directory alone: %v", err)
	}
	b.Reset()
	z := zip.NewWriter(&b)
	for _, text := range []string{"a: " + strings.Repeat("[", 100_000), "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n"} {
		f, _ := z.Create(fmt.Sprint(len(text), ".yaml"))
		_, _ = io.WriteString(f, text)
	}
	_ = z.Close()
	r = Reader{}
	err := r.Stream(&b, "x.zip")
	s, failed := r.Snapshot()
	if err != nil || failed != nil || len(s.Nodes.Items) != 1 {
		t.Errorf("%v, %v, %d nodes", err, failed, len(s.Nodes.Items))
	}
}
