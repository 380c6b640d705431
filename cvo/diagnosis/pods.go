package diagnosis

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/internal/object"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/lifecycle"
)

// podsInTrouble adds the pods that are not ready, or that do not end.
func (b *builder) podsInTrouble() {
	for i := range b.pods {
		p := &b.pods[i]
		if p.Finished() && p.DeletionTimestamp == nil && (slices.Contains(rejections, p.Status.Reason) || strings.HasPrefix(p.Status.Reason, "OutOf")) {
			b.podRejected(p)
		}
		if (p.Finished() || p.Ready()) && p.DeletionTimestamp == nil {
			b.restarts(p)
			continue
		}
		b.podTrouble(p)
	}
}

// rejections are the reasons for which a kubelet does not admit a pod whose workload may make others for
// ever, besides those that begin with OutOf (kubernetes/kubernetes pkg/kubelet/lifecycle, pkg/kubelet/sysctl and
// pkg/kubelet/cm).
var rejections = []string{"SysctlForbidden", "UnexpectedAdmissionError", "TopologyAffinityError", "AppArmor", "NodeAffinity", "PodOSNotSupported", "InvalidNodeInfo"}

// podRejected adds a pod that its kubelet did not admit, of a workload of which no pod runs.
func (b *builder) podRejected(p *fairlead.Pod) {
	of := workload(p)
	for _, k := range b.podsOfNamespace(p.Namespace) {
		if o := &b.pods[k]; workload(o) == of && o.Ready() {
			return
		}
	}
	x := Node{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, State: Faulty, Reason: PodRejected, Sure: Seen, Owner: "owner of the pod", Quote: p.Status.Message, Alike: of}
	x.Says = "pod " + p.ObjectMeta.String() + " was not admitted by the kubelet of node " + p.Spec.NodeName + ": " + cmp.Or(failure.Telling(p.Status.Message, 140), p.Status.Reason)
	x.do, x.command = "correct what the kubelet names, in the workload or on the node", shell.Command("kubectl -n %s describe pod %s", p.Namespace, p.Name)
	b.add(x)
}

// podTrouble adds a pod that is not ready or does not end, with what it waits for.
func (b *builder) podTrouble(p *fairlead.Pod) {
	name := p.ObjectMeta.String()
	x := Node{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, State: Faulty, Since: readySince(p), Sure: Seen, Owner: "owner of the pod"}
	id := ID("Pod", p.Namespace, p.Name)
	node := ID("Node", "", p.Spec.NodeName)
	switch {
	case p.DeletionTimestamp != nil:
		b.podEnds(p, x)
	case p.Spec.NodeName == "" && len(p.Status.ContainerStatuses) == 0: // a kubelet knows containers
		b.podPends(p, x)
	case b.down[p.Spec.NodeName] && !b.reports(p.Spec.NodeName) && !b.carries(p):
		x.State, x.Reason, x.Says = Waiting, PodOnDownNode, "pod "+name+" is on node "+p.Spec.NodeName+", which is down"
		b.add(x)
		b.wait(id, node, "RunsOn", Seen)
	default:
		b.podFails(p, x)
	}
}

// reports reports whether the kubelet of a node says that it is ready. If so, what it says of
// its pods is true, whatever else is wrong with the node.
func (b *builder) reports(node string) bool {
	n := b.node(node)
	if n == nil {
		return false
	}
	ready := n.Condition("Ready")
	return ready != nil && ready.Status == fairlead.ConditionTrue
}

