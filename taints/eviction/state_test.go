package eviction_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/taints/eviction"
)

// TestStateVersion1: state that was saved before the values of taints were kept
// is read, and nobody gets more time by that.
func TestStateVersion1(t *testing.T) {
	clock, store := new(fairlead.ManualClock), new(fairlead.MemStore)
	clock.Set(start.Add(200 * time.Second))
	const old = `{"version":1,"name":"n","state":{"uid":"n","taints":[{"key":"maint","since":"2026-03-01T12:00:00Z"}]}}`
	if _, err := store.Put(t.Context(), fairlead.StateKey("taints", "n"), []byte(old), ""); err != nil {
		t.Fatal(err)
	}
	b := &eviction.MemBackend{Clock: clock}
	b.PutNode(fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n", UID: "n"}, Spec: fairlead.NodeSpec{Taints: []fairlead.Taint{{Key: "maint", Value: "hard", Effect: fairlead.NoExecute}}}})
	p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "ns", Name: "p", UID: "p"}}
	p.Spec.NodeName = "n"
	p.Spec.Tolerations = []fairlead.Toleration{{Key: "maint", Operator: fairlead.TolerationExists, TolerationSeconds: new(int64(300))}}
	b.PutPod(p)
	r, err := eviction.NewRunner(b, nil, &fairlead.RunnerOptions{Clock: clock, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.Reconcile(t.Context(), "n")
	if want := start.Add(300 * time.Second); err != nil || !d.Wake.Equal(want) || d.State.Taints[0].Value != "hard" {
		t.Errorf("looks again at %s, %v, with %+v; want %s", d.Wake, err, d.State.Taints, want)
	}
}

// TestOnlyItsPods: what a World holds beside the pods of its node is left alone,
// and who is listed twice leaves once.
func TestOnlyItsPods(t *testing.T) {
	on := func(name, node string) fairlead.Pod {
		p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "ns", Name: name, UID: name}}
		p.Spec.NodeName = node
		p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionTrue}}
		return p
	}
	w := &eviction.World{Name: "n", Node: &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n", UID: "n"}}}
	w.Node.Spec.Taints = []fairlead.Taint{{Key: "x", Effect: fairlead.NoExecute}}
	w.Node.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionUnknown, LastTransitionTime: start}}
	w.Pods = []fairlead.Pod{on("p", "n"), on("other", "m"), on("waits", ""), on("q", "n"), on("p", "n")}
	d := eviction.Step(eviction.State{}, w, start, &eviction.Policy{NodeLifecycle: &eviction.NodeLifecycle{}})
	evicted, marked := map[string]int{}, map[string]int{}
	for _, a := range d.Actions {
		switch a := a.(type) {
		case eviction.Evict:
			evicted[a.Pod.Name]++
		case eviction.MarkNotReady:
			marked[a.Pod.Name]++
		}
	}
	want := map[string]int{"p": 1, "q": 1}
	if !maps.Equal(evicted, want) || !maps.Equal(marked, want) {
		t.Errorf("evicted %v, marked as not ready %v, want %v of both", evicted, marked, want)
	}
	if n := len(d.State.Retries); n != 5 {
		t.Errorf("%d actions are remembered", n)
	}
}

