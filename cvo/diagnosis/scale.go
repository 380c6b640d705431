package diagnosis

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// mostReplicas is how many more replicas are proposed.
const mostReplicas = 3

// scaleRemedy runs more replicas of the Deployment whose pods a budget selects, if more help. One
// that belongs to the cluster itself, or whose pods are not all of one ReplicaSet, is left alone.
func (w *world) scaleRemedy(b *fairlead.PodDisruptionBudget) (r remedy, ok bool) {
	set, name := w.deploymentOf(b)
	more := b.MoreReplicas(b.Status.ExpectedPods)
	if name == "" || more == 0 || more > mostReplicas || ofCluster(b.Namespace) {
		return r, false
	}
	count, known := w.scale()(b.Namespace, &fairlead.OwnerReference{Kind: "ReplicaSet", Name: set})
	if !known {
		count = b.Status.ExpectedPods
	}
	replicas := "one more replica"
	if more > 1 {
		replicas = fmt.Sprint(more, " more replicas")
	}
	step := Step{
		Do:      "Run " + replicas + " of Deployment " + b.Namespace + "/" + name,
		Command: w.program(shell.Command("kubectl -n %s scale deployment %s --replicas=%s", b.Namespace, name, fmt.Sprint(count+more))), Tried: true,
	}
	return remedy{step, func(c *world) bool { return c.addReplicas(b.Namespace, set, count, more) }}, true
}

// ofCluster reports whether the operators of the cluster own what is in a namespace.
func ofCluster(namespace string) bool {
	return strings.HasPrefix(namespace, "openshift-") || strings.HasPrefix(namespace, "kube-")
}

// deploymentOf returns the ReplicaSet of the pods that a budget selects, and its Deployment; empty
// if they are not all of one.
func (w *world) deploymentOf(b *fairlead.PodDisruptionBudget) (set, deployment string) {
	x := w.indexed()
	for _, at := range x.podsOf[x.budgetAt[objectKey{b.Namespace, b.Name}]] {
		p := &w.pods[at]
		c := p.ControllerOf()
		if p.Finished() || p.DeletionTimestamp != nil {
			continue
		}
		if c == nil || c.Kind != "ReplicaSet" || set != "" && c.Name != set {
			return "", ""
		}
		name := strings.TrimPrefix(workload(p), p.Namespace+"/")
		if name == c.Name { // not made by a Deployment
			return "", ""
		}
		set, deployment = c.Name, name
	}
	return set, deployment
}

// fit reports whether pods fit together on nodes that are ready and are not to be drained.
func (w *world) fit(pods []fairlead.Pod) bool {
	places := w.places()
	for i := range pods {
		c := pods[i]
		to, ok := places.First(&c, func(n *fairlead.Node) bool {
			return !slices.Contains(w.toDrain, n.Name) && n.NotReady() == nil
		})
		if !ok {
			return false
		}
		c.Spec.NodeName = to.Name
		_ = places.Add(&c) // what cannot be read counts as nothing
		defer places.Remove(&c)
	}
	return true
}

// addReplicas adds pods of a ReplicaSet, which wait for a node; false if they would not fit.
func (w *world) addReplicas(namespace, set string, count, more int) bool {
	k := slices.IndexFunc(w.pods, func(p fairlead.Pod) bool {
		c := p.ControllerOf()
		return p.Namespace == namespace && c != nil && c.Kind == "ReplicaSet" && c.Name == set && !p.Finished()
	})
	if k < 0 {
		return false
	}
	var added []fairlead.Pod
	for i := range more {
		p := w.pods[k]
		p.Name, p.UID = fmt.Sprintf("%s-more-%d", set, i), fmt.Sprintf("%s/more/%d", p.UID, i)
		p.CreationTimestamp, p.Spec.NodeName, p.DeletionTimestamp, p.Status = time.Time{}, "", nil, fairlead.PodStatus{Phase: fairlead.PodPending}
		added = append(added, p)
	}
	if !w.fit(added) {
		return false
	}
	w.pods = append(slices.Clip(w.pods), added...)
	w.replicas = slices.DeleteFunc(slices.Clone(w.replicas), func(r drain.Replicas) bool {
		return r.Namespace == namespace && r.Kind == "ReplicaSet" && r.Name == set
	})
	w.replicas = append(w.replicas, drain.Replicas{Namespace: namespace, Kind: "ReplicaSet", Name: set, Count: count + more})
	w.replaced()
	return true
}

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
