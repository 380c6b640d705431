package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// smallWorld is one machine that is being deleted, with its node.
type smallWorld struct {
	Machine  *lifecycle.Machine
	Instance lifecycle.Instance
	Node     *lifecycle.Node
	Pods     []lifecycle.Pod
	Asked    bool     // the cloud was asked to delete the instance
	Evicted  []string // UIDs of pods that were asked to end
	Versions int
	Stuck    bool               // nobody releases hooks
	Keeper   bool               // a person may remove the finalizer, because the instance is to stay
	Joins    int                // how often a node may join, under a new UID each time
	Nodes    int                // how many have joined
	Hooks    int                // how many hooks may be added late
	Objects  []lifecycle.Object // of providers; the first stands for the instance
	clock    *fairlead.ManualClock
	bad      error // the rule that an action broke
}

func (w *smallWorld) changed() {
	w.Versions++
	w.Machine.ResourceVersion = fmt.Sprint(w.Versions)
}

// join makes a node of the machine, with a pod on it.
func (w *smallWorld) join() {
	w.Nodes++
	n := fmt.Sprint(w.Nodes)
	w.Node = &lifecycle.Node{ObjectMeta: lifecycle.ObjectMeta{Name: "node-1", UID: "node-uid-" + n}}
	w.Node.Spec.ProviderID = "cloud:///i-1"
	w.Node.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True"}}
	var p lifecycle.Pod
	p.Name, p.Namespace, p.UID = "web-"+n, "default", "pod-uid-"+n
	p.Spec.NodeName = "node-1"
	p.Status.Phase = fairlead.PodRunning
	yes := true
	p.OwnerReferences = []lifecycle.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "rs", Controller: &yes}}
	w.Pods = []lifecycle.Pod{p}
	if w.Machine != nil {
		w.Machine.Status.NodeRef = &lifecycle.NodeRef{Kind: "Node", Name: "node-1", UID: w.Node.UID}
		w.changed()
	}
}

// newSmallWorld makes a machine whose deletion has begun, with a node or without.
func newSmallWorld(node bool, joins, late int, hooks lifecycle.LifecycleHooks) *smallWorld {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w := &smallWorld{Machine: &lifecycle.Machine{}, Instance: lifecycle.InstanceExists, Joins: joins, Hooks: late}
	m := w.Machine
	m.Name, m.Namespace, m.UID = "machine-1", "openshift-machine-api", "machine-uid"
	m.DeletionTimestamp = &at
	m.Finalizers = []string{lifecycle.Finalizer}
	m.Spec.ProviderID = "cloud:///i-1"
	m.Spec.LifecycleHooks = hooks
	m.Status.Phase = lifecycle.PhaseRunning
	w.changed()
	if node {
		w.join()
	}
	return w
}

// newProviderWorld makes a machine of the Cluster API, whose instance an object of
// its provider stands for.
func newProviderWorld(late int, hooks lifecycle.LifecycleHooks) *smallWorld {
	w := newSmallWorld(true, 0, late, hooks)
	m := w.Machine
	m.APIVersion, m.Finalizers = "cluster.x-k8s.io/v1beta2", []string{lifecycle.FinalizerClusterAPI}
	m.Spec.InfrastructureRef = &lifecycle.ObjectRef{Kind: "DockerMachine", Name: "infra"}
	m.Spec.Bootstrap = &lifecycle.Bootstrap{ConfigRef: &lifecycle.ObjectRef{Kind: "KubeadmConfig", Name: "config"}}
	w.Objects = []lifecycle.Object{
		{Kind: "DockerMachine", ObjectMeta: lifecycle.ObjectMeta{Name: "infra", UID: "infra"}, State: lifecycle.InstanceExists},
		{Kind: "KubeadmConfig", ObjectMeta: lifecycle.ObjectMeta{Name: "config", UID: "config"}, State: lifecycle.InstanceExists},
	}
	return w
}

// drained reports whether the machine says so: a preDrain hook that comes later
// has come too late.
func (w *smallWorld) drained() bool {
	c := lifecycle.FindCondition(w.Machine.Status.Conditions, lifecycle.ConditionDrained)
	return c != nil && c.Status == "True"
}

