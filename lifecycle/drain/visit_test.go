package drain_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// tinyDrain is two nodes with a pod each, of one workload of which one must be
// ready, and a request for each node: a is to boot, b is worked on.
type tinyDrain struct {
	Nodes     map[string]drain.Node
	Boots     map[string]string // boot IDs, by node
	Pods      []drain.Pod       // those on their way out, too
	Least     int               // how many pods must be ready
	Requests  map[string]drain.Request
	Outcomes  []fairlead.Outcome // of both nodes, as a runner knows them
	Serial    int                // of pods
	Wanted    int                // how many pods the workload keeps
	Tightens  int                // how often the budget may allow nothing for a while
	Silences  int                // how often node a may fall silent
	Again     int                // how often node a may register again, under a new UID
	Pauses    int                // how often the request for a may be paused
	Cancels   int                // how often it may be taken back before its time
	Cordons   int                // how often somebody may cordon node a
	ByHand    bool               // somebody has cordoned it
	Requested int                // how often a request may be deleted and made again
	clock     *fairlead.ManualClock
}

func newTinyDrain() *tinyDrain {
	w := &tinyDrain{Nodes: map[string]drain.Node{}, Boots: map[string]string{}, Requests: map[string]drain.Request{}, Least: 1, Wanted: 2}
	for _, name := range []string{"a", "b"} {
		n := drain.Node{ObjectMeta: drain.ObjectMeta{Name: name, UID: "node-" + name}}
		n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionTrue}}
		w.Nodes[name], w.Boots[name] = n, "1"
		w.create()
		w.Pods[len(w.Pods)-1].Spec.NodeName = name
		w.ready(len(w.Pods) - 1)
		w.Requests[name] = drain.Request{Name: "of-" + name, UID: "request-" + name, Requester: "admin", Purpose: drain.Maintenance, Asked: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	}
	r := w.Requests["a"]
	r.Purpose = drain.Reboot
	w.Requests["a"] = r
	return w
}

// create has the workload make a pod, which waits for a node.
func (w *tinyDrain) create() {
	w.Serial++
	var p drain.Pod
	p.Namespace, p.Name, p.Labels = "d", fmt.Sprint("p", w.Serial), map[string]string{"app": "web"}
	p.UID = "pod-" + p.Name
	yes := true
	p.OwnerReferences = []drain.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "rs", Controller: &yes}}
	p.Status.Phase = fairlead.PodPending
	w.Pods = append(slices.Clone(w.Pods), p)
}

func (w *tinyDrain) ready(i int) {
	w.Pods[i].Status.Phase = fairlead.PodRunning
	w.Pods[i].Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionTrue}}
}

func (w *tinyDrain) clone() *tinyDrain {
	n := *w
	n.Nodes, n.Boots, n.Requests, n.Pods = maps.Clone(w.Nodes), maps.Clone(w.Boots), maps.Clone(w.Requests), slices.Clone(w.Pods)
	return &n
}

// Clone implements fairlead.SmallTrial.
func (w *tinyDrain) Clone() fairlead.SmallTrial[*tinyDrain, onNode] { return w.clone() }

// Observe implements fairlead.Backend.
func (w *tinyDrain) Observe(context.Context, string) (*tinyDrain, error) { return w.clone(), nil }

// Change implements fairlead.Trial.
func (w *tinyDrain) Change() {}

// Check implements fairlead.Trial.
func (w *tinyDrain) Check() error { return nil }

// healthy is how many pods count for the budget.
func (w *tinyDrain) healthy() (n int) {
	for i := range w.Pods {
		if p := &w.Pods[i]; p.Ready() && p.DeletionTimestamp == nil {
			n++
		}
	}
	return n
}

// on returns the pods of a node.
func (w *tinyDrain) on(node string) []drain.Pod {
	return slices.DeleteFunc(slices.Clone(w.Pods), func(p drain.Pod) bool { return p.Spec.NodeName != node })
}

func silent(n drain.Node) bool { return n.Status.Conditions[0].Status != fairlead.ConditionTrue }

// onNode is an action for a node, and states are those of both nodes.
type onNode struct {
	Node   string
	Action drain.Action
}

func (a onNode) String() string { return a.Action.String() }

// Key implements fairlead.Action: that of the action, with the node.
func (a onNode) Key() fairlead.Key {
	key := a.Action.Key()
	key.Kind = a.Node + "/" + key.Kind
	return key
}

type drainStates map[string]drain.State

