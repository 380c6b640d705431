package diagnosing_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/diagnosing"
	"github.com/fairlead/fairlead/internal/samples"
)

// A snapshot that was written as JSON and read again has the same diagnosis, and the same JSON.
func TestKept(t *testing.T) {
	dumps := map[string][]string{}
	situations, err := filepath.Glob(filepath.Join("..", "..", "fairlead", "diagnose", "testdata", "situations", "*"))
	if err != nil || len(situations) < 50 {
		t.Fatalf("%d situations, %v", len(situations), err)
	}
	for _, one := range situations {
		dumps[one] = []string{one}
	}
	for _, one := range recorded(t) {
		prefix := strings.TrimSuffix(one, "cv.yaml")
		for _, kind := range []string{"cv", "co", "mcp", "mc", "node"} {
			dumps[one] = append(dumps[one], prefix+kind+".yaml")
		}
	}
	for name, files := range dumps {
		var r snapshot.Reader
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue
			}
			if err := r.Stream(bytes.NewReader(text), file); err != nil {
				t.Logf("%s: %v", file, err)
			}
		}
		s, err := r.Snapshot()
		if err != nil {
			t.Logf("%s: %v", name, err)
			continue
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		back := &snapshot.Snapshot{}
		if err := json.Unmarshal(text, back); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := json.Marshal(back)
		if err != nil || !bytes.Equal(text, again) {
			t.Errorf("%s: another JSON after reading it: %v", name, err)
		}
		want, _ := json.Marshal(diagnosing.Of(s))
		got, _ := json.Marshal(diagnosing.Of(back))
		if !bytes.Equal(want, got) {
			t.Errorf("%s: another diagnosis:\n%s\n%s", name, want, got)
		}
	}
}

// recorded lists the ClusterVersions of the recorded clusters, if they are at hand.
func recorded(t *testing.T) []string {
	t.Helper()
	clusters, err := filepath.Glob(filepath.Join(samples.Root(), "updates", "status", "*-cv.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return clusters
}
