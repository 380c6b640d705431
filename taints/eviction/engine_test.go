package eviction_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/taints/eviction"
)

// began is when a taint began, and what it came in place of.
type began struct {
	since, first time.Time
	before       []fairlead.Taint
}

// deadline is the plain reading of the rules: the earliest instant at which any
// taint makes the pod leave, and false if none ever does. Of several tolerations
// the first counts.
func deadline(pod *fairlead.Pod, all []fairlead.Taint, start func(t *fairlead.Taint) began) (time.Time, bool) {
	var first time.Time
	found := false
	for _, t := range all {
		if t.Effect != fairlead.NoExecute {
			continue
		}
		b := start(&t)
		at := latest(b.since, pod.CreationTimestamp)
		seconds, forGood := tolerated(pod, &t)
		if forGood {
			continue
		}
		if seconds >= 0 {
			at = at.Add(time.Duration(seconds) * time.Second)
			for _, o := range b.before {
				more, never := tolerated(pod, &o)
				forGood, seconds = forGood || never, max(seconds, more)
			}
			if end := latest(b.first, pod.CreationTimestamp).Add(time.Duration(seconds) * time.Second); len(b.before) > 0 && !forGood && end.Before(at) {
				at = end
			}
		}
		if !found || at.Before(first) {
			first, found = at, true
		}
	}
	return first, found
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// tolerated returns for how many seconds a pod tolerates a taint: -1 if it does
// not.
func tolerated(pod *fairlead.Pod, t *fairlead.Taint) (seconds int64, forGood bool) {
	for _, o := range pod.Spec.Tolerations {
		switch {
		case o.Key != t.Key, o.Operator == fairlead.TolerationEqual && o.Value != t.Value:
		case o.TolerationSeconds == nil:
			return 0, true
		default:
			return *o.TolerationSeconds, false
		}
	}
	return -1, false
}

// mustLeaveNow reports whether the pod does not tolerate one of the taints at all.
func mustLeaveNow(pod *fairlead.Pod, all []fairlead.Taint) bool {
	return slices.ContainsFunc(all, func(t fairlead.Taint) bool {
		seconds, forGood := tolerated(pod, &t)
		return t.Effect == fairlead.NoExecute && seconds < 0 && !forGood
	})
}

// decided checks each decision: a pod is evicted only if, by what was seen, it is there, has
// not finished, and is due; and whoever waits says why, and when it looks again.
func (f *fleet) decided(w *eviction.World, now time.Time, d *eviction.Decision) {
	for _, a := range d.Actions {
		if e, ok := a.(eviction.Evict); ok {
			f.checkEviction(w, now, &e, &d.State)
		}
	}
	for _, b := range d.Blocked {
		if b.Since.IsZero() || b.Unblock == "" || b.Subject == "" || b.Reason == "" || b.Message == "" {
			f.fail("a block says too little: %+v", b)
		}
		switch b.Reason {
		case eviction.ReasonBudget:
			f.seen["held by budget"]++
		case eviction.ReasonTolerating, eviction.ReasonEvicting, eviction.ReasonWrite:
			if d.Wake.IsZero() {
				f.fail("%s, and never looked at again", b)
			}
		}
	}
}

func (f *fleet) checkEviction(w *eviction.World, now time.Time, a *eviction.Evict, state *eviction.State) {
	if w.Node == nil {
		f.fail("%s is evicted, and its node was not seen", a.Pod)
		return
	}
	i := slices.IndexFunc(w.Pods, func(o fairlead.Pod) bool { return o.UID == a.Pod.UID })
	if i < 0 || a.Pod.UID == "" {
		f.fail("%s (%s) is evicted, and was not seen on %s", a.Pod, a.Pod.UID, w.Name)
		return
	}
	seen := w.Pods[i]
	pod := &seen
	for _, x := range state.Waits {
		if x.Reason == eviction.ReasonClock && pod.CreationTimestamp.After(now) {
			pod.CreationTimestamp = x.Since // the clock was set back
		}
	}
	if pod.DeletionTimestamp != nil || pod.Finished() {
		f.fail("%s is evicted, and was seen to be over", a.Pod)
	}
	causes := w.Node.Spec.Taints
	if w.Zones.Disrupted && f.policy.NodeLifecycle != nil {
		causes = slices.DeleteFunc(slices.Clone(causes), func(t fairlead.Taint) bool { return t.Key == notReady || t.Key == unreachable })
	}
	if mustLeaveNow(pod, causes) {
		return
	}
	at, due := deadline(pod, causes, func(t *fairlead.Taint) began {
		for _, s := range state.Taints {
			if s.Key == t.Key {
				b := began{since: s.Since, first: s.First}
				for _, k := range s.Before {
					b.before = append(b.before, fairlead.Taint{Key: k.Key, Value: k.Value})
				}
				return b
			}
		}
		return began{since: time.Unix(math.MaxInt32*2, 0)} // it is not known when it began
	})
	if !due {
		f.fail("%s is evicted, and nothing that was seen makes it leave (disrupted: %v)", a.Pod, w.Zones.Disrupted)
	} else if at.After(now) {
		f.fail("%s is evicted at %s, and is due at %s", a.Pod, now, at)
	}
	if !f.clean {
		return
	}
	// Where nothing fails, it leaves no earlier than the taints themselves allow, by when
	// they were put on the node.
	at, due = deadline(pod, w.Node.Spec.Taints, func(t *fairlead.Taint) began { return f.truth(w.Name, t) })
	if !due || at.After(now) {
		f.fail("%s is evicted at %s, and by its taints it is due at %s (%v)", pod.Name, now, at, due)
	}
}

// truth returns when a taint was put on a node, as far as anybody has seen.
func (f *fleet) truth(node string, t *fairlead.Taint) began {
	low, known := f.lowest[node+" "+t.Key+"="+t.Value]
	if t.TimeAdded != nil && (!known || t.TimeAdded.Before(low)) {
		low = *t.TimeAdded
	}
	b := began{since: low}
	if r := f.chains[node+" "+place(t)]; r != nil && len(r.before) > 0 {
		b.first, b.before = r.since, r.before
	}
	return b
}

// place is the same for taints that can come in each other's place.
func place(t *fairlead.Taint) string {
	if t.Key == notReady || t.Key == unreachable {
		return "ready"
	}
	return t.Key
}

// follow keeps account of taints that come in place of others: where one was seen
// all along, since when, and all that were seen.
func (f *fleet) follow(n *fairlead.Node) {
	there := map[string]bool{}
	for _, t := range n.Spec.Taints {
		if t.Effect != fairlead.NoExecute {
			continue
		}
		key := n.Name + " " + place(&t)
		there[key] = true
		r, t := f.chains[key], fairlead.Taint{Key: t.Key, Value: t.Value, TimeAdded: t.TimeAdded}
		if r == nil {
			f.chains[key] = &began{since: f.truth(n.Name, &t).since, before: []fairlead.Taint{t}}
			continue
		}
		if !slices.ContainsFunc(r.before, func(o fairlead.Taint) bool { return o.Key == t.Key && o.Value == t.Value }) {
			r.before = append(r.before, t)
		}
	}
	for key := range f.chains {
		if strings.HasPrefix(key, n.Name+" ") && !there[key] {
			delete(f.chains, key)
		}
	}
}

// looked keeps account of what was observed of taints.
func (f *fleet) looked(w *eviction.World) {
	now := f.clock.Now()
	for key, low := range f.lowest {
		f.lowest[key] = earlier(low, now)
		if of, taint, _ := strings.Cut(key, " "); of == w.Name && (w.Node == nil || !slices.ContainsFunc(w.Node.Spec.Taints, func(t fairlead.Taint) bool { return t.Key+"="+t.Value == taint && t.Effect == fairlead.NoExecute })) {
			delete(f.lowest, key)
		}
	}
	if w.Node != nil {
		f.follow(w.Node)
	}
}

// did is told of each change at the backend.
func (f *fleet) did(action eviction.Action) {
	f.seen[action.Key().Kind]++
	switch a := action.(type) {
	case eviction.Evict:
		if f.evicted[a.Pod.UID]++; f.evicted[a.Pod.UID] > 1 {
			f.fail("%s (%s) was evicted %d times", a.Pod, a.Pod.UID, f.evicted[a.Pod.UID])
		}
		if f.policy.RespectBudgets && !a.Budget {
			f.seen["evicted against budget"]++
			if end := a.At.Add(f.policy.BudgetTimeout); end.After(f.clock.Now()) && f.clean {
				f.fail("%s is evicted against its budget at %s, and not before %s", a.Pod, f.clock.Now(), end)
			}
		}
	case eviction.EditTaints:
		if len(a.Add) > 0 && len(a.Remove) > 0 && !slices.ContainsFunc(a.Add, func(t fairlead.Taint) bool { return t.Effect != fairlead.NoExecute }) {
			f.seen["swap"]++
		}
	}
}

// Check implements fairlead.Trial: no node has both taints of nodes that are not ready.
func (f *fleet) Check() error {
	for _, name := range f.nodes {
		n, _ := f.Node(name)
		had := 0
		for _, t := range n.Spec.Taints {
			if t.Effect == fairlead.NoExecute && (t.Key == notReady || t.Key == unreachable) {
				had++
			}
		}
		if had > 1 {
			f.fail("%s has taints %v", name, n.Spec.Taints)
		}
	}
	return f.wrong
}

// Heal implements fairlead.Healer: agents go on as they do, and zones are looked at.
func (f *fleet) Heal(string) {
	f.tick()
	f.zone()
}

// Settled implements fairlead.Trial: pods that must leave have left, and the taints of a
// node are those of its conditions.
func (f *fleet) Settled(name string) error {
	n, ok := f.Node(name)
	if !ok {
		return nil
	}
	if f.policy.NodeLifecycle != nil {
		if err := f.conditions(&n, f.zoneState().Disrupted); err != nil {
			return err
		}
	}
	for _, pod := range f.Pods(name) {
		_, due := deadline(&pod, n.Spec.Taints, func(*fairlead.Taint) began { return began{} })
		if due && pod.DeletionTimestamp == nil && !pod.Finished() {
			return fmt.Errorf("%s is on %s with %v", pod.Name, name, n.Spec.Taints)
		}
	}
	return nil
}

func (f *fleet) conditions(n *fairlead.Node, disrupted bool) error {
	want := map[string]fairlead.ConditionStatus{"reports": fairlead.ConditionTrue, "unready": fairlead.ConditionFalse, "silent": fairlead.ConditionUnknown}[f.agents[n.Name]]
	var ready fairlead.ConditionStatus
	for _, c := range n.Status.Conditions {
		if c.Type == "Ready" {
			ready = c.Status
		}
	}
	if ready != want {
		return fmt.Errorf("%s is %q and its Ready is %s", n.Name, f.agents[n.Name], ready)
	}
	for key, status := range map[string]fairlead.ConditionStatus{notReady: fairlead.ConditionFalse, unreachable: fairlead.ConditionUnknown} {
		for _, effect := range []fairlead.TaintEffect{fairlead.NoSchedule, fairlead.NoExecute} {
			has := slices.ContainsFunc(n.Spec.Taints, func(t fairlead.Taint) bool { return t.Key == key && t.Effect == effect })
			should := ready == status && (effect == fairlead.NoSchedule || !disrupted)
			if has && !should || should && !has && effect == fairlead.NoSchedule {
				return fmt.Errorf("%s has Ready %s, and %v (disrupted: %v)", n.Name, ready, n.Spec.Taints, disrupted)
			}
		}
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// checkFleets runs the engine on fleets of a size, and returns what was seen.
func checkFleets(t *testing.T, nodes, podsPerNode int, o fairlead.TrialOptions) map[string]int {
	seen := map[string]int{}
	var at *fleet
	open := func(r *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[*eviction.World, eviction.Action] {
		at = openFleet(r, clock, nodes, podsPerNode, seen)
		return at
	}
	engine, err := eviction.NewEngine(new(eviction.MemBackend), nil)
	if err != nil {
		t.Fatal(err)
	}
	engine.Step = func(state eviction.State, w *eviction.World, now time.Time) eviction.Decision {
		d := eviction.Step(state, w, now, &at.policy) // each fleet has its own
		at.decided(w, now, &d)
		return d
	}
	for i := range nodes {
		o.Names = append(o.Names, fmt.Sprint("n", i))
	}
	if err := fairlead.CheckEngine(t.Context(), engine, open, &o); err != nil {
		t.Fatal(err)
	}
	t.Log(seen)
	return seen
}

// TestEngine lets nodes be tainted, fall silent and come back, pods come, change and go,
// with faults of all kinds.
func TestEngine(t *testing.T) {
	seen := checkFleets(t, 3, 3, fairlead.TrialOptions{Runs: long.N(150, 10_000)})
	for _, what := range []string{"Evict", "swap", "disrupted", "held by budget", "evicted against budget", "node deleted", "other value"} {
		if seen[what] == 0 {
			t.Errorf("there was no %q", what)
		}
	}
}

// TestEngineFull is the same at the size of a large cluster.
func TestEngineFull(t *testing.T) {
	if !long.Enabled() {
		t.Skipf("1,000 nodes with 30,000 pods, three times: set %s=1", long.Variable)
	}
	checkFleets(t, 1000, 30, fairlead.TrialOptions{Runs: 3, Moves: 5_000})
}

// Where nothing fails, pods leave no earlier than their taints allow.
func TestEvictedInTime(t *testing.T) {
	evicted := 0
	for seed := range uint64(long.N(100, 10_000)) {
		clock := new(fairlead.ManualClock)
		clock.Set(start)
		f := openFleet(rand.New(rand.NewPCG(seed, 1)), clock, 3, 3, map[string]int{})
		f.clean = true
		engine, err := eviction.NewEngine(f, &f.policy)
		if err != nil {
			t.Fatal(err)
		}
		step := engine.Step
		engine.Step = func(state eviction.State, w *eviction.World, now time.Time) eviction.Decision {
			d := step(state, w, now)
			f.decided(w, now, &d)
			return d
		}
		r, err := fairlead.NewRunner(engine, &fairlead.RunnerOptions{Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		for range 70 {
			if f.IntN(2) == 0 {
				f.Change()
			}
			clock.Advance(time.Duration(f.IntN(20_000)) * time.Millisecond)
			f.tick()
			f.zone()
			_, _ = r.Reconcile(t.Context(), f.nodes[f.IntN(len(f.nodes))]) // a budget may refuse
			if err := f.Check(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		evicted += f.seen["Evict"]
	}
	if evicted == 0 {
		t.Error("nothing was evicted")
	}
}
