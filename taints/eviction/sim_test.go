package eviction_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/taints/eviction"
)

// TestEvictSimulation lets nodes be tainted, fall silent and come back, pods
// come, change and go, while whatever can go wrong does, and checks at the
// backend, at each change, what always holds. At last nothing goes wrong any
// more, and everything must come to rest where it should. What it has come by
// is logged (go test -v).
func TestEvictSimulation(t *testing.T) {
	counts := sim.Run(t, long.N(200, 10_000), func(s *sim.Sim) error { return newFleetPlay(t, s, 3+s.IntN(3), 3, 70).run() })
	report(t, counts)
	if os.Getenv(sim.SeedVariable) != "" {
		return // one seed does not come by everything
	}
	sim.Reached(t, counts,
		"crash", "delay", "again", "stale", "observe fails", "unconfirmed", "apply fails", "other runner", "restart", "get fails", "put fails",
		"put is not confirmed", "clock jumps ahead", "clock jumps back", "eviction", "late eviction", "replaced", "flap", "token", "swap",
		"disrupted", "held by budget", "evicted against budget", "two runners", "node deleted", "other value",
	)
}

// TestEvictSimulationFull is the same at the size of a large cluster.
func TestEvictSimulationFull(t *testing.T) {
	if !long.Enabled() {
		t.Skipf("5,000 nodes with 150,000 pods, five times: set %s=1", long.Variable)
	}
	report(t, sim.Run(t, 5, func(s *sim.Sim) error { return newFleetPlay(t, s, 5000, 30, 20_000).run() }))
}

func report(t *testing.T, counts map[string]int) {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%s %d", name, counts[name]))
	}
	t.Log(strings.Join(all, ", "))
}

// fleetPlay is one simulation.
type fleetPlay struct {
	*sim.Sim
	t        *testing.T
	events   int
	policy   eviction.Policy
	clean    bool // neither stale views nor two runners nor failing stores: then more can be said
	two      bool
	store    *fairlead.MemStore
	backend  *eviction.MemBackend
	runners  []*eviction.Runner
	nodes    []string
	agents   map[string]string // reports, unready or silent
	pods     int               // how many there ever were
	names    []string          // of pods that may be there
	crashed  bool              // the runner at work is gone
	nested   bool              // another runner is at work inside of a call
	past     map[string][]*eviction.World
	seen     map[string]*view // what the pass under way has seen, by node
	late     []lateAction
	lateNow  bool                 // the change comes of a late action
	evicted  map[string]int       // by UID
	held     map[string]time.Time // tokens that nodes have: zone, node and UID, and when they were spent
	spent    map[string]int       // tokens, by zone
	forward  time.Duration        // how far the clock went ahead in all
	highest  time.Time            // that the clock has shown
	lowest   map[string]time.Time // by node and taint: the earliest that the clock has shown since it was put there, as far as anybody has seen
	chains   map[string]*began    // by node and place, see follow
	script   []string             // what has happened, as commands of TestEvictScripts
	restarts int
	dirty    []string // nodes whose taints have changed since they were looked at
	wrong    error
}

// view is what a pass has seen.
type view struct {
	world     *eviction.World
	disrupted bool
	state     *eviction.State // what was saved before the first action
}

type lateAction struct {
	node   string
	action eviction.Action
}

func newFleetPlay(t *testing.T, s *sim.Sim, nodes, podsPerNode, events int) *fleetPlay {
	p := &fleetPlay{
		Sim: s, t: t, events: events, clean: s.OneIn(4), store: new(fairlead.MemStore), agents: map[string]string{},
		past: map[string][]*eviction.World{}, seen: map[string]*view{}, evicted: map[string]int{}, spent: map[string]int{},
		lowest: map[string]time.Time{}, chains: map[string]*began{}, highest: s.Clock.Now(),
	}
	p.two = !p.clean && s.OneIn(3)
	if p.two {
		p.Reach("two runners")
	}
	p.backend = &eviction.MemBackend{Clock: s.Clock, Changed: p.check}
	p.policy = eviction.Policy{MaxBackoff: 30 * time.Second}
	line := "policy"
	if s.OneIn(3) {
		p.policy.RespectBudgets, p.policy.BudgetTimeout = true, 2*time.Minute
		line += " budgets=2m"
	}
	if s.OneIn(2) {
		p.policy.NodeLifecycle = new(eviction.NodeLifecycle)
		line += " lifecycle"
	}
	p.command("%s", line)
	for i := range nodes {
		p.node(fmt.Sprintf("n%d", i), i)
	}
	for range nodes * podsPerNode {
		p.newPod("")
	}
	for _, app := range []string{"a", "b"} {
		if nodes < 100 {
			p.budget(app)
		}
	}
	p.runners = []*eviction.Runner{p.runner(), p.runner()}
	return p
}

