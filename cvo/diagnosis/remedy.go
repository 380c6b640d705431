package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// shortList joins up to three names, and says how many more there are.
func shortList(names []string) string { return words.First(names, 3) }

// remedies returns what may end a cause, the best first.
func (w *world) remedies(g *Graph, id string) []remedy {
	n := g.Node(id)
	switch n.Reason {
	case BudgetNever:
		return append(w.readyRemedies(n), w.budgetRemedies(n)...)
	case NodeCordoned:
		return []remedy{{Step{Do: "Allow pods on node " + n.Name + " again, unless somebody is working on it", Command: w.uncordon(n.Name), Tried: true}, func(c *world) bool { return c.editNode(n.Name, takesPods) }}}
	case AttachedToGone:
		r := w.knownRemedy(n)
		r.Must, r.See = "the node's machine is gone or powered off: a volume that is still written to would be damaged", w.program("kubectl get nodes -o wide")
		return []remedy{r}
	case NodeTaintLeft:
		_, key, _ := strings.Cut(n.ID, "#")
		return []remedy{{Step{Do: "Remove the taint " + key + " from node " + n.Name, Command: w.taint(n.Name, key+"-"), Tried: true}, func(c *world) bool {
			return c.editNode(n.Name, func(x *fairlead.Node) {
				x.Spec.Taints = slices.DeleteFunc(x.Spec.Taints, func(t fairlead.Taint) bool { return t.Key == key })
			})
		}}}
	case CronJobSuspended:
		return []remedy{{Step{
			Do: "Let CronJob " + n.full() + " go on, unless it is meant to be suspended", Command: w.program(shell.Command("kubectl -n %s patch cronjob %s --type merge -p %s", n.Namespace, n.Name, `{"spec":{"suspend":false}}`)), Tried: true,
		}, func(c *world) bool { return c.resume(n.Namespace, n.Name) }}}
	case ScaledToNone:
		return w.scaleRemedies(n)
	case PoolPaused:
		return []remedy{{Step{Do: "Let pool " + n.Name + " go on", Command: w.program(shell.Command("kubectl patch machineconfigpool %s --type merge -p %s", n.Name, `{"spec":{"paused":false}}`)), Tried: true}, func(c *world) bool {
			return c.editPool(n.Name, func(p *cvo.Pool) { p.Spec.Paused = false })
		}}}
	case PodFinalizer:
		return w.finalizerRemedies(n)
	case PodManyBudgets:
		return []remedy{w.supposed(n, Step{Do: "Change the selectors so that one budget selects pod " + n.full(), Command: w.program(shell.Command("kubectl -n %s get poddisruptionbudgets", n.Namespace))})}
	case PodProtected:
		return []remedy{{Step{
			Do: "Delete pod " + n.full() + " yourself", Command: w.program(shell.Command("kubectl -n %s delete pod %s", n.Namespace, n.Name)), Tried: true,
			Must: "nothing replaces it: whatever it does ends, and its local data is lost", See: w.program(shell.Command("kubectl -n %s get pod %s -o yaml", n.Namespace, n.Name)),
		}, func(c *world) bool { return c.removePod(n.Namespace, n.Name) }}}
	case PodOverdue:
		return []remedy{w.supposed(n, Step{Do: "See why the kubelet does not end pod " + n.full(), Command: w.program(shell.Command("kubectl -n %s describe pod %s", n.Namespace, n.Name))})}
	case PodNoRoom:
		return w.roomRemedies(n)
	case MachineFailed:
		return append(w.failedRemedies(n), w.knownRemedy(n))
	}
	if n.changes != nil || n.Kind == "CatalogSource" && w.olm != nil {
		return w.olmRemedies(n)
	}
	if n.Kind == "Risk" || n.Kind == "Update" && strings.Contains(n.ID, "#") {
		return w.planRemedies(n)
	}
	if n.Kind == "Update" && n.State == Faulty {
		return w.refusalRemedies(n)
	}
	if n.Kind == "Node" && !strings.Contains(n.ID, "#") && n.State == Faulty && w.isDown(n.Name) {
		return w.backRemedies(n)
	}
	if n.Kind == "Machine" {
		return append(w.hookRemedies(n), w.knownRemedy(n))
	}
	return append(w.unhealthyRemedies(g, n), w.knownRemedy(n))
}

// uncordon returns the command that allows pods on a node again.
func (w *world) uncordon(node string) string {
	if w.openshift() {
		return shell.Command("oc adm uncordon %s", node)
	}
	return shell.Command("kubectl uncordon %s", node)
}

