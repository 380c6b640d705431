package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFlags(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	broken := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(broken, []byte("clusters: {"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"-help", 0, "Runs the controllers eviction,"},
		{"-nonsense", 2, "operator: flag provided but not defined: -nonsense; -help lists the flags"},
		{"", 1, "operator: kubeconfig: no cluster is configured: set -kubeconfig FILE"},
		{"eviction", 2, `operator: "eviction": takes no arguments, only flags; -help lists them`},
		{"-controllers=eviction,nodes", 1, `operator: -controllers: there is no controller "nodes": choose from eviction,`},
		{"-controllers=", 1, `operator: -controllers: there is no controller ""`},
		{"-workers=0", 1, "operator: -workers 0: must be at least 1"},
		{"-shards=-1", 1, "operator: -shards -1: must be at least 1, or 0 to elect a leader"},
		{"-lease-duration=10s", 1, "operator: -lease-duration 10s, -renew-deadline 40s, -retry-period 5s: each must be longer than the next"},
		{"-kubeconfig=/does/not/exist", 1, "operator: kubeconfig: stat /does/not/exist: no such file or directory"},
		{"-kubeconfig=" + broken, 1, "operator: kubeconfig: error loading config file"},
	} {
		var said strings.Builder
		if status := run(t.Context(), strings.Fields(c.args), &said); status != c.status || !strings.Contains(said.String(), c.want) {
			t.Errorf("%s: status %d, %q, want %d and %q", c.args, status, said.String(), c.status, c.want)
		}
	}
}
