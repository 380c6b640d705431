package snapshot_test

import (
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/snapshot"
)

// What is not known of a kind is told with the command that lists all of it.
func TestMissing(t *testing.T) {
	const get = ": kubectl get pods -A -o yaml"
	refused := snapshot.Gap{Where: fairlead.Position{File: "pods"}, Why: "forbidden", Permission: "list pods"}
	for _, c := range []struct {
		scope snapshot.Scope
		want  string
	}{
		{snapshot.Scope{}, "the pods" + get},
		{snapshot.Scope{All: true}, ""},
		{snapshot.Scope{All: true, Assumed: true}, ""},
		{snapshot.Scope{Namespaces: []string{"a"}}, "the pods outside of namespace a" + get},
		{snapshot.Scope{Namespaces: []string{"a", "b"}, Names: []string{"c/x"}}, "the pods outside of namespaces a and b" + get},
		{snapshot.Scope{Names: []string{"c/x"}}, "the pods other than c/x" + get},
		{snapshot.Scope{Gaps: []snapshot.Gap{refused}}, "the pods (pods: forbidden; it takes the permission to list pods)" + get},
		{snapshot.Scope{All: true, Gaps: []snapshot.Gap{refused}}, "some of the pods (pods: forbidden; it takes the permission to list pods)" + get},
	} {
		s := snapshot.Snapshot{}
		s.Pods.Scope = c.scope
		got := ""
		for _, g := range s.Missing("Pod") {
			got = g.What + ": " + g.How
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.scope.String(), got, c.want)
		}
	}
}
