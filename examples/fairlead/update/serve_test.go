package update

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The service serves the content of the directory, also after it has changed, and the
// program ends when it is interrupted.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	raw := func(version string) {
		write("raw.json", `{"nodes":[{"version":"4.1.0+amd64","payload":"a"},{"version":"`+version+`+amd64","payload":"b"}],"edges":[[0,1]]}`)
	}
	raw("4.1.1")
	write("graph-data/channels/fast-4.1.yaml", "name: fast-4.1\nversions: [4.1.0, 4.1.1, 4.1.2]\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	ended := make(chan int, 1)
	var stderr bytes.Buffer
	go func() {
		ended <- Command().Program("fairlead update")(ctx, []string{"serve", dir, "-listen", "127.0.0.1:0", "-reload", "20ms"}, nil, in, &stderr)
	}()
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(strings.TrimPrefix(string(line[:n]), "listening on "))
	get := func(path string) string {
		r, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if text := get("/graph?channel=fast-4.1"); !strings.Contains(text, `"4.1.1"`) {
		t.Errorf("%s", text)
	}
	raw("4.1.2")
	for begun := time.Now(); !strings.Contains(get("/graph?channel=fast-4.1"), `"4.1.2"`); time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > 20*time.Second {
			t.Fatal("it does not read the directory again")
		}
	}
	if text := get("/metrics"); !strings.Contains(text, "fairlead_updates_requests_total ") {
		t.Errorf("%s", text)
	}
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("exit status %d: %s", code, &stderr)
	}
}
