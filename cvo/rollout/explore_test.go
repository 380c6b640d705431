package rollout_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/explore"
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
	n.W.Nodes, n.W.Outcomes = slices.Clone(w.W.Nodes), slices.Clone(w.W.Outcomes)
	for i := range n.W.Nodes {
		o := &n.W.Nodes[i]
		o.Annotations, o.Spec.Taints, o.Status.Conditions = maps.Clone(o.Annotations), slices.Clone(o.Spec.Taints), slices.Clone(o.Status.Conditions)
	}
	return &n
}

func (w *tinyPool) node(name string) *rollout.Node {
	if i := slices.IndexFunc(w.W.Nodes, func(n rollout.Node) bool { return n.Name == name }); i >= 0 {
		return &w.W.Nodes[i]
	}
	return nil
}

// apply carries out an action as a cluster does.
func (w *tinyPool) apply(action rollout.Action, _ time.Time) error {
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
			return &explore.Broken{Rule: "node " + a.Node + " is changed and rebooted with its pods on it"}
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

// broken returns the rule that a decision breaks: no node is begun while as many
// are down as may be, or the pool is paused.
func (w *tinyPool) broken(actions []rollout.Action) string {
	for _, action := range actions {
		a, ok := action.(rollout.Begin)
		if !ok {
			continue
		}
		for i := range w.W.Nodes {
			if n := &w.W.Nodes[i]; n.Name != a.Node && rollout.Unavailable(n) {
				return "node " + a.Node + " is begun, and " + n.Name + " is down"
			}
		}
		if w.W.Pool.Spec.Paused {
			return "node " + a.Node + " is begun, and the pool is paused"
		}
	}
	return ""
}

// check: never more nodes are down for the update than may be.
func (w *tinyPool) check(rollout.State, *explore.Decision[rollout.State, rollout.Action]) error {
	var down []string
	for i := range w.W.Nodes {
		if n := &w.W.Nodes[i]; rollout.Stage(n) != rollout.StageNone {
			down = append(down, n.Name)
		}
	}
	if len(down) > 1 {
		return fmt.Errorf("nodes %v are on their way at the same time, and one may be", down)
	}
	return nil
}

func (w *tinyPool) moves(time.Time) (all []explore.Move[*tinyPool]) {
	add := func(name string, sure bool, do func(w *tinyPool)) {
		all = append(all, explore.Move[*tinyPool]{Name: name, Sure: sure, Do: func(w *tinyPool) { do(w); w.revise() }})
	}
	on := func(i int, what string, sure bool, do func(w *tinyPool, n *rollout.Node)) {
		add(w.W.Nodes[i].Name+" "+what, sure, func(w *tinyPool) { do(w, &w.W.Nodes[i]) })
	}
	degraded := false
	for i := range w.W.Nodes {
		n := &w.W.Nodes[i]
		a := n.Annotations
		silent := n.Status.Conditions[0].Status != fairlead.ConditionTrue
		degraded = degraded || a[rollout.AnnotationState] == rollout.StateDegraded
		if wish := a[rollout.AnnotationDesiredDrain]; wish != a[rollout.AnnotationLastDrain] {
			on(i, "is drained", true, func(_ *tinyPool, n *rollout.Node) { n.Annotations[rollout.AnnotationLastDrain] = wish })
		}
		if a[rollout.AnnotationState] == rollout.StateWorking && !silent {
			on(i, "is updated", true, func(_ *tinyPool, n *rollout.Node) {
				n.Annotations[rollout.AnnotationState], n.Annotations[rollout.AnnotationCurrent] = rollout.StateDone, n.Annotations[rollout.AnnotationDesired]
			})
			if w.Fails > 0 {
				on(i, "fails", false, func(w *tinyPool, n *rollout.Node) {
					w.Fails--
					n.Annotations[rollout.AnnotationState] = rollout.StateDegraded
				})
			}
		}
		ready := func(s fairlead.ConditionStatus) func(*tinyPool, *rollout.Node) {
			return func(_ *tinyPool, n *rollout.Node) { n.Status.Conditions[0].Status = s }
		}
		if silent {
			on(i, "is back", true, ready(fairlead.ConditionTrue))
		} else if w.Silences > 0 {
			on(i, "falls silent", false, func(w *tinyPool, n *rollout.Node) { w.Silences--; ready(fairlead.ConditionUnknown)(w, n) })
		}
		if w.Cordons > 0 && !n.Spec.Unschedulable {
			on(i, "is cordoned", false, func(w *tinyPool, n *rollout.Node) { w.Cordons--; w.ByHand, n.Spec.Unschedulable = n.Name, true })
		}
		if w.ByHand == n.Name {
			on(i, "is uncordoned", true, func(w *tinyPool, n *rollout.Node) {
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

func (w *tinyPool) poolMoves(degraded bool, add func(string, bool, func(*tinyPool))) {
	spec := &w.W.Pool.Spec
	if w.Changes > 0 && spec.Configuration.Name == target {
		add("target changes", false, func(w *tinyPool) { w.Changes--; w.W.Pool.Spec.Configuration.Name = "v3" })
		add("target is taken back", false, func(w *tinyPool) { w.Changes--; w.W.Pool.Spec.Configuration.Name = "v1" })
	}
	if degraded && spec.Configuration.Name == target {
		add("target is corrected", true, func(w *tinyPool) { w.W.Pool.Spec.Configuration.Name = "v3" })
	}
	if spec.Paused {
		add("pool goes on", true, func(w *tinyPool) { w.W.Pool.Spec.Paused = false })
	} else if w.Pauses > 0 {
		add("pool is paused", false, func(w *tinyPool) { w.Pauses--; w.W.Pool.Spec.Paused = true })
	}
	if w.Joins > 0 && w.node("b") != nil {
		add("b leaves", false, func(w *tinyPool) {
			w.Joins--
			w.W.Nodes = slices.DeleteFunc(w.W.Nodes, func(n rollout.Node) bool { return n.Name == "b" })
		})
		add("b is registered again", false, func(w *tinyPool) {
			w.Joins--
			n := tinyNode("b")
			n.UID += "x"
			*w.node("b") = n
		})
	}
}

// rest: all nodes run what they are to and take pods, and the pool says so.
func (w *tinyPool) rest() bool {
	for i := range w.W.Nodes {
		n := &w.W.Nodes[i]
		if !rollout.Updated(&w.W.Pool, n) || rollout.Unavailable(n) || len(n.Spec.Taints) > 0 {
			return false
		}
	}
	return w.W.Pool.Status.ReadyMachineCount == len(w.W.Nodes)
}

func (w *tinyPool) answer(a rollout.Action, err error, now time.Time) {
	key := a.Key()
	w.W.Outcomes = slices.DeleteFunc(slices.Clone(w.W.Outcomes), func(o fairlead.Outcome) bool { return o.Key == key })
	if err != nil {
		w.W.Outcomes = append(w.W.Outcomes, fairlead.OutcomeOf(key, err, now))
	}
}

type rolloutModel = explore.Model[*tinyPool, rollout.State, rollout.Action]

func exploreModels() []*rolloutModel {
	worlds := []struct {
		name string
		set  func(*tinyPool)
	}{
		{"plain", func(*tinyPool) {}},
		{"silent", func(w *tinyPool) { w.Silences = 1 }},
		{"changes", func(w *tinyPool) { w.Changes, w.Pauses = 1, 1 }},
		{"fails", func(w *tinyPool) { w.Fails = 1 }},
		{"cordoned", func(w *tinyPool) { w.Cordons = 1 }},
		{"again", func(w *tinyPool) { w.Joins = 1 }},
	}
	policy := &rollout.Policy{SlowDrain: 5 * time.Minute, SlowUpdate: 5 * time.Minute}
	var models []*rolloutModel
	for _, o := range worlds {
		w := newTinyPool()
		o.set(w)
		models = append(models, &rolloutModel{
			Name: o.name, Worlds: []*tinyPool{w}, Clone: (*tinyPool).clone, Apply: (*tinyPool).apply, Moves: (*tinyPool).moves, Rest: (*tinyPool).rest, Answer: (*tinyPool).answer, Check: (*tinyPool).check,
			Forget: func(w *tinyPool) { w.W.Outcomes = nil },
			Step: func(s rollout.State, w *tinyPool, now time.Time) explore.Decision[rollout.State, rollout.Action] {
				d := rollout.Step(s, &w.W, now, policy)
				return explore.Decision[rollout.State, rollout.Action]{State: d.State, Actions: d.Actions, Blocked: d.Blocked, Wake: d.Wake, Broken: w.broken(d.Actions)}
			},
			// A Block is an excuse as long as somebody else is about to do something.
			Told: func(w *tinyPool, blocked []fairlead.Block) bool {
				others := slices.ContainsFunc(w.moves(time.Time{}), func(m explore.Move[*tinyPool]) bool { return m.Sure })
				return others && slices.ContainsFunc(blocked, func(b fairlead.Block) bool { return b.Unblock != "" })
			},
			Faults: explore.Faults{Crash: 1, Lost: 1, Fail: 1, Late: 1, Second: 1, Back: 1},
			Ends:   true, Patience: 10 * time.Minute, Horizon: 20 * time.Minute, Max: 500,
		})
	}
	return models
}

// TestExplore visits every state of small worlds.
func TestExplore(t *testing.T) { explore.Test(t, 10_000_000, exploreModels()...) }