// command notes what happens, in the language of the scripts.
func (p *fleetPlay) command(format string, args ...any) {
	p.script = append(p.script, fmt.Sprintf(format, args...))
	p.Note(format, args...)
}

func (p *fleetPlay) runner() *eviction.Runner {
	store := fairlead.Store(p.store)
	if !p.clean {
		store = p.Store(p.store)
	}
	r, err := eviction.NewRunner(p, &p.policy, &fairlead.RunnerOptions{Store: store, Clock: p.Clock})
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

func (p *fleetPlay) node(name string, i int) {
	n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name, UID: fmt.Sprintf("uid-%s-%d", name, p.pods), CreationTimestamp: p.Clock.Now()}}
	n.Labels = map[string]string{eviction.LabelZone: string(rune('a' + i%3))}
	if !slices.Contains(p.nodes, name) {
		p.nodes = append(p.nodes, name)
	}
	p.backend.PutNode(n)
	p.backend.Report(name, true)
	p.agents[name] = "reports"
	p.command("node %s zone=%s uid=%s", name, n.Labels[eviction.LabelZone], n.UID)
}

// seconds are the times of tolerations; less than zero stands for none.
var seconds = []int64{-1, 0, 1, 5, 30, 60, 300}

// tolerations draws what a pod tolerates.
func (p *fleetPlay) tolerations() (all []fairlead.Toleration, text string) {
	var words []string
	for _, key := range []string{"x", "y", "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "x"} {
		if p.OneIn(2) {
			continue
		}
		t := fairlead.Toleration{Key: key, Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute}
		word := key
		if len(key) == 1 && p.OneIn(3) {
			t.Operator, word = fairlead.TolerationEqual, key+"="
			if p.OneIn(2) {
				t.Value, word = "v", key+"=v"
			}
		}
		if n := seconds[p.IntN(len(seconds))]; n >= 0 {
			t.TolerationSeconds = &n
			word += fmt.Sprintf(":%d", n)
		}
		all = append(all, t)
		words = append(words, word)
	}
	return all, strings.Join(words, ",")
}

// newPod makes a pod, of a name that may be taken.
func (p *fleetPlay) newPod(name string) {
	p.pods++
	if name == "" {
		name = fmt.Sprintf("p%d", p.pods)
		p.names = append(p.names, name)
	}
	pod := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "ns", Name: name, UID: fmt.Sprintf("u%d", p.pods), CreationTimestamp: p.Clock.Now()}}
	pod.Spec.NodeName = p.nodes[p.IntN(len(p.nodes))]
	grace := int64(p.IntN(40))
	pod.Spec.TerminationGracePeriodSeconds = &grace
	pod.Labels = map[string]string{"app": string(rune('a' + p.IntN(3)))}
	pod.Status.Phase = fairlead.PodRunning
	pod.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionTrue}}
	var text string
	pod.Spec.Tolerations, text = p.tolerations()
	p.backend.PutPod(pod)
	p.command("pod %s node=%s uid=%s app=%s grace=%d ready tolerate=(%s)", name, pod.Spec.NodeName, pod.UID, pod.Labels["app"], grace, text)
}

func (p *fleetPlay) budget(app string) {
	b := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "ns", Name: app}}
	b.Spec.Selector = &fairlead.LabelSelector{MatchLabels: map[string]string{"app": app}}
	b.Spec.MinAvailable = &fairlead.IntOrString{Int: 2}
	p.backend.PutBudget(b)
	p.command("budget %s app=%s min=2", app, app)
}

