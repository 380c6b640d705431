package fbc

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReadRegular checks that a file is read up to the limit, and that nothing but regular
// files is opened.
func TestReadRegular(t *testing.T) {
	dir := t.TempDir()
	for size, fits := range map[int64]bool{0: true, maxSmall: true, maxSmall + 1: false, 1 << 40: false} {
		path := filepath.Join(dir, "x")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Skipf("no sparse files here: %v", err)
		}
		if text, err := readRegular(path); (err == nil) != fits || fits && int64(len(text)) != size {
			t.Errorf("%d bytes: %d, %v", size, len(text), err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "absent"), os.DevNull} {
		if _, err := readRegular(path); err == nil {
			t.Errorf("%s is read", path)
		}
	}
}
