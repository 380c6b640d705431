package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/taints/placement"
)

// apps are the objects that make pods, or decide how many. Nil lists are not known.
type apps struct {
	deployments  []snapshot.Workload
	statefulSets []snapshot.Workload
	daemonSets   []snapshot.Workload
	jobs         []snapshot.Job
	cronJobs     []snapshot.CronJob
	autoscalers  []snapshot.Autoscaler
	quotas       []snapshot.Quota
}

// short is a workload that has fewer pods than it should.
type short struct {
	kind        string
	of          *snapshot.Workload
	want, ready int
	made        int // pods that exist
	since       time.Time
}

// workloads adds the workloads that have fewer ready pods than they should, unless the pods themselves
// or their ReplicaSet say why.
func (b *builder) workloads() {
	var c *crew
	for i := range b.apps.deployments {
		d := &b.apps.deployments[i]
		s := short{kind: "Deployment", of: d, want: replicasOf(d), ready: d.Status.ReadyReplicas, made: d.Status.Replicas, since: d.CreationTimestamp}
		for _, kind := range [...]string{"Progressing", "Available"} {
			if c := fairlead.FindCondition(d.Status.Conditions, kind); c != nil && c.Status == fairlead.ConditionFalse {
				s.since = c.LastTransitionTime
			}
		}
		b.workload(&s, &c)
	}
	for i := range b.apps.statefulSets {
		d := &b.apps.statefulSets[i]
		b.workload(&short{kind: "StatefulSet", of: d, want: replicasOf(d), ready: d.Status.ReadyReplicas, made: d.Status.Replicas, since: d.CreationTimestamp}, &c)
	}
	for i := range b.apps.daemonSets {
		d := &b.apps.daemonSets[i]
		b.workload(&short{kind: "DaemonSet", of: d, want: d.Status.DesiredNumberScheduled, ready: d.Status.NumberReady, made: d.Status.CurrentNumberScheduled, since: d.CreationTimestamp}, &c)
	}
}

// replicasOf returns how many pods a workload should have.
func replicasOf(w *snapshot.Workload) int {
	if n := w.Spec.Replicas; n != nil {
		return *n
	}
	return 1
}

// workload adds one; c is made when it is needed.
func (b *builder) workload(s *short, c **crew) {
	st := &s.of.Status
	silent := st.ObservedGeneration == 0 && st.Replicas == 0 && st.CurrentNumberScheduled == 0 && st.DesiredNumberScheduled == 0 && len(st.Conditions) == 0
	if s.ready >= s.want || silent || s.of.DeletionTimestamp != nil || b.age(s.since) < startTime && !s.since.IsZero() {
		return
	}
	if *c == nil {
		*c = b.crew()
	}
	full := s.of.ObjectMeta.String()
	if (*c).told[full] || (*c).ready[full] >= s.want {
		return
	}
	x := Node{Kind: s.kind, Namespace: s.of.Namespace, Name: s.of.Name, State: Faulty, Reason: WorkloadShort, Since: s.since, Sure: Seen, Owner: "owner of the workload"}
	if s.since.Equal(s.of.CreationTimestamp) {
		x.Since = time.Time{}
	}
	what := strings.ToLower(s.kind) + " " + full
	x.Says = fmt.Sprintf("%s has %d of %s ready", what, s.ready, words.Count(s.want, "pod", "pods"))
	x.do, x.command = "see why its pods are not ready", shell.Command("kubectl -n %s describe %s %s", s.of.Namespace, strings.ToLower(s.kind), s.of.Name)
	if s.made < s.want {
		x.Says = fmt.Sprintf("%s has %d of %s", what, s.made, words.Count(s.want, "pod", "pods"))
		x.do = "see why the others are not created"
	}
	b.notCreated(s, &x)
	b.add(x)
}

// notCreated says why pods of a workload are not created, as far as anything says it.
func (b *builder) notCreated(s *short, x *Node) {
	if all := b.said[ID(s.kind, s.of.Namespace, s.of.Name)]; len(all) > 0 {
		x.Quote = all[0]
		x.because(failure.Sign{Message: x.Quote}, 160)
		return
	}
	if s.made >= s.want {
		return
	}
	if b.waitsFor(x, ID(s.kind, s.of.Namespace, s.of.Name), controllerManager); x.State == Waiting {
		return
	}
	for i := range b.apps.quotas {
		q := &b.apps.quotas[i]
		if used := full(q); q.Namespace == s.of.Namespace && len(used) > 0 {
			x.Reason, x.Alike = "QuotaExceeded", q.ObjectMeta.String()
			x.Says += ": the quota " + q.ObjectMeta.String() + " is used up (" + words.List(used, "and", 3) + ")"
			x.do, x.command = "raise the quota, or free resources", shell.Command("kubectl -n %s describe resourcequota %s", q.Namespace, q.Name)
			return
		}
	}
}

