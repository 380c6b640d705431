package cluster_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/cluster"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/eviction"
)

// engine is one engine for one object: it loads, looks, steps, saves and applies,
// and crashes in between at times.
type engine[S, A any] struct {
	x     *cluster.Client
	saved []byte
	wake  time.Time
	step  func(x *cluster.Client, s S, now time.Time) (S, []A, time.Time)
	apply func(x *cluster.Client, a A) error
}

func (e *engine[S, A]) turn(s *sim.Sim, now time.Time) error {
	e.x.Sync()
	var state S
	if e.saved != nil {
		if err := json.Unmarshal(e.saved, &state); err != nil {
			return err
		}
	}
	next, actions, wake := e.step(e.x, state, now)
	saved, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if s.Fault("crash before save", 40) {
		return nil
	}
	e.saved, e.wake = saved, wake
	for _, a := range actions {
		if s.Fault("crash before apply", 40) {
			return nil
		}
		err := e.apply(e.x, a)
		s.Note("%T %v: %v", a, a, err)
		if rule := new(brokenRule); errors.As(err, &rule) {
			return rule
		}
	}
	return nil
}

// brokenRule is an action that must never be sent.
type brokenRule struct{ rule string }

func (b *brokenRule) Error() string { return b.rule }

func machines() cluster.Kind[lifecycle.Machine] {
	return cluster.Kind[lifecycle.Machine]{Name: "Machine", Meta: func(m *lifecycle.Machine) *fairlead.ObjectMeta { return &m.ObjectMeta }}
}

// story is a cluster whose nodes three engines act on: machines are replaced, nodes
// that fall silent lose their pods, and all nodes get another configuration.
type story struct {
	*sim.Sim
	c       *cluster.Cluster
	engines map[string]func(time.Time) error
	order   []string
	pool    rollout.Pool
	asked   map[string]bool // instances that were asked to go
}

const newest = "rendered-2"

func newStory(s *sim.Sim) *story {
	y := &story{Sim: s, c: cluster.New(s.Clock, nil), engines: map[string]func(time.Time) error{}, asked: map[string]bool{}}
	one := fairlead.IntOrString{Int: 1}
	y.pool = rollout.Pool{ObjectMeta: fairlead.ObjectMeta{Name: "worker"}}
	y.pool.Spec.NodeSelector = &fairlead.LabelSelector{MatchLabels: map[string]string{"role": "worker"}}
	y.pool.Spec.MaxUnavailable, y.pool.Spec.Configuration.Name = &one, "rendered-1"
	for i := range 4 {
		y.machine(fmt.Sprint("n", i))
	}
	two := fairlead.IntOrString{Int: 2}
	labels := map[string]string{"app": "web"}
	b := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "web"}}
	b.Spec.MinAvailable, b.Spec.Selector = &two, &fairlead.LabelSelector{MatchLabels: labels}
	must(cluster.Create(y.c, cluster.Budgets(), b))
	seconds := int64(60)
	y.c.AddWorkload(cluster.Workload{Namespace: "shop", Name: "web", Replicas: 3, Labels: labels, Template: fairlead.PodSpec{
		Containers:  []fairlead.Container{{Name: "web", Resources: fairlead.Resources{Requests: map[string]string{"cpu": "3"}}}},
		Tolerations: []fairlead.Toleration{{Key: taints.KeyUnreachable, Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute, TolerationSeconds: &seconds}},
	}})
	y.add("rollout", y.rollout())
	return y
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (y *story) add(name string, turn func(time.Time) error) {
	if y.engines[name] == nil {
		y.order = append(y.order, name)
	}
	y.engines[name] = turn
}

func (y *story) client() *cluster.Client {
	return y.c.Client(y.Uint64(), cluster.Faults{Stale: 4, Fail: 20, Lost: 20, Conflict: 20})
}

// machine makes a machine with its instance and its node, and the engines for both.
func (y *story) machine(name string) {
	y.c.AddInstance("cloud:///"+name, func() string { return name })
	n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name, Labels: map[string]string{"role": "worker"}}, Spec: fairlead.NodeSpec{ProviderID: "cloud:///" + name}}
	n.Annotations = map[string]string{rollout.AnnotationCurrent: "rendered-1", rollout.AnnotationDesired: "rendered-1", rollout.AnnotationState: rollout.StateDone}
	if err := y.c.Join(n); err != nil {
		panic(err)
	}
	n, _ = cluster.Get(y.c, cluster.Nodes(), name)
	m := lifecycle.Machine{ObjectMeta: fairlead.ObjectMeta{Namespace: "m", Name: name, Finalizers: []string{lifecycle.Finalizer}}}
	m.Spec.ProviderID = "cloud:///" + name
	m.Status.Phase, m.Status.NodeRef = lifecycle.PhaseRunning, &lifecycle.NodeRef{Kind: "Node", Name: name, UID: n.UID}
	must(cluster.Create(y.c, machines(), m))
	y.add("machine "+name, y.lifecycle(name))
	y.add("node "+name, y.taints(name))
}