// drainStep decides for both nodes.
func drainStep(states drainStates, w *tinyDrain, now time.Time) fairlead.Decision[drainStates, onNode] {
	out := fairlead.Decision[drainStates, onNode]{State: drainStates{}}
	for _, name := range []string{"a", "b"} {
		node := w.Nodes[name]
		budget := drain.PodDisruptionBudget{ObjectMeta: drain.ObjectMeta{Namespace: "d", Name: "web"}}
		least := fairlead.IntOrString{Int: w.Least}
		budget.Spec.MinAvailable, budget.Spec.Selector = &least, &fairlead.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		budget.Status.CurrentHealthy, budget.Status.DesiredHealthy, budget.Status.ExpectedPods = w.healthy(), w.Least, 2
		budget.Status.DisruptionsAllowed = max(0, w.healthy()-w.Least)
		world := &drain.World{Name: name, BootID: w.Boots[name]}
		world.View = drain.View{Node: &node, Pods: w.on(name), Budgets: []drain.PodDisruptionBudget{budget}, Outcomes: w.known(name)}
		if r, ok := w.Requests[name]; ok {
			world.Requests = []drain.Request{r}
		}
		d := drain.Step(states[name], world, now, nil)
		if !d.State.Done() {
			out.State[name] = d.State
		}
		for _, a := range d.Actions {
			out.Actions = append(out.Actions, onNode{name, a})
		}
		out.Blocked = append(out.Blocked, d.Blocks()...)
		if !d.Wake.IsZero() && (out.Wake.IsZero() || d.Wake.Before(out.Wake)) {
			out.Wake = d.Wake
		}
	}
	return out
}

// known returns the outcomes of a node's actions.
func (w *tinyDrain) known(node string) (all []fairlead.Outcome) {
	for _, o := range w.Outcomes {
		if kind, is := strings.CutPrefix(o.Key.Kind, node+"/"); is {
			o.Key.Kind = kind
			all = append(all, o)
		}
	}
	return all
}

// Judge implements fairlead.Judge.
func (w *tinyDrain) Judge(_ drainStates, seen *tinyDrain, now time.Time, d fairlead.Decision[drainStates, onNode]) error {
	for _, a := range d.Actions {
		if rule := seen.broken(a.Node, a.Action, now); rule != "" {
			return errors.New(rule)
		}
	}
	return nil
}

// broken returns the rule that an action breaks, given what was seen: nobody is told
// to go on while pods run on the node or could; budgets are never passed over; what
// somebody else has cordoned stays so.
func (w *tinyDrain) broken(node string, action drain.Action, now time.Time) string {
	switch a := action.(type) {
	case drain.Report:
		// Pods that should have ended are not waited for on a node that is silent.
		waited := func(p drain.Pod) bool {
			return p.DeletionTimestamp == nil || p.DeletionTimestamp.After(now) || !silent(w.Nodes[node])
		}
		if a.Status.Phase == drain.PhaseDrained && (slices.ContainsFunc(w.on(node), waited) || !w.Nodes[node].Spec.Unschedulable) {
			return "the request for node " + node + " is told that it is drained, and it is not"
		}
	case drain.DeletePod:
		return "pod " + a.Name + " is deleted whatever its budget says"
	case drain.Evict:
		if !w.Nodes[node].Spec.Unschedulable {
			return "pod " + a.Name + " is evicted, and its node takes pods"
		}
	case drain.Uncordon:
		if r, ok := w.Requests[node]; ok && !r.Cancelled && !r.Paused && r.Purpose != drain.Reboot {
			return "node " + node + " is given back, and is asked for"
		}
		if node == "a" && w.ByHand {
			return "node a is given back, and somebody else has cordoned it"
		}
	}
	return ""
}

