package snapshot_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/snapshot"
)

// A link that leads out of a dump is a gap, and is not followed.
func TestLinkOutOfDump(t *testing.T) {
	const nodes = "kind: NodeList\napiVersion: v1\nitems: [{metadata: {name: n1}}]\n"
	outside, dir := filepath.Join(t.TempDir(), "nodes.yaml"), t.TempDir()
	if err := errors.Join(os.WriteFile(outside, []byte(nodes), 0o600), os.WriteFile(filepath.Join(dir, "pods.yaml"), []byte("kind: PodList\napiVersion: v1\nitems: []\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "nodes.yaml")); err != nil {
		t.Skip(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var r snapshot.Reader
	if err := r.FS(root.FS(), "dump"); err != nil {
		t.Fatal(err)
	}
	s, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Nodes.Items) > 0 || len(s.Warnings) != 1 || s.Warnings[0].Where.File != "dump/nodes.yaml" || !strings.Contains(s.Warnings[0].Problem, "link") {
		t.Errorf("%d nodes, warnings %+v", len(s.Nodes.Items), s.Warnings)
	}
}
