package lifecycle_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/deadlines"
	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/lifecycle"
)

// play is one simulation of a fleet. What happens in it is a script of moves,
// each with a seed of its own, so that a move does the same whether others are
// left out or not: that is how failures are shrunk.
type play struct {
	*sim.Sim
	t       *testing.T
	store   *fairlead.MemStore
	backend *lifecycle.MemBackend
	runners []*lifecycle.Runner
	policy  *lifecycle.Policy
	size    int
	two     bool            // whether there are two runners
	dead    map[string]bool // owners of hooks that do nothing
	unfair  string          // the owner that never does anything, empty if there is none
	wakes   deadlines.Queue[string]
	planned map[string]time.Time          // when each machine is looked at next
	late    []act                         // what is on its way to the backend
	arrives bool                          // such a one arrives now
	past    map[string][]*lifecycle.World // what was to be seen lately
	seen    map[string]*lifecycle.World   // what was last seen
	records map[string]*record
	crashed bool               // the runner at work is gone
	crashes int                // how many there were
	force   bool               // the next action is not applied: the runner crashes
	nested  bool               // another runner is at work inside of a call
	truth   *lifecycle.Machine // the machine that an action is applied to, just before
	wrong   error              // the first violation
}

// act is an action on its way.
type act struct {
	machine string
	action  lifecycle.Action
}

// record is what is known of a machine.
type record struct {
	uid        string
	hooks      int // how many were left when it was last looked at; -1 before its deletion
	stage      lifecycle.Stage
	finalized  int
	nodes      map[string]bool // the UIDs that its node had
	terminated bool            // the deletion of its instance was asked for
}

// move is one thing that happens.
type move struct {
	kind int
	seed uint64
}

var owners = []string{"my-app-migration-controller", "my-backup-controller", "my-custom-storage-detach-controller", "clusteroperator/etcd"}

func name(i int) string  { return fmt.Sprintf("fleet/m%d", i) }
func space(i int) string { return fmt.Sprintf("space%d", i/10) }

// newPlay draws a fleet.
func newPlay(t *testing.T, s *sim.Sim, size int) *play {
	p := &play{
		Sim: s, t: t, store: new(fairlead.MemStore), size: size, two: s.OneIn(3), dead: map[string]bool{},
		planned: map[string]time.Time{}, past: map[string][]*lifecycle.World{}, seen: map[string]*lifecycle.World{}, records: map[string]*record{},
		policy: &lifecycle.Policy{WaitForVolumes: s.OneIn(2), Resync: 3 * time.Minute},
	}
	if s.OneIn(3) {
		p.policy.Order = []lifecycle.HookOrder{{Point: lifecycle.PreTerminate, Name: "Hook2", After: []string{"Hook1"}}}
	}
	if s.OneIn(3) {
		p.unfair = owners[s.IntN(len(owners))]
		p.dead[p.unfair] = true
		if s.OneIn(2) {
			p.policy.Deadlines = []lifecycle.Deadline{{Owner: p.unfair, Soft: time.Minute, Hard: 10 * time.Minute, Then: lifecycle.EscalateSkip}}
		}
	}
	p.backend = &lifecycle.MemBackend{Clock: s.Clock, Changed: p.check, InstanceDelay: time.Duration(1+s.IntN(120)) * time.Second}
	for i := range size + 1 { // one node is nobody's, so that pods have a place to go
		p.addMachine(i)
	}
	for i := 0; i <= size/10; i++ {
		p.budget(i, s.IntN(3))
	}
	p.runners = []*lifecycle.Runner{p.runner(), p.runner()}
	return p
}

func (p *play) addMachine(i int) {
	n := lifecycle.Node{}
	n.Name, n.UID, n.Spec.ProviderID = fmt.Sprintf("n%d", i), fmt.Sprintf("n%d.0", i), fmt.Sprintf("cloud:///i%d", i)
	n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True"}}
	p.backend.PutNode(n)
	for k := range p.IntN(4) {
		p.backend.PutPod(p.pod(i, k))
	}
	if i == p.size {
		return
	}
	var m lifecycle.Machine
	m.Namespace, m.Name, m.UID = "fleet", fmt.Sprintf("m%d", i), fmt.Sprintf("u%d", i)
	m.Spec.ProviderSpec, m.Spec.ProviderID = json.RawMessage(`{}`), n.Spec.ProviderID
	if i > 0 { // the first one is kept for a crash at the end
		m.Spec.LifecycleHooks = lifecycle.LifecycleHooks{PreDrain: p.hooks(), PreTerminate: p.hooks()}
	}
	r := &record{uid: m.UID, hooks: -1, nodes: map[string]bool{n.UID: true}}
	if !p.OneIn(10) {
		m.Status.NodeRef = &lifecycle.NodeRef{Kind: "Node", Name: n.Name, UID: n.UID}
	}
	p.records[name(i)] = r
	if p.OneIn(3) {
		m.APIVersion, m.Spec.InfrastructureRef = "cluster.x-k8s.io/v1beta2", &lifecycle.ObjectRef{Kind: "DockerMachine", Name: m.Name}
		if p.OneIn(2) {
			m.Spec.Bootstrap = &lifecycle.Bootstrap{ConfigRef: &lifecycle.ObjectRef{Kind: "KubeadmConfig", Name: m.Name}}
		}
	}
	if err := p.backend.PutMachine(m); err != nil {
		p.t.Fatal(err)
	}
}

