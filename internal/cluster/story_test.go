package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/cluster"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/lifecycle/quorum"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/eviction"
)

// story is a cluster on whose nodes and pods eight engines act, each by its own
// MemBackend: machines are replaced, those of the control plane with their voters, nodes
// that stop reporting lose their pods, an operator is updated, users request nodes, and
// a plan updates the cluster to another release and all nodes to its configuration, and
// takes one of them out of service.
type story struct {
	*rand.Rand
	Clock     *fairlead.ManualClock
	counts    map[string]int // of what happened
	notes     []string
	healed    bool
	all       *cluster.Cluster
	machines  *lifecycle.MemBackend
	evictions *eviction.MemBackend
	pools     *rollout.MemBackend
	operators *install.MemBackend
	requests  *drain.MemBackend
	etcd      *quorum.MemBackend
	releases  *cvo.MemBackend
	plans     *plan.MemBackend
	catalogs  [2]*olm.Resolver // before and after the operator's update is published
	sources   [2][]olm.Source
	published int
	config    string // of the pool
	turns     map[string]func(time.Time) error
	order     []string
	every     map[string]time.Duration // engines that poll, because there are no events for them
	asked     map[string]bool          // machines whose instance was requested to be deleted
	watch     *cluster.Watch
	dirty     map[string]bool   // engines that an event concerns, by name
	waits     map[string]string // what engines wait for, by name
	heal      []func()
	hits      []map[string]int
}

const space = "operators"

// Reach counts something that happens.
func (y *story) Reach(what string) { y.counts[what]++ }

// Note adds to what is printed when it fails.
func (y *story) Note(format string, args ...any) {
	y.notes = append(y.notes, y.Clock.Now().Format("15:04:05 ")+fmt.Sprintf(format, args...))
}

func newStory(seed uint64, releases map[string]*payload.Payload, counts map[string]int) (*story, error) {
	clock := new(fairlead.ManualClock)
	clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	shared := &fairlead.MemCluster{Clock: clock}
	y := &story{
		Rand: rand.New(rand.NewPCG(seed, 1)), Clock: clock, counts: counts, all: cluster.Of(shared, nil, nil), machines: &lifecycle.MemBackend{Cluster: shared}, evictions: &eviction.MemBackend{Cluster: shared},
		pools:     &rollout.MemBackend{Cluster: shared, UpdateTime: func(string, string) (time.Duration, error) { return 20 * time.Second, nil }},
		operators: &install.MemBackend{Cluster: shared}, requests: &drain.MemBackend{Cluster: shared}, turns: map[string]func(time.Time) error{},
		every: map[string]time.Duration{"release": 5 * time.Second, "plan": time.Minute}, asked: map[string]bool{}, dirty: map[string]bool{}, waits: map[string]string{},
	}
	y.etcd = &quorum.MemBackend{Cluster: shared, Machines: y.machines, Desired: voters}
	y.watch = y.all.Watch(y.Uint64(), cluster.Faults{Late: 5, Again: 10})
	one, two, seconds := fairlead.IntOrString{Int: 1}, fairlead.IntOrString{Int: 2}, int64(60)
	labels := map[string]string{"app": "web"}
	b := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "web"}}
	b.Spec.MinAvailable, b.Spec.Selector = &two, &fairlead.LabelSelector{MatchLabels: labels}
	y.all.AddWorkload(cluster.Workload{Namespace: "shop", Name: "web", Replicas: 3, Labels: labels, Template: fairlead.PodSpec{
		Containers:  []fairlead.Container{{Name: "web", Resources: fairlead.Resources{Requests: map[string]string{"cpu": "3"}}}},
		Tolerations: []fairlead.Toleration{{Key: taints.KeyUnreachable, Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute, TolerationSeconds: &seconds}},
	}})
	err := errors.Join(y.machines.PutBudget(b), y.stock(), y.pools.Edit(rollout.PoolWorker, func(w *rollout.World) error {
		w.Pool.Spec.NodeSelector = &fairlead.LabelSelector{MatchLabels: map[string]string{"role": "worker"}}
		w.Pool.Spec.MaxUnavailable, w.Pool.Spec.Configuration.Name = &one, rendered(oldRelease)
		return nil
	}), y.operators.Edit(space, func(w *install.World) error {
		w.Namespaces = []olm.ObjectMeta{{Name: space}}
		w.Groups = []install.OperatorGroup{{OperatorGroup: group.OperatorGroup{ObjectMeta: olm.ObjectMeta{Name: "g"}}}}
		w.Subscriptions = []install.Subscription{{Subscription: olm.Subscription{ObjectMeta: olm.ObjectMeta{Name: "logging"}, Spec: olm.SubscriptionSpec{Package: "logging", Channel: "stable"}}}}
		return nil
	}))
	if err != nil {
		return nil, err
	}
	for i, role := range []string{master, master, master, worker} {
		if err := y.machine(fmt.Sprint("n", i), role); err != nil {
			return nil, err
		}
	}
	if err := y.vote(); err != nil {
		return nil, err
	}
	for _, name := range plain() {
		y.node(name, "")
	}
	add(y, "rollout", rollout.PoolWorker, y.pools, func(s rollout.State, w *rollout.World, o []fairlead.Outcome, now time.Time) (rollout.Decision, error) {
		w.Outcomes = o
		return rollout.Step(s, w, now, nil), nil
	})
	add(y, "install", space, y.operators, func(s install.State, w *install.World, o []fairlead.Outcome, now time.Time) (install.Decision, error) {
		w.Outcomes = o
		err := y.resolve(w)
		return install.Step(s, w, now, nil), err
	})
	y.release(shared, releases)
	return y, nil
}

