package group_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver/olm/group"
)

// g parses "namespace/name: targets: APIs": targets as for names, with "-" for
// none, and APIs as letters: G is Goose.v1alpha1.birds.com and so on.
func g(text string) group.OperatorGroup {
	parts := strings.Split(text, ":")
	namespace, name, _ := strings.Cut(parts[0], "/")
	made := group.OperatorGroup{ObjectMeta: group.ObjectMeta{Name: name, Namespace: namespace}}
	if targets := strings.TrimSpace(parts[1]); targets != "-" {
		made.Status.Namespaces = names(targets)
	}
	made.Annotations = map[string]string{group.ProvidedAPIsAnnotation: apis(parts[2]).String()}
	return made
}

func apis(letters string) group.APIs {
	var set []group.API
	for _, l := range strings.Fields(letters) {
		kind := map[string]string{"G": "Goose", "M": "Moose", "E": "Egret", "T": "Goat", "C": "Cow"}[l]
		set = append(set, group.API{Group: "animals.com", Version: "v1alpha1", Kind: kind})
	}
	return group.NewAPIs(set...)
}

func all(texts []string) []group.OperatorGroup {
	var groups []group.OperatorGroup
	for _, text := range texts {
		groups = append(groups, g(text))
	}
	return groups
}

func TestIntersecting(t *testing.T) {
	for _, c := range []struct {
		group  string
		others []string
		want   string
	}{
		{"ns/a: -:", nil, ""},
		{"ns/a: -:", []string{"ns-2/b: *:"}, ""},
		{"ns/a: ns-1:", []string{"ns-2/b: ns-1:"}, "b"},
		{"ns/a: ns-1:", []string{"ns-2/b: ns:"}, "b"},
		{"ns/a: ns-1:", []string{"ns/b: ns-2:"}, "b"},
		{"ns/a: ns-1:", []string{"ns-2/b: ns-1:", "ns-3/c: ns-1:"}, "b c"},
		{"ns/a: ns-1 ns-2 ns-3:", []string{"ns-4/b: ns-6 ns-7:", "ns-5/c: ns-6 ns-8:"}, ""},
		{"ns/a: *:", []string{"ns-4/b: ns-6:", "ns-5/c: ns-9:", "ns-6/d: ns-11:"}, "b c d"},
		{"ns/a: ns-1 ns-2:", []string{"ns-4/b: *:", "ns-5/c: ns-9:"}, "b"},
		{"ns/a: *:", []string{"ns-4/b: *:", "ns-5/c: ns-9:"}, "b c"},
		{"ns/a: *:", []string{"ns-4/b: *:"}, "b"},
		{"ns/a: *:", []string{"ns/a: *:"}, ""},
	} {
		one := g(c.group)
		var got []string
		for _, o := range one.Intersecting(all(c.others)) {
			got = append(got, o.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s with %q: %q, want %q", c.group, c.others, got, c.want)
		}
	}
}

func TestRelate(t *testing.T) {
	for _, c := range []struct {
		add, group string
		others     []string
		want       group.Relation
	}{
		{"", "ns/g1: ns:", nil, group.NoAPIConflict},
		{"G", "ns/g1: ns-1: G", []string{"ns-2/g1: ns-3: G"}, group.NoAPIConflict},
		{"G", "ns/g1: ns-1: G", []string{"ns-2/g1: ns-1: M"}, group.NoAPIConflict},
		{"G", "ns/g1: ns-1: G", []string{"ns-2/g1: ns-1: M", "ns-2/g2: ns: E"}, group.NoAPIConflict},
		{"G M", "ns/g1: ns-1 ns-2 ns-3: G M", []string{"ns-7/g1: ns-4: M", "ns-8/g1: ns-5: G", "ns-9/g1: *: T"}, group.NoAPIConflict},
		{"G", "ns/g1: *: G", []string{"ns-2/g1: ns-1: M"}, group.NoAPIConflict},
		{"G", "ns/g1: ns-1: G", []string{"ns-2/g1: *: M"}, group.NoAPIConflict},
		{"G", "ns/g1: *: G", []string{"ns-2/g1: *: M"}, group.NoAPIConflict},
		{"G", "ns/g1: ns-1: G", []string{"ns-2/g1: ns-1:"}, group.NoAPIConflict},

		{"G", "ns/g1: ns-1:", []string{"ns-2/g1: ns-1: G"}, group.APIConflict},
		{"G", "ns/g1: *:", []string{"ns-2/g1: ns-1: G"}, group.APIConflict},
		{"G", "ns/g1: ns-1:", []string{"ns-2/g1: *: G"}, group.APIConflict},
		{"G", "ns/g1: *:", []string{"ns-2/g1: *: G"}, group.APIConflict},
		{"G", "ns/g1: ns-1:", []string{"ns-2/g1: ns-1: M", "ns-3/g1: ns-1: G E"}, group.APIConflict},
		{"G", "ns/g1: ns-1:", []string{"ns-3/g1: ns: G E"}, group.APIConflict},

		{"G", "ns/g1: ns-1:", []string{"ns-2/g1: ns-2: G"}, group.AddAPIs},
		{"G", "ns/g1: ns-1:", []string{"ns-2/g1: ns-1: M"}, group.AddAPIs},
		{"G", "ns/g1: ns-1:", []string{"ns-2/g1: ns: M"}, group.AddAPIs},
		{"G", "ns/g1: *:", []string{"ns-2/g1: ns-1: M", "ns-3/g1: ns-1: T E"}, group.AddAPIs},
		{"G", "ns/g1: ns-1:", []string{"ns-2/g1: *: M", "ns-3/g1: *: T E"}, group.AddAPIs},
		{"G C", "ns/g1: ns-1: C", []string{"ns-2/g1: *: M", "ns-3/g1: *: T E"}, group.AddAPIs},

		{"G", "ns/g1: ns-1: G", []string{"ns-2/g1: ns-1: G"}, group.RemoveAPIs},
		{"G", "ns/g1: *: G", []string{"ns-2/g1: ns-1: G"}, group.RemoveAPIs},
		{"G", "ns/g1: *: G", []string{"ns-2/g1: *: G"}, group.RemoveAPIs},
		{"G", "ns/g1: ns-1: G", []string{"ns-2/g1: ns-1: G", "ns-2/g2: ns: G"}, group.RemoveAPIs},
		{"G M", "ns/g1: ns-1 ns-2 ns-3: G M", []string{"ns-7/g1: ns-4: M", "ns-8/g1: ns-5 ns-3: G", "ns-9/g1: *: T"}, group.RemoveAPIs},
	} {
		one := g(c.group)
		got, conflicts := one.Relate(apis(c.add), all(c.others))
		if got != c.want {
			t.Errorf("%s, %s with %q: %s, want %s", c.add, c.group, c.others, got, c.want)
		}
		if hit := got == group.APIConflict || got == group.RemoveAPIs; hit != (len(conflicts) > 0) {
			t.Errorf("%s, %s with %q: %s with conflicts %v", c.add, c.group, c.others, got, conflicts)
		}
	}
}

func TestSurface(t *testing.T) {
	for text, want := range map[string]string{
		"ns/a: -:": "[]", "ns/a: ns-1:": "[ns ns-1]", "ns/a: ns:": "[ns]", "ns/a: ns-2 ns-1:": "[ns ns-1 ns-2]", "ns/a: *:": "[]",
	} {
		one := g(text)
		if got := one.Surface(); fmt.Sprint([]string(got)) != want || got.All() != strings.Contains(text, "*") {
			t.Errorf("%s: %q", text, got)
		}
	}
}