func (p *fleetPlay) fail(format string, args ...any) {
	if p.wrong == nil {
		p.wrong = fmt.Errorf(format, args...)
		p.Note("WRONG: %v", p.wrong)
		const shown = 200
		p.wrong = fmt.Errorf("%w\nas a script for testdata/evict (its last %d commands):\ndo\n%s\n----", p.wrong, shown, strings.Join(p.script[max(0, len(p.script)-shown):], "\n"))
	}
}

func (p *fleetPlay) run() error {
	restartAt := p.IntN(p.events)
	for i := range p.events {
		if i == restartAt {
			p.restart(0)
		}
		p.event()
		if p.wrong != nil {
			return p.wrong
		}
	}
	return p.settle()
}

func (p *fleetPlay) restart(i int) {
	p.restarts++
	p.Reach("restart")
	p.command("restart")
	p.runners[i] = p.runner()
}

// event lets one thing happen.
func (p *fleetPlay) event() {
	name := p.nodes[p.IntN(len(p.nodes))]
	switch p.IntN(20) {
	case 0, 1:
		p.taint(name)
	case 2:
		p.untaint(name)
	case 3:
		p.newPod("")
	case 4:
		p.changePod()
	case 5:
		p.flap(name)
	case 6, 7, 8:
		p.passTime()
	case 9:
		p.deliver()
	case 10:
		p.runnerPass("", p.IntN(2))
	case 11:
		if p.OneIn(6) {
			p.restart(p.IntN(2))
		} else if p.OneIn(4) {
			p.deleteNode(name)
		}
	default:
		p.runnerPass(name, p.IntN(2))
	}
}

// passTime lets time pass, and agents report.
func (p *fleetPlay) passTime() {
	before := p.Clock.Now()
	if p.clean {
		p.Clock.Set(before.Add(time.Duration(p.IntN(20_000)) * time.Millisecond))
	} else {
		p.Pass()
	}
	p.moved(before)
}

// moved keeps account of a change of the clock.
func (p *fleetPlay) moved(before time.Time) {
	now := p.Clock.Now()
	if d := now.Sub(before); d > 0 {
		p.forward += d
	}
	if now.After(p.highest) {
		p.highest = now
	}
	for key, low := range p.lowest {
		if now.Before(low) {
			p.lowest[key] = now
		}
	}
	p.command("jump %s", now.Sub(before))
	for _, n := range p.nodes {
		if a := p.agents[n]; a == "reports" || a == "unready" {
			was := p.readiness(n)
			p.backend.Report(n, a == "reports")
			if p.readiness(n) != was {
				p.dirty = append(p.dirty, n)
			}
		}
	}
}

// readiness returns the status of the condition Ready of a node.
func (p *fleetPlay) readiness(name string) fairlead.ConditionStatus {
	n, _ := p.backend.Node(name)
	for _, c := range n.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status
		}
	}
	return ""
}

func (p *fleetPlay) taint(name string) {
	n, ok := p.backend.Node(name)
	if !ok {
		return
	}
	t := fairlead.Taint{Key: []string{"x", "y"}[p.IntN(2)], Effect: []fairlead.TaintEffect{fairlead.NoExecute, fairlead.NoExecute, fairlead.NoSchedule}[p.IntN(3)]}
	if p.OneIn(3) {
		t.Value = "v"
	}
	text := ""
	if i := slices.IndexFunc(n.Spec.Taints, t.Same); i >= 0 {
		if n.Spec.Taints[i].Value == t.Value {
			return
		}
		p.Reach("other value")
		p.command("untaint %s %s:%s", name, t.Key, t.Effect)
		n.Spec.Taints = slices.Delete(n.Spec.Taints, i, i+1)
	}
	if p.OneIn(2) {
		ago := time.Duration(p.IntN(60)-10) * time.Second
		at := p.Clock.Now().Add(-ago)
		t.TimeAdded = &at
		text = fmt.Sprintf(" added=%s", -ago)
	}
	n.Spec.Taints = append(n.Spec.Taints, t)
	p.backend.PutNode(n)
	if key := name + " " + t.Key + "=" + t.Value; t.Effect == fairlead.NoExecute && p.lowest[key].IsZero() {
		p.lowest[key] = p.Clock.Now()
		if t.TimeAdded != nil {
			p.lowest[key] = earlier(p.lowest[key], *t.TimeAdded)
		}
	}
	p.command("taint %s %s=%s:%s%s", name, t.Key, t.Value, t.Effect, text)
}