// stock creates the catalogs.
func (y *story) stock() error {
	for i, channel := range []string{`{"name":"logging.v1"}`, `{"name":"logging.v1"},{"name":"logging.v2","replaces":"logging.v1"}`} {
		text := `{"schema":"olm.package","name":"logging","defaultChannel":"stable"}
{"schema":"olm.channel","package":"logging","name":"stable","entries":[` + channel + `]}
`
		for v := range i + 1 {
			text += fmt.Sprintf(`{"schema":"olm.bundle","package":"logging","name":"logging.v%d","image":"example.com/logging","properties":[{"type":"olm.package","value":{"packageName":"logging","version":"%d.0.0"}}]}`+"\n", v+1, v+1)
		}
		held, err := catalog.Open(context.Background(), fstest.MapFS{"catalog.json": {Data: []byte(text)}}, nil)
		if err != nil {
			return err
		}
		y.sources[i] = []olm.Source{{SourceKey: olm.SourceKey{Name: "shelf"}, Catalog: held}}
		if y.catalogs[i], err = olm.NewResolver(y.sources[i], nil); err != nil {
			return err
		}
	}
	y.operators.Sources = y.sources[0]
	return nil
}

// resolve adds the resolver's answer to an observed world.
func (y *story) resolve(w *install.World) error {
	var err error
	w.Resolution, err = y.catalogs[y.published].Resolve(context.Background(), w.Request())
	return err
}

