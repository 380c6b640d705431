package eviction_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/explore"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/eviction"
)

// tinyZones is two zones of two nodes each.
type tinyZones struct {
	Nodes    []fairlead.Node
	Outcomes []fairlead.Outcome
	Falls    int // how often a node may fall silent
	Heals    int // how often one may be ready again
	Turns    int // how often one may go from unreachable to not ready
	Again    int // how often one may register again, under a new UID
}

func newTinyZones(falls, heals, turns, again int) *tinyZones {
	w := &tinyZones{Falls: falls, Heals: heals, Turns: turns, Again: again}
	for _, name := range []string{"a1", "a2", "b1", "b2"} {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name, UID: "uid-" + name, Labels: map[string]string{eviction.LabelZone: name[:1]}}}
		n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionTrue, LastTransitionTime: explore.Begin()}}
		w.Nodes = append(w.Nodes, n)
	}
	return w
}

func (w *tinyZones) clone() *tinyZones {
	n := *w
	n.Nodes, n.Outcomes = slices.Clone(w.Nodes), slices.Clone(w.Outcomes)
	return &n
}

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

func (w *tinyZones) apply(action eviction.Action, _ time.Time) error {
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

// broken returns the rule that a decision breaks: no node gets the taint that is
// ready; none while no node of any zone is; none loses it otherwise; and a zone has
// one token in ten seconds.
func (w *tinyZones) broken(was, is eviction.ZoneState, actions []eviction.Action, now time.Time) string {
	for _, action := range actions {
		a := action.(eviction.EditTaints)
		i := slices.IndexFunc(w.Nodes, func(n fairlead.Node) bool { return n.Name == a.Node })
		switch {
		case len(a.Add) > 0 && w.dark():
			return "node " + a.Node + " is tainted, and no node of any zone is ready"
		case len(a.Add) > 0 && (i < 0 || a.Add[0].Key != wanted(&w.Nodes[i])):
			return "node " + a.Node + " gets a taint that it is not to have"
		case len(a.Add) == 0 && !w.dark():
			return "node " + a.Node + " loses its taint, and others are ready"
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
			return "zone " + zone + " gives several tokens at a time"
		}
		for _, z := range was.Zones {
			if ago := now.Sub(z.Empty); z.Name == zone && !z.Empty.IsZero() && ago >= 0 && ago < 10*time.Second {
				return fmt.Sprintf("zone %s gives a token %v after the last one", zone, ago)
			}
		}
	}
	return ""
}

func (w *tinyZones) moves(now time.Time) (all []explore.Move[*tinyZones]) {
	add := func(name string, do func(w *tinyZones)) {
		all = append(all, explore.Move[*tinyZones]{Name: name, Do: do})
	}
	for i := range w.Nodes {
		n := &w.Nodes[i]
		if len(n.Spec.Taints) > 0 && n.Spec.Taints[0].Key != wanted(n) { // a taint that came too late
			all = append(all, explore.Move[*tinyZones]{Name: n.Name + " is stepped itself", Sure: true, Do: func(w *tinyZones) { w.swap(i) }})
		}
		switch status := n.Status.Conditions[0].Status; {
		case status == fairlead.ConditionTrue && w.Falls > 0:
			add(n.Name+" falls silent", func(w *tinyZones) { w.Falls--; w.set(i, fairlead.ConditionUnknown, now) })
		case status != fairlead.ConditionTrue && w.Heals > 0:
			add(n.Name+" heals", func(w *tinyZones) { w.Heals--; w.set(i, fairlead.ConditionTrue, now) })
		}
		if n.Status.Conditions[0].Status == fairlead.ConditionUnknown && w.Turns > 0 {
			add(n.Name+" reports to be not ready", func(w *tinyZones) { w.Turns--; w.set(i, fairlead.ConditionFalse, now) })
		}
		if w.Again > 0 && !strings.HasSuffix(n.UID, "x") {
			add(n.Name+" registers again", func(w *tinyZones) { w.Again--; w.Nodes[i].UID += "x"; w.Nodes[i].Spec.Taints = nil })
		}
	}
	return all
}

// rest: whoever is not ready has its taint, and nobody else; while all is dark
// nobody has.
func (w *tinyZones) rest() bool {
	dark := w.dark()
	for i := range w.Nodes {
		n := &w.Nodes[i]
		want := wanted(n)
		if dark {
			want = ""
		}
		switch {
		case want == "" && len(n.Spec.Taints) > 0:
			return false
		case want != "" && (len(n.Spec.Taints) != 1 || n.Spec.Taints[0].Key != want):
			return false
		}
	}
	return true
}

func (w *tinyZones) answer(a eviction.Action, err error, now time.Time) {
	key := a.Key()
	w.Outcomes = slices.DeleteFunc(slices.Clone(w.Outcomes), func(o fairlead.Outcome) bool { return o.Key == key })
	if err != nil {
		w.Outcomes = append(w.Outcomes, fairlead.OutcomeOf(key, err, now))
	}
}

type zonesModel = explore.Model[*tinyZones, eviction.ZoneState, eviction.Action]

func zonesModels() []*zonesModel {
	var models []*zonesModel
	for i, w := range []*tinyZones{newTinyZones(2, 1, 0, 0), newTinyZones(4, 1, 0, 0), newTinyZones(2, 0, 1, 1)} {
		models = append(models, &zonesModel{
			Name: []string{"zones", "dark", "zones again"}[i], Worlds: []*tinyZones{w}, Clone: (*tinyZones).clone, Apply: (*tinyZones).apply, Moves: (*tinyZones).moves, Rest: (*tinyZones).rest, Answer: (*tinyZones).answer,
			Forget: func(w *tinyZones) { w.Outcomes = nil },
			Step: func(s eviction.ZoneState, w *tinyZones, now time.Time) explore.Decision[eviction.ZoneState, eviction.Action] {
				d := eviction.ZoneStep(s, &eviction.ZoneWorld{Nodes: w.Nodes, Outcomes: w.Outcomes}, now, nil)
				return explore.Decision[eviction.ZoneState, eviction.Action]{State: d.State, Actions: d.Actions, Blocked: d.Blocked, Wake: d.Wake, Broken: w.broken(s, d.State, d.Actions, now)}
			},
			Told:     func(*tinyZones, []fairlead.Block) bool { return false }, // in two zones of two nodes everybody has a turn
			Faults:   explore.Faults{Crash: 1, Lost: 1, Fail: 1, Late: 1, Second: 1, Back: 1},
			Patience: time.Minute, Horizon: 5 * time.Minute, Max: 800,
		})
	}
	return models
}

// TestExploreZones visits every state of small worlds with two zones.
func TestExploreZones(t *testing.T) { explore.Test(t, 10_000_000, zonesModels()...) }
