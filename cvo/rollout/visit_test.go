package rollout_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/long"
)

// tinyPool is a pool of two nodes, one of which may be down at a time.
type tinyPool struct {
	W        rollout.World
	Changes  int    // how often the pool may be told to run something else
	Silences int    // how often a node may fall silent
	Fails    int    // how often an update may fail
	Cordons  int    // how often somebody may cordon a node
	ByHand   string // the node that somebody has cordoned
	Pauses   int    // how often the pool may be paused
	Joins    int    // how often a node may leave, or join with an old configuration
	bad      error  // the rule that an action broke
}

const target = "v2"

// newTinyPool makes a pool whose nodes run v1 and are to run v2.
func newTinyPool() *tinyPool {
	w := &tinyPool{}
	one := fairlead.IntOrString{Int: 1}
	w.W.Pool.Name = "worker"
	w.W.Pool.Spec.MaxUnavailable, w.W.Pool.Spec.Configuration.Name = &one, target
	w.W.Nodes = []rollout.Node{tinyNode("a"), tinyNode("b")}
	w.revise()
	return w
}

func tinyNode(name string) (n rollout.Node) {
	n.Name, n.UID = name, "uid-"+name
	n.Annotations = map[string]string{rollout.AnnotationCurrent: "v1", rollout.AnnotationDesired: "v1", rollout.AnnotationState: rollout.StateDone}
	n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionTrue}}
	return n
}

// revise gives everything a revision by its content: what was written back to what
// it was is taken for unchanged, which is harder on an engine than numbers are.
func (w *tinyPool) revise() {
	sum := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		h := fnv.New32a()
		_, _ = h.Write(data)
		return fmt.Sprint(h.Sum32())
	}
	for i := range w.W.Nodes {
		w.W.Nodes[i].ResourceVersion = ""
		w.W.Nodes[i].ResourceVersion = sum(w.W.Nodes[i])
	}
	w.W.Pool.ResourceVersion = ""
	w.W.Pool.ResourceVersion = sum(w.W.Pool)
}

func (w *tinyPool) clone() *tinyPool {
	n := *w
	n.W.Nodes = slices.Clone(w.W.Nodes)
	for i := range n.W.Nodes {
		o := &n.W.Nodes[i]
		o.Annotations, o.Spec.Taints, o.Status.Conditions = maps.Clone(o.Annotations), slices.Clone(o.Spec.Taints), slices.Clone(o.Status.Conditions)
	}
	return &n
}

// Clone implements fairlead.SmallTrial.
func (w *tinyPool) Clone() fairlead.SmallTrial[*tinyPool, rollout.Action] { return w.clone() }

// Observe implements fairlead.Backend.
func (w *tinyPool) Observe(context.Context, string) (*tinyPool, error) { return w.clone(), nil }

// Change implements fairlead.Trial.
func (w *tinyPool) Change() {}

func (w *tinyPool) node(name string) *rollout.Node {
	if i := slices.IndexFunc(w.W.Nodes, func(n rollout.Node) bool { return n.Name == name }); i >= 0 {
		return &w.W.Nodes[i]
	}
	return nil
}

// Apply implements fairlead.Backend, as a cluster does.
func (w *tinyPool) Apply(_ context.Context, _ string, action rollout.Action) error {
	defer w.revise()
	on := func(node, revision string, change func(n *rollout.Node)) error {
		n := w.node(node)
		if n == nil || n.ResourceVersion != revision {
			return errors.New("it is gone, or was changed since")
		}
		change(n)
		return nil
	}
	mark := func(n *rollout.Node, waits bool) {
		n.Spec.Taints = nil
		if waits {
			n.Spec.Taints = []fairlead.Taint{{Key: rollout.TaintUpdate, Effect: fairlead.PreferNoSchedule}}
		}
	}
	switch a := action.(type) {
	case rollout.Begin:
		return on(a.Node, a.Revision, func(n *rollout.Node) {
			n.Annotations[rollout.AnnotationDesired], n.Annotations[rollout.AnnotationState] = a.Configuration.Name, rollout.StateDone
			mark(n, true)
		})
	case rollout.Mark:
		return on(a.Node, a.Revision, func(n *rollout.Node) { mark(n, a.Waits) })
	case rollout.Cordon:
		return on(a.Node, a.Revision, func(n *rollout.Node) { n.Spec.Unschedulable = true })
	case rollout.Drain:
		return on(a.Node, a.Revision, func(n *rollout.Node) { n.Annotations[rollout.AnnotationDesiredDrain] = a.Wish })
	case rollout.Update:
		if n := w.node(a.Node); n != nil && n.ResourceVersion == a.Revision && !drained(n) {
			w.bad = errors.New("node " + a.Node + " is changed and rebooted with its pods on it")
		}
		return on(a.Node, a.Revision, func(n *rollout.Node) { n.Annotations[rollout.AnnotationState] = rollout.StateWorking })
	case rollout.Uncordon:
		return on(a.Node, a.Revision, func(n *rollout.Node) {
			n.Spec.Unschedulable = false
			n.Annotations[rollout.AnnotationDesiredDrain], n.Annotations[rollout.AnnotationLastDrain] = a.Wish, a.Wish
			mark(n, false)
		})
	case rollout.Report:
		if w.W.Pool.ResourceVersion != a.Revision {
			return errors.New("it was changed since")
		}
		w.W.Pool.Status = a.Status
		w.W.Pool.Status.Conditions = slices.Clone(a.Status.Conditions)
		for i := range w.W.Pool.Status.Conditions {
			w.W.Pool.Status.Conditions[i].LastTransitionTime = time.Time{}
		}
		return nil
	}
	return fmt.Errorf("there is no action %T", action)
}

