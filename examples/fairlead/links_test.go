package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLinkOutOfTree: a verb does not follow a link that leads out of the directory that it reads.
func TestLinkOutOfTree(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret.yaml")
	if err := errors.Join(os.WriteFile(outside, []byte("kind: NodeList\napiVersion: v1\nitems: [{metadata: {name: elsewhere}}]\n"), 0o600), os.WriteFile(filepath.Join(dir, "pods.yaml"), []byte("kind: PodList\napiVersion: v1\nitems: []\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "nodes.yaml")); err != nil {
		t.Skip(err)
	}
	for _, line := range [][]string{{"diagnose", dir}, {"drain", dir, "-v"}, {"report", dir, "-o", "json"}, {"taints", "lint", dir, "-v"}, {"redact", dir, "-o", filepath.Join(dir, "out")}} {
		out, errs, status := output(t, line...)
		if strings.Contains(out+errs, "elsewhere") || line[0] != "redact" && (!strings.Contains(errs, "link") || status == 0) {
			t.Errorf("%v: exit status %d\n%s\n%s", line, status, out, errs)
		}
	}
}
