package eviction_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints/eviction"
)

const (
	notReady    = "node.kubernetes.io/not-ready"
	unreachable = "node.kubernetes.io/unreachable"
)

// fleet is some nodes in memory, those who taint them and run pods there, and the engine of
// zones.
type fleet struct {
	*rand.Rand
	*eviction.MemBackend
	clock   *fairlead.ManualClock
	policy  eviction.Policy
	clean   bool // nothing fails: then more can be said
	store   *fairlead.MemStore
	zones   *eviction.Runner
	nodes   []string
	agents  map[string]string // reports, unready or silent
	heard   map[string]heard
	pods    int                  // how many there ever were
	names   []string             // of pods that may be there
	evicted map[string]int       // by UID
	lowest  map[string]time.Time // by node and taint: the earliest that the clock has shown since it was put there, as far as anybody has seen
	chains  map[string]*began    // by node and place, see follow
	seen    map[string]int       // what was done, by kind, and what came of it
	wrong   error
}

// heard is the last heartbeat of a node, and when it was first seen.
type heard struct{ beat, at time.Time }

func openFleet(r *rand.Rand, clock *fairlead.ManualClock, nodes, podsPerNode int, seen map[string]int) *fleet {
	f := &fleet{
		Rand: r, clock: clock, store: new(fairlead.MemStore), agents: map[string]string{}, heard: map[string]heard{}, evicted: map[string]int{},
		lowest: map[string]time.Time{}, chains: map[string]*began{}, seen: seen, policy: eviction.Policy{MaxBackoff: 30 * time.Second},
	}
	f.MemBackend = &eviction.MemBackend{Clock: clock, Changed: f.did}
	if r.IntN(3) == 0 {
		f.policy.RespectBudgets, f.policy.BudgetTimeout = true, 2*time.Minute
	}
	if r.IntN(2) == 0 {
		f.policy.NodeLifecycle = new(eviction.NodeLifecycle)
	}
	for i := range nodes {
		f.node(fmt.Sprint("n", i), i)
	}
	for range nodes * podsPerNode {
		f.newPod("")
	}
	for _, app := range []string{"a", "b"} {
		b := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "ns", Name: app}}
		b.Spec.Selector = &fairlead.LabelSelector{MatchLabels: map[string]string{"app": app}}
		b.Spec.MinAvailable = &fairlead.IntOrString{Int: 2}
		f.PutBudget(b)
	}
	var err error
	if f.zones, err = eviction.NewRunner(f.MemBackend, &f.policy, &fairlead.RunnerOptions{Store: f.store, Clock: clock}); err != nil {
		f.fail("%v", err)
	}
	return f
}

func (f *fleet) fail(format string, args ...any) {
	if f.wrong == nil {
		f.wrong = fmt.Errorf(format, args...)
	}
}

func (f *fleet) node(name string, i int) {
	n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name, UID: fmt.Sprintf("uid-%s-%d", name, f.pods), CreationTimestamp: f.clock.Now()}}
	n.Labels = map[string]string{eviction.LabelZone: string(rune('a' + i%3))}
	if !slices.Contains(f.nodes, name) {
		f.nodes = append(f.nodes, name)
	}
	f.PutNode(n)
	f.Report(name, true)
	f.agents[name] = "reports"
}

// seconds are the times of tolerations; less than zero stands for none.
var seconds = []int64{-1, 0, 1, 5, 30, 60, 300}

// tolerations draws what a pod tolerates.
func (f *fleet) tolerations() (all []fairlead.Toleration) {
	for _, key := range []string{"x", "y", "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "x"} {
		if f.IntN(2) == 0 {
			continue
		}
		t := fairlead.Toleration{Key: key, Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute}
		if len(key) == 1 && f.IntN(3) == 0 {
			t.Operator = fairlead.TolerationEqual
			if f.IntN(2) == 0 {
				t.Value = "v"
			}
		}
		if n := seconds[f.IntN(len(seconds))]; n >= 0 {
			t.TolerationSeconds = &n
		}
		all = append(all, t)
	}
	return all
}

// newPod makes a pod, of a name that may be taken.
func (f *fleet) newPod(name string) {
	f.pods++
	if name == "" {
		name = fmt.Sprint("p", f.pods)
		f.names = append(f.names, name)
	}
	pod := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "ns", Name: name, UID: fmt.Sprint("u", f.pods), CreationTimestamp: f.clock.Now()}}
	pod.Spec.NodeName = f.nodes[f.IntN(len(f.nodes))]
	grace := int64(f.IntN(40))
	pod.Spec.TerminationGracePeriodSeconds = &grace
	pod.Labels = map[string]string{"app": string(rune('a' + f.IntN(3)))}
	pod.Status.Phase = fairlead.PodRunning
	pod.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionTrue}}
	pod.Spec.Tolerations = f.tolerations()
	f.PutPod(pod)
}

