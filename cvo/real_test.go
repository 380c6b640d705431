package cvo_test

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
)

// realFiles reads the files of the real payload, or skips the test.
func realFiles(t *testing.T) fstest.MapFS {
	root := filepath.Dir(samples.Data(t, "payload", "release-manifests"))
	files := fstest.MapFS{}
	for _, dir := range []string{"manifests", "release-manifests"} {
		err := fs.WalkDir(os.DirFS(root), dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := fs.ReadFile(os.DirFS(root), name)
			files[name] = &fstest.MapFile{Data: text}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// asRelease loads the real payload as that of another version: its metadata and
// what its operators are to report say so.
func asRelease(t *testing.T, files fstest.MapFS, version string) *payload.Payload {
	changed := fstest.MapFS{}
	for name, f := range files {
		from := "0.0.1-snapshot"
		if base := filepath.Base(name); base == "release-metadata" || base == "image-references" {
			from = "4.22.0"
		}
		changed[name] = &fstest.MapFile{Data: bytes.ReplaceAll(f.Data, []byte(from), []byte(version))}
	}
	p, err := payload.Load(changed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestEngineOnRealPayload is TestEngine with a real release of 910
// tasks. It is for the long run: one seed takes seconds.
func TestEngineOnRealPayload(t *testing.T) {
	n := long.N(0, 5)
	if n == 0 {
		t.Skipf("five updates of a whole release take long; %s=1 runs them", long.Variable)
	}
	files := realFiles(t)
	releases := map[string]*payload.Payload{}
	load := func(version string) *payload.Payload {
		if releases[version] == nil {
			releases[version] = asRelease(t, files, version)
		}
		return releases[version]
	}
	var parts []part
	for _, m := range load("4.18.0").Select(payload.NewFilter()).Tasks {
		if m.ClusterOperator() && strings.Contains(string(m.JSON), "4.18.0") {
			parts = append(parts, part{component: m.ID.Name})
		}
	}
	if len(parts) < 20 {
		t.Fatalf("the release has %d operators with its version", len(parts))
	}
	check(t, n, func(r *rand.Rand, clock *fairlead.ManualClock, seen map[string]int) *play {
		return newPlay(t, r, clock, seen, parts, load)
	})
}
