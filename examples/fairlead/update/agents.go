package update

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/eviction"
)

// agents are the reports of the nodes, and the taint engine that evaluates them: a
// node that is silent or not ready is tainted, and its pods are evicted when they
// no longer tolerate that.
type agents struct {
	*eviction.MemBackend
	play   *play
	runner *eviction.Runner
	silent map[string]int // by node: the number of reasons why it is silent
	unwell map[string]int // by node: the number of reasons why it reports that it is not ready
	busy   map[string]bool
	modes  map[string]eviction.ZoneMode
	marked map[string]bool // by UID: pods that were reported as not ready
}

func newAgents(p *play) (*agents, error) {
	a := &agents{
		MemBackend: &eviction.MemBackend{Cluster: p.shared}, play: p, silent: map[string]int{}, unwell: map[string]int{}, busy: map[string]bool{},
		modes: map[string]eviction.ZoneMode{}, marked: map[string]bool{},
	}
	for _, q := range p.pools {
		for _, n := range q.nodes {
			a.Report(n.name, true)
		}
	}
	var err error
	a.runner, err = eviction.NewRunner(a, &eviction.Policy{NodeLifecycle: new(eviction.NodeLifecycle)}, &fairlead.RunnerOptions{Clock: p.clock})
	return a, err
}

// trouble begins when a node becomes silent, or when it reports that it is not
// ready, which is not visible if it is already silent.
func (a *agents) trouble(node string, notReady bool, why string) {
	what, count := "silent", a.silent
	if notReady {
		what, count = "not ready", a.unwell
	}
	count[node]++
	if count[node] > 1 || notReady && a.silent[node] > 0 {
		return
	}
	a.play.tell("node "+node, why)
	a.busy[node] = true
	a.Report(node, a.unwell[node] == 0) // the last report, or the first one of the trouble
	a.play.open("agent of "+node, what)
}

// better ends one trouble of a node.
func (a *agents) better(node string, notReady bool) {
	count := a.silent
	if notReady {
		count = a.unwell
	}
	if count[node]--; a.silent[node] > 0 || count[node] > 0 && notReady {
		return
	}
	ready := a.unwell[node] == 0
	a.Report(node, ready)
	if !ready {
		a.play.tell("node "+node, "reports again, and is not ready")
		a.play.open("agent of "+node, "not ready")
		return
	}
	a.play.tell("node "+node, "is ready again")
	a.play.end("agent of " + node)
	for _, pod := range a.Pods(node) {
		switch {
		case pod.DeletionTimestamp != nil: // its agent ends it now
			a.play.end("pod " + pod.ObjectMeta.String())
		case a.marked[pod.UID]:
			delete(a.marked, pod.UID)
			pod.Status.Conditions = fairlead.SetCondition(pod.Status.Conditions, fairlead.Condition{Type: "Ready", Status: fairlead.ConditionTrue, LastTransitionTime: a.play.clock.Now()})
			a.PutPod(pod)
		}
	}
}

// pass lets the engine evaluate the zones, and each node with trouble.
func (a *agents) pass(ctx context.Context) (acted bool, blocked []fairlead.Block, err error) {
	z, err := a.runner.ReconcileZones(ctx)
	if err != nil {
		return false, nil, err
	}
	for _, b := range z.Blocked {
		if name, err := strconv.Unquote(strings.TrimPrefix(b.Subject, "zone ")); err == nil {
			b.Subject = zoneName(name)
		}
		blocked = append(blocked, b)
	}
	acted = len(z.Actions) > 0
	a.wake("zones", z.Wake)
	a.zones(z.State.Zones)
	for _, q := range a.play.pools {
		for _, n := range q.nodes {
			if !a.busy[n.name] {
				continue
			}
			if a.silent[n.name] == 0 {
				a.Report(n.name, a.unwell[n.name] == 0)
			}
			d, err := a.runner.Reconcile(ctx, n.name)
			if err != nil {
				return false, nil, err
			}
			acted, blocked = acted || len(d.Actions) > 0, append(blocked, d.Blocked...)
			if a.silent[n.name] == 0 && len(d.Blocked) == 0 {
				d.Wake = time.Time{} // it reports before it would count as silent
			}
			a.wake("agent of "+n.name, d.Wake)
			if x, _ := a.Node(n.name); a.silent[n.name]+a.unwell[n.name]+len(x.Spec.Taints)+len(d.Actions) == 0 {
				delete(a.busy, n.name)
			}
		}
	}
	return acted, blocked, nil
}

func (a *agents) wake(key string, at time.Time) {
	if delete(a.play.wakes, key); !at.IsZero() {
		a.play.wakes[key] = at
	}
}

// waiting reports whether a node still needs work.
func (a *agents) waiting() bool {
	for key := range a.play.wakes {
		if key == "zones" || strings.HasPrefix(key, "agent of ") {
			return true
		}
	}
	return false
}

