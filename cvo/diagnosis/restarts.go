package diagnosis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/internal/shell"
)

const (
	manyRestarts = 5                // of a container that has been started again and again
	calmTime     = 15 * time.Minute // after which a container that runs is taken to run on: its back-off is over after 10
)

// restarts adds a ready pod of which a container ends again and again: between two ends it is ready.
func (b *builder) restarts(p *fairlead.Pod) {
	for i := range p.Status.ContainerStatuses {
		c := &p.Status.ContainerStatuses[i]
		last := c.LastState.Terminated
		if c.RestartCount < manyRestarts || last == nil || last.ExitCode == 0 || c.State.Waiting != nil || c.State.Terminated != nil || last.FinishedAt.IsZero() || b.age(last.FinishedAt) >= calmTime {
			continue
		}
		x := Node{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, State: Faulty, Reason: PodRestarts, Sure: Seen, Owner: "owner of the pod", Alike: workload(p)}
		why := ended(last)
		if last.Reason == "OOMKilled" {
			why = "is killed because it exceeds its memory limit" + limit(p, c.Name)
		} else if k := slices.IndexFunc(b.events[p.ObjectMeta.String()], func(message string) bool { return strings.HasPrefix(message, "Liveness probe failed") }); k >= 0 {
			x.Quote = b.events[p.ObjectMeta.String()][k]
			why = "is killed because its liveness probe fails"
			if said := failure.Telling(strings.TrimPrefix(x.Quote, "Liveness probe failed: "), 120); said != "" {
				why += ": " + said
			}
		}
		x.Says = fmt.Sprintf("pod %s: container %s has been started again %d times, the last time at %s: it %s", p.ObjectMeta.String(), c.Name, c.RestartCount, clock(last.FinishedAt, b.now), why)
		x.do, x.command = "read the log of its last run", shell.Command("kubectl -n %s logs %s -c %s --previous --tail=50", p.Namespace, p.Name, c.Name)
		b.add(x)
		return
	}
}

// ousted are the reasons for which a pod is ended by its node or for another pod, and not by itself.
var ousted = []string{"Evicted", "Preempting", "Terminated", "NodeShutdown"}

// abandoned adds the pods that were evicted and that nothing starts again, unless what is wrong with their node
// explains them.
func (b *builder) abandoned() {
	for i := range b.pods {
		if p := &b.pods[i]; p.Status.Phase == fairlead.PodFailed && !slices.ContainsFunc(b.g.Nodes, func(n Node) bool { return n.Kind == "Node" && n.Name == p.Spec.NodeName && n.State == Faulty }) {
			b.podAbandoned(p)
		}
	}
}

// podAbandoned adds a pod that was evicted and that nothing starts again.
func (b *builder) podAbandoned(p *fairlead.Pod) {
	if len(p.OwnerReferences) > 0 || p.Labels["pod-template-hash"] != "" || p.Annotations["kubernetes.io/config.mirror"] != "" || !slices.Contains(ousted, p.Status.Reason) {
		return
	}
	x := Node{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, State: Faulty, Reason: PodAbandoned, Sure: Seen, Owner: "owner of the pod", Quote: p.Status.Message}
	x.Says = "pod " + p.ObjectMeta.String() + " was evicted from node " + p.Spec.NodeName + ", and nothing starts it again, because no controller owns it"
	if said := failure.Telling(p.Status.Message, 140); said != "" {
		x.Says += ": " + said
	}
	x.do, x.command = "create it again, better as a Deployment or a Job, and delete this one", shell.Command("kubectl -n %s get pod %s -o yaml", p.Namespace, p.Name)
	b.add(x)
}