// full returns what is used up of a quota, in order, of what pods count against.
func full(q *snapshot.Quota) (used []string) {
	for resource, hard := range q.Status.Hard {
		u := q.Status.Used[resource]
		is, err := placement.ParseAmount(u)
		most, wrong := placement.ParseAmount(hard)
		if err == nil && wrong == nil && is.Compare(most) >= 0 && ofPods(resource, most == placement.Amount{}) {
			used = append(used, resource+" "+u+" of "+hard)
		}
	}
	slices.Sort(used)
	return used
}

// ofPods reports whether every pod counts against a resource of a quota; against one of which there is none,
// such as GPUs, only those that ask for it.
func ofPods(resource string, none bool) bool {
	switch resource {
	case "pods", "count/pods":
		return true
	case "cpu", "memory", "ephemeral-storage":
		return !none
	}
	kind, of, _ := strings.Cut(resource, ".")
	return (kind == "requests" || kind == "limits") && of != "storage" && !none
}

// crew is what the pods of all workloads say.
type crew struct {
	told  map[string]bool // by namespace and name of a workload: pods of it, or its ReplicaSet, are in the graph
	ready map[string]int  // likewise: how many of its pods are ready
}

// crew looks at all pods, once.
func (b *builder) crew() *crew {
	c := &crew{map[string]bool{}, map[string]int{}}
	for i := range b.pods {
		if p := &b.pods[i]; p.Ready() && p.DeletionTimestamp == nil {
			c.ready[workload(p)]++
		}
	}
	for i := range b.signs {
		switch s := &b.signs[i]; s.Kind {
		case "ReplicaSet":
			c.told[s.Namespace+"/"+before(s.Name)] = true
		case "Deployment":
			c.told[s.Namespace+"/"+s.Name] = true
		}
	}
	for i := range b.g.Nodes {
		n := &b.g.Nodes[i]
		if p := b.pod(n.Namespace, n.Name); n.Kind == "Pod" && p != nil {
			c.told[workload(p)] = true
			if o := p.ControllerOf(); o == nil { // its name tells
				c.told[n.Namespace+"/"+before(n.Name)], c.told[n.Namespace+"/"+before(before(n.Name))] = true, true
			} else if o.Kind == "ReplicaSet" {
				c.told[n.Namespace+"/"+before(o.Name)] = true
			}
		}
	}
	return c
}

// before returns a name without the part that the maker of an object has added.
func before(name string) string { return name[:max(0, strings.LastIndexByte(name, '-'))] }

// jobsFail adds the Jobs that have failed, unless a later one of the same CronJob has not.
func (b *builder) jobsFail() {
	last := map[string]time.Time{} // by UID of an owner: when the newest of its Jobs that are complete was made
	for i := range b.apps.jobs {
		if j := &b.apps.jobs[i]; holds(j, "Complete") && j.CreationTimestamp.After(last[ownerOf(j)]) {
			last[ownerOf(j)] = j.CreationTimestamp
		}
	}
	for i := range b.apps.jobs {
		j := &b.apps.jobs[i]
		if !holds(j, "Failed") || ownerOf(j) != "" && last[ownerOf(j)].After(j.CreationTimestamp) {
			continue
		}
		c := fairlead.FindCondition(j.Status.Conditions, "Failed")
		x := Node{Kind: "Job", Namespace: j.Namespace, Name: j.Name, State: Faulty, Reason: JobFailed, Since: c.LastTransitionTime, Sure: Seen, Owner: "owner of the Job", Quote: c.Message}
		x.Says = "job " + j.ObjectMeta.String() + " has failed"
		x.because(failure.Sign{Type: c.Type, Reason: c.Reason, Message: c.Message}, 140)
		b.jobEnded(j, &x)
		if o := j.ControllerOf(); o != nil {
			x.Alike = j.Namespace + "/" + o.Name
		}
		b.add(x)
	}
}