// add makes an engine responsible for an object: it loads, observes, steps, saves
// and applies, and sometimes crashes in between. It does so only after an event, at
// its wake time, or at its polling interval.
func add[S, W any, A fairlead.Action](y *story, name, object string, b cluster.Backend[*W, A], step func(S, *W, []fairlead.Outcome, time.Time) (fairlead.Decision[S, A], error)) {
	var saved S
	var wake time.Time
	var outcomes []fairlead.Outcome
	x := cluster.Through(b, y.Uint64(), cluster.Faults{Stale: 4, Fail: 20, Lost: 20, Conflict: 20, Twice: 30})
	ctx := context.Background()
	crash := func(when string) bool {
		if y.healed || y.IntN(40) > 0 {
			return false
		}
		y.Reach("crash before " + when)
		y.dirty[name], outcomes = true, nil
		x.Restart()
		return true
	}
	turn := func(now time.Time) error {
		if !y.dirty[name] && (wake.IsZero() || now.Before(wake)) {
			return nil
		}
		if y.every[name] > 0 {
			wake = now.Add(y.every[name])
		}
		w, err := x.Observe(ctx, object)
		y.dirty[name] = err != nil || x.Old() // events for what was not observed will still arrive
		if err != nil {
			return nil
		}
		seen := *w
		d, err := step(saved, &seen, outcomes, now)
		if err != nil {
			return err
		}
		if crash("save") {
			return nil
		}
		saved = d.State
		if y.every[name] == 0 {
			wake = d.Wake
		}
		if y.waits[name] = ""; len(d.Blocked) > 0 {
			y.waits[name] = fmt.Sprintf("%s waits: %s", name, d.Blocks()[0])
		}
		for _, a := range d.Actions {
			if crash("apply") {
				return nil
			}
			if err := y.allowed(object, a); err != nil {
				return err
			}
			err := x.Apply(ctx, object, a)
			o := fairlead.OutcomeOf(a.Key(), err, now)
			outcomes = append(slices.DeleteFunc(outcomes, func(old fairlead.Outcome) bool { return old.Key == o.Key }), o)
			y.Note("%s: %v: %v", name, a, err)
		}
		if len(d.Actions) > 0 && name == "install" {
			y.dirty[name] = true // there are no events for what it changes
		}
		return nil
	}
	if y.turns[name] == nil {
		y.order = append(y.order, name)
	}
	y.turns[name], y.dirty[name] = turn, true
	y.heal = append(y.heal, x.Heal)
	y.hits = append(y.hits, x.Hits())
}

// allowed returns an error if an action breaks a rule: no instance may be deleted
// under pods that were never requested to end, or while its member votes.
func (y *story) allowed(machine string, action fairlead.Action) error {
	if _, ok := action.(quorum.Promote); ok {
		y.Reach("learner promoted")
	}
	if _, ok := action.(lifecycle.DeleteInstance); !ok {
		return nil
	}
	m := y.machines.Machine(machine)
	if m == nil || y.asked[machine] {
		return nil
	}
	y.asked[machine] = true
	if x := y.voter(m); x != nil {
		return fmt.Errorf("the instance of %s is deleted, and member %s votes", machine, x.ID)
	}
	for _, p := range y.machines.PodsOn(m.Name) {
		if p.DeletionTimestamp == nil {
			return fmt.Errorf("the instance of %s is deleted under pod %s", machine, p.Name)
		}
	}
	return nil
}

// machine creates a machine with its node, and the engines for both.
func (y *story) machine(name, role string) error {
	m := lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Namespace: "m", Name: name, Labels: map[string]string{quorum.RoleLabel: role}}}
	m.Status.Addresses = []lifecycle.NodeAddress{{Type: "InternalIP", Address: fmt.Sprint("10.0.0.", len(y.order))}}
	m.Spec.ProviderID, m.Spec.ProviderSpec = "cloud:///"+name, []byte(`{}`)
	y.node(name, m.Spec.ProviderID)
	m.Status.Phase, m.Status.NodeRef = lifecycle.PhaseRunning, &lifecycle.NodeRef{Kind: "Node", Name: name, UID: y.machines.Node(name).UID}
	add(y, "machine "+name, "m/"+name, y.machines, func(s lifecycle.State, w *lifecycle.World, o []fairlead.Outcome, now time.Time) (lifecycle.Decision, error) {
		w.Outcomes = o
		return lifecycle.Step(s, w, now, nil), nil
	})
	return y.machines.PutMachine(m)
}

