package eviction_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/taints/eviction"
)

// weather is two zones of nodes that fall silent and are heard again. Nodes are fenced off
// by the engine of zones alone: what each of them does itself is done by Change.
type weather struct {
	*rand.Rand
	clock *fairlead.ManualClock
	nodes []fairlead.Node
	ever  map[string]map[string]bool // the taints that each was ever to have, by UID
	seen  map[string]int             // what was done
	last  time.Time
	ahead time.Duration        // how far the clock went ahead in all
	held  map[string]time.Time // tokens that nodes have: zone, node and UID, and when they were spent
	spent map[string]int       // tokens, by zone
	wrong error
}

func openWeather(r *rand.Rand, clock *fairlead.ManualClock, seen map[string]int) *weather {
	w := &weather{Rand: r, clock: clock, ever: map[string]map[string]bool{}, seen: seen, last: clock.Now(), spent: map[string]int{}}
	for _, name := range []string{"a1", "a2", "b1", "b2", "b3"} {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name, UID: "uid-" + name, Labels: map[string]string{eviction.LabelZone: name[:1]}}}
		w.nodes = append(w.nodes, n)
		w.report(len(w.nodes)-1, fairlead.ConditionTrue)
	}
	return w
}

// report sets whether a node is ready, as of now.
func (w *weather) report(i int, status fairlead.ConditionStatus) {
	n := &w.nodes[i]
	n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: status, LastTransitionTime: w.clock.Now()}}
	if w.ever[n.UID] == nil {
		w.ever[n.UID] = map[string]bool{}
	}
	w.ever[n.UID][wanted(n)] = true
}

// ready counts the nodes that are.
func (w *weather) ready() (count int) {
	for i := range w.nodes {
		if wanted(&w.nodes[i]) == "" {
			count++
		}
	}
	return count
}

// own is what the steps of the nodes themselves do: a taint goes that is not wanted any
// more, and the other one takes its place.
func (w *weather) own() {
	for i := range w.nodes {
		n := &w.nodes[i]
		switch want := wanted(n); {
		case len(n.Spec.Taints) == 0:
		case want == "":
			n.Spec.Taints = nil
		default:
			n.Spec.Taints = []fairlead.Taint{{Key: want, Effect: fairlead.NoExecute}}
		}
	}
}

// Change implements fairlead.Trial.
func (w *weather) Change() {
	i := w.IntN(len(w.nodes))
	switch w.IntN(6) {
	case 0, 1:
		w.report(i, fairlead.ConditionUnknown)
	case 2:
		w.report(i, fairlead.ConditionFalse)
	case 3, 4:
		w.report(i, fairlead.ConditionTrue)
	case 5: // it registers again
		w.nodes[i].UID += "x"
		w.nodes[i].Spec.Taints = nil
		w.report(i, fairlead.ConditionTrue)
	}
	w.own()
}

// Observe implements fairlead.Backend.
func (w *weather) Observe(context.Context, string) (*eviction.ZoneWorld, error) {
	o := &eviction.ZoneWorld{}
	for _, n := range w.nodes {
		n.Spec.Taints, n.Status.Conditions = slices.Clone(n.Spec.Taints), slices.Clone(n.Status.Conditions)
		o.Nodes = append(o.Nodes, n)
	}
	return o, nil
}

// Apply implements fairlead.Backend.
func (w *weather) Apply(_ context.Context, _ string, action eviction.Action) error {
	a, ok := action.(eviction.EditTaints)
	if !ok {
		return fmt.Errorf("action %T", action)
	}
	i := slices.IndexFunc(w.nodes, func(n fairlead.Node) bool { return n.Name == a.Node && n.UID == a.UID })
	if i < 0 {
		return nil
	}
	n := &w.nodes[i]
	for _, t := range slices.Concat(a.Remove, a.Add) {
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(is fairlead.Taint) bool { return is.Key == t.Key && is.Effect == t.Effect })
	}
	for _, t := range a.Add {
		if !w.ever[n.UID][t.Key] {
			w.wrong = fmt.Errorf("node %s gets the taint %s, and never was so", n.Name, t.Key)
		}
		n.Spec.Taints = append(n.Spec.Taints, t)
		w.seen["taint"]++
	}
	if len(a.Add) == 0 {
		w.seen["free"]++
	}
	return nil
}

// Check implements fairlead.Trial: no node gets a taint for what it never was, and none
// has two.
func (w *weather) Check() error {
	for i := range w.nodes {
		if n := &w.nodes[i]; len(n.Spec.Taints) > 1 {
			return fmt.Errorf("node %s has %v", n.Name, n.Spec.Taints)
		}
	}
	return w.wrong
}

// Heal implements fairlead.Healer.
func (w *weather) Heal(string) { w.own() }

// Settled implements fairlead.Trial: whoever is not ready has its taint, and nobody else;
// when no node is ready, nobody has one.
func (w *weather) Settled(string) error {
	for i := range w.nodes {
		n := &w.nodes[i]
		want := wanted(n)
		if w.ready() == 0 {
			want = ""
		}
		if has := len(n.Spec.Taints) > 0; has != (want != "") {
			return fmt.Errorf("node %s is to have the taint %q, and has %v", n.Name, want, n.Spec.Taints)
		}
	}
	return nil
}

// count checks that of the tokens of a zone no more are spent than its rate allows, by the
// states that were saved.
func (w *weather) count(state *eviction.ZoneState) {
	now := w.clock.Now()
	w.ahead, w.last = w.ahead+max(0, now.Sub(w.last)), now
	held := map[string]time.Time{}
	for _, g := range state.Granted {
		// A clock that was set back moves the time of a token back, and makes no other.
		key := g.Zone + " " + g.Node + " " + g.UID
		if since, held := w.held[key]; !held || g.Since.After(since) {
			w.spent[g.Zone]++
			w.seen["token"]++
		}
		held[key] = g.Since
	}
	w.held = held
	for zone, n := range w.spent {
		if most := 1 + int(0.1*w.ahead.Seconds()+0.001); n > most {
			w.wrong = fmt.Errorf("zone %s has spent %d tokens in %s", zone, n, w.ahead)
		}
	}
}

// TestZoneEngine lets nodes of two zones fall silent with faults of all kinds.
func TestZoneEngine(t *testing.T) {
	seen := map[string]int{}
	var at *weather
	open := func(r *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[*eviction.ZoneWorld, eviction.Action] {
		at = openWeather(r, clock, seen)
		return at
	}
	engine, err := eviction.NewZoneEngine(&eviction.Policy{MaxBackoff: 30 * time.Second, NodeLifecycle: &eviction.NodeLifecycle{}})
	if err != nil {
		t.Fatal(err)
	}
	step := engine.Step
	engine.Step = func(state eviction.ZoneState, w *eviction.ZoneWorld, now time.Time) eviction.ZoneDecision {
		at.count(&state)
		return step(state, w, now)
	}
	if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: long.N(60, 10_000), Names: []string{eviction.AllZones}}); err != nil {
		t.Fatal(err)
	}
	if t.Log(seen); seen["taint"] == 0 || seen["free"] == 0 || seen["token"] == 0 {
		t.Errorf("%v: was anything done?", seen)
	}
}