// Apply implements fairlead.Backend.
func (w *tinyDrain) Apply(_ context.Context, _ string, on onNode) error {
	now := w.clock.Now()
	refused := fmt.Errorf("it is another one")
	node := func(name, uid string, change func(*drain.Node)) error {
		n := w.Nodes[name]
		if n.UID != uid {
			return refused
		}
		change(&n)
		w.Nodes[name] = n
		return nil
	}
	switch a := on.Action.(type) {
	case drain.Cordon:
		return node(a.Node, a.UID, func(n *drain.Node) {
			n.Spec.Unschedulable, n.Annotations = true, map[string]string{drain.CordonAnnotation: a.Mark}
		})
	case drain.Uncordon:
		return node(a.Node, a.UID, func(n *drain.Node) { n.Spec.Unschedulable, n.Annotations = false, nil })
	case drain.Evict:
		i := slices.IndexFunc(w.Pods, func(p drain.Pod) bool { return p.UID == a.UID })
		switch {
		case i < 0:
			return &fairlead.RefusedError{Code: 404, Message: "it is gone"}
		case w.Pods[i].DeletionTimestamp != nil:
			return nil
		case w.Pods[i].Ready() && w.healthy() <= w.Least:
			return &fairlead.RefusedError{Code: 429, Message: "its budget does not allow it"}
		}
		end, grace := now.Add(30*time.Second), int64(30)
		w.Pods[i].DeletionTimestamp, w.Pods[i].DeletionGracePeriodSeconds = &end, &grace
		w.create()
	case drain.Report:
		for name, r := range w.Requests {
			if r.UID == a.UID {
				r.Status = a.Status
				w.Requests[name] = r
			}
		}
	default:
		return fmt.Errorf("there is no action %T", a)
	}
	return nil
}

// Events implements fairlead.SmallTrial.
func (w *tinyDrain) Events() (all []fairlead.Event) {
	add := func(name string, sure bool, do func()) {
		all = append(all, fairlead.Event{Name: name, Sure: sure, Do: do})
	}
	w.podMoves(add)
	request := func(name string, change func(*drain.Request)) func() {
		return func() {
			r := w.Requests[name]
			change(&r)
			w.Requests[name] = r
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.Requests)) {
		switch r := w.Requests[name]; {
		case r.Status.Phase == drain.PhaseOver:
			add("request for "+name+" is deleted", true, func() { delete(w.Requests, name) })
		case r.Status.Phase == drain.PhaseDrained && r.Purpose == drain.Maintenance && !r.Cancelled:
			add("work on "+name+" is done", true, request(name, func(r *drain.Request) { r.Cancelled = true }))
		case r.Status.Phase == drain.PhaseDrained && r.Purpose == drain.Reboot && w.Boots[name] == "1":
			add("node "+name+" boots", true, func() {
				w.Boots[name] = "2"
				w.Pods = slices.DeleteFunc(w.Pods, func(p drain.Pod) bool { return p.Spec.NodeName == name })
			})
		}
	}
	r, ok := w.Requests["a"]
	if !ok {
		return all
	}
	switch {
	case r.Paused:
		add("request goes on", true, request("a", func(r *drain.Request) { r.Paused = false }))
	case w.Pauses > 0:
		add("request is paused", false, func() { w.Pauses--; request("a", func(r *drain.Request) { r.Paused = true })() })
	}
	if w.Cancels > 0 && !r.Cancelled {
		add("request is taken back", false, func() { w.Cancels--; request("a", func(r *drain.Request) { r.Cancelled = true })() })
	}
	if w.Requested > 0 {
		add("request is made again", false, func() {
			w.Requested--
			request("a", func(r *drain.Request) { r.UID += "x"; r.Status = drain.Status{}; r.Purpose = drain.Maintenance })()
		})
	}
	return all
}

// podMoves are those of pods, budgets and nodes.
func (w *tinyDrain) podMoves(add func(string, bool, func())) {
	for i := range w.Pods {
		p := &w.Pods[i]
		if p.Spec.NodeName == "" {
			for _, name := range []string{"a", "b"} {
				if n := w.Nodes[name]; !n.Spec.Unschedulable && !silent(n) {
					add(p.Name+" starts on "+name, true, func() { w.Pods[i].Spec.NodeName = name; w.ready(i) })
				}
			}
		}
	}
	switch {
	case w.Least == 2:
		add("budget allows again", true, func() { w.Least = 1 })
	case w.Tightens > 0:
		add("budget allows nothing", false, func() { w.Tightens--; w.Least = 2 })
	}
	a := w.Nodes["a"]
	set := func(change func(*drain.Node)) func() {
		return func() {
			n := w.Nodes["a"]
			change(&n)
			w.Nodes["a"] = n
		}
	}
	ready := func(s fairlead.ConditionStatus) func() {
		return set(func(n *drain.Node) { n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: s}} })
	}
	switch {
	case silent(a):
		add("node a is back", true, ready(fairlead.ConditionTrue))
	case w.Silences > 0:
		add("node a falls silent", false, func() { w.Silences--; ready(fairlead.ConditionUnknown)() })
	}
	if w.Again > 0 {
		add("node a registers again", false, func() {
			w.Again--
			set(func(n *drain.Node) { n.UID += "x"; n.Spec.Unschedulable = false })()
		})
	}
	if w.ByHand {
		add("node a is uncordoned", true, func() {
			w.ByHand = false
			set(func(n *drain.Node) { n.Spec.Unschedulable = false })()
		})
	} else if w.Cordons > 0 && !a.Spec.Unschedulable {
		add("node a is cordoned", false, func() {
			w.Cordons--
			w.ByHand = true
			set(func(n *drain.Node) { n.Spec.Unschedulable = true })()
		})
	}
}

