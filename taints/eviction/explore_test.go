package eviction_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/explore"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/eviction"
)

// badNode is a node with a taint that its pods tolerate for five minutes.
type badNode struct {
	Node    *fairlead.Node // nil when it is gone
	Pods    []fairlead.Pod
	Down    time.Time // since when it has had a taint without a pause; zero while it has none
	Changed time.Time // when the taint changed last
	Turns   bool      // the taint changes every 240 seconds
	Heals   int       // how often the node may get well, and fall ill again
	Again   int       // how often it may register again, under a new UID
	Removed int       // how often a taint of somebody else may come
}

const patient = 300 * time.Second

// turnAfter is how long a node that turns is in one state.
const turnAfter = 240 * time.Second

func newBadNode(keys ...string) *badNode {
	w := &badNode{Node: &fairlead.Node{}, Down: explore.Begin(), Changed: explore.Begin()}
	w.Node.Name, w.Node.UID = "n1", "u1"
	seconds := int64(patient / time.Second)
	for i := range 2 {
		var p fairlead.Pod
		p.Namespace, p.Name, p.UID = "default", fmt.Sprint("p", i), fmt.Sprint("pod-", i)
		p.Spec.NodeName = "n1"
		for _, key := range keys {
			p.Spec.Tolerations = append(p.Spec.Tolerations, fairlead.Toleration{Key: key, Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute, TolerationSeconds: &seconds})
		}
		w.Pods = append(w.Pods, p)
	}
	return w
}

// taint puts a taint on the node, in place of the others.
func (w *badNode) taint(key, value string, now time.Time) {
	n := *w.Node
	n.Spec.Taints = []fairlead.Taint{{Key: key, Value: value, Effect: fairlead.NoExecute, TimeAdded: &now}}
	w.Node, w.Changed = &n, now
}

func (w *badNode) clone() *badNode {
	n := *w
	n.Pods = slices.Clone(w.Pods)
	return &n
}

func (w *badNode) apply(a eviction.Action, now time.Time) error {
	e, ok := a.(eviction.Evict)
	if !ok {
		return fmt.Errorf("action %T", a)
	}
	i := slices.IndexFunc(w.Pods, func(p fairlead.Pod) bool { return p.UID == e.Pod.UID })
	if i < 0 || w.Pods[i].DeletionTimestamp != nil {
		return nil
	}
	end, grace := now.Add(30*time.Second), int64(30)
	w.Pods[i].DeletionTimestamp, w.Pods[i].DeletionGracePeriodSeconds = &end, &grace
	return nil
}

// broken returns the rule that a decision breaks: nobody is evicted before five
// minutes of trouble are over. The clock of the runner may be behind, and then
// only the pause since the node was well counts.
func (w *badNode) broken(actions []eviction.Action, now time.Time) string {
	for _, a := range actions {
		if _, ok := a.(eviction.Evict); ok && (w.Down.IsZero() || now.Sub(w.Down) < patient && !now.Before(w.Down)) {
			return "a pod is evicted although it tolerates what there is for longer"
		}
	}
	return ""
}

func (w *badNode) moves(now time.Time) (all []explore.Move[*badNode]) {
	add := func(name string, do func(w *badNode)) {
		all = append(all, explore.Move[*badNode]{Name: name, Do: do})
	}
	if w.Turns && !w.Down.IsZero() && !now.Before(w.Changed.Add(turnAfter)) {
		next := taints.KeyUnreachable
		if w.Node.Spec.Taints[0].Key == next {
			next = taints.KeyNotReady
		}
		add("turns", func(w *badNode) { w.taint(next, "", now) })
	}
	if w.Heals > 0 && !w.Down.IsZero() {
		add("heals", func(w *badNode) {
			n := *w.Node
			n.Spec.Taints = nil
			w.Node, w.Down = &n, time.Time{}
		})
	}
	if w.Heals > 0 && w.Down.IsZero() {
		add("falls ill", func(w *badNode) { w.Heals--; w.taint(taints.KeyUnreachable, "", now); w.Down = now })
	}
	if w.Again > 0 {
		add("registers again", func(w *badNode) {
			w.Again--
			n := *w.Node
			n.UID += "x"
			w.Node = &n
		})
	}
	return all
}

func (w *badNode) pass(now time.Time) {
	w.Pods = slices.DeleteFunc(w.Pods, func(p fairlead.Pod) bool { return p.DeletionTimestamp != nil && !p.DeletionTimestamp.After(now) })
}

func (w *badNode) next(now time.Time) (next time.Time) {
	if t := w.Changed.Add(turnAfter); w.Turns && t.After(now) {
		next = t
	}
	for _, p := range w.Pods {
		if p.DeletionTimestamp != nil && (next.IsZero() || p.DeletionTimestamp.Before(next)) {
			next = *p.DeletionTimestamp
		}
	}
	return next
}

type taintsModel = explore.Model[*badNode, eviction.State, eviction.Action]

func exploreModels() []*taintsModel {
	both := []string{taints.KeyNotReady, taints.KeyUnreachable}
	turns := newBadNode(both...)
	turns.taint(taints.KeyNotReady, "", explore.Begin())
	turns.Turns = true
	ill := newBadNode(both...)
	ill.taint(taints.KeyUnreachable, "", explore.Begin())
	ill.Heals, ill.Again = 1, 1
	var models []*taintsModel
	for i, w := range []*badNode{turns, ill} {
		models = append(models, &taintsModel{
			Name: []string{"turns", "ill"}[i], Worlds: []*badNode{w}, Clone: (*badNode).clone, Apply: (*badNode).apply, Moves: (*badNode).moves, Tick: (*badNode).pass, Next: (*badNode).next,
			Rest: func(w *badNode) bool { return len(w.Pods) == 0 || w.Down.IsZero() },
			Told: func(_ *badNode, blocked []fairlead.Block) bool {
				// That time alone will end it is no excuse where time passes.
				return slices.ContainsFunc(blocked, func(b fairlead.Block) bool { return b.Reason != eviction.ReasonTolerating })
			},
			Step: func(s eviction.State, w *badNode, now time.Time) explore.Decision[eviction.State, eviction.Action] {
				d := eviction.Step(s, &eviction.World{Name: "n1", Node: w.Node, Pods: w.Pods}, now, nil)
				return explore.Decision[eviction.State, eviction.Action]{State: d.State, Actions: d.Actions, Blocked: d.Blocked, Wake: d.Wake, Broken: w.broken(d.Actions, now)}
			},
			Faults: explore.Faults{Crash: 1, Lost: 1, Fail: 1, Late: 1, Second: 1, Back: 1},
			// A clock that is set back costs what was waited for once more.
			Patience: 2*patient + time.Minute, Horizon: 15 * time.Minute, Max: 30_000,
		})
	}
	return models
}

// TestExplore visits every state of small worlds.
func TestExplore(t *testing.T) { explore.Test(t, 10_000_000, exploreModels()...) }

// TestTraces replays what exploring has found.
func TestTraces(t *testing.T) {
	back := *exploreModels()[1]
	back.Name, back.Faults = "back", explore.Faults{Back: 1}
	explore.Scripts(t, "testdata/traces/*.txt", append(exploreModels(), &back)...)
}