// Clone implements fairlead.SmallTrial.
func (w *smallWorld) Clone() fairlead.SmallTrial[*smallWorld, lifecycle.Action] { return w.clone() }

// Observe implements fairlead.Backend.
func (w *smallWorld) Observe(context.Context, string) (*smallWorld, error) { return w.clone(), nil }

// Change implements fairlead.Trial.
func (w *smallWorld) Change() {}

// Check implements fairlead.Trial.
func (w *smallWorld) Check() error { return w.bad }

// Apply implements fairlead.Backend, as a cluster does.
func (w *smallWorld) Apply(_ context.Context, _ string, a lifecycle.Action) error {
	now := w.clock.Now()
	refused := fmt.Errorf("it is another one, or changed")
	switch a := a.(type) {
	case lifecycle.UpdateStatus:
		if w.Machine == nil || w.Machine.ResourceVersion != a.Revision {
			return refused
		}
		w.Machine.Status.Phase, w.Machine.Status.Conditions = a.Phase, a.Conditions
		w.changed()
	case lifecycle.RecordEvent:
	case drain.Cordon:
		if w.Node == nil || w.Node.UID != a.UID {
			return refused
		}
		w.Node.Spec.Unschedulable = true
	case drain.Evict:
		i := slices.IndexFunc(w.Pods, func(p lifecycle.Pod) bool { return p.UID == a.UID })
		if i < 0 {
			return refused
		}
		if w.Pods[i].DeletionTimestamp == nil {
			end, grace := now.Add(30*time.Second), int64(30)
			w.Pods[i].DeletionTimestamp, w.Pods[i].DeletionGracePeriodSeconds = &end, &grace
			w.Evicted = append(w.Evicted, a.UID)
		}
	case lifecycle.RemoveHook:
		if w.Machine != nil {
			list := &w.Machine.Spec.LifecycleHooks.PreDrain
			if a.Point == lifecycle.PreTerminate {
				list = &w.Machine.Spec.LifecycleHooks.PreTerminate
			}
			*list = nil
			w.changed()
		}
	case lifecycle.DeleteInstance:
		return w.deleteInstance()
	case lifecycle.DeleteObject:
		i := slices.IndexFunc(w.Objects, func(o lifecycle.Object) bool { return o.UID == a.UID })
		switch {
		case i < 0 || w.Objects[i].State == lifecycle.InstanceGone:
			return refused
		case i == 0:
			if err := w.deleteInstance(); err != nil {
				return err
			}
		case w.Objects[0].State != lifecycle.InstanceGone:
			return w.breaks("the configuration is deleted, and the infrastructure is there")
		}
		if w.Objects[i].DeletionTimestamp == nil {
			w.Objects[i].DeletionTimestamp = &now
		}
	case lifecycle.DeleteNode:
		if w.Node == nil || w.Node.UID != a.UID {
			return refused
		}
		w.Node, w.Pods = nil, nil
	case lifecycle.RemoveFinalizer:
		if w.Node != nil {
			return w.breaks("the machine goes, and the object of its node stays")
		}
		if slices.ContainsFunc(w.Objects, func(o lifecycle.Object) bool { return o.State != lifecycle.InstanceGone }) {
			return w.breaks("the machine goes, and an object of a provider stays")
		}
		w.Machine = nil
	default:
		return fmt.Errorf("there is no action %T", a)
	}
	return nil
}

// breaks notes a rule that an action broke.
func (w *smallWorld) breaks(rule string) error {
	w.bad = errors.New(rule)
	return w.bad
}

// deleteInstance is what hooks and drains guard.
func (w *smallWorld) deleteInstance() error {
	if w.Machine == nil || w.Instance == lifecycle.InstanceGone {
		return nil
	}
	if h := w.Machine.Spec.LifecycleHooks; len(h.PreTerminate) > 0 {
		return w.breaks("the instance is deleted, and a preTerminate hook is there")
	}
	w.Asked = true
	return nil
}