// drained reports whether a node takes no pods, and has none.
func drained(n *rollout.Node) bool {
	wish := "drain-" + n.Annotations[rollout.AnnotationDesired]
	return n.Spec.Unschedulable && n.Annotations[rollout.AnnotationDesiredDrain] == wish && n.Annotations[rollout.AnnotationLastDrain] == wish
}

// Judge implements fairlead.Judge: no node is begun while as many
// are down as may be, or the pool is paused.
func (w *tinyPool) Judge(_ rollout.State, seen *tinyPool, _ time.Time, d rollout.Decision) error {
	for _, action := range d.Actions {
		a, ok := action.(rollout.Begin)
		if !ok {
			continue
		}
		for i := range seen.W.Nodes {
			if n := &seen.W.Nodes[i]; n.Name != a.Node && rollout.Unavailable(n) {
				return errors.New("node " + a.Node + " is begun, and " + n.Name + " is down")
			}
		}
		if seen.W.Pool.Spec.Paused {
			return errors.New("node " + a.Node + " is begun, and the pool is paused")
		}
	}
	return nil
}

// Check implements fairlead.Trial: never more nodes are down for the update than may be.
func (w *tinyPool) Check() error {
	var down []string
	for i := range w.W.Nodes {
		if n := &w.W.Nodes[i]; rollout.Stage(n) != rollout.StageNone {
			down = append(down, n.Name)
		}
	}
	if len(down) > 1 {
		return fmt.Errorf("nodes %v are on their way at the same time, and one may be", down)
	}
	return w.bad
}

// Events implements fairlead.SmallTrial.
func (w *tinyPool) Events() (all []fairlead.Event) {
	add := func(name string, sure bool, do func()) {
		all = append(all, fairlead.Event{Name: name, Sure: sure, Do: func() { do(); w.revise() }})
	}
	on := func(i int, what string, sure bool, do func(n *rollout.Node)) {
		add(w.W.Nodes[i].Name+" "+what, sure, func() { do(&w.W.Nodes[i]) })
	}
	degraded := false
	for i := range w.W.Nodes {
		n := &w.W.Nodes[i]
		a := n.Annotations
		silent := n.Status.Conditions[0].Status != fairlead.ConditionTrue
		degraded = degraded || a[rollout.AnnotationState] == rollout.StateDegraded
		if wish := a[rollout.AnnotationDesiredDrain]; wish != a[rollout.AnnotationLastDrain] {
			on(i, "is drained", true, func(n *rollout.Node) { n.Annotations[rollout.AnnotationLastDrain] = wish })
		}
		if a[rollout.AnnotationState] == rollout.StateWorking && !silent {
			on(i, "is updated", true, func(n *rollout.Node) {
				n.Annotations[rollout.AnnotationState], n.Annotations[rollout.AnnotationCurrent] = rollout.StateDone, n.Annotations[rollout.AnnotationDesired]
			})
			if w.Fails > 0 {
				on(i, "fails", false, func(n *rollout.Node) {
					w.Fails--
					n.Annotations[rollout.AnnotationState] = rollout.StateDegraded
				})
			}
		}
		ready := func(s fairlead.ConditionStatus) func(*rollout.Node) {
			return func(n *rollout.Node) { n.Status.Conditions[0].Status = s }
		}
		if silent {
			on(i, "is back", true, ready(fairlead.ConditionTrue))
		} else if w.Silences > 0 {
			on(i, "falls silent", false, func(n *rollout.Node) { w.Silences--; ready(fairlead.ConditionUnknown)(n) })
		}
		if w.Cordons > 0 && !n.Spec.Unschedulable {
			on(i, "is cordoned", false, func(n *rollout.Node) { w.Cordons--; w.ByHand, n.Spec.Unschedulable = n.Name, true })
		}
		if w.ByHand == n.Name {
			on(i, "is uncordoned", true, func(n *rollout.Node) {
				w.ByHand = ""
				if rollout.Stage(n) == rollout.StageNone { // not while it is updated
					n.Spec.Unschedulable = false
				}
			})
		}
	}
	w.poolMoves(degraded, add)
	return all
}