func (p *fleetPlay) untaint(name string) {
	n, ok := p.backend.Node(name)
	if !ok || len(n.Spec.Taints) == 0 {
		return
	}
	t := n.Spec.Taints[p.IntN(len(n.Spec.Taints))]
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(o fairlead.Taint) bool { return o.Key == t.Key && o.Effect == t.Effect })
	p.backend.PutNode(n)
	p.command("untaint %s %s:%s", name, t.Key, t.Effect)
}

func (p *fleetPlay) changePod() {
	name := p.names[p.IntN(len(p.names))]
	pod, ok := p.backend.Pod("ns", name)
	switch {
	case !ok:
		p.newPod(name)
	case p.OneIn(4):
		p.Reach("replaced")
		p.newPod(name)
	case p.OneIn(4):
		pod.Status.Phase = []fairlead.PodPhase{fairlead.PodSucceeded, fairlead.PodFailed}[p.IntN(2)]
		p.backend.PutPod(pod)
		p.command("pod %s phase=%s", name, pod.Status.Phase)
	case p.OneIn(4):
		p.backend.DeletePod("ns", name)
		p.command("delete %s", name)
	default:
		var text string
		pod.Spec.Tolerations, text = p.tolerations()
		p.backend.PutPod(pod)
		p.command("pod %s tolerate=(%s)", name, text)
	}
}

func (p *fleetPlay) flap(name string) {
	if p.policy.NodeLifecycle == nil {
		return
	}
	p.Reach("flap")
	to := []string{"reports", "unready", "silent"}[p.IntN(3)]
	which := []string{name}
	if p.OneIn(6) {
		which = p.nodes // the whole fleet
	}
	for _, n := range which {
		p.agents[n] = to
		if to != "silent" {
			p.backend.Report(n, to == "reports")
		}
	}
	p.command("%s %s", to, strings.Join(which, " "))
}

func (p *fleetPlay) deleteNode(name string) {
	if _, ok := p.backend.Node(name); ok {
		p.Reach("node deleted")
		p.backend.DeleteNode(name)
		p.command("gone %s", name)
		return
	}
	p.pods++
	p.node(name, slices.Index(p.nodes, name))
}

// deliver lets what is on its way arrive.
func (p *fleetPlay) deliver() {
	for len(p.late) > 0 && p.OneIn(2) {
		i := p.IntN(len(p.late))
		l := p.late[i]
		p.late = slices.Delete(p.late, i, i+1)
		p.Note("late: %s", l.action.String())
		p.lateNow = true
		_ = p.backend.Apply(context.Background(), l.node, l.action)
		p.lateNow = false
	}
}

// runnerPass lets one runner look once at a node, or at all zones if name is
// empty.
func (p *fleetPlay) runnerPass(name string, i int) {
	if !p.two {
		i = 0
	}
	p.Note("run: %q", name)
	if name == "" {
		d, err := p.runners[i].ReconcileZones(p.t.Context())
		p.Note("  runner %d, zones: %d actions, wake %s, %v", i, len(d.Actions), d.Wake.Format(time.TimeOnly), err)
		if err == nil && d.State.Disrupted {
			p.Reach("disrupted")
		}
	} else {
		d, err := p.runners[i].Reconcile(p.t.Context(), name)
		sim.Waited(p.Sim, d.Blocked)
		p.Note("  runner %d, %s: %d actions, %d blocks, wake %s, %v", i, name, len(d.Actions), len(d.Blocked), d.Wake.Format(time.TimeOnly), err)
		if err == nil && p.seen[name] != nil {
			p.silent(name, &d)
		}
	}
	p.exclusive()
	if p.crashed {
		p.crashed = false
		p.runners[i] = p.runner()
	}
}
