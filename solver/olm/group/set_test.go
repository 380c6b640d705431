package group_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver/olm/group"
)

// names parses "a b c"; "*" is all namespaces.
func names(text string) group.Namespaces {
	if text == "*" {
		return group.NewNamespaces(group.AllNamespaces)
	}
	return group.NewNamespaces(strings.Fields(text)...)
}

func show(s group.Namespaces) string {
	if s.All() {
		return "*"
	}
	return strings.Join(s, " ")
}

func TestNamespaces(t *testing.T) {
	for _, c := range []struct{ a, b, both, either string }{
		{"", "", "", ""},
		{"", "ns ns-1 ns-2", "", "ns ns-1 ns-2"},
		{"ns", "ns", "ns", "ns"},
		{"ns ns-1 ns-2", "ns ns-1 ns-3", "ns ns-1", "ns ns-1 ns-2 ns-3"},
		{"ns ns-1 ns-2", "ns ns-1 ns-2", "ns ns-1 ns-2", "ns ns-1 ns-2"},
		{"*", "ns ns-1 ns-2", "ns ns-1 ns-2", "*"},
		{"*", "", "", "*"},
		{"*", "*", "*", "*"},
	} {
		a, b := names(c.a), names(c.b)
		if got := show(a.Intersection(b)); got != c.both {
			t.Errorf("%q intersected with %q: %q, want %q", c.a, c.b, got, c.both)
		}
		if got := show(b.Intersection(a)); got != c.both {
			t.Errorf("%q intersected with %q: %q, want %q", c.b, c.a, got, c.both)
		}
		if got := show(a.Union(b)); got != c.either {
			t.Errorf("%q united with %q: %q, want %q", c.a, c.b, got, c.either)
		}
		if got := show(b.Union(a)); got != c.either {
			t.Errorf("%q united with %q: %q, want %q", c.b, c.a, got, c.either)
		}
	}
}

func TestNamespacesContain(t *testing.T) {
	for _, c := range []struct {
		set, name string
		want      bool
	}{
		{"*", "any", true}, {"a b", "a", true}, {"a b", "b", true}, {"a b", "c", false}, {"", "a", false},
	} {
		if got := names(c.set).Contains(c.name); got != c.want {
			t.Errorf("%q contains %q: %v", c.set, c.name, got)
		}
	}
	for text, want := range map[string]string{"a": "a", "b,a": "a b", "": "*", "a,": "*"} {
		if got := show(group.ParseNamespaces(text)); got != want {
			t.Errorf("parsing %q: %q, want %q", text, got, want)
		}
	}
	for set, want := range map[string]bool{"*": true, "a": false, "a b c": false, "": false} {
		if names(set).All() != want {
			t.Errorf("%q is all namespaces: %v", set, !want)
		}
	}
}

// Set operations are pointwise on membership, and the set of all namespaces has
// every member.
func TestNamespacesPointwise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := []string{"a", "b", "c", "d"}
	pick := func() group.Namespaces {
		var list []string
		for _, n := range append([]string{group.AllNamespaces}, all...) {
			if r.IntN(3) == 0 {
				list = append(list, n)
			}
		}
		return group.NewNamespaces(list...)
	}
	for range 2000 {
		a, b := pick(), pick()
		both, either := a.Intersection(b), a.Union(b)
		for _, n := range all {
			if both.Contains(n) != (a.Contains(n) && b.Contains(n)) {
				t.Fatalf("%q in %q intersected with %q", n, a, b)
			}
			if either.Contains(n) != (a.Contains(n) || b.Contains(n)) {
				t.Fatalf("%q in %q united with %q", n, a, b)
			}
		}
		if !slices.IsSorted(both) || !slices.IsSorted(either) {
			t.Fatalf("%q, %q: not sorted", both, either)
		}
	}
}

func TestParseAPIs(t *testing.T) {
	for _, c := range []struct{ in, want, dropped string }{
		{"", "", ""},
		{"Goose.v1alpha1.birds.com", "Goose.v1alpha1.birds.com", ""},
		{"Goose.v1alpha1", "", "Goose.v1alpha1"},
		{"Goose.v1alpha1,Moose.v1alpha1.mammals.com", "Moose.v1alpha1.mammals.com", "Goose.v1alpha1"},
		{"Moose.v1.mammals.com, Goose.v1.birds.com", "Goose.v1.birds.com,Moose.v1.mammals.com", ""},
		{"Goose.v1.birds.com,Goose.v1.birds.com", "Goose.v1.birds.com", ""},
		{".v1.birds.com,Goose..birds.com,Goose.v1.,,", "", ".v1.birds.com|Goose..birds.com|Goose.v1.||"},
	} {
		set, dropped := group.ParseAPIs(c.in)
		if set.String() != c.want || strings.Join(dropped, "|") != c.dropped {
			t.Errorf("%q: %q, dropped %q", c.in, set, dropped)
		}
	}
}

func TestAPISets(t *testing.T) {
	parse := func(text string) group.APIs {
		set, _ := group.ParseAPIs(text)
		return set
	}
	a, b := parse("A.v1.x.io,B.v1.x.io"), parse("B.v1.x.io,C.v1.x.io")
	for got, want := range map[string]string{
		a.Union(b).String():                        "A.v1.x.io,B.v1.x.io,C.v1.x.io",
		a.Intersection(b).String():                 "B.v1.x.io",
		a.Minus(b).String():                        "A.v1.x.io",
		a.Minus(a).String():                        "",
		parse("").Union(nil).String():              "",
		parse("").Union(a).Minus(b).String() + "!": "A.v1.x.io!",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if !a.SubsetOf(a.Union(b)) || a.SubsetOf(b) || !group.APIs(nil).SubsetOf(a) || a.SubsetOf(nil) {
		t.Error("subsets")
	}
}

// A group may hide global catalogs and let failed updates be replaced; a nil group
// does neither.
func TestChoicesOfGroups(t *testing.T) {
	var none *group.OperatorGroup
	g := &group.OperatorGroup{}
	if none.ExcludesGlobal() || none.FailsForward() || g.ExcludesGlobal() || g.FailsForward() {
		t.Error("what nobody said counts")
	}
	g.Annotations = map[string]string{group.ExcludeGlobalNamespaceAnnotation: "false"}
	g.Spec.UpgradeStrategy = "Default"
	if g.ExcludesGlobal() || g.FailsForward() {
		t.Error("a no counts as yes")
	}
	g.Annotations[group.ExcludeGlobalNamespaceAnnotation] = "true"
	g.Spec.UpgradeStrategy = group.UpgradeFailForward
	if !g.ExcludesGlobal() || !g.FailsForward() {
		t.Error("a yes does not count")
	}
}