// podsOn returns the pods of a node as a client sees them.
func podsOn(x *cluster.Client, node string) (all []fairlead.Pod) {
	for _, p := range cluster.CachedList(x, cluster.Pods()) {
		if p.Spec.NodeName == node {
			all = append(all, p)
		}
	}
	return all
}

func (y *story) lifecycle(name string) func(time.Time) error {
	e := &engine[lifecycle.State, lifecycle.Action]{x: y.client()}
	e.step = func(x *cluster.Client, s lifecycle.State, now time.Time) (lifecycle.State, []lifecycle.Action, time.Time) {
		w := &lifecycle.World{Instance: lifecycle.InstanceGone}
		if m, ok := cluster.Cached(x, machines(), "m/"+name); ok {
			w.Machine = &m
		}
		if y.c.HasInstance("cloud:///" + name) {
			w.Instance = lifecycle.InstanceExists
		}
		if n, ok := cluster.Cached(x, cluster.Nodes(), name); ok {
			w.Node, w.Pods = &n, podsOn(x, name)
		}
		d := lifecycle.Step(s, w, now, nil)
		return d.State, d.Actions, d.Wake
	}
	e.apply = func(x *cluster.Client, a lifecycle.Action) error { return y.machineAction(x, name, a) }
	return func(now time.Time) error { return e.turn(y.Sim, now) }
}

func (y *story) machineAction(x *cluster.Client, name string, action lifecycle.Action) error {
	switch a := action.(type) {
	case lifecycle.UpdateStatus:
		return cluster.Change(x, machines(), "m/"+name, "", func(m *lifecycle.Machine) bool {
			if m.ResourceVersion != a.Revision {
				return false
			}
			m.Status.Phase, m.Status.Conditions = a.Phase, a.Conditions
			return true
		})
	case drain.Cordon:
		return cluster.Change(x, cluster.Nodes(), a.Node, a.UID, func(n *fairlead.Node) bool {
			was := n.Spec.Unschedulable
			n.Spec.Unschedulable = true
			return !was
		})
	case drain.Evict:
		return x.Do(func(c *cluster.Cluster) error { return c.Evict(a.Namespace+"/"+a.Name, a.UID, a.GracePeriodSeconds) })
	case lifecycle.DeleteInstance:
		return x.Do(func(c *cluster.Cluster) error {
			for _, p := range cluster.List(c, cluster.Pods()) {
				if p.Spec.NodeName == name && p.DeletionTimestamp == nil && !y.asked[name] {
					return &brokenRule{"the instance of " + name + " is deleted under pod " + p.Name}
				}
			}
			y.asked[name] = true
			c.DeleteInstance("cloud:///"+name, 0)
			return nil
		})
	case lifecycle.DeleteNode:
		return x.Do(func(c *cluster.Cluster) error { return cluster.Delete(c, cluster.Nodes(), a.Name, a.UID, nil) })
	case lifecycle.RemoveFinalizer:
		return cluster.Change(x, machines(), "m/"+name, "", func(m *lifecycle.Machine) bool {
			m.Finalizers = slices.DeleteFunc(slices.Clone(m.Finalizers), func(f string) bool { return f == a.Finalizer })
			return true
		})
	}
	return nil // events
}

func (y *story) taints(name string) func(time.Time) error {
	e := &engine[eviction.State, eviction.Action]{x: y.client()}
	e.step = func(x *cluster.Client, s eviction.State, now time.Time) (eviction.State, []eviction.Action, time.Time) {
		w := &eviction.World{Name: name}
		if n, ok := cluster.Cached(x, cluster.Nodes(), name); ok {
			w.Node, w.Pods = &n, podsOn(x, name)
		}
		d := eviction.Step(s, w, now, nil)
		return d.State, d.Actions, d.Wake
	}
	e.apply = func(x *cluster.Client, action eviction.Action) error {
		a, ok := action.(eviction.Evict)
		if !ok {
			return fmt.Errorf("there is no action %T", action)
		}
		return x.Do(func(c *cluster.Cluster) error {
			return cluster.Delete(c, cluster.Pods(), a.Pod.Namespace+"/"+a.Pod.Name, a.Pod.UID, nil)
		})
	}
	return func(now time.Time) error { return e.turn(y.Sim, now) }
}

