package lifecycle_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// yard is a fleet of machines in memory, and those who work on it.
type yard struct {
	*rand.Rand
	*lifecycle.MemBackend
	clock   *fairlead.ManualClock
	policy  *lifecycle.Policy
	size    int
	dead    map[string]bool // owners of hooks that do nothing
	unfair  string          // the owner that never does anything, empty if there is none
	records map[string]*record
	truth   *lifecycle.Machine // the machine that an action is applied to, just before
	seen    map[string]int     // what was done, by kind, and what came of it
	wrong   error
}

// record is what is known of a machine.
type record struct {
	hooks      int // how many were left when it was last looked at; -1 before its deletion
	finalized  int
	nodes      map[string]bool // the UIDs that its node had
	terminated bool            // the deletion of its instance was asked for
	stage      lifecycle.Stage // of the last state that was read
	blocked    []fairlead.Block
}

// steady is the time of the world, which goes on when the clock of a process is set back.
type steady struct {
	clock    *fairlead.ManualClock
	seen, at time.Time
}

// Now implements fairlead.Clock.
func (s *steady) Now() time.Time {
	now := s.clock.Now()
	s.at = s.at.Add(max(0, now.Sub(s.seen)))
	s.seen = now
	return s.at
}

var owners = []string{"my-app-migration-controller", "my-backup-controller", "my-custom-storage-detach-controller", "clusteroperator/etcd"}

func name(i int) string  { return fmt.Sprintf("fleet/m%d", i) }
func space(i int) string { return fmt.Sprintf("space%d", i/10) }

// names are those of so many machines.
func names(n int) (all []string) {
	for i := range n {
		all = append(all, name(i))
	}
	return all
}

// openYard draws a fleet, of which some kinds of machines are of the Cluster API.
func openYard(r *rand.Rand, clock *fairlead.ManualClock, size int, seen map[string]int) *yard {
	y := &yard{
		Rand: r, clock: clock, size: size, dead: map[string]bool{}, records: map[string]*record{}, seen: seen,
		policy: &lifecycle.Policy{WaitForVolumes: r.IntN(2) == 0, Resync: 3 * time.Minute},
	}
	if r.IntN(3) == 0 {
		y.policy.Order = []lifecycle.HookOrder{{Point: lifecycle.PreTerminate, Name: "Hook2", After: []string{"Hook1"}}}
	}
	if r.IntN(3) == 0 {
		y.unfair = owners[r.IntN(len(owners))]
		y.dead[y.unfair] = true
		if r.IntN(2) == 0 {
			y.policy.Deadlines = []lifecycle.Deadline{{Owner: y.unfair, Soft: time.Minute, Hard: 10 * time.Minute, Then: lifecycle.EscalateSkip}}
		}
	}
	y.MemBackend = &lifecycle.MemBackend{Clock: &steady{clock, clock.Now(), clock.Now()}, InstanceDelay: time.Duration(1+r.IntN(120)) * time.Second, Changed: y.check}
	for i := range size + 1 { // one node is nobody's, so that pods have a place to go
		y.addMachine(i)
	}
	for i := 0; i <= size/10; i++ {
		y.budget(i, r.IntN(3))
	}
	return y
}

func (y *yard) fail(format string, args ...any) {
	if y.wrong == nil {
		y.wrong = fmt.Errorf(format, args...)
	}
}

func (y *yard) must(err error) {
	if err != nil {
		y.fail("%w", err)
	}
}

func (y *yard) addMachine(i int) {
	n := lifecycle.Node{}
	n.Name, n.UID, n.Spec.ProviderID = fmt.Sprintf("n%d", i), fmt.Sprintf("n%d.0", i), fmt.Sprintf("cloud:///i%d", i)
	n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True"}}
	y.PutNode(n)
	for k := range y.IntN(4) {
		y.PutPod(y.pod(i, k))
	}
	if i == y.size {
		return
	}
	var m lifecycle.Machine
	m.Namespace, m.Name, m.UID = "fleet", fmt.Sprintf("m%d", i), fmt.Sprintf("u%d", i)
	m.Spec.ProviderSpec, m.Spec.ProviderID = json.RawMessage(`{}`), n.Spec.ProviderID
	if i > 0 { // nothing keeps the first one
		m.Spec.LifecycleHooks = lifecycle.LifecycleHooks{PreDrain: y.hooks(), PreTerminate: y.hooks()}
	}
	if y.IntN(10) != 0 {
		m.Status.NodeRef = &lifecycle.NodeRef{Kind: "Node", Name: n.Name, UID: n.UID}
	}
	y.records[name(i)] = &record{hooks: -1, nodes: map[string]bool{n.UID: true}}
	if y.IntN(3) == 0 {
		m.APIVersion, m.Spec.InfrastructureRef = "cluster.x-k8s.io/v1beta2", &lifecycle.ObjectRef{Kind: "DockerMachine", Name: m.Name}
		if y.IntN(2) == 0 {
			m.Spec.Bootstrap = &lifecycle.Bootstrap{ConfigRef: &lifecycle.ObjectRef{Kind: "KubeadmConfig", Name: m.Name}}
		}
	}
	y.must(y.PutMachine(m))
}

func (y *yard) pod(i, k int) lifecycle.Pod {
	var d lifecycle.Pod
	controller, grace := true, int64(y.IntN(40))
	d.Namespace, d.Name, d.UID = space(i), fmt.Sprintf("p%d-%d", i, k), fmt.Sprintf("p%d-%d.0", i, k)
	d.Labels = map[string]string{"app": "a"}
	d.OwnerReferences = []lifecycle.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "r" + space(i), Controller: &controller}}
	if y.IntN(5) == 0 {
		d.OwnerReferences[0].Kind = "DaemonSet"
	}
	d.Spec.NodeName, d.Spec.TerminationGracePeriodSeconds = fmt.Sprintf("n%d", i), &grace
	d.Status.Phase = fairlead.PodRunning
	d.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: "True"}}
	return d
}