// node creates a node, and the engines for it.
func (y *story) node(name, providerID string) {
	n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name, Labels: map[string]string{"role": "worker"}}, Spec: fairlead.NodeSpec{ProviderID: providerID}}
	n.Annotations = map[string]string{rollout.AnnotationCurrent: rendered(oldRelease), rollout.AnnotationDesired: rendered(oldRelease), rollout.AnnotationState: rollout.StateDone}
	n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionTrue, LastTransitionTime: y.Clock.Now()}}
	n.Status.Allocatable = map[string]string{"cpu": "8", "memory": "32Gi", "pods": "110"}
	y.machines.PutNode(n)
	add(y, "node "+name, name, y.evictions, func(s eviction.State, w *eviction.World, o []fairlead.Outcome, now time.Time) (eviction.Decision, error) {
		w.Outcomes = o
		return eviction.Step(s, w, now, nil), nil
	})
	add(y, "requests "+name, name, y.requests, func(s drain.State, w *drain.World, o []fairlead.Outcome, now time.Time) (drain.Decision, error) {
		w.Outcomes = o
		return drain.Step(s, w, now, nil), nil
	})
}

// happen makes one unplanned event happen, or none.
func (y *story) happen() error {
	all := y.machines.List()
	m := all[y.IntN(len(all))]
	names := plain()
	for _, m := range all {
		names = append(names, m.Name)
	}
	node := names[y.IntN(len(names))]
	switch y.IntN(40) {
	case 0:
		y.publish()
		y.aim()
	case 1:
		if y.replaceable(m) && len(all) < 7 {
			y.Note("machine %s is replaced", m.Name)
			y.Reach("machine replaced")
			return errors.Join(y.machine(fmt.Sprint("r", len(y.order)), m.Labels[quorum.RoleLabel]), y.machines.Delete("m/"+m.Name))
		}
	case 2:
		if n := y.machines.Node(node); n != nil && len(n.Spec.Taints) == 0 {
			y.Note("node %s falls silent", n.Name)
			y.Reach("node silent")
			y.silence(n, true)
		}
	case 3:
		y.wake()
	case 4:
		y.publish()
	case 5:
		if pods := y.machines.PodsOn(node); len(pods) > 0 {
			y.Note("pod %s is gone", pods[0].Name)
			y.Reach("pod gone")
			y.machines.RemovePod(pods[0].UID)
		}
	case 6:
		y.ask(node)
	case 7:
		y.giveBack(false)
	}
	return nil
}

// publish adds the operator's update to the catalog.
func (y *story) publish() {
	y.published, y.operators.Sources, y.dirty["install"] = 1, y.sources[1], true
}

// silence changes a node as it changes when it stops reporting, or reports
// again.
func (y *story) silence(n *fairlead.Node, is bool) {
	now, q := y.Clock.Now(), *n
	ready := fairlead.NodeCondition{Type: "Ready", Status: fairlead.ConditionTrue, LastTransitionTime: now}
	q.Spec.Taints = slices.DeleteFunc(slices.Clone(n.Spec.Taints), func(t fairlead.Taint) bool { return t.Key == taints.KeyUnreachable })
	if is {
		ready.Status = fairlead.ConditionUnknown
		q.Spec.Taints = append(q.Spec.Taints, fairlead.Taint{Key: taints.KeyUnreachable, Effect: fairlead.NoExecute, TimeAdded: &now})
	}
	q.Status.Conditions = []fairlead.NodeCondition{ready}
	y.evictions.PutNode(q)
}

// wake makes all silent nodes whose instance exists report again.
func (y *story) wake() {
	names := plain()
	for _, m := range y.machines.List() {
		if !y.asked["m/"+m.Name] {
			names = append(names, m.Name)
		}
	}
	for _, name := range names {
		n := y.machines.Node(name)
		if n != nil && slices.ContainsFunc(n.Spec.Taints, func(t fairlead.Taint) bool { return t.Key == taints.KeyUnreachable }) {
			y.silence(n, false)
		}
	}
}