// full is the name of an object with its namespace.
func (n *Node) full() string {
	if n.Namespace == "" {
		return n.Name
	}
	return n.Namespace + "/" + n.Name
}

// supposed is a remedy that no engine can carry out: its success is that its cause is gone.
func (w *world) supposed(n *Node, s Step) remedy {
	s.Tried = false
	return remedy{s, nil}
}

// budgetRemedies: its workload has more pods, or the budget allows one more disruption.
func (w *world) budgetRemedies(n *Node) []remedy {
	b := w.budget(n.Namespace, n.Name)
	if b == nil {
		return nil
	}
	if p := w.guarded(b); p != nil {
		if do, command := drain.LetGo(p); do != "" {
			return []remedy{w.supposed(n, Step{Do: "Pod " + p.ObjectMeta.String() + ": " + do, Command: w.program(command)})}
		}
	}
	lower, spec := lowered(b)
	do := "Let budget " + n.full() + " allow one disruption"
	scaled, is := w.scaleRemedy(b)
	if !is && b.MoreReplicas(b.Status.ExpectedPods) == 1 {
		do += " (or run one more replica)"
	}
	step := Step{Do: do, Command: w.program(shell.Command("kubectl -n %s patch poddisruptionbudget %s --type merge -p %s", n.Namespace, n.Name, spec)), Tried: true}
	allowing := remedy{step, func(c *world) bool { return c.editBudget(n.Namespace, n.Name, lower) }}
	if is {
		scaled.Or = &step
		return []remedy{scaled, allowing}
	}
	return []remedy{allowing}
}

// lowered returns how a budget allows one more disruption: as a change, and as a patch.
func lowered(b *fairlead.PodDisruptionBudget) (lower func(*fairlead.PodDisruptionBudget), patch string) {
	least := 0 // that it may require to let one go: it may require more than there are
	if v := b.Spec.MinAvailable; v != nil && !v.Percentage() {
		least = min(b.Status.DesiredHealthy, b.Status.ExpectedPods) - 1
	}
	if least > 0 {
		return func(x *fairlead.PodDisruptionBudget) { x.Spec.MinAvailable = &fairlead.IntOrString{Int: least} }, fmt.Sprintf(`{"spec":{"minAvailable":%d}}`, least)
	}
	return func(x *fairlead.PodDisruptionBudget) {
		x.Spec.MinAvailable, x.Spec.MaxUnavailable = nil, &fairlead.IntOrString{Int: 1}
	}, fmt.Sprintf(`{"spec":{"minAvailable":null,"maxUnavailable":%d}}`, 1)
}

// guarded returns the first pod that a budget guards, or nil.
func (w *world) guarded(b *fairlead.PodDisruptionBudget) *fairlead.Pod {
	x := w.indexed()
	for _, at := range x.podsOf[x.budgetAt[objectKey{b.Namespace, b.Name}]] {
		if p := &w.pods[at]; !p.Finished() {
			return p
		}
	}
	return nil
}

// readyRemedies: a budget all of whose pods are not ready lets them be evicted; lowering what it
// requires would not help, as none of them is healthy.
func (w *world) readyRemedies(n *Node) []remedy {
	b, x := w.budget(n.Namespace, n.Name), w.indexed()
	if b == nil || b.Spec.UnhealthyPodEvictionPolicy == fairlead.AlwaysAllow {
		return nil
	}
	for _, at := range x.podsOf[x.budgetAt[objectKey{n.Namespace, n.Name}]] {
		if p := &w.pods[at]; !p.Finished() && p.Ready() {
			return nil
		}
	}
	return []remedy{w.evictUnready(b)}
}

// evictUnready lets pods that are not ready be evicted.
func (w *world) evictUnready(b *fairlead.PodDisruptionBudget) remedy {
	name := b.ObjectMeta.String()
	return remedy{Step{
		Do:      "Let pods that are not ready be evicted although budget " + name + " guards them",
		Command: w.program(shell.Command("kubectl -n %s patch poddisruptionbudget %s --type merge -p %s", b.Namespace, b.Name, `{"spec":{"unhealthyPodEvictionPolicy":"AlwaysAllow"}}`)), Tried: true,
	}, func(c *world) bool {
		return c.editBudget(b.Namespace, b.Name, func(x *fairlead.PodDisruptionBudget) { x.Spec.UnhealthyPodEvictionPolicy = fairlead.AlwaysAllow })
	}}
}