// Judge implements fairlead.Judge, for decisions to delete the instance.
func (w *smallWorld) Judge(_ lifecycle.State, seen *smallWorld, _ time.Time, d lifecycle.Decision) error {
	if seen.released() {
		for _, a := range d.Actions {
			if _, told := a.(lifecycle.RecordEvent); !told {
				return errors.New("a person has removed the finalizer, and the engine is to " + fmt.Sprint(a))
			}
		}
	}
	if !slices.ContainsFunc(d.Actions, func(a lifecycle.Action) bool {
		o, object := a.(lifecycle.DeleteObject)
		_, is := a.(lifecycle.DeleteInstance)
		return is || object && o.UID == "infra"
	}) {
		return nil
	}
	for _, p := range seen.Pods {
		if !slices.Contains(seen.Evicted, p.UID) {
			return errors.New("the instance is to be deleted, and pod " + p.Name + " on it is not asked to end")
		}
	}
	if len(seen.Machine.Spec.LifecycleHooks.PreDrain) > 0 && !seen.drained() {
		return errors.New("the instance is to be deleted, and a preDrain hook is there")
	}
	return nil
}

// released reports whether the machine is no longer the engine's.
func (w *smallWorld) released() bool {
	return w.Machine != nil && w.Keeper && slices.Contains(w.Machine.Finalizers, "example.com/other")
}

// Events implements fairlead.SmallTrial.
func (w *smallWorld) Events() (all []fairlead.Event) {
	add := func(name string, sure bool, do func()) {
		all = append(all, fairlead.Event{Name: name, Do: do, Sure: sure})
	}
	if w.Machine != nil && !w.Stuck && len(w.Machine.Spec.LifecycleHooks.PreDrain) > 0 {
		add("release preDrain", true, func() { w.Machine.Spec.LifecycleHooks.PreDrain = nil; w.changed() })
	}
	if w.Machine != nil && !w.Stuck && len(w.Machine.Spec.LifecycleHooks.PreTerminate) > 0 {
		add("release preTerminate", true, func() { w.Machine.Spec.LifecycleHooks.PreTerminate = nil; w.changed() })
	}
	if w.Asked && w.Instance == lifecycle.InstanceExists {
		add("instance goes", true, func() {
			w.Instance, w.Pods = lifecycle.InstanceGone, nil
			if len(w.Objects) > 0 {
				w.Objects[0].State = lifecycle.InstanceGone
			}
		})
	}
	if len(w.Objects) > 1 && w.Objects[1].DeletionTimestamp != nil && w.Objects[1].State == lifecycle.InstanceExists {
		add("configuration goes", true, func() { w.Objects[1].State = lifecycle.InstanceGone })
	}
	if w.Joins > 0 && w.Instance == lifecycle.InstanceExists && !w.Asked && w.Machine != nil {
		add("node joins", false, func() { w.Joins--; w.join() })
	}
	if w.Keeper && w.Machine != nil && !w.released() {
		add("finalizer is removed", false, func() { w.Machine.Finalizers = []string{"example.com/other"}; w.changed() })
	}
	if w.Hooks > 0 && w.Machine != nil && !w.drained() {
		add("hook is added", false, func() {
			w.Hooks--
			w.Machine.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{{Name: "late", Owner: "somebody"}}
			w.changed()
		})
	}
	return all
}

// Pass implements fairlead.Passing: it ends pods whose grace is over.
func (w *smallWorld) Pass() {
	now := w.clock.Now()
	w.Pods = slices.DeleteFunc(w.Pods, func(p lifecycle.Pod) bool { return p.DeletionTimestamp != nil && !p.DeletionTimestamp.After(now) })
}

// Next implements fairlead.Passing.
func (w *smallWorld) Next() (next time.Time) {
	for _, p := range w.Pods {
		if p.DeletionTimestamp != nil && (next.IsZero() || p.DeletionTimestamp.Before(next)) {
			next = *p.DeletionTimestamp
		}
	}
	return next
}

func (w *smallWorld) clone() *smallWorld {
	n := *w
	if w.Machine != nil {
		m := *w.Machine
		n.Machine = &m
	}
	if w.Node != nil {
		node := *w.Node
		n.Node = &node
	}
	n.Pods, n.Evicted, n.Objects = slices.Clone(w.Pods), slices.Clone(w.Evicted), slices.Clone(w.Objects)
	return &n
}

