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

// badNode is a node with a taint that its pods tolerate for five minutes.
type badNode struct {
	Node    *fairlead.Node // nil when it is gone
	Pods    []fairlead.Pod
	Down    time.Time // since when it has had a taint without a pause; zero while it has none
	Changed time.Time // when the taint changed last
	Turns   bool      // the taint changes every 240 seconds
	Heals   int       // how often the node may get well, and fall ill again
	Again   int       // how often it may register again, under a new UID
	clock   *fairlead.ManualClock
}

// begin is when the worlds begin.
var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const patient = 300 * time.Second

// turnAfter is how long a node that turns is in one state.
const turnAfter = 240 * time.Second

func newBadNode(keys ...string) *badNode {
	w := &badNode{Node: &fairlead.Node{}, Down: begin, Changed: begin}
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

// Clone implements fairlead.SmallTrial.
func (w *badNode) Clone() fairlead.SmallTrial[*badNode, eviction.Action] { return w.clone() }

// Observe implements fairlead.Backend.
func (w *badNode) Observe(context.Context, string) (*badNode, error) { return w.clone(), nil }

// Change implements fairlead.Trial.
func (w *badNode) Change() {}

// Check implements fairlead.Trial.
func (w *badNode) Check() error { return nil }

// Apply implements fairlead.Backend.
func (w *badNode) Apply(_ context.Context, _ string, a eviction.Action) error {
	now := w.clock.Now()
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

// Judge implements fairlead.Judge: nobody is evicted before five minutes of trouble are
// over. The clock of the runner may be behind, and then only the pause since the node was
// well counts.
func (w *badNode) Judge(_ eviction.State, seen *badNode, now time.Time, d eviction.Decision) error {
	for _, a := range d.Actions {
		if _, ok := a.(eviction.Evict); ok && (seen.Down.IsZero() || now.Sub(seen.Down) < patient && !now.Before(seen.Down)) {
			return errors.New("a pod is evicted although it tolerates what there is for longer")
		}
	}
	return nil
}

// Events implements fairlead.SmallTrial.
func (w *badNode) Events() (all []fairlead.Event) {
	now := w.clock.Now()
	add := func(name string, do func()) { all = append(all, fairlead.Event{Name: name, Do: do}) }
	if w.Turns && !w.Down.IsZero() && !now.Before(w.Changed.Add(turnAfter)) {
		next := taints.KeyUnreachable
		if w.Node.Spec.Taints[0].Key == next {
			next = taints.KeyNotReady
		}
		add("turns", func() { w.taint(next, "", now) })
	}
	if w.Heals > 0 && !w.Down.IsZero() {
		add("heals", func() {
			n := *w.Node
			n.Spec.Taints = nil
			w.Node, w.Down = &n, time.Time{}
		})
	}
	if w.Heals > 0 && w.Down.IsZero() {
		add("falls ill", func() { w.Heals--; w.taint(taints.KeyUnreachable, "", now); w.Down = now })
	}
	if w.Again > 0 {
		add("registers again", func() {
			w.Again--
			n := *w.Node
			n.UID += "x"
			w.Node = &n
		})
	}
	return all
}

// Pass implements fairlead.Passing.
func (w *badNode) Pass() {
	now := w.clock.Now()
	w.Pods = slices.DeleteFunc(w.Pods, func(p fairlead.Pod) bool { return p.DeletionTimestamp != nil && !p.DeletionTimestamp.After(now) })
}

// Next implements fairlead.Passing.
func (w *badNode) Next() (next time.Time) {
	now := w.clock.Now()
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

// Settled implements fairlead.Trial.
func (w *badNode) Settled(string) error {
	if len(w.Pods) == 0 || w.Down.IsZero() {
		return nil
	}
	return fmt.Errorf("%d pods are on a node that is in trouble", len(w.Pods))
}

// Excuses implements fairlead.Excuser: that time alone will end a wait is no excuse where
// time passes.
func (w *badNode) Excuses(blocked []fairlead.Block) bool {
	return slices.ContainsFunc(blocked, func(b fairlead.Block) bool { return b.Reason != eviction.ReasonTolerating })
}

// newTurns makes a node that is not ready and unreachable by turns.
func newTurns() *badNode {
	w := newBadNode(taints.KeyNotReady, taints.KeyUnreachable)
	w.taint(taints.KeyNotReady, "", begin)
	w.Turns = true
	return w
}

// newIll makes a node that is unreachable.
func newIll() *badNode {
	w := newBadNode(taints.KeyNotReady, taints.KeyUnreachable)
	w.taint(taints.KeyUnreachable, "", begin)
	w.Heals, w.Again = 1, 1
	return w
}

func (w *badNode) visit(t *testing.T, o fairlead.VisitOptions) {
	t.Helper()
	engine := fairlead.Engine[eviction.State, *badNode, eviction.Action]{Name: "eviction", Version: 1, Step: func(s eviction.State, w *badNode, now time.Time) eviction.Decision {
		return eviction.Step(s, &eviction.World{Name: "n1", Node: w.Node, Pods: w.Pods}, now, nil)
	}}
	// A clock that is set back costs what was waited for once more.
	o.Patience, o.Horizon, o.Log = 2*patient+time.Minute, 15*time.Minute, t.Log
	open := func(_ *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[*badNode, eviction.Action] {
		n := w.clone()
		n.clock = clock
		return n
	}
	if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: -1, Visit: o}); err != nil {
		t.Error(err)
	}
}

// TestVisit visits every state of small worlds.
func TestVisit(t *testing.T) {
	o := fairlead.VisitOptions{States: long.N(30_000, 10_000_000)}
	newTurns().visit(t, o)
	newIll().visit(t, o)
}

// TestPaths visits what follows on what visits have found: with a clock that was set back
// by a day, pods stayed for a day longer; and a node that is not ready and unreachable by
// turns kept its pods forever, because each turn counted as the beginning.
func TestPaths(t *testing.T) {
	newIll().visit(t, fairlead.VisitOptions{States: 2_000, Path: []string{"step", "clock back", "step"}})
	newTurns().visit(t, fairlead.VisitOptions{States: 2_000, Path: strings.Split("step, wait, turns, step, wait", ", ")})
}