// unhealthyRemedies: a budget that guards pods that are not ready lets them be evicted.
func (w *world) unhealthyRemedies(g *Graph, n *Node) (all []remedy) {
	if n.Kind != "Pod" {
		return nil
	}
	for _, e := range g.To(n.ID) {
		b := g.Node(e.From)
		if b == nil || b.Kind != "PodDisruptionBudget" {
			continue
		}
		if x := w.budget(b.Namespace, b.Name); x != nil && x.Spec.UnhealthyPodEvictionPolicy != fairlead.AlwaysAllow {
			all = append(all, w.evictUnready(x))
		}
	}
	return all
}

// jobTracking is the finalizer by which the Job controller counts each pod once.
const jobTracking = "batch.kubernetes.io/job-tracking"

// finalizerRemedies: the finalizer is removed, if its controller is gone.
func (w *world) finalizerRemedies(n *Node) []remedy {
	if n.Alike == jobTracking {
		see := "kubectl -n kube-system get pods -l component=kube-controller-manager"
		if w.openshift() {
			see = "oc get clusteroperator kube-controller-manager"
		}
		return []remedy{w.supposed(n, Step{Do: "See why the Job controller, in kube-controller-manager, has not counted pod " + n.full(), Command: see, Or: &Step{
			Do: "If its Job is gone, remove the finalizer", Command: w.program(shell.Command("kubectl -n %s patch pod %s --type json -p %s", n.Namespace, n.Name, `[{"op":"remove","path":"/metadata/finalizers"}]`)),
			Must: "no Job counts the pod any more", See: w.program(shell.Command("kubectl -n %s get jobs", n.Namespace)),
		}})}
	}
	return []remedy{{Step{
		Do: fmt.Sprintf("Bring back the controller of finalizer %s; if it is gone for good, remove the finalizer of pod %s", n.Alike, n.full()), Tried: true,
		Command: w.program(shell.Command("kubectl -n %s patch pod %s --type json -p %s", n.Namespace, n.Name, `[{"op":"remove","path":"/metadata/finalizers"}]`)),
		Must:    "the controller of " + n.Alike + " is gone: what it would clean up stays behind", See: w.program(shell.Command("kubectl get pods -A -o wide")),
	}, func(c *world) bool { return c.removePod(n.Namespace, n.Name) }}}
}

// removePod lets a pod end; a pod of a controller is replaced.
func (w *world) removePod(namespace, name string) bool {
	k, ok := w.indexed().podAt[objectKey{namespace, name}]
	if !ok {
		return false
	}
	p := w.pods[k]
	w.pods = slices.Delete(slices.Clone(w.pods), k, k+1)
	w.replaced()
	if c := p.ControllerOf(); c != nil && c.Kind != "Job" && c.Kind != "DaemonSet" {
		p.CreationTimestamp, p.DeletionTimestamp, p.Finalizers, p.Spec.NodeName = time.Time{}, nil, nil, ""
		if c.Kind != "StatefulSet" {
			p.Name += "-new"
		}
		p.Status = fairlead.PodStatus{Phase: fairlead.PodPending}
		w.pods = append(w.pods, p)
	}
	return true
}

// roomRemedies: another node of a MachineSet, or smaller requests.
func (w *world) roomRemedies(n *Node) []remedy {
	room := w.supposed(n, Step{
		Do:      "Make room for pod " + n.full() + ": add a node, or lower requests",
		Command: w.program(shell.Command("kubectl -n %s describe pod %s", n.Namespace, strings.TrimSuffix(n.Name, "#room"))),
		Shows:   w.program(shell.Command("kubectl -n %s get pod %s -o wide", n.Namespace, n.Name)), Means: "it has room when it runs on a node",
	})
	return []remedy{room}
}

// isDown reports whether a node of the cluster is not ready.
func (w *world) isDown(name string) bool {
	n := w.node(name)
	return n != nil && slices.ContainsFunc(n.Status.Conditions, func(c fairlead.NodeCondition) bool { return c.Type == "Ready" && c.Status != fairlead.ConditionTrue })
}