// zones reports changes of the zones' modes.
func (a *agents) zones(zones []eviction.Zone) {
	for _, z := range zones {
		if was := a.modes[z.Name]; was != z.Mode && (z.Mode != eviction.ZoneNormal || was != eviction.ZoneInitial) {
			a.play.tell(zoneName(z.Name), fmt.Sprintf("is in %s", z.Mode))
		}
		a.modes[z.Name] = z.Mode
	}
}

// zoneName leaves out the region, which no node of a scenario has.
func zoneName(name string) string {
	if name == "" {
		return "nodes without zone"
	}
	return "zone " + strings.TrimPrefix(name, "/")
}

// Apply implements eviction.Backend.
func (a *agents) Apply(ctx context.Context, node string, action eviction.Action) error {
	switch x := action.(type) {
	case eviction.Evict:
		a.evict(&x)
	case eviction.MarkNotReady:
		a.marked[x.Pod.UID] = true
	case eviction.SetConditions:
		a.play.tell("node "+x.Node, "has not reported for too long: Ready is Unknown")
	}
	err := a.MemBackend.Apply(ctx, node, action)
	if x, ok := action.(eviction.EditTaints); ok && err == nil {
		a.edited(&x)
	}
	return err
}

// edited reports taints that are added and removed, and what that means for pods, except
// the taint of a cordoned node, which was already reported.
func (a *agents) edited(e *eviction.EditTaints) {
	var come, gone []string
	for _, t := range e.Add {
		if t.Key == taints.KeyUnschedulable {
			continue
		}
		come = append(come, taintName(&t))
		a.play.said[e.Node+" "+taintName(&t)] = "has"
	}
	for _, t := range e.Remove {
		if a.was(e.Node, &t) {
			gone = append(gone, taintName(&t))
		}
	}
	if len(come) > 0 {
		a.play.tell("node "+e.Node, "gets taint "+strings.Join(come, " and "))
	}
	if len(gone) > 0 {
		a.play.tell("node "+e.Node, "loses taint "+strings.Join(gone, " and "))
	}
	for _, t := range e.Add {
		if t.Effect == fairlead.NoExecute {
			a.follow(e.Node, &t)
		}
	}
	if node, _ := a.Node(e.Node); !slices.ContainsFunc(node.Spec.Taints, func(t fairlead.Taint) bool { return t.Effect == fairlead.NoExecute }) {
		for _, p := range a.Pods(e.Node) {
			if p.DeletionTimestamp == nil && a.play.isOpen("pod "+p.ObjectMeta.String()) {
				a.play.tell("pod "+p.ObjectMeta.String(), "stays on node "+e.Node+": the taint is gone")
				a.play.end("pod " + p.ObjectMeta.String())
			}
		}
	}
}

// was reports whether a node had a taint, and removes the record.
func (a *agents) was(node string, t *fairlead.Taint) bool {
	key := node + " " + taintName(t)
	had := a.play.said[key] != ""
	delete(a.play.said, key)
	return had
}

func taintName(t *fairlead.Taint) string { return t.Key + ":" + string(t.Effect) }

// follow reports how long each pod of a node tolerates a taint that evicts.
func (a *agents) follow(node string, t *fairlead.Taint) {
	now := a.play.clock.Now()
	for _, p := range a.Pods(node) {
		if p.DeletionTimestamp != nil {
			continue
		}
		subject := "pod " + p.ObjectMeta.String()
		switch d := eviction.EvictAt(&p, []eviction.Started{{Taint: *t, Since: now}}, nil); {
		case !d.Evict():
			a.play.tell(subject, "stays on node "+node+" for good: it tolerates "+taintName(t))
		case d.At.After(now):
			a.play.tell(subject, fmt.Sprintf("stays on node %s for %s, as long as it tolerates %s", node, d.At.Sub(now), taintName(t)))
			a.play.open(subject, "tolerates")
		}
	}
}

// evict reports an evicted pod. The agent of a silent node does not terminate it: the pod
// stays, and its controller creates a replacement meanwhile.
func (a *agents) evict(e *eviction.Evict) {
	p, there := a.Pod(e.Pod.Namespace, e.Pod.Name)
	if !there || p.UID != e.Pod.UID || p.DeletionTimestamp != nil {
		return
	}
	subject, text := "pod "+p.ObjectMeta.String(), "is evicted from node "+e.Node+" for taint "+taintName(&e.Taint)
	if e.Toleration == nil {
		text += ", which it does not tolerate"
	}
	if a.silent[e.Node] == 0 {
		a.play.tell(subject, text)
		a.play.end(subject)
		return
	}
	a.play.tell(subject, text+"; it ends when the node reports again")
	a.play.open(subject, "terminates")
}
