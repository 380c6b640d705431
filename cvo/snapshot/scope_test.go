package snapshot_test

import (
	"strings"
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

// An object whose spec or status cannot be read is kept, and leaves its kind known in part; a kind
// of which nothing was looked at is missing, and not known in part.
func TestPartly(t *testing.T) {
	for field, partly := range map[string]int{"spec": 1, "status": 1, "extra": 0} {
		var r snapshot.Reader
		text := `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a","namespace":"x"}},{"metadata":{"name":"b","namespace":"x"},"` + field + `":"text"}]}`
		if err := r.Stream(strings.NewReader(text), "-"); err != nil {
			t.Fatal(err)
		}
		r.Listed("Pod")
		s, err := r.Snapshot()
		if err != nil || len(s.Pods.Known()) != 2 || len(s.Partly("Pod")) != partly || len(s.Missing("Pod")) != partly {
			t.Errorf("%s: %v, %d pods, known in part: %v", field, err, len(s.Pods.Known()), s.Partly("Pod"))
		}
		if len(s.Partly("Node")) != 0 || len(s.Missing("Node")) != 1 {
			t.Errorf("nodes: in part %v, missing %v", s.Partly("Node"), s.Missing("Node"))
		}
	}
}
