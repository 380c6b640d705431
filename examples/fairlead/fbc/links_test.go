package fbc

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Nothing is written through a link out of the directory that -to names, nor by a package whose
// name is a path.
func TestWritesStayInside(t *testing.T) {
	for name, pkg := range map[string]string{"a link": "shop", "a path": "../outside/shop"} {
		base := t.TempDir()
		in, out, outside := filepath.Join(base, "in.yaml"), filepath.Join(base, "out"), filepath.Join(base, "outside")
		text := "schema: olm.package\nname: " + pkg + "\n"
		for _, err := range []error{os.WriteFile(in, []byte(text), 0o600), os.Mkdir(out, 0o700), os.Mkdir(outside, 0o700)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(outside, filepath.Join(out, "shop")); err != nil {
			t.Skip(err)
		}
		var stdout, stderr bytes.Buffer
		status := Command().Program("catalog")(t.Context(), []string{"convert", in, "-to", out}, strings.NewReader(""), &stdout, &stderr)
		if files, err := os.ReadDir(outside); err != nil || len(files) > 0 || status != 2 {
			t.Errorf("%s: exit status %d, outside: %v, %v\n%s", name, status, files, err, &stderr)
		}
	}
}