func (p *play) pod(i, k int) lifecycle.Pod {
	var d lifecycle.Pod
	controller, grace := true, int64(p.IntN(40))
	d.Namespace, d.Name, d.UID = space(i), fmt.Sprintf("p%d-%d", i, k), fmt.Sprintf("p%d-%d.0", i, k)
	d.Labels = map[string]string{"app": "a"}
	d.OwnerReferences = []lifecycle.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "r" + space(i), Controller: &controller}}
	if p.OneIn(5) {
		d.OwnerReferences[0].Kind = "DaemonSet"
	}
	d.Spec.NodeName, d.Spec.TerminationGracePeriodSeconds = fmt.Sprintf("n%d", i), &grace
	d.Status.Phase = fairlead.PodRunning
	d.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: "True"}}
	return d
}

func (p *play) hooks() (list []lifecycle.Hook) {
	for k := range p.IntN(3) {
		list = append(list, lifecycle.Hook{Name: fmt.Sprint("Hook", k+1), Owner: owners[p.IntN(len(owners))]})
	}
	return list
}

// budget gives the pods of a namespace a budget, or takes it away.
func (p *play) budget(i, allowed int) {
	b := lifecycle.PodDisruptionBudget{}
	b.Namespace, b.Name = space(10*i), "budget"
	b.Spec.Selector = &lifecycle.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
	b.Spec.MaxUnavailable = &lifecycle.IntOrString{Int: allowed}
	if err := p.backend.PutBudget(b); err != nil {
		p.t.Fatal(err)
	}
}

func (p *play) runner() *lifecycle.Runner {
	r, err := lifecycle.NewRunner(p, p.policy, &fairlead.RunnerOptions{Store: p.Store(&watchedStore{p.store, p}), Clock: p.Clock})
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// watchedStore sees what is saved.
type watchedStore struct {
	fairlead.Store
	play *play
}

func (s *watchedStore) Put(ctx context.Context, key string, value []byte, prev fairlead.Revision) (fairlead.Revision, error) {
	rev, err := s.Store.Put(ctx, key, value, prev)
	if err == nil {
		s.play.saved(value)
	}
	return rev, err
}

func (p *play) fail(format string, args ...any) {
	if p.wrong == nil {
		p.wrong = fmt.Errorf(format, args...)
		p.Note("WRONG: %v", p.wrong)
	}
}

// script draws the moves.
func (p *play) script(n int) []move {
	moves := make([]move, n)
	for i := range moves {
		moves[i] = move{p.IntN(kinds), p.Uint64()}
	}
	return moves
}

// run plays the moves and then lets everything come to rest.
func (p *play) run(moves []move) error {
	for _, m := range moves {
		p.Rand = rand.New(rand.NewPCG(m.seed, 2))
		if p.move(m.kind); p.wrong != nil {
			return p.wrong
		}
	}
	p.Rand = rand.New(rand.NewPCG(p.Seed, 3))
	return p.settle()
}

// The kinds of moves. Passes are the most frequent.
const kinds = 20

func (p *play) move(kind int) {
	i := p.IntN(p.size)
	switch kind {
	case 0:
		if i > 0 {
			p.delete(name(i))
		}
	case 1, 2, 3:
		p.Pass()
	case 4, 5, 6:
		p.release(name(i))
	case 7:
		p.die()
	case 8:
		p.flap(i)
	case 9:
		p.budget(i/10, p.IntN(3))
		p.Note("a budget of %s changes", space(i))
	case 10:
		p.deliver()
	case 11:
		p.touch(i)
	case 12:
		p.reborn(i)
	case 13, 14:
		p.pass(p.IntN(2), name(i))
	default:
		p.wake(3)
	}
}

// nudge says that something has changed about a machine, unless that is lost.
func (p *play) nudge(machine string) {
	if p.Fault("event lost", 5) {
		return
	}
	p.plan(machine, p.Clock.Now())
	if p.Fault("event twice", 10) {
		p.pass(0, machine)
	}
}

// plan has a machine looked at at an instant, unless it is earlier.
func (p *play) plan(machine string, at time.Time) {
	if next, ok := p.planned[machine]; ok && !next.After(at) {
		return
	}
	p.planned[machine] = at
	p.wakes.Add(machine, at)
}

// due takes the next machine to look at by now, and returns false when there is
// none.
func (p *play) due() (machine string, ok bool) {
	for {
		machine, ok := p.wakes.Pop(p.Clock.Now())
		if !ok {
			return "", false
		}
		if at, ok := p.planned[machine]; ok && !at.After(p.Clock.Now()) {
			delete(p.planned, machine)
			return machine, true
		}
	}
}

// wake makes the passes that are due, at most so many.
func (p *play) wake(most int) {
	for range most {
		machine, ok := p.due()
		if !ok {
			return
		}
		p.pass(p.IntN(2), machine)
	}
}

func (p *play) delete(machine string) {
	if p.backend.Machine(machine) == nil {
		return
	}
	p.Note("delete %s", machine)
	if err := p.backend.Delete(machine); err != nil {
		p.fail("%v", err)
	}
	p.nudge(machine)
}

// release lets the owner of a hook do its work, if it is alive and its turn.
func (p *play) release(machine string) {
	m := p.backend.Machine(machine)
	if m == nil || !m.Deleting() {
		return
	}
	for _, point := range []lifecycle.Point{lifecycle.PreDrain, lifecycle.PreTerminate} {
		drained := lifecycle.FindCondition(m.Status.Conditions, lifecycle.ConditionDrained)
		if point == lifecycle.PreTerminate && (drained == nil || drained.Status != "True") {
			return // that is what its owner waits for
		}
		for _, h := range p.policy.InTurn(m, point) {
			if p.dead[h.Owner] {
				continue
			}
			p.Note("%s removes hook %s of %s", h.Owner, h.Name, machine)
			if err := p.backend.Release(machine, point, h.Name, h.Owner); err != nil {
				p.fail("%v", err)
			}
			p.looked(machine)
			p.nudge(machine)
			return
		}
	}
}

// die lets an owner die, or come back.
func (p *play) die() {
	o := owners[p.IntN(len(owners))]
	switch {
	case o == p.unfair:
	case p.dead[o]:
		delete(p.dead, o)
		p.Note("%s is back", o)
	case p.Fault("owner dies", 2):
		p.dead[o] = true
	}
}

// flap lets a node fall silent, or be heard again.
func (p *play) flap(i int) {
	n := p.backend.Node(fmt.Sprint("n", i))
	if n == nil || !p.Fault("node flaps", 1) {
		return
	}
	c := *n
	status := []fairlead.ConditionStatus{"True", "Unknown", "False"}[p.IntN(3)]
	c.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: status, LastTransitionTime: p.Clock.Now()}}
	p.backend.PutNode(c)
	p.nudge(name(i))
}

