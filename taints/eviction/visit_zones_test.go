package eviction_test

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
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/eviction"
)

// tinyZones is two zones of two nodes each.
type tinyZones struct {
	Nodes    []fairlead.Node
	Outcomes []fairlead.Outcome // as a runner knows them
	Falls    int                // how often a node may fall silent
	Heals    int                // how often one may be ready again
	Turns    int                // how often one may go from unreachable to not ready
	Again    int                // how often one may register again, under a new UID
	clock    *fairlead.ManualClock
}

func newTinyZones(falls, heals, turns, again int) *tinyZones {
	w := &tinyZones{Falls: falls, Heals: heals, Turns: turns, Again: again}
	for _, name := range []string{"a1", "a2", "b1", "b2"} {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name, UID: "uid-" + name, Labels: map[string]string{eviction.LabelZone: name[:1]}}}
		n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionTrue, LastTransitionTime: begin}}
		w.Nodes = append(w.Nodes, n)
	}
	return w
}

func (w *tinyZones) clone() *tinyZones {
	n := *w
	n.Nodes = slices.Clone(w.Nodes)
	return &n
}

// Clone implements fairlead.SmallTrial.
func (w *tinyZones) Clone() fairlead.SmallTrial[*tinyZones, eviction.Action] { return w.clone() }

// Observe implements fairlead.Backend.
func (w *tinyZones) Observe(context.Context, string) (*tinyZones, error) { return w.clone(), nil }

// Change implements fairlead.Trial.
func (w *tinyZones) Change() {}

// Check implements fairlead.Trial.
func (w *tinyZones) Check() error { return nil }

// set changes the condition of a node.
func (w *tinyZones) set(i int, status fairlead.ConditionStatus, now time.Time) {
	w.Nodes[i].Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: status, LastTransitionTime: now}}
	w.swap(i)
}

// swap is what a node's Step does: it takes off a taint that is not wanted any more,
// and puts the other one in its place.
func (w *tinyZones) swap(i int) {
	n := &w.Nodes[i]
	if len(n.Spec.Taints) == 0 {
		return
	}
	n.Spec.Taints = nil
	if key := wanted(n); key != "" {
		n.Spec.Taints = []fairlead.Taint{{Key: key, Effect: fairlead.NoExecute}}
	}
}

// wanted returns the taint that a node's condition asks for.
func wanted(n *fairlead.Node) string {
	switch n.Status.Conditions[0].Status {
	case fairlead.ConditionTrue:
		return ""
	case fairlead.ConditionFalse:
		return taints.KeyNotReady
	}
	return taints.KeyUnreachable
}

// dark reports whether no node is ready.
func (w *tinyZones) dark() bool {
	return !slices.ContainsFunc(w.Nodes, func(n fairlead.Node) bool { return wanted(&n) == "" })
}

// Apply implements fairlead.Backend.
func (w *tinyZones) Apply(_ context.Context, _ string, action eviction.Action) error {
	a, ok := action.(eviction.EditTaints)
	if !ok {
		return fmt.Errorf("action %T", action)
	}
	i := slices.IndexFunc(w.Nodes, func(n fairlead.Node) bool { return n.Name == a.Node && n.UID == a.UID })
	if i < 0 {
		return nil
	}
	is := func(o fairlead.Taint) func(fairlead.Taint) bool {
		return func(t fairlead.Taint) bool { return t.Key == o.Key && t.Effect == o.Effect }
	}
	list := slices.Clone(w.Nodes[i].Spec.Taints)
	for _, t := range slices.Concat(a.Remove, a.Add) {
		list = slices.DeleteFunc(list, is(t))
	}
	for _, t := range a.Add {
		t.TimeAdded = nil // the engine of zones does not look at it
		list = append(list, t)
	}
	w.Nodes[i].Spec.Taints = list
	return nil
}