// rest reports how the cluster differs from the expected final state.
func (y *story) rest() error {
	var errs []error
	for _, m := range y.machines.List() {
		if m.Deleting() {
			errs = append(errs, fmt.Errorf("machine %s is still being deleted", m.Name))
		}
	}
	errs = append(errs, y.reached(), y.quorate())
	o := y.operators.World(space)
	if c := o.CSVs; len(c) != 1 || c[0].Name != "logging.v2" || c[0].Status.Phase != olm.PhaseSucceeded {
		errs = append(errs, fmt.Errorf("the operator is not updated: %d CSVs, subscription %+v", len(c), o.Subscriptions[0].Status))
	}
	y.all.Lock()
	defer y.all.Unlock()
	if n, _ := y.all.Ready("shop", "web"); n != 3 {
		errs = append(errs, fmt.Errorf("%d pods are ready, and three are wanted", n))
	}
	return errors.Join(errs...)
}

// tell marks the engines that events concern: those of the node, and those that
// observe all nodes.
func (y *story) tell() {
	y.all.Lock()
	defer y.all.Unlock()
	y.all.Run()
	for _, e := range y.watch.Take() {
		switch e.Kind {
		case "Machine":
			y.dirty["machine "+e.Name[2:]], y.dirty["quorum"] = true, true
		case "Etcd":
			y.dirty["quorum"] = true
		case "Node":
			y.dirty["machine "+e.Name], y.dirty["node "+e.Name], y.dirty["requests "+e.Name] = true, true, true
			y.dirty["rollout"], y.dirty["quorum"] = true, true
		case "MachineConfigPool":
			y.dirty["rollout"] = true
		default: // pods were created or deleted, on nodes that are no longer known
			for _, name := range y.order {
				y.dirty[name] = y.dirty[name] || y.every[name] == 0
			}
		}
	}
}

func (y *story) round() error {
	y.tell()
	if err := y.configure(); err != nil {
		return err
	}
	for _, name := range y.order {
		if err := y.turns[name](y.Clock.Now()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	y.Clock.Set(y.Clock.Now().Add(5 * time.Second))
	return nil
}

// TestStory plays an update of a cluster by a plan, with its operators, drains of all
// nodes, and one node that is taken out of service; requests of users for nodes,
// evictions from nodes that stop reporting, replacements of machines and of the voters on
// them, and the update of an operator. All act on the same nodes and pods, with faults;
// after these end, everything must reach its final state.
func TestStory(t *testing.T) {
	releases := storyReleases(t)
	counts := map[string]int{}
	for seed := range uint64(long.N(10, 10_000)) {
		y, err := newStory(seed+1, releases, counts)
		if err == nil {
			err = y.play()
		}
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed+1, err, strings.Join(y.notes[max(0, len(y.notes)-200):], "\n"))
		}
	}
	t.Log(counts)
	for _, name := range []string{"machine replaced", "node silent", "pod gone", "node asked for", "learner promoted", "stale", "fail", "lost", "conflict", "twice"} {
		if counts[name] == 0 {
			t.Errorf("no %s in any seed", name)
		}
	}
}

// play lets things happen with faults, then without any, until all is as it is to be.
func (y *story) play() (err error) {
	for range 150 {
		if y.IntN(2) == 0 {
			err = y.happen()
		}
		if err := errors.Join(err, y.round()); err != nil {
			return err
		}
	}
	y.healed = true
	y.watch.Heal()
	for i, heal := range y.heal {
		heal()
		for name, n := range y.hits[i] {
			y.counts[name] += n
		}
	}
	y.wake()
	y.publish()
	y.aim()
	for range 1500 {
		y.giveBack(true)
		if err := y.round(); err != nil {
			return err
		}
		if y.rest() == nil {
			return nil
		}
	}
	return errors.Join(y.rest(), errors.New(strings.Join(slices.Sorted(maps.Values(y.waits)), "\n")))
}