// reborn replaces the node of a machine by another one of its name.
func (p *play) reborn(i int) {
	n := p.backend.Node(fmt.Sprint("n", i))
	if n == nil || !p.Fault("node reborn", 4) {
		return
	}
	c := *n
	c.UID = fmt.Sprintf("n%d.%d", i, 1+p.IntN(1000))
	c.Spec.Unschedulable = c.Spec.Unschedulable && p.OneIn(2)
	if r := p.records[name(i)]; r != nil {
		r.nodes[c.UID] = true
	}
	p.backend.PutNode(c)
}

// touch changes a machine behind the back of the engine, as far as admission
// lets it.
func (p *play) touch(i int) {
	err := p.backend.Edit(name(i), func(m *lifecycle.Machine) {
		m.Annotations = map[string]string{"touched": fmt.Sprint(p.IntN(1000))}
	})
	if err == nil {
		p.Fault("touch", 1)
	}
	m := p.backend.Machine(name(i))
	if m == nil || i == 0 {
		return
	}
	err = p.backend.Edit(name(i), func(m *lifecycle.Machine) {
		m.Spec.LifecycleHooks.PreDrain = append(slices.Clip(m.Spec.LifecycleHooks.PreDrain), lifecycle.Hook{Name: "Late", Owner: owners[0]})
	})
	if m.Deleting() {
		p.Reach("late hook")
		if err == nil {
			p.fail("%s is being deleted, and a hook was added", name(i))
		}
	}
	p.nudge(name(i))
}

// deliver lets what is on its way arrive, in any order.
func (p *play) deliver() {
	for len(p.late) > 0 && p.OneIn(2) {
		i := p.IntN(len(p.late))
		a := p.late[i]
		p.late = slices.Delete(p.late, i, i+1)
		p.Note("late: %s %s", a.machine, describe(a.action))
		p.arrives = true
		if err := p.put(a.machine, a.action); err != nil {
			p.Reach("too late")
		}
		p.arrives = false
	}
}

// put lets an action reach the backend.
func (p *play) put(machine string, a lifecycle.Action) error {
	p.truth = p.backend.Machine(machine)
	err := p.backend.Apply(p.t.Context(), machine, a)
	p.looked(machine)
	return err
}

// describe names an action.
func describe(a lifecycle.Action) string {
	if e, ok := a.(lifecycle.RecordEvent); ok {
		return "event " + e.Reason
	}
	key := a.Key()
	if h, ok := a.(lifecycle.RemoveHook); ok {
		return "remove " + string(h.Point) + " hook " + h.Name
	}
	words := ""
	for i, c := range key.Kind {
		if i > 0 && c >= 'A' && c <= 'Z' {
			words += " "
		}
		words += strings.ToLower(string(c))
	}
	return strings.TrimSpace(words + " " + key.ID)
}
