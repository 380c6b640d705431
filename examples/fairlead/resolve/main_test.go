package resolve

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
)

// TestRun runs the program on command lines, one after the other in one
// directory, TMP. In their words, TMP is replaced by its path.
func TestRun(t *testing.T) {
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			dir := t.TempDir()
			writeBad(t, dir)
			var all strings.Builder
			for line := range strings.Lines(c.Input) {
				args := strings.Fields(strings.ReplaceAll(line, "TMP", dir))
				var out, problems bytes.Buffer
				verb := Command()
				if c.Name == "operators" {
					verb = Operators()
				}
				status := verb.Program("fairlead "+verb.Name)(t.Context(), args, strings.NewReader(""), &out, &problems)
				text := out.String()
				if problems.Len() > 0 {
					text += "stderr: " + strings.ReplaceAll(problems.String(), dir, "TMP")
				}
				fmt.Fprintf(&all, "%s\nstatus %d\n", strings.TrimRight(text, "\n"), status)
			}
			return all.String()
		}
	})
}

// writeBad writes invalid input of several kinds, and valid input in other forms.
func writeBad(t *testing.T, dir string) {
	t.Helper()
	write := func(name string, text []byte) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("json/broken.json", []byte("{\"schema\": \"olm.package\",\n \"name\": }\n"))
	write("yaml/broken.yaml", []byte("schema: olm.package\nname: [a\n"))
	write("other/notes.txt", []byte("no catalog\n"))
	write("cases.jsonl", []byte("{\"subscriptions\": [\"shop\"]}\n{\"subscriptions\": 5}\n"))
	good, err := os.ReadFile("testdata/shop/catalog.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	tw := tar.NewWriter(zip)
	if err := tw.WriteHeader(&tar.Header{Name: "shop/catalog.yaml", Mode: 0o666, Size: int64(len(good))}); err != nil {
		t.Fatal(err)
	}
	if _, err := tw.Write(good); err != nil {
		t.Fatal(err)
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	write("shop.tar.gz", b.Bytes())
	write("cut.tar.gz", b.Bytes()[:b.Len()/2])
	write("newer/catalog.yaml", bytes.ReplaceAll(good, []byte("5.0.0"), []byte("4.1.0")))
	write("other-image/catalog.yaml", bytes.ReplaceAll(good, []byte("shop:2"), []byte("shop:2a")))
	write("bad.lock", []byte("{\n  \"lockVersion\": 9\n}\n"))
}