// Change implements fairlead.Trial.
func (f *fleet) Change() {
	name := f.nodes[f.IntN(len(f.nodes))]
	switch f.IntN(11) {
	case 0, 1, 2:
		f.taint(name)
	case 3:
		f.untaint(name)
	case 4:
		f.newPod("")
	case 5, 6:
		f.changePod()
	case 7:
		f.flap(name)
	case 8:
		f.tick()
	case 9:
		f.deleteNode(name)
	case 10:
		f.zone()
	}
}

// zone makes a pass over all zones.
func (f *fleet) zone() {
	if d, err := f.zones.ReconcileZones(context.Background()); err != nil {
		f.fail("%w", err)
	} else if d.State.Disrupted {
		f.seen["disrupted"]++
	}
}

// tick lets agents report.
func (f *fleet) tick() {
	for _, n := range f.nodes {
		if a := f.agents[n]; a == "reports" || a == "unready" {
			f.Report(n, a == "reports")
		}
	}
}

func (f *fleet) taint(name string) {
	n, ok := f.Node(name)
	if !ok {
		return
	}
	t := fairlead.Taint{Key: []string{"x", "y"}[f.IntN(2)], Effect: []fairlead.TaintEffect{fairlead.NoExecute, fairlead.NoExecute, fairlead.NoSchedule}[f.IntN(3)]}
	if f.IntN(3) == 0 {
		t.Value = "v"
	}
	n.Spec.Taints = slices.Clone(n.Spec.Taints)
	if i := slices.IndexFunc(n.Spec.Taints, t.Same); i >= 0 {
		if n.Spec.Taints[i].Value == t.Value {
			return
		}
		f.seen["other value"]++
		n.Spec.Taints = slices.Delete(n.Spec.Taints, i, i+1)
	}
	if f.IntN(2) == 0 {
		at := f.clock.Now().Add(-time.Duration(f.IntN(60)-10) * time.Second)
		t.TimeAdded = &at
	}
	n.Spec.Taints = append(n.Spec.Taints, t)
	f.PutNode(n)
	if key := name + " " + t.Key + "=" + t.Value; t.Effect == fairlead.NoExecute && f.lowest[key].IsZero() {
		f.lowest[key] = f.clock.Now()
		if t.TimeAdded != nil {
			f.lowest[key] = earlier(f.lowest[key], *t.TimeAdded)
		}
	}
}

func (f *fleet) untaint(name string) {
	n, ok := f.Node(name)
	if !ok || len(n.Spec.Taints) == 0 {
		return
	}
	t := n.Spec.Taints[f.IntN(len(n.Spec.Taints))]
	n.Spec.Taints = slices.DeleteFunc(slices.Clone(n.Spec.Taints), func(o fairlead.Taint) bool { return o.Key == t.Key && o.Effect == t.Effect })
	f.PutNode(n)
}

func (f *fleet) changePod() {
	name := f.names[f.IntN(len(f.names))]
	pod, ok := f.Pod("ns", name)
	switch {
	case !ok, f.IntN(4) == 0:
		f.newPod(name)
	case f.IntN(4) == 0:
		pod.Status.Phase = []fairlead.PodPhase{fairlead.PodSucceeded, fairlead.PodFailed}[f.IntN(2)]
		f.PutPod(pod)
	case f.IntN(4) == 0:
		f.DeletePod("ns", name)
	default:
		pod.Spec.Tolerations = f.tolerations()
		f.PutPod(pod)
	}
}

func (f *fleet) flap(name string) {
	to := []string{"reports", "unready", "silent"}[f.IntN(3)]
	which := []string{name}
	if f.IntN(6) == 0 {
		which = f.nodes // all of them
	}
	for _, n := range which {
		if f.agents[n] = to; to != "silent" {
			f.Report(n, to == "reports")
		}
	}
}

func (f *fleet) deleteNode(name string) {
	if _, ok := f.Node(name); !ok {
		f.pods++
		f.node(name, slices.Index(f.nodes, name))
	} else if f.IntN(2) == 0 {
		f.seen["node deleted"]++
		f.DeleteNode(name)
	}
}

// Observe implements eviction.Backend, with what a Runner adds.
func (f *fleet) Observe(ctx context.Context, node string) (*eviction.World, error) {
	w, err := f.MemBackend.Observe(ctx, node)
	if err != nil {
		return nil, err
	}
	w.Name = node
	if f.policy.NodeLifecycle != nil {
		f.zone()
		w.Zones = f.zoneState().Disruption
		if w.Node != nil {
			h, now := f.heard[node], f.clock.Now()
			if beat := w.Heartbeat(); h.at.IsZero() || !beat.Equal(h.beat) {
				h = heard{beat, now}
			}
			h.at = fairlead.Past(h.at, now)
			w.Heard, f.heard[node] = h.at, h
		}
	}
	if f.clean {
		f.looked(w)
	}
	return w, nil
}

func (f *fleet) zoneState() (state eviction.ZoneState) {
	rec, err := f.store.Get(context.Background(), fairlead.StateKey("taintzones", eviction.AllZones))
	if err != nil {
		return state
	}
	held := struct{ State *eviction.ZoneState }{&state}
	if err := json.Unmarshal(rec.Value, &held); err != nil {
		f.fail("%v", err)
	}
	return state
}