func (y *story) rollout() func(time.Time) error {
	e := &engine[rollout.State, rollout.Action]{x: y.client()}
	e.step = func(x *cluster.Client, s rollout.State, now time.Time) (rollout.State, []rollout.Action, time.Time) {
		d := rollout.Step(s, &rollout.World{Pool: y.pool, Nodes: cluster.CachedList(x, cluster.Nodes())}, now, nil)
		return d.State, d.Actions, d.Wake
	}
	e.apply = y.nodeAction
	return func(now time.Time) error { return e.turn(y.Sim, now) }
}

func (y *story) nodeAction(x *cluster.Client, action rollout.Action) error {
	change := func(node, revision string, do func(n *fairlead.Node)) error {
		return cluster.Change(x, cluster.Nodes(), node, "", func(n *fairlead.Node) bool {
			if n.ResourceVersion != revision {
				return false
			}
			n.Annotations, n.Spec.Taints = maps.Clone(n.Annotations), slices.Clone(n.Spec.Taints)
			do(n)
			return true
		})
	}
	mark := func(n *fairlead.Node, waits bool) {
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t fairlead.Taint) bool { return t.Key == rollout.TaintUpdate })
		if waits {
			n.Spec.Taints = append(n.Spec.Taints, fairlead.Taint{Key: rollout.TaintUpdate, Effect: fairlead.PreferNoSchedule})
		}
	}
	switch a := action.(type) {
	case rollout.Begin:
		return change(a.Node, a.Revision, func(n *fairlead.Node) {
			n.Annotations[rollout.AnnotationDesired] = a.Configuration.Name
			mark(n, true)
		})
	case rollout.Mark:
		return change(a.Node, a.Revision, func(n *fairlead.Node) { mark(n, a.Waits) })
	case rollout.Cordon:
		return change(a.Node, a.Revision, func(n *fairlead.Node) { n.Spec.Unschedulable = true })
	case rollout.Drain:
		return change(a.Node, a.Revision, func(n *fairlead.Node) { n.Annotations[rollout.AnnotationDesiredDrain] = a.Wish })
	case rollout.Update:
		return change(a.Node, a.Revision, func(n *fairlead.Node) { n.Annotations[rollout.AnnotationState] = rollout.StateWorking })
	case rollout.Uncordon:
		return change(a.Node, a.Revision, func(n *fairlead.Node) {
			n.Spec.Unschedulable = false
			n.Annotations[rollout.AnnotationDesiredDrain], n.Annotations[rollout.AnnotationLastDrain] = a.Wish, a.Wish
			mark(n, false)
		})
	case rollout.Report:
		y.pool.Status = a.Status
	}
	return nil
}

// agents are what runs on nodes: it drains on request, and changes what they run.
func (y *story) agents() {
	for _, n := range cluster.List(y.c, cluster.Nodes()) {
		wish := n.Annotations[rollout.AnnotationDesiredDrain]
		if strings.HasPrefix(wish, "drain-") && n.Annotations[rollout.AnnotationLastDrain] != wish {
			left := 0
			for _, p := range cluster.List(y.c, cluster.Pods()) {
				if p.Spec.NodeName == n.Name {
					left++
					_ = y.c.Evict(p.ObjectMeta.String(), p.UID, nil) // its budget may refuse: again later
				}
			}
			if left == 0 {
				y.annotate(n, rollout.AnnotationLastDrain, wish)
			}
			continue
		}
		if n.Annotations[rollout.AnnotationState] == rollout.StateWorking {
			y.annotate(n, rollout.AnnotationState, rollout.StateDone, rollout.AnnotationCurrent, n.Annotations[rollout.AnnotationDesired])
		}
	}
}

func (y *story) annotate(n fairlead.Node, pairs ...string) {
	n.Annotations = maps.Clone(n.Annotations)
	for i := 0; i < len(pairs); i += 2 {
		n.Annotations[pairs[i]] = pairs[i+1]
	}
	must(cluster.Update(y.c, cluster.Nodes(), n))
}

