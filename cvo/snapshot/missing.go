package snapshot

import (
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
	for _, name := range names {
		k := byName[name]
		scope := k.list(s).scope()
		if what, is := scope.lacks("the " + orElse(called[name], name+"s")); is && (scope.Looked() || !partly) {
			gaps = append(gaps, cvo.Gap{What: what, How: s.list(k)})
		}
	}
	return gaps
}

// Assumed says that the pods are taken as all of the cluster although the input does not say so: it
// has those of one namespace. It is empty if nothing is assumed.
func (s *Snapshot) Assumed() string {
	refs := s.Pods.Refs
	if !s.Pods.Scope.Assumed || len(refs) == 0 || refs[0].Namespace != refs[len(refs)-1].Namespace {
		return ""
	}
	return "the pods of the input, all of namespace " + refs[0].Namespace + ", are all of the cluster"
}

// list is the command that lists a kind.
func (s *Snapshot) list(k *kind) string {
	program := "kubectl"
	if s.Version() != nil || len(s.Pools.Items) > 0 {
		program = "oc"
	}
	if k.namespaced {
		return shell.Command("%s get %s -A -o yaml", program, k.plural)
	}
	return shell.Command("%s get %s -o yaml", program, k.plural)
}

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