// podEnds adds a pod that is being deleted.
func (b *builder) podEnds(p *fairlead.Pod, x Node) {
	name, end := p.ObjectMeta.String(), *p.DeletionTimestamp
	x.Since = end
	id := ID("Pod", p.Namespace, p.Name)
	switch {
	case b.down[p.Spec.NodeName] && !b.reports(p.Spec.NodeName):
		x.State, x.Reason, x.Says = Waiting, PodStranded, "pod "+name+" cannot end: its node "+p.Spec.NodeName+" is down"
		b.wait(id, ID("Node", "", p.Spec.NodeName), "EndsOn", Seen)
	case !b.now.After(end):
		x.State, x.Reason, x.Says, x.Since = Going, PodEnding, "pod "+name+" is ending, and has until "+clock(end, b.now), time.Time{}
	case len(p.Finalizers) > 0:
		x.Reason, x.Alike = PodFinalizer, p.Finalizers[0]
		x.Says, x.Owner = fmt.Sprintf("pod %s is kept by finalizer %s", name, p.Finalizers[0]), "controller of "+p.Finalizers[0]
		if k, known := lifecycle.Lookup(lifecycle.KnownFinalizer, p.Finalizers[0]); known {
			x.Owner = k.Owner
		}
		if p.Finalizers[0] == jobTracking {
			x.Says = fmt.Sprintf("pod %s is kept until the Job controller has counted it (finalizer %s)", name, jobTracking)
		}
	default:
		x.Reason, x.Says, x.Owner = PodOverdue, fmt.Sprintf("pod %s should have ended on node %s", name, p.Spec.NodeName), "kubelet of "+p.Spec.NodeName
		x.Alike = p.Spec.NodeName
		b.notKilled(p, &x)
	}
	b.add(x)
}

// killing is what events say when a kubelet cannot end a pod.
var killing = regexp.MustCompile(`(?i)\bkill|unmount|teardown|stopp(?:ing|ed)? .*sandbox`)

// notKilled says why the kubelet does not end a pod, as far as its events say it.
func (b *builder) notKilled(p *fairlead.Pod, x *Node) {
	for _, message := range b.events[p.ObjectMeta.String()] {
		if said := failure.Telling(message, 140); killing.MatchString(message) && said != "" {
			x.Says, x.Quote, x.Alike = x.Says+": "+said, message, ""
			return
		}
	}
}

// podFails adds a pod that is placed and not ready.
func (b *builder) podFails(p *fairlead.Pod, x Node) {
	name := p.ObjectMeta.String()
	since := x.Since
	if f, said := b.containerFailure(p); f != nil {
		x.is(f, "pod "+name+": ")
		x.Quote, x.Alike = said, f.Of.Name
		if f.Of.Kind == "Pod" {
			x.Alike = workload(p)
		}
		b.crashes(p, f, &x)
		if vague := f.Code == "ContainerNotCreated" || f.Code == "SandboxFailed"; vague && x.Reason == f.Code {
			if why := failure.Telling(said, 140); why != "" {
				x.Says += ": " + why
			}
		}
		if volumeFailure(f) && (b.volumesWait(p) || b.mounted(p)) {
			x.State = Waiting
		}
		b.add(x)
		return
	}
	if age := b.age(since); age >= startTime && b.volumesWait(p) {
		x.State, x.Reason, x.Says = Waiting, PodNotReady, "pod "+name+" waits for its volume"
		b.add(x)
		return
	}
	if b.age(since) < startTime && !since.IsZero() {
		x.State, x.Reason, x.Says = Going, PodStarting, "pod "+name+" is starting"
	} else {
		x.Reason, x.Says, x.Alike = PodNotReady, "pod "+name+" is not ready", workload(p)
		if c := blockedContainer(p); c != nil { // it has no log yet
			x.Says, x.Quote = "pod "+name+" has not started: container "+c.Name+" waits ("+c.State.Waiting.Reason+")", c.State.Waiting.Message
			x.do, x.command = "read its events", shell.Command("kubectl -n %s describe pod %s", p.Namespace, p.Name)
		}
		if c := initRuns(p); c != "" {
			x.Reason, x.Says = InitRuns, "pod "+name+" waits for its init container "+c+", which does not end"
			x.do, x.command = "read the log of that container", shell.Command("kubectl -n %s logs %s -c %s --tail=50", p.Namespace, p.Name, c)
		}
	}
	b.add(x)
}

// blockedContainer returns the first container of a pod that has not started once, although it has a reason; nil if
// all have.
func blockedContainer(p *fairlead.Pod) *fairlead.ContainerStatus {
	for i := range p.Status.ContainerStatuses {
		if c := &p.Status.ContainerStatuses[i]; c.State.Waiting != nil && c.State.Waiting.Reason != "" && c.LastState.Terminated == nil {
			return c
		}
	}
	return nil
}

// initRuns returns the init container that a pod waits for because it runs; "" if there is none.
func initRuns(p *fairlead.Pod) string {
	if c := fairlead.FindCondition(p.Status.Conditions, "Initialized"); c == nil || c.Status != fairlead.ConditionFalse {
		return ""
	}
	for i := range p.Status.InitContainerStatuses {
		if c := &p.Status.InitContainerStatuses[i]; c.State.Terminated == nil {
			if c.State.Waiting != nil {
				return ""
			}
			return c.Name
		}
	}
	return ""
}