// Judge implements fairlead.Judge: no node gets the taint that is
// ready; none while no node of any zone is; none loses it otherwise; and a zone has
// one token in ten seconds.
func (w *tinyZones) Judge(was eviction.ZoneState, seen *tinyZones, now time.Time, d eviction.ZoneDecision) error {
	is := d.State
	for _, action := range d.Actions {
		a := action.(eviction.EditTaints)
		i := slices.IndexFunc(seen.Nodes, func(n fairlead.Node) bool { return n.Name == a.Node })
		switch {
		case len(a.Add) > 0 && seen.dark():
			return errors.New("node " + a.Node + " is tainted, and no node of any zone is ready")
		case len(a.Add) > 0 && (i < 0 || a.Add[0].Key != wanted(&seen.Nodes[i])):
			return errors.New("node " + a.Node + " gets a taint that it is not to have")
		case len(a.Add) == 0 && !seen.dark():
			return errors.New("node " + a.Node + " loses its taint, and others are ready")
		}
	}
	fresh := map[string]int{}
	for _, g := range is.Granted {
		if !slices.ContainsFunc(was.Granted, func(o eviction.Grant) bool { return o.Node == g.Node && o.UID == g.UID }) {
			fresh[g.Zone]++
		}
	}
	for zone, n := range fresh {
		if n > 1 {
			return errors.New("zone " + zone + " gives several tokens at a time")
		}
		for _, z := range was.Zones {
			if ago := now.Sub(z.Empty); z.Name == zone && !z.Empty.IsZero() && ago >= 0 && ago < 10*time.Second {
				return fmt.Errorf("zone %s gives a token %v after the last one", zone, ago)
			}
		}
	}
	return nil
}

// Events implements fairlead.SmallTrial.
func (w *tinyZones) Events() (all []fairlead.Event) {
	now := w.clock.Now()
	add := func(name string, do func()) { all = append(all, fairlead.Event{Name: name, Do: do}) }
	for i := range w.Nodes {
		n := &w.Nodes[i]
		if len(n.Spec.Taints) > 0 && n.Spec.Taints[0].Key != wanted(n) { // a taint that came too late
			all = append(all, fairlead.Event{Name: n.Name + " is stepped itself", Sure: true, Do: func() { w.swap(i) }})
		}
		switch status := n.Status.Conditions[0].Status; {
		case status == fairlead.ConditionTrue && w.Falls > 0:
			add(n.Name+" falls silent", func() { w.Falls--; w.set(i, fairlead.ConditionUnknown, now) })
		case status != fairlead.ConditionTrue && w.Heals > 0:
			add(n.Name+" heals", func() { w.Heals--; w.set(i, fairlead.ConditionTrue, now) })
		}
		if n.Status.Conditions[0].Status == fairlead.ConditionUnknown && w.Turns > 0 {
			add(n.Name+" reports to be not ready", func() { w.Turns--; w.set(i, fairlead.ConditionFalse, now) })
		}
		if w.Again > 0 && !strings.HasSuffix(n.UID, "x") {
			add(n.Name+" registers again", func() { w.Again--; w.Nodes[i].UID += "x"; w.Nodes[i].Spec.Taints = nil })
		}
	}
	return all
}

// Settled implements fairlead.Trial: whoever is not ready has its taint, and nobody else; while all is dark
// nobody has.
func (w *tinyZones) Settled(string) error {
	dark := w.dark()
	for i := range w.Nodes {
		n := &w.Nodes[i]
		want := wanted(n)
		if dark {
			want = ""
		}
		switch {
		case want == "" && len(n.Spec.Taints) > 0:
			return fmt.Errorf("node %s does not have the taints that it is to have", n.Name)
		case want != "" && (len(n.Spec.Taints) != 1 || n.Spec.Taints[0].Key != want):
			return fmt.Errorf("node %s does not have the taints that it is to have", n.Name)
		}
	}
	return nil
}

// Excuses implements fairlead.Excuser: in two zones of two nodes everybody has a turn.
func (w *tinyZones) Excuses([]fairlead.Block) bool { return false }

// TestVisitZones visits every state of small worlds with two zones.
func TestVisitZones(t *testing.T) {
	engine := fairlead.Engine[eviction.ZoneState, *tinyZones, eviction.Action]{
		Name: "zones", Version: 1,
		Step: func(s eviction.ZoneState, w *tinyZones, now time.Time) eviction.ZoneDecision {
			return eviction.ZoneStep(s, &eviction.ZoneWorld{Nodes: w.Nodes, Outcomes: w.Outcomes}, now, nil)
		},
		Outcomes: func(w *tinyZones, all []fairlead.Outcome) *tinyZones { w.Outcomes = all; return w },
	}
	for _, w := range []*tinyZones{newTinyZones(2, 1, 0, 0), newTinyZones(4, 1, 0, 0), newTinyZones(2, 0, 1, 1)} {
		open := func(_ *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[*tinyZones, eviction.Action] {
			n := w.clone()
			n.clock = clock
			return n
		}
		o := fairlead.VisitOptions{States: long.N(800, 10_000_000), Patience: time.Minute, Horizon: 5 * time.Minute, Log: t.Log}
		if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: -1, Visit: o}); err != nil {
			t.Error(err)
		}
	}
}