// Settled implements fairlead.Trial.
func (w *smallWorld) Settled(string) error {
	if w.Machine == nil || w.released() {
		return nil
	}
	return errors.New("the machine is there")
}

// Excuses implements fairlead.Excuser: what others do is sure to happen.
func (w *smallWorld) Excuses([]fairlead.Block) bool { return false }

// smallWorlds are the small worlds of this package, by name.
func smallWorlds() map[string][]*smallWorld {
	hook := []lifecycle.Hook{{Name: "hook", Owner: "somebody"}}
	both := lifecycle.LifecycleHooks{PreDrain: hook, PreTerminate: hook}
	worlds := [][]*smallWorld{
		{newSmallWorld(true, 0, 0, lifecycle.LifecycleHooks{})},
		{newSmallWorld(true, 0, 1, both)},
		{newSmallWorld(false, 1, 0, both), newSmallWorld(false, 1, 0, lifecycle.LifecycleHooks{PreDrain: hook})},
		{newSmallWorld(true, 1, 0, lifecycle.LifecycleHooks{PreDrain: hook})},
	}
	stuck := newSmallWorld(true, 0, 0, both)
	stuck.Stuck = true
	worlds = append(worlds, []*smallWorld{stuck}, []*smallWorld{newProviderWorld(1, both), newProviderWorld(0, lifecycle.LifecycleHooks{PreTerminate: hook})})
	keepers := []*smallWorld{newSmallWorld(true, 0, 0, both), newSmallWorld(true, 1, 0, lifecycle.LifecycleHooks{PreDrain: hook}), newProviderWorld(0, lifecycle.LifecycleHooks{PreTerminate: hook})}
	for _, w := range keepers {
		w.Keeper = true
	}
	worlds = append(worlds, keepers)
	all := map[string][]*smallWorld{}
	for i, name := range []string{"plain", "hooks", "joins", "again", "stuck", "provider", "released"} {
		all[name] = worlds[i]
	}
	return all
}

// visit visits the states of a small world.
func (w *smallWorld) visit(t *testing.T, o fairlead.VisitOptions) {
	t.Helper()
	policy := &lifecycle.Policy{}
	if w.Stuck {
		policy.Deadlines = []lifecycle.Deadline{{Hard: 8 * time.Minute, Then: lifecycle.EscalateSkip}}
	}
	engine := fairlead.Engine[lifecycle.State, *smallWorld, lifecycle.Action]{Name: "lifecycle", Version: 1}
	engine.Step = func(s lifecycle.State, w *smallWorld, now time.Time) lifecycle.Decision {
		world := &lifecycle.World{Machine: w.Machine, Instance: w.Instance, Objects: w.Objects, View: drain.View{Node: w.Node, Pods: w.Pods}}
		if len(w.Objects) > 0 {
			world.Instance = "" // the object stands for it
		}
		return lifecycle.Step(s, world, now, policy)
	}
	open := func(_ *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[*smallWorld, lifecycle.Action] {
		n := w.clone()
		n.clock = clock
		return n
	}
	o.Patience, o.Horizon, o.Log = 20*time.Minute, 40*time.Minute, t.Log
	if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: -1, Visit: o}); err != nil {
		t.Error(err)
	}
}

// TestVisit visits every state of small worlds.
func TestVisit(t *testing.T) {
	for name, worlds := range smallWorlds() {
		t.Run(name, func(t *testing.T) {
			for _, w := range worlds {
				w.visit(t, fairlead.VisitOptions{States: long.N(1_500, 10_000_000)})
			}
		})
	}
}

// TestPaths visits what follows on what visits have found: nodes that join after the
// deletion began were not drained, nor were those that registered again.
func TestPaths(t *testing.T) {
	worlds := smallWorlds()
	worlds["joins"][1].visit(t, fairlead.VisitOptions{States: 1_000, Path: strings.Split("release preDrain, step, apply, apply, node joins, step", ", ")})
	worlds["again"][0].visit(t, fairlead.VisitOptions{States: 1_000, Path: strings.Split("step, apply, release preDrain, node joins, step, apply", ", ")})
}
