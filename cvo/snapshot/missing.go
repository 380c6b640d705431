package snapshot

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
)

// called are the kinds that people call by words rather than by the name of the kind.
var called = map[string]string{
	"Node": "nodes", "Pod": "pods", "PodDisruptionBudget": "disruption budgets", "Namespace": "namespaces", "Machine": "machines",
	"ClusterOperator": "cluster operators", "MachineConfigPool": "machine config pools", "MachineConfig": "machine configurations",
}

// Missing returns which objects of kinds, by name as in Pod, are not known, each with the command that
// lists them. Kinds of which every object is known are left out.
func (s *Snapshot) Missing(names ...string) []cvo.Gap { return s.missing(names, false) }

// Partly is Missing without the kinds of which nothing is known at all, which whoever is given a nil
// list already knows.
func (s *Snapshot) Partly(names ...string) []cvo.Gap { return s.missing(names, true) }

func (s *Snapshot) missing(names []string, partly bool) []cvo.Gap {
	gaps := []cvo.Gap{}
	kept := []*kind{} // of which there are gaps
	for _, name := range names {
		k := byName[name]
		if scope := k.list(s).scope(); !scope.Whole() && (scope.Looked() || !partly) {
			kept = append(kept, k)
		}
	}
	for len(kept) > 0 {
		scope := kept[0].list(s).scope()
		n := 1 // those of which the same namespaces are known are told together
		for n < len(kept) && scope.within() && kept[n].list(s).scope().within() && slices.Equal(scope.Namespaces, kept[n].list(s).scope().Namespaces) {
			n++
		}
		var people, plurals []string
		for _, k := range kept[:n] {
			people, plurals = append(people, orElse(called[k.name], k.name+"s")), append(plurals, k.plural)
		}
		what, _ := scope.lacks("the " + words.List(people, "and", len(people)))
		gaps = append(gaps, cvo.Gap{What: what, How: s.get(strings.Join(plurals, ","), kept[0].namespaced)})
		kept = kept[n:]
	}
	return gaps
}

// Narrowed says of which kinds the input has objects of one namespace only, and does not say whether the
// cluster has others; empty for none.
func (s *Snapshot) Narrowed() string {
	var names []string
	for i := range kinds {
		if scope := kinds[i].list(s).scope(); scope.Assumed && !scope.All && scope.Looked() {
			names = append(names, orElse(called[kinds[i].name], kinds[i].name+"s"))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "the " + words.List(names, "and", 4)
}

// get is the command that lists all objects of kinds.
func (s *Snapshot) get(plurals string, namespaced bool) string {
	program := "kubectl"
	if s.Version() != nil || len(s.Pools.Items) > 0 {
		program = "oc"
	}
	if namespaced {
		return shell.Command("%s get %s -A -o yaml", program, plurals)
	}
	return shell.Command("%s get %s -o yaml", program, plurals)
}

// within reports whether nothing but whole namespaces was looked at.
func (s *Scope) within() bool { return !s.All && len(s.Namespaces) > 0 && len(s.Gaps) == 0 }

// lacks says which objects of a kind, such as "the pods", are not known, and whether any are not.
func (s *Scope) lacks(kind string) (text string, is bool) {
	switch {
	case s.Whole():
		return "", false
	case len(s.Gaps) > 0 && (s.All || !s.Looked()):
		g := s.Gaps[0]
		text = g.Where.String() + ": " + g.Why
		if g.Permission != "" {
			text += "; it takes the permission to " + g.Permission
		}
		if s.All {
			kind = "some of " + kind
		}
		return kind + " (" + text + ")", true
	case len(s.Namespaces) > 0:
		return kind + " outside of " + words.Plural(len(s.Namespaces), "namespace ", "namespaces ") + words.List(s.Namespaces, "and", 3), true
	case len(s.Names) > 0:
		return kind + " other than " + words.List(s.Names, "and", 3), true
	}
	return kind, true
}
