package explain_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/explain"
)

// TestViewOfHostileNames checks that neither a name nor a message begins a line of the text.
func TestViewOfHostileNames(t *testing.T) {
	const name = "x\nFORGED no problem was found\n"
	v := &explain.View{
		Kind: explain.KindSubscription, Namespace: name, Name: name, Phase: name, Next: name, Notes: []string{name},
		Waits: []explain.Wait{{Block: fairlead.Block{Reason: name, Message: name, Owner: name, Unblock: name}, Commands: []string{name}}},
	}
	if got := v.String(); strings.Contains(got, "\nFORGED") || strings.Count(got, "\n") != 5 {
		t.Errorf("a name begins a line:\n%s", got)
	}
}

// TestViewWithoutNamespace: an object is found by its name alone if one namespace has it; a copy
// of a CSV does not count.
func TestViewWithoutNamespace(t *testing.T) {
	var c explain.Cluster
	for _, text := range []string{
		`{"metadata": {"name": "mill", "namespace": "mills"}, "spec": {"name": "mill"}}`,
		`{"metadata": {"name": "loom", "namespace": "mills"}, "spec": {"name": "loom"}}`,
		`{"metadata": {"name": "loom", "namespace": "looms"}, "spec": {"name": "loom"}}`,
	} {
		if _, err := c.Add("Subscription", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{
		`{"metadata": {"name": "mill.v1", "namespace": "mills"}, "status": {"phase": "Succeeded"}}`,
		`{"metadata": {"name": "mill.v1", "namespace": "looms", "labels": {"olm.copiedFrom": "mills"}}, "status": {"phase": "Succeeded", "reason": "Copied"}}`,
	} {
		if _, err := c.Add("ClusterServiceVersion", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct{ kind, name, in string }{
		{"subscription", "mill", "mills"}, {"Subs", "mill", "mills"}, {"csv", "mill.v1", "mills"},
		{"subscription", "loom", ""}, {"subscription", "none", ""}, {"installplan", "mill", ""},
	} {
		v, known := c.View(tc.kind, tc.name)
		if !known || (v == nil) != (tc.in == "") || v != nil && v.Namespace != tc.in {
			t.Errorf("%s/%s: %+v, %v, want namespace %q", tc.kind, tc.name, v, known, tc.in)
		}
	}
	if in := c.Within("subscription", "loom"); strings.Join(in, " ") != "looms mills" {
		t.Errorf("loom is in %q", in)
	}
}
