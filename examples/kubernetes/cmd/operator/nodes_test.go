package main

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Invalid flags of fleet and quorum are errors that name the flag.
func TestFleetAndQuorumFlags(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "ca")
	if err := os.WriteFile(broken, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	etcd := "-quorum-etcd=https://10.0.0.1:2379,https://10.0.0.2:2379 "
	for _, c := range []struct{ name, args, want string }{
		{"fleet", "-fleet-api=Cluster", `-fleet-api: there is no "Cluster"; use MachineAPI or ClusterAPI`},
		{"quorum", "", "-quorum-etcd: name the client URLs of etcd, or leave the controller out of -controllers"},
		{"quorum", etcd + "-quorum-api=x", `-quorum-api: there is no "x"`},
		{"quorum", etcd + "-quorum-machines=role=master", `-quorum-machines: "role=master": write NAMESPACE/SELECTOR, as in openshift-etcd/app=etcd`},
		{"quorum", etcd + "-quorum-pods=a/b=c=d", `-quorum-pods: "a/b=c=d": `},
		{"quorum", etcd + "-quorum-guards=/app=guard", `-quorum-guards: "/app=guard": write NAMESPACE/SELECTOR`},
		{"quorum", etcd + "-quorum-etcd-ca=/does/not/exist", "-quorum-etcd-ca: open /does/not/exist"},
		{"quorum", etcd + "-quorum-etcd-ca=" + broken, "-quorum-etcd-ca: " + broken + " has no certificate in PEM"},
		{"quorum", etcd + "-quorum-etcd-cert=" + broken, "-quorum-etcd-cert and -quorum-etcd-key: set both, or neither"},
		{"quorum", etcd + "-quorum-etcd-cert=" + broken + " -quorum-etcd-key=" + broken, "-quorum-etcd-cert, -quorum-etcd-key: tls: failed to find any PEM data"},
	} {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		s := newSettings(flags)
		if err := flags.Parse(strings.Fields("-controllers=" + c.name + " " + c.args)); err != nil {
			t.Fatal(err)
		}
		chosen, err := s.chosen()
		if err != nil || len(chosen) != 1 {
			t.Fatalf("%v, %v", chosen, err)
		}
		if err := chosen[0].setup(t.Context(), nil, nil); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.name, c.args, err, c.want)
		}
	}
}