func (y *yard) hooks() (list []lifecycle.Hook) {
	for k := range y.IntN(3) {
		list = append(list, lifecycle.Hook{Name: fmt.Sprint("Hook", k+1), Owner: owners[y.IntN(len(owners))]})
	}
	return list
}

// budget gives the pods of a namespace a budget.
func (y *yard) budget(i, allowed int) {
	b := lifecycle.PodDisruptionBudget{}
	b.Namespace, b.Name = space(10*i), "budget"
	b.Spec.Selector = &lifecycle.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
	b.Spec.MaxUnavailable = &lifecycle.IntOrString{Int: allowed}
	y.must(y.PutBudget(b))
}

// Change implements fairlead.Trial.
func (y *yard) Change() {
	i := y.IntN(y.size)
	switch y.IntN(10) {
	case 0, 1:
		if y.Machine(name(i)) != nil {
			y.must(y.Delete(name(i)))
		}
	case 2, 3, 4:
		y.release(name(i))
	case 5:
		if o := owners[y.IntN(len(owners))]; o != y.unfair {
			y.dead[o] = !y.dead[o]
		}
	case 6:
		y.ready(i, []fairlead.ConditionStatus{"True", "Unknown", "False"}[y.IntN(3)])
	case 7:
		y.budget(i/10, y.IntN(3))
	case 8:
		y.touch(i)
	case 9:
		y.reborn(i)
	}
}

// release lets the owner of a hook do its work, if it is alive and its turn.
func (y *yard) release(machine string) {
	m := y.Machine(machine)
	if m == nil || !m.Deleting() {
		return
	}
	for _, point := range []lifecycle.Point{lifecycle.PreDrain, lifecycle.PreTerminate} {
		drained := lifecycle.FindCondition(m.Status.Conditions, lifecycle.ConditionDrained)
		if point == lifecycle.PreTerminate && (drained == nil || drained.Status != "True") {
			return // that is what its owner waits for
		}
		for _, h := range y.policy.InTurn(m, point) {
			if !y.dead[h.Owner] {
				y.must(y.Release(machine, point, h.Name, h.Owner))
				y.looked(machine)
				return
			}
		}
	}
}

// ready lets a node fall silent, or be heard again.
func (y *yard) ready(i int, is fairlead.ConditionStatus) {
	if n := y.Node(fmt.Sprint("n", i)); n != nil {
		c := *n
		c.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: is, LastTransitionTime: y.clock.Now()}}
		y.PutNode(c)
	}
}

// touch changes a machine behind the back of the engine, as far as admission
// lets it.
func (y *yard) touch(i int) {
	m := y.Machine(name(i))
	if m == nil {
		return
	}
	y.must(y.Edit(name(i), func(m *lifecycle.Machine) { m.Annotations = map[string]string{"touched": fmt.Sprint(y.IntN(1000))} }))
	if i == 0 {
		return
	}
	err := y.Edit(name(i), func(m *lifecycle.Machine) {
		m.Spec.LifecycleHooks.PreDrain = append(slices.Clip(m.Spec.LifecycleHooks.PreDrain), lifecycle.Hook{Name: "Late", Owner: owners[0]})
	})
	if m.Deleting() {
		y.seen["late hook"]++
		if err == nil {
			y.fail("%s is being deleted, and a hook was added", name(i))
		}
	}
}

// reborn replaces the node of a machine by another one of its name.
func (y *yard) reborn(i int) {
	n := y.Node(fmt.Sprint("n", i))
	if n == nil || y.IntN(2) == 0 {
		return
	}
	c := *n
	c.UID = fmt.Sprintf("n%d.%d", i, 1+y.IntN(1000))
	c.Spec.Unschedulable = c.Spec.Unschedulable && y.IntN(2) == 0
	y.records[name(i)].nodes[c.UID] = true
	y.PutNode(c)
	y.seen["node reborn"]++
}

// Heal implements fairlead.Healer. Owners do their part in the end, except for one that
// never does, and nothing else holds a machine.
func (y *yard) Heal(machine string) {
	for o := range y.dead {
		y.dead[o] = o == y.unfair
	}
	if m := y.Machine(machine); m != nil && m.Deleting() {
		var i int
		_, _ = fmt.Sscanf(machine, "fleet/m%d", &i)
		y.ready(i, "True")
		y.budget(i/10, 1)
		y.release(machine)
	}
}

// Settled implements fairlead.Trial. Whoever waits for an owner that does nothing names it.
func (y *yard) Settled(machine string) error {
	m := y.Machine(machine)
	switch {
	case m == nil:
		y.seen["finished"]++
		return nil
	case !m.Deleting():
		return nil
	case y.kept(m) && slices.ContainsFunc(y.records[machine].blocked, func(b fairlead.Block) bool { return b.Owner == y.unfair }):
		y.seen["unfair is named"]++
		return nil
	}
	return fmt.Errorf("machine %s is not deleted", machine)
}

// kept reports whether the owner that does nothing keeps a machine.
func (y *yard) kept(m *lifecycle.Machine) bool {
	return y.unfair != "" && len(y.policy.Deadlines) == 0 &&
		slices.ContainsFunc(append(y.policy.InTurn(m, lifecycle.PreDrain), y.policy.InTurn(m, lifecycle.PreTerminate)...), func(h lifecycle.Hook) bool { return h.Owner == y.unfair })
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