// containerFailure returns the known failure that a pod's containers, its events or its conditions
// show, and what they say. A failure that says little is used only without another one.
func (b *builder) containerFailure(p *fairlead.Pod) (found *failure.Failure, said string) {
	see := func(s failure.Sign) {
		s.Kind, s.Namespace, s.Name = "Pod", p.Namespace, p.Name
		f := failure.Recognise(&s)
		if f != nil && (found == nil || found.Vague && !f.Vague) {
			found, said = f, s.Message
		}
	}
	for _, list := range [][]fairlead.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range list {
			c := &list[i]
			for _, state := range []fairlead.ContainerState{c.State, c.LastState} {
				if w := state.Waiting; w != nil {
					see(failure.Sign{Type: "waiting", Reason: w.Reason, Message: w.Message})
				}
				if t := state.Terminated; t != nil && t.ExitCode != 0 {
					see(failure.Sign{Type: "terminated", Reason: t.Reason, Message: t.Message})
				}
			}
		}
	}
	for _, message := range b.events[p.ObjectMeta.String()] {
		see(failure.Sign{Message: message})
	}
	for _, c := range p.Status.Conditions {
		if c.Status != fairlead.ConditionTrue && c.Message != "" {
			see(failure.Sign{Type: c.Type, Reason: c.Reason, Message: c.Message})
		}
	}
	return found, said
}

// mounted reports whether what the volumes of a pod waited for before a step is over.
func (b *builder) mounted(p *fairlead.Pod) bool {
	return slices.ContainsFunc(b.before.From(ID("Pod", p.Namespace, p.Name)), func(e Edge) bool { return e.Rule == "Mounts" })
}

// crashes says more about a container that ends again and again: which one, and how.
func (b *builder) crashes(p *fairlead.Pod, f *failure.Failure, x *Node) {
	if f.Code != "ContainerCrashes" && f.Code != "LivenessFails" && f.Code != "OutOfMemory" {
		return
	}
	for k, list := range [][]fairlead.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range list {
			c := &list[i]
			t := cmp.Or(c.State.Terminated, c.LastState.Terminated)
			if c.State.Waiting == nil && c.State.Terminated == nil || t == nil || t.ExitCode == 0 {
				continue
			}
			what := "container " + c.Name
			if k == 0 {
				what = "init container " + c.Name
			}
			if f.Code == "OutOfMemory" {
				x.Says = "pod " + p.ObjectMeta.String() + ": " + what + " is killed because it exceeds its memory limit" + limit(p, c.Name)
				return
			}
			if f.Code == "ContainerCrashes" {
				x.Says = "pod " + p.ObjectMeta.String() + ": " + what + " " + ended(t) + " soon after each start"
				if said := failure.Telling(t.Message, 140); said != "" {
					x.Says, x.Quote = x.Says+": "+said, t.Message
				}
			}
			x.command = shell.Command("kubectl -n %s logs %s -c %s --previous --tail=50", p.Namespace, p.Name, c.Name)
			return
		}
	}
}

// limit returns the memory limit of a container, in parentheses; "" if it has none.
func limit(p *fairlead.Pod, container string) string {
	for _, list := range [][]fairlead.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			if most := list[i].Resources.Limits["memory"]; list[i].Name == container && most != "" {
				return " (" + most + ")"
			}
		}
	}
	return ""
}

// workload names what a pod belongs to: its controller without the hash of a Deployment, or
// itself.
func workload(p *fairlead.Pod) string {
	if p.ControllerOf() == nil {
		return p.ObjectMeta.String()
	}
	_, name := object.WorkloadOf(p)
	return p.Namespace + "/" + name
}

// readySince returns since when a pod is not ready; zero if that is not known.
func readySince(p *fairlead.Pod) time.Time {
	for _, kind := range [...]string{"Ready", "PodScheduled"} {
		if c := fairlead.FindCondition(p.Status.Conditions, kind); c != nil && c.Status != fairlead.ConditionTrue {
			return c.LastTransitionTime
		}
	}
	return p.CreationTimestamp
}
