package zstd_test

import (
	"archive/tar"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	klauspost "github.com/klauspost/compress/zstd"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/source"
	"github.com/fairlead/fairlead/examples/kubernetes/zstd"
)

const text = "schema: olm.package\nname: shop\ndefaultChannel: stable\n"

// packed returns an archive of a catalog.
func packed(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := klauspost.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: "shop.yaml", Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestArchive reads an archive with the decoder; without it the error says what to
// do, and a truncated or damaged archive is refused.
func TestArchive(t *testing.T) {
	with := &source.Options{Decoders: []source.Decoder{zstd.Decoder()}}
	open := func(content []byte, opts *source.Options) (fs.FS, error) {
		file := filepath.Join(t.TempDir(), "catalog.tar.zst")
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := source.Open(t.Context(), file, opts)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { s.Close() })
		return s, nil
	}
	whole := packed(t)
	files, err := open(whole, with)
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(t.Context(), files, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Package("shop"); !ok {
		t.Error("the package is not there")
	}
	if _, err := open(whole, nil); err == nil || !strings.Contains(err.Error(), "decompress it (zstd -d)") {
		t.Error(err)
	}
	for _, bad := range [][]byte{whole[:len(whole)/2], append(bytes.Clone(whole[:20]), bytes.Repeat([]byte{0xff}, 40)...)} {
		if _, err := open(bad, with); err == nil {
			t.Errorf("%d bytes of %d are taken", len(bad), len(whole))
		}
	}
	huge := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff, 0, 0, 0} // requests a window of nearly 4 TiB
	if _, err := open(huge, with); err == nil {
		t.Error("any window is allowed")
	}
}