// holds reports whether a condition of a Job is true.
func holds(j *snapshot.Job, kind string) bool {
	c := fairlead.FindCondition(j.Status.Conditions, kind)
	return c != nil && c.Status == fairlead.ConditionTrue
}

// ownerOf returns the UID of what made a Job; empty if nothing did.
func ownerOf(j *snapshot.Job) string {
	if o := j.ControllerOf(); o != nil {
		return o.UID
	}
	return ""
}

// jobEnded says how the last container of a Job ended.
func (b *builder) jobEnded(j *snapshot.Job, x *Node) {
	for _, i := range b.podsOfNamespace(j.Namespace) {
		p := &b.pods[i]
		if workload(p) != j.ObjectMeta.String() && p.Labels["job-name"] != j.Name && p.Labels["batch.kubernetes.io/job-name"] != j.Name {
			continue
		}
		for _, list := range [][]fairlead.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
			for k := range list {
				t := cmp.Or(list[k].State.Terminated, list[k].LastState.Terminated)
				if t == nil || t.ExitCode == 0 {
					continue
				}
				x.Says = "job " + j.ObjectMeta.String() + " has failed: container " + list[k].Name + " of its pod " + p.Name + " " + ended(t)
				x.do, x.command = "read the log of its last pod", shell.Command("kubectl -n %s logs %s -c %s --tail=50", p.Namespace, p.Name, list[k].Name)
				if said := failure.Telling(t.Message, 140); said != "" {
					x.Says, x.Quote = x.Says+": "+said, t.Message
				}
			}
		}
	}
}

// ended says how a container ended.
func ended(t *fairlead.ContainerReason) string {
	text := fmt.Sprintf("ends with exit code %d", t.ExitCode)
	switch {
	case t.Reason == "OOMKilled":
		return "exceeds its memory limit and is killed"
	case t.ExitCode == 137:
		return text + " (killed with SIGKILL: by its liveness probe, at the end of its grace period, or for lack of memory on the node)"
	case t.ExitCode == 143:
		return text + " (ended with SIGTERM: somebody asked it to end)"
	case t.ExitCode == 139:
		return text + " (a segmentation fault)"
	case t.ExitCode == 127:
		return text + " (its command was not found)"
	case t.ExitCode == 126:
		return text + " (its command may not be executed)"
	}
	return text
}

// evictions adds the nodes that have evicted pods lately for lack of a resource, and no longer say so.
func (b *builder) evictions() {
	names, resources := map[string][]string{}, map[string]string{}
	for i := range b.pods {
		p := &b.pods[i]
		if p.Status.Reason != "Evicted" || p.Spec.NodeName == "" || !b.lately(p) || b.pressed(p.Spec.NodeName) {
			continue
		}
		names[p.Spec.NodeName] = append(names[p.Spec.NodeName], p.ObjectMeta.String())
		if f := failure.Recognise(&failure.Sign{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, Reason: "Evicted", Message: p.Status.Message}); f != nil {
			resources[p.Spec.NodeName] = f.Sentence
		}
	}
	for _, node := range b.index.nodes {
		all := names[node]
		if len(all) == 0 {
			continue
		}
		x := Node{ID: ID("Node", "", node) + "#Evicts", Kind: "Node", Name: node, State: Faulty, Reason: NodeEvicts, Sure: Seen, Owner: "administrator"}
		x.Says = "the kubelet of node " + node + " has evicted " + words.Count(len(all), "pod", "pods") + " lately (" + words.First(all, 3) + ")"
		if _, low, ok := strings.Cut(resources[node], ": its "); ok {
			x.Says += ": the " + low
		}
		x.do, x.command = "free that resource on the node, or give the pods requests and limits of it", shell.Command("kubectl describe node %s", node)
		b.add(x)
	}
}

// pressed reports whether a node says itself what it is short of.
func (b *builder) pressed(node string) bool {
	return slices.ContainsFunc([]string{"DiskPressure", "MemoryPressure", "PIDPressure"}, func(kind string) bool { return b.have[ID("Node", "", node)+"#"+kind] })
}

// lately reports whether a pod began within the time in which events count.
func (b *builder) lately(p *fairlead.Pod) bool {
	at := p.CreationTimestamp
	if p.Status.StartTime != nil {
		at = *p.Status.StartTime
	}
	for _, c := range p.Status.Conditions {
		if c.LastTransitionTime.After(at) {
			at = c.LastTransitionTime
		}
	}
	return !at.IsZero() && b.age(at) < recent
}