// happen lets one thing happen that nobody has planned.
func (y *story) happen() {
	nodes := cluster.List(y.c, cluster.Nodes())
	switch n := nodes[y.IntN(len(nodes))]; y.IntN(40) {
	case 0:
		if y.pool.Spec.Configuration.Name != newest {
			y.Note("the pool is to run %s", newest)
			y.pool.Spec.Configuration.Name = newest
			y.pool.Generation++
		}
	case 1:
		m, ok := cluster.Get(y.c, machines(), "m/"+n.Name)
		if ok && m.DeletionTimestamp == nil && len(y.asked)+len(cluster.List(y.c, machines())) < 7 {
			y.Note("machine %s is replaced", n.Name)
			y.Reach("machine replaced")
			y.machine(fmt.Sprint("r", len(y.order)))
			if err := cluster.Delete(y.c, machines(), "m/"+n.Name, "", nil); err != nil {
				panic(err)
			}
		}
	case 2:
		if len(n.Spec.Taints) == 0 {
			y.Note("node %s falls silent", n.Name)
			y.Reach("node silent")
			y.silence(n, true)
		}
	case 3:
		y.wake()
	}
}

func (y *story) silence(n fairlead.Node, is bool) {
	now := y.Clock.Now()
	y.c.Silence(n.Name, is)
	ready := fairlead.NodeCondition{Type: "Ready", Status: fairlead.ConditionTrue, LastTransitionTime: now}
	n.Spec.Taints = slices.DeleteFunc(slices.Clone(n.Spec.Taints), func(t fairlead.Taint) bool { return t.Key == taints.KeyUnreachable })
	if is {
		ready.Status = fairlead.ConditionUnknown
		n.Spec.Taints = append(n.Spec.Taints, fairlead.Taint{Key: taints.KeyUnreachable, Effect: fairlead.NoExecute, TimeAdded: &now})
	}
	n.Status.Conditions = []fairlead.NodeCondition{ready}
	must(cluster.Update(y.c, cluster.Nodes(), n))
}

// wake lets all silent nodes whose instance is there report again.
func (y *story) wake() {
	for _, n := range cluster.List(y.c, cluster.Nodes()) {
		if y.c.HasInstance(n.Spec.ProviderID) && slices.ContainsFunc(n.Spec.Taints, func(t fairlead.Taint) bool { return t.Key == taints.KeyUnreachable }) {
			y.silence(n, false)
		}
	}
}

// rest says what is not as it is to be in the end.
func (y *story) rest() error {
	var errs []error
	for _, m := range cluster.List(y.c, machines()) {
		if m.DeletionTimestamp != nil {
			errs = append(errs, fmt.Errorf("machine %s is still being deleted", m.Name))
		}
	}
	for _, n := range cluster.List(y.c, cluster.Nodes()) {
		if to := y.pool.Spec.Configuration.Name; n.Annotations[rollout.AnnotationCurrent] != to || n.Spec.Unschedulable {
			errs = append(errs, fmt.Errorf("node %s runs %s, and %s is wanted (unschedulable %v)", n.Name, n.Annotations[rollout.AnnotationCurrent], to, n.Spec.Unschedulable))
		}
	}
	if n := ready(y.c); n != 3 {
		errs = append(errs, fmt.Errorf("%d pods are ready, and three are wanted", n))
	}
	return errors.Join(errs...)
}

func (y *story) round() error {
	y.c.Run()
	y.agents()
	for _, name := range y.order {
		if err := y.engines[name](y.Clock.Now()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	y.Clock.Set(y.Clock.Now().Add(5 * time.Second))
	return nil
}

// TestStory plays an update of all nodes with drains, evictions from nodes that fall
// silent, and replacements of machines, on the same nodes and pods, with faults; once
// these are over, all comes to its end.
func TestStory(t *testing.T) {
	counts := sim.Run(t, long.N(30, 1000), func(s *sim.Sim) error {
		y := newStory(s)
		for range 150 {
			if s.OneIn(2) {
				y.happen()
			}
			if err := y.round(); err != nil {
				return err
			}
		}
		s.Heal()
		y.wake()
		y.pool.Spec.Configuration.Name = newest
		for range 1500 {
			if err := y.round(); err != nil {
				return err
			}
			if y.rest() == nil {
				return nil
			}
		}
		return y.rest()
	})
	t.Log(counts)
	for _, name := range []string{"machine replaced", "node silent"} {
		if counts[name] == 0 {
			t.Errorf("no %s in any seed", name)
		}
	}
}