// backRemedies: the node reports again.
func (w *world) backRemedies(n *Node) []remedy {
	s := Step{Do: "Bring node " + n.Name + " back", Command: w.program(shell.Command("kubectl describe node %s", n.Name)), Shows: w.program(shell.Command("kubectl get node %s", n.Name)), Means: "it is back when it is Ready; if it is powered off for good, delete its machine or node"}
	for i := range w.machines {
		m := &w.machines[i]
		if x := lifecycle.NodeOf(m, w.nodes); x != nil && x.Name == n.Name {
			s.Do = "Bring node " + n.Name + " back: check its machine " + m.Name + ", and its console"
			s.Command = w.program(shell.Command("kubectl -n %s get machine %s -o wide", m.Namespace, m.Name))
		}
	}
	if s.Do == "Bring node "+n.Name+" back" {
		s.Do += ": check its power, network and console"
	}
	if n.do != "" && n.Reason != "KubeletSilent" {
		s.Do, s.Command = "Node "+n.Name+": "+n.do, w.program(n.command)
		if strings.HasPrefix(s.Command, "oc ") && !w.openshift() {
			s.Command = cmp.Or(n.plain, describe(n))
		}
	}
	if w.strands(n.Name) {
		s.Or = &Step{
			Do: "If node " + n.Name + " stays off, release its pods and volumes", Command: w.taint(n.Name, outOfService+"=nodeshutdown:NoExecute"),
			Must: "its machine is powered off: a pod that still runs there would write to the volume of its replacement", See: s.Command,
		}
	}
	if s.Or == nil {
		s.Or = w.remediation(n.Name)
	}
	return []remedy{{s, func(c *world) bool { return c.bringBack(n.Name) }}}
}

// strands reports whether pods of a node that is down are not replaced elsewhere until it is back
// or tainted out of service, and whether it is not tainted yet.
func (w *world) strands(node string) bool {
	k := slices.IndexFunc(w.nodes, func(n fairlead.Node) bool { return n.Name == node })
	if k >= 0 && slices.ContainsFunc(w.nodes[k].Spec.Taints, func(t fairlead.Taint) bool { return t.Key == outOfService }) {
		return false
	}
	if slices.ContainsFunc(w.storage.attachments, func(a lifecycle.VolumeAttachment) bool { return a.Spec.NodeName == node }) {
		return true
	}
	return slices.ContainsFunc(w.indexed().podsOn[node], func(i int) bool {
		p := &w.pods[i]
		c := p.ControllerOf()
		return !p.Finished() && (p.DeletionTimestamp != nil || c != nil && c.Kind == "StatefulSet")
	})
}

// taint returns the command that changes a taint of a node.
func (w *world) taint(node, change string) string {
	if w.openshift() {
		return shell.Command("oc adm taint nodes %s %s", node, change)
	}
	return shell.Command("kubectl taint nodes %s %s", node, change)
}

// bringBack makes a node ready, with its pods.
func (w *world) bringBack(name string) bool {
	ok := w.editNode(name, func(n *fairlead.Node) {
		for i := range n.Status.Conditions {
			c := &n.Status.Conditions[i]
			c.Status = fairlead.ConditionFalse
			if c.Type == "Ready" {
				c.Status = fairlead.ConditionTrue
			}
			c.LastTransitionTime = w.now
		}
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t fairlead.Taint) bool { return slices.Contains(troubles, t.Key) })
	})
	on := w.indexed().podsOn[name]
	if len(on) > 0 {
		w.pods = slices.Clone(w.pods)
	}
	gone := map[objectKey]bool{}
	for _, i := range on {
		switch p := &w.pods[i]; {
		case p.DeletionTimestamp == nil && !p.Finished():
			ready(p)
		case p.DeletionTimestamp != nil && w.now.After(*p.DeletionTimestamp) && len(p.Finalizers) == 0:
			gone[objectKey{p.Namespace, p.Name}] = true
		}
	}
	if len(gone) > 0 {
		w.pods = slices.DeleteFunc(w.pods, func(p fairlead.Pod) bool { return gone[objectKey{p.Namespace, p.Name}] })
		w.replaced()
	}
	w.detach(name)
	return ok
}