// TestJSON: decisions with their actions, states, worlds and policies are read back
// as they were written, and durations are written as people write them.
func TestJSON(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	policy := &eviction.Policy{MinBackoff: 2 * time.Second, RespectBudgets: true, NodeLifecycle: &eviction.NodeLifecycle{GracePeriod: 5 * time.Minute}}
	text := encode(t, policy)
	if want := `{"minBackoff":"2s","respectBudgets":true,"nodeLifecycle":{"gracePeriod":"5m0s"}}`; string(text) != want {
		t.Errorf("a policy is written %s, want %s", text, want)
	}
	var again eviction.Policy
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(&again, policy) {
		t.Errorf("read back %+v, %v", again, err)
	}
	actions := map[string]int{}
	for range long.N(500, 50_000) {
		w := garbage(rnd)
		for i := range w.Pods {
			w.Pods[i].Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionTrue}}
		}
		d := eviction.Step(eviction.State{}, w, start, policy)
		z := eviction.ZoneStep(eviction.ZoneState{}, &eviction.ZoneWorld{Nodes: nodesOf(w)}, start, policy)
		for _, a := range append(slices.Clone(d.Actions), z.Actions...) {
			actions[a.Key().Kind]++
			if a.String() == "" || strings.Contains(a.String(), "\n") {
				t.Errorf("%#v in words: %q", a, a)
			}
		}
		same(t, w, new(eviction.World))
		same(t, &d, new(eviction.Decision))
		same(t, &z, new(eviction.ZoneDecision))
	}
	if len(actions) != 4 {
		t.Errorf("not every action came up: %v", actions)
	}
}

func nodesOf(w *eviction.World) []fairlead.Node {
	if w.Node == nil {
		return nil
	}
	return []fairlead.Node{*w.Node}
}

// same writes a value, reads it into another, and writes that: the texts must be
// the same.
func same(t *testing.T, v, into any) {
	t.Helper()
	before := encode(t, v)
	if err := json.Unmarshal(before, into); err != nil {
		t.Fatalf("%s: %v", before, err)
	}
	if after := encode(t, into); !bytes.Equal(before, after) {
		t.Fatalf("read back\n%s\nwas\n%s", after, before)
	}
}

// TestClockSetBack: whatever the engine has recorded, a clock that is set back by
// six hours delays neither an eviction nor its repetition, nor the silence of a
// node, nor a token, by more than they take from then on.
func TestClockSetBack(t *testing.T) {
	back := start.Add(-6 * time.Hour)
	node := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n", UID: "n"}}
	node.Spec.Taints = []fairlead.Taint{{Key: "x", Effect: fairlead.NoExecute}}
	pod := func(name string, seconds int64) fairlead.Pod {
		p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "ns", Name: name, UID: name, CreationTimestamp: start}}
		p.Spec.NodeName = "n"
		p.Spec.Tolerations = []fairlead.Toleration{{Key: "x", Operator: fairlead.TolerationExists, TolerationSeconds: &seconds}}
		return p
	}
	w := &eviction.World{Name: "n", Node: node, Pods: []fairlead.Pod{pod("now", 0), pod("later", 300)}}
	d := eviction.Step(eviction.State{}, w, start, nil)
	if len(d.Actions) != 1 {
		t.Fatalf("at first: %v", d.Actions)
	}
	d = eviction.Step(d.State, w, back, nil)
	if len(d.Actions) != 1 || !d.Wake.Equal(back.Add(2*time.Second)) {
		t.Errorf("set back: %v, wake %s; want the eviction again, and the next in 2 s", d.Actions, d.Wake)
	}
	if d = eviction.Step(d.State, w, back.Add(300*time.Second), nil); len(d.Actions) != 2 {
		t.Errorf("300 s after that: %v; want both evicted", d.Actions)
	}

	policy := &eviction.Policy{NodeLifecycle: &eviction.NodeLifecycle{}}
	silent := &eviction.World{Name: "n", Node: &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n", UID: "n"}}, Heard: start.Add(-40 * time.Second), LeaseRenewed: start}
	d = eviction.Step(eviction.State{}, silent, start, policy)
	silent.Heard = back // as a Runner tells it, which keeps the rule, too
	d = eviction.Step(d.State, silent, back, policy)
	if d = eviction.Step(d.State, silent, back.Add(50*time.Second), policy); !slices.ContainsFunc(d.Actions, func(a eviction.Action) bool { return a.Key().Kind == "SetConditions" }) {
		t.Errorf("50 s after the clock was set back a silent node is not told of: %v", d.Actions)
	}

	l := newLine(t, 2)
	l.want(0, "", "a")
	l.want(-6*3600, "", "")
	l.want(10, "", "b")
}