// Pass implements fairlead.Passing: it ends pods whose grace is over, on nodes that are
// heard of.
func (w *tinyDrain) Pass() {
	now := w.clock.Now()
	w.Pods = slices.DeleteFunc(w.Pods, func(p drain.Pod) bool {
		return p.DeletionTimestamp != nil && !p.DeletionTimestamp.After(now) && !silent(w.Nodes[p.Spec.NodeName])
	})
}

// Next implements fairlead.Passing.
func (w *tinyDrain) Next() (next time.Time) {
	for _, p := range w.Pods {
		if p.DeletionTimestamp != nil && (next.IsZero() || p.DeletionTimestamp.Before(next)) && !silent(w.Nodes[p.Spec.NodeName]) {
			next = *p.DeletionTimestamp
		}
	}
	return next
}

// Settled implements fairlead.Trial: nobody asks for anything, both nodes take pods, and
// all pods are ready.
func (w *tinyDrain) Settled(string) error {
	if len(w.Requests) == 0 && !w.Nodes["a"].Spec.Unschedulable && !w.Nodes["b"].Spec.Unschedulable && w.healthy() == w.Wanted && len(w.Pods) == w.Wanted {
		return nil
	}
	return fmt.Errorf("%d requests, %d pods ready of %d that are wanted", len(w.Requests), w.healthy(), w.Wanted)
}

// Excuses implements fairlead.Excuser: a Block is an excuse as long as somebody else is
// about to do something.
func (w *tinyDrain) Excuses(blocked []fairlead.Block) bool {
	return slices.ContainsFunc(w.Events(), func(e fairlead.Event) bool { return e.Sure }) &&
		slices.ContainsFunc(blocked, func(b fairlead.Block) bool { return b.Unblock != "" })
}

// TestVisit visits every state of small worlds.
func TestVisit(t *testing.T) {
	engine := fairlead.Engine[drainStates, *tinyDrain, onNode]{
		Name: "drain", Version: 1, Step: drainStep,
		Outcomes: func(w *tinyDrain, all []fairlead.Outcome) *tinyDrain { w.Outcomes = all; return w },
	}
	for _, o := range []struct {
		name string
		set  func(*tinyDrain)
	}{
		{"bare", func(w *tinyDrain) { // small enough to be visited whole
			delete(w.Requests, "a")
			w.Pods, w.Wanted = nil, 0
		}},
		{"refused", func(w *tinyDrain) { // one pod, whose eviction fails: deep enough to see when it is tried again
			delete(w.Requests, "b")
			w.Pods, w.Wanted, w.Least = w.Pods[:1], 1, 0
		}},
		{"plain", func(*tinyDrain) {}},
		{"budget", func(w *tinyDrain) { w.Tightens = 1 }},
		{"silent", func(w *tinyDrain) { w.Silences = 1 }},
		{"again", func(w *tinyDrain) { w.Again = 1 }},
		{"paused", func(w *tinyDrain) { w.Pauses, w.Cancels = 1, 1 }},
		{"cordoned", func(w *tinyDrain) { w.Cordons = 1 }},
		{"made again", func(w *tinyDrain) { w.Requested = 1 }},
	} {
		t.Run(o.name, func(t *testing.T) {
			w := newTinyDrain()
			o.set(w)
			open := func(_ *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[*tinyDrain, onNode] {
				n := w.clone()
				n.clock = clock
				return n
			}
			states := map[bool]int{true: 2_000, false: 200}[o.name == "bare" || o.name == "refused"]
			visit := fairlead.VisitOptions{States: long.N(states, 10_000_000), Ends: true, Patience: 6 * time.Minute, Horizon: 15 * time.Minute, Log: t.Log}
			if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: -1, Visit: visit}); err != nil {
				t.Error(err)
			}
		})
	}
}
