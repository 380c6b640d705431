package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Names in dumps are completed: objects, and the values of flags. A name that a shell would read as
// more than a name is not offered.
func TestCompletesDump(t *testing.T) {
	dump := filepath.Join(t.TempDir(), "all.yaml")
	if err := os.WriteFile(dump, []byte(`kind: List
apiVersion: v1
items:
- {kind: Node, apiVersion: v1, metadata: {name: worker-1}}
- {kind: Node, apiVersion: v1, metadata: {name: worker-0}}
- {kind: Node, apiVersion: v1, metadata: {name: "w;reboot"}}
- {kind: Pod, apiVersion: v1, metadata: {name: web-1, namespace: shop}, spec: {nodeName: worker-0}}
- {kind: Pod, apiVersion: v1, metadata: {name: web-1, namespace: test}, spec: {nodeName: worker-0}}
- {kind: Secret, apiVersion: v1, metadata: {name: web, namespace: shop}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, want string }{
		{"drain DUMP -node w", "worker-0 worker-1"},
		{"drain DUMP -node worker-1 -node x", ""},
		{"drain missing.yaml -node w", ""},
		{"drain - -node w", ""},
		{"taints explain DUMP -pod w", "web-1"},
		{"taints explain DUMP -node w", "worker-0 worker-1"},
		{"machine explain DUMP -machine w", ""},
		{"explain DUMP no", "node/worker-0 node/worker-1"},
		{"explain DUMP pod/", "pod/web-1"},
		{"explain DUMP s", ""},
		{"explain n", ""},
	} {
		out, errs, status := output(t, strings.Fields("__complete "+strings.ReplaceAll(c.line, "DUMP", dump))...)
		if status != 0 || errs != "" {
			t.Errorf("%s: exit status %d: %s", c.line, status, errs)
		}
		if got := strings.Join(strings.Fields(out), " "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.line, got, c.want)
		}
	}
}
