package diagnosis

import (
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/internal/shell"
)

// scaleRemedies: the workload behind a service runs one pod, if a node has room for it.
func (w *world) scaleRemedies(n *Node) []remedy {
	kind, name, _ := strings.Cut(n.Alike, "/")
	step := Step{
		Do: "Run a pod of " + strings.ToLower(kind) + " " + n.Namespace + "/" + name + " again", Tried: true,
		Command: w.program(shell.Command("kubectl -n %s scale %s %s --replicas=1", n.Namespace, strings.ToLower(kind), name)),
	}
	return []remedy{{step, func(c *world) bool { return c.scaleUp(kind, n.Namespace, name, n.Name) }}, w.knownRemedy(n)}
}

// scaleUp makes one pod of a workload that has none; what the endpoints of a service say is then of
// before. The cluster decides whether the pod gets a node.
func (w *world) scaleUp(kind, namespace, name, service string) bool {
	list := map[string]*[]snapshot.Workload{"Deployment": &w.apps.deployments, "StatefulSet": &w.apps.statefulSets}[kind]
	if list == nil || w.pods == nil {
		return false
	}
	k := slices.IndexFunc(*list, func(d snapshot.Workload) bool { return d.Namespace == namespace && d.Name == name })
	if k < 0 {
		return false
	}
	*list = slices.Clone(*list)
	d, one, yes := &(*list)[k], 1, true
	d.Spec.Replicas = &one
	p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{
		Namespace: namespace, Name: name + "-new", UID: namespace + "/" + name + "-new", Labels: maps.Clone(d.Spec.Template.Labels), CreationTimestamp: w.now,
		OwnerReferences: []fairlead.OwnerReference{{Kind: kind, Name: name, UID: kind + "/" + namespace + "/" + name, Controller: &yes}},
	}, Spec: d.Spec.Template.Spec}
	p.Status.Phase = fairlead.PodPending
	w.pods = append(slices.Clip(w.pods), p)
	w.net.backed = maps.Clone(w.net.backed)
	delete(w.net.backed, objectKey{namespace, service})
	w.replaced()
	return true
}