// knownRemedy is what the table of known failures says, or else where to look.
func (w *world) knownRemedy(n *Node) remedy {
	s := Step{Do: "See what " + n.title() + " says about it", Command: w.program(describe(n))}
	switch {
	case n.do != "":
		s.Do = upper(n.do)
		if n.Kind != "ClusterVersion" && n.Kind != "Update" && !strings.Contains(n.do, n.Name) {
			s.Do = upper(n.title()) + ": " + n.do
		}
		s.Command = cmp.Or(w.program(n.command), s.Command)
		if strings.HasPrefix(s.Command, "oc ") && !w.openshift() {
			s.Command = cmp.Or(n.plain, describe(n))
		}
	case n.Reason == PodNotReady || n.Reason == PodOnDownNode:
		s.Do = "Read the log of pod " + n.full() + ": it runs, and is not ready"
		s.Command = w.program(shell.Command("kubectl -n %s logs %s --all-containers --tail=50", n.Namespace, n.Name))
	case n.Reason == PodVolumeBound:
		s.Do, s.Command = "Bring a node into service that can use the volume of pod "+n.full()+", or restore its data to a volume that others can use", w.program(shell.Command("kubectl -n %s get persistentvolumeclaims", n.Namespace))
	case n.Reason == PodNoNode:
		s.Do, s.Command = "Give a node the labels that pod "+n.full()+" selects, or correct what it selects", w.program("kubectl get nodes --show-labels")
	case n.Reason == PodNotTolerating:
		s.Do, s.Command = "Give pod "+n.full()+" a toleration, or remove the taint from a node", w.program("kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints[*].key")
	case n.Reason == PodPortTaken:
		s.Do = "Add a node, run fewer such pods, or let pod " + n.full() + " use no port of the node"
	case n.Reason == PodKeptApart:
		s.Do = "Add a node, or relax the affinity or the spread of pod " + n.full()
	case n.Reason == PodUnscheduled:
		s.Do = "See whether the scheduler runs"
		s.Command = w.program("kubectl get pods -A -l component=kube-scheduler")
		if w.openshift() {
			s.Command = "oc get pods -n openshift-kube-scheduler"
		}
	}
	w.shows(&s, n)
	return w.supposed(n, s)
}

// describe returns the command that shows an object with its events.
func describe(n *Node) string {
	switch {
	case n.Kind == "ClusterVersion" || n.Kind == "Update":
		return "oc describe clusterversion version"
	case n.Namespace != "":
		return shell.Command("kubectl -n %s describe %s %s", n.Namespace, strings.ToLower(n.Kind), n.Name)
	}
	return shell.Command("kubectl describe %s %s", strings.ToLower(n.Kind), n.Name)
}

// shows says how one sees whether an assumed step has succeeded.
func (w *world) shows(s *Step, n *Node) {
	switch n.Kind {
	case "Pod":
		s.Shows, s.Means = shell.Command("kubectl -n %s get pod %s", n.Namespace, n.Name), "it worked when READY is all of its containers; a pod that was replaced has another name"
	case "Node":
		s.Shows, s.Means = shell.Command("kubectl get node %s", n.Name), "it worked when STATUS is Ready; NotReady means that the kubelet is still not well"
	case "ClusterOperator":
		s.Shows, s.Means = shell.Command("kubectl get clusteroperator %s", n.Name), "it worked when AVAILABLE is True and DEGRADED is False; MESSAGE says what is left"
	case "ClusterVersion", "Update":
		s.Shows, s.Means = "oc adm upgrade", "it worked when it shows no Failing=True and no ReleaseAccepted=False"
	case "MachineConfigPool":
		s.Shows, s.Means = shell.Command("kubectl get machineconfigpool %s", n.Name), "it worked when UPDATED is True; DEGRADED True means that a node fails still"
	case "Machine":
		s.Shows, s.Means = shell.Command("kubectl -n %s get machine %s", n.Namespace, n.Name), "it worked when the machine is Running, or no longer there if it is being deleted"
	case "PersistentVolumeClaim":
		s.Shows, s.Means = shell.Command("kubectl -n %s get pvc %s", n.Namespace, n.Name), "it worked when STATUS is Bound; Pending means that no volume was made"
	case "Namespace", "CustomResourceDefinition", "VolumeAttachment":
		s.Shows, s.Means = shell.Command("kubectl get %s %s", strings.ToLower(n.Kind), n.Name), "it worked when it is not found any more"
	case "APIService":
		s.Shows, s.Means = shell.Command("kubectl get apiservice %s", n.Name), "it worked when AVAILABLE is True, or the APIService is gone"
	default:
		s.Shows, s.Means = get(n), "it worked when the object no longer says so"
	}
	s.Shows = w.program(s.Shows)
}

// get returns the command that shows an object.
func get(n *Node) string {
	if n.Namespace != "" {
		return shell.Command("kubectl -n %s get %s %s -o yaml", n.Namespace, strings.ToLower(n.Kind), n.Name)
	}
	return shell.Command("kubectl get %s %s -o yaml", strings.ToLower(n.Kind), n.Name)
}

// program turns a command into one that the cluster's program knows: oc on OpenShift, kubectl elsewhere.
func (w *world) program(command string) string {
	rest, is := strings.CutPrefix(command, "kubectl ")
	switch {
	case is && w.openshift() && (strings.HasPrefix(rest, "certificate ") || strings.HasPrefix(rest, "top ")):
		return strings.Replace(command, "kubectl", "oc adm", 1)
	case is && w.openshift():
		return "oc " + rest
	}
	return command
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
