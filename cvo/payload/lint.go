package payload

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

// builtin are the groups whose kinds every cluster serves. Others must be
// defined by a CustomResourceDefinition, or served by an APIService.
var builtin = []string{
	"", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps", "autoscaling", "batch", "certificates.k8s.io",
	"coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "flowcontrol.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "policy",
	"rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io",
}

// Lint returns what is odd about the kinds of the tasks of a selection, which
// may still work: kinds that nothing defines, and resources that may be applied
// before what defines their kind, in the order of g, which NewGraph has made of its tasks. What one of the
// cluster's own API servers provides beside CustomResourceDefinitions is known
// by its APIServices only.
func (s *Selection) Lint(g *Graph) Diagnostics {
	x := linter{defines: make(map[[2]string]int), serves: make(map[string]bool), node: make([]int, len(g.Tasks)), depth: g.depths()}
	for i := range g.Nodes {
		for t := range g.Nodes[i].Count {
			x.node[g.Nodes[i].First+t] = i
		}
	}
	for i, m := range g.Tasks {
		x.definition(i, m)
	}
	for i, m := range g.Tasks {
		if slices.Contains(builtin, m.ID.Group) || x.serves[m.ID.Group] || m.Delete() || bootstrapped(m) {
			continue
		}
		at, ok := x.defines[[2]string{m.ID.Group, m.ID.Kind}]
		switch {
		case !ok:
			x.note(m, LintUnknownKind, fmt.Sprintf("neither Kubernetes nor this payload defines the kind %s of %s", m.ID.Kind, m.ID.Group),
				"deliver its CustomResourceDefinition, or make sure that it is there")
		case !x.before(at, i):
			x.note(m, LintOrder, "it may be applied before "+g.Label(at)+", which defines its kind", "give it a higher runlevel")
		}
	}
	return x.found.Sorted()
}

// bootstrapped reports whether the kind is there before any release is applied.
func bootstrapped(m *Manifest) bool {
	return m.ClusterOperator() || m.ID.Group == "config.openshift.io" && m.ID.Kind == "ClusterVersion"
}

// linter collects what is odd.
type linter struct {
	defines map[[2]string]int // by group and kind: the task that defines it
	serves  map[string]bool   // groups that an APIService serves
	node    []int             // by task
	depth   []int             // by node
	found   Diagnostics
}

func (x *linter) note(m *Manifest, code Code, message, hint string) {
	x.found = append(x.found, &Diagnostic{Pos: m.Pos, Code: code, Subject: m.ID.String(), Message: message, Hint: hint})
}

// definition notes what a task defines.
func (x *linter) definition(i int, m *Manifest) {
	switch {
	case m.Delete():
	case m.ID.Kind == "CustomResourceDefinition":
		root := doc.Tree(m.JSON)
		group, _ := root.Get("spec", "group").Text()
		kind, _ := root.Get("spec", "names", "kind").Text()
		if _, known := x.defines[[2]string{group, kind}]; !known {
			x.defines[[2]string{group, kind}] = i
		}
	case m.ID.Kind == "APIService":
		if _, group, ok := strings.Cut(m.ID.Name, "."); ok {
			x.serves[group] = true
		}
	}
}

// before reports whether task a is done before task b begins. In what NewGraph
// makes, each node waits for all of a lower depth.
func (x *linter) before(a, b int) bool {
	if x.node[a] == x.node[b] {
		return a < b
	}
	return x.depth[x.node[a]] < x.depth[x.node[b]]
}

// depths returns of each node how many nodes are before it on the longest way.
func (g *Graph) depths() []int {
	depth := make([]int, len(g.Nodes))
	for _, i := range g.order() {
		for _, to := range g.Nodes[i].Out {
			depth[to] = max(depth[to], depth[i]+1)
		}
	}
	return depth
}