func (w *tinyPool) poolMoves(degraded bool, add func(string, bool, func())) {
	spec := &w.W.Pool.Spec
	if w.Changes > 0 && spec.Configuration.Name == target {
		add("target changes", false, func() { w.Changes--; w.W.Pool.Spec.Configuration.Name = "v3" })
		add("target is taken back", false, func() { w.Changes--; w.W.Pool.Spec.Configuration.Name = "v1" })
	}
	if degraded && spec.Configuration.Name == target {
		add("target is corrected", true, func() { w.W.Pool.Spec.Configuration.Name = "v3" })
	}
	if spec.Paused {
		add("pool goes on", true, func() { w.W.Pool.Spec.Paused = false })
	} else if w.Pauses > 0 {
		add("pool is paused", false, func() { w.Pauses--; w.W.Pool.Spec.Paused = true })
	}
	if w.Joins > 0 && w.node("b") != nil {
		add("b leaves", false, func() {
			w.Joins--
			w.W.Nodes = slices.DeleteFunc(w.W.Nodes, func(n rollout.Node) bool { return n.Name == "b" })
		})
		add("b is registered again", false, func() {
			w.Joins--
			n := tinyNode("b")
			n.UID += "x"
			*w.node("b") = n
		})
	}
}

// Settled implements fairlead.Trial: all nodes run what they are to and take pods, and the pool says so.
func (w *tinyPool) Settled(string) error {
	for i := range w.W.Nodes {
		n := &w.W.Nodes[i]
		if !rollout.Updated(&w.W.Pool, n) || rollout.Unavailable(n) || len(n.Spec.Taints) > 0 {
			return errors.New("node " + n.Name + " is not at its goal")
		}
	}
	if ready := w.W.Pool.Status.ReadyMachineCount; ready != len(w.W.Nodes) {
		return fmt.Errorf("the pool says that %d of %d machines are ready", ready, len(w.W.Nodes))
	}
	return nil
}

// Excuses implements fairlead.Excuser: a Block is an excuse as long as somebody else is
// about to do something.
func (w *tinyPool) Excuses(blocked []fairlead.Block) bool {
	return slices.ContainsFunc(w.Events(), func(e fairlead.Event) bool { return e.Sure }) &&
		slices.ContainsFunc(blocked, func(b fairlead.Block) bool { return b.Unblock != "" })
}

// TestVisit visits every state of small worlds.
func TestVisit(t *testing.T) {
	policy := &rollout.Policy{SlowDrain: 5 * time.Minute, SlowUpdate: 5 * time.Minute}
	engine := fairlead.Engine[rollout.State, *tinyPool, rollout.Action]{
		Name: "rollout", Version: 1,
		Step: func(s rollout.State, w *tinyPool, now time.Time) rollout.Decision {
			return rollout.Step(s, &w.W, now, policy)
		},
		Outcomes: func(w *tinyPool, all []fairlead.Outcome) *tinyPool { w.W.Outcomes = all; return w },
	}
	for _, o := range []struct {
		name string
		set  func(*tinyPool)
	}{
		{"plain", func(*tinyPool) {}},
		{"silent", func(w *tinyPool) { w.Silences = 1 }},
		{"changes", func(w *tinyPool) { w.Changes, w.Pauses = 1, 1 }},
		{"fails", func(w *tinyPool) { w.Fails = 1 }},
		{"cordoned", func(w *tinyPool) { w.Cordons = 1 }},
		{"again", func(w *tinyPool) { w.Joins = 1 }},
	} {
		t.Run(o.name, func(t *testing.T) {
			w := newTinyPool()
			o.set(w)
			open := func(*rand.Rand, *fairlead.ManualClock) fairlead.Trial[*tinyPool, rollout.Action] { return w.clone() }
			visit := fairlead.VisitOptions{States: long.N(500, 10_000_000), Ends: true, Patience: 10 * time.Minute, Horizon: 20 * time.Minute, Log: t.Log}
			if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: -1, Visit: visit}); err != nil {
				t.Error(err)
			}
		})
	}
}
