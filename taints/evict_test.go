package taints_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/loop"
	"github.com/fairlead/fairlead/internal/object"
	"github.com/fairlead/fairlead/taints"
)

// TestEvictAt compares with the plain reading of the rules.
func TestEvictAt(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	keys := []string{"x", "y", "z"}
	times := []int64{math.MinInt64, -1, 0, 1, 30, 600}
	left := 0
	for range long.N(10_000, 2_000_000) {
		var on []taints.Started
		var plain []taints.Taint
		for _, k := range keys[:rnd.IntN(4)] {
			taint := taints.Taint{Key: k, Effect: []taints.TaintEffect{taints.NoExecute, taints.NoExecute, taints.NoSchedule}[rnd.IntN(3)]}
			s := taints.Started{Taint: taint, Since: start.Add(time.Duration(rnd.IntN(100)) * time.Second)}
			for rnd.IntN(2) == 0 {
				s.Before = append(s.Before, taints.Taint{Key: keys[rnd.IntN(3)], Effect: taints.NoExecute})
				s.First = s.Since.Add(-time.Duration(rnd.IntN(500)) * time.Second)
			}
			on = append(on, s)
			plain = append(plain, taint)
		}
		pod := &taints.Pod{ObjectMeta: taints.ObjectMeta{CreationTimestamp: start.Add(time.Duration(rnd.IntN(150)-50) * time.Second)}}
		for range rnd.IntN(4) {
			o := taints.Toleration{Key: keys[rnd.IntN(3)], Operator: taints.Exists, Effect: taints.NoExecute}
			if n := times[rnd.IntN(len(times))]; rnd.IntN(3) > 0 {
				o.TolerationSeconds = &n
			}
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, o)
		}
		bounded := *pod // what the plain reading understands
		bounded.Spec.Tolerations = slices.Clone(pod.Spec.Tolerations)
		for i := range bounded.Spec.Tolerations {
			if s := bounded.Spec.Tolerations[i].TolerationSeconds; s != nil && *s < 0 {
				bounded.Spec.Tolerations[i].TolerationSeconds = new(int64)
			}
		}
		want, leaves := deadline(&bounded, plain, func(t *taints.Taint) began {
			i := slices.IndexFunc(on, func(s taints.Started) bool { return s.Taint == *t })
			return began{on[i].Since, on[i].First, on[i].Before}
		})
		got := taints.EvictAt(pod, on, nil)
		if got.Evict() != leaves || leaves && !got.At.Equal(want) {
			t.Fatalf("%+v with %+v: got %v, want %v %v", pod.Spec.Tolerations, on, got, leaves, want)
		}
		if leaves {
			left++
		}
	}
	if left < 1000 {
		t.Errorf("only %d pods had to leave", left)
	}
}

// TestEvictAtFarAway: no number of seconds overflows.
func TestEvictAtFarAway(t *testing.T) {
	for _, n := range []int64{math.MaxInt64, math.MaxInt64 / int64(time.Second), 1 << 40, 1<<38 + 1, 1 << 31, 1<<31 - 1} {
		for _, since := range []time.Time{{}, start, time.Unix(1<<40, 0), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)} {
			pod := &taints.Pod{}
			pod.Spec.Tolerations = []taints.Toleration{{Operator: taints.Exists, TolerationSeconds: &n}}
			d := taints.EvictAt(pod, []taints.Started{{Taint: taints.Taint{Key: "x", Effect: taints.NoExecute}, Since: since}}, nil)
			if d.Evict() && (d.At.Before(since) || d.At.Year() > 9999) {
				t.Errorf("%d seconds after %s: %s", n, since, d.At)
			}
		}
	}
}

// garbage draws worlds that no cluster should hold.
func garbage(rnd *rand.Rand) *taints.World {
	texts := []string{"", "n", "x", "ns", strings.Repeat("long", 500), "\x00é", "node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready"}
	text := func() string { return texts[rnd.IntN(len(texts))] }
	instants := []time.Time{{}, start, start.Add(time.Hour), time.Unix(0, 0), time.Date(9999, 12, 31, 23, 59, 59, 999, time.UTC), time.Unix(1<<36, 5)}
	instant := func() time.Time { return instants[rnd.IntN(len(instants))] }
	w := &taints.World{Name: "n", LeaseRenewed: instant(), Heard: instant()}
	w.Zones.Disrupted = rnd.IntN(4) == 0
	if rnd.IntN(10) > 0 {
		w.Node = &taints.Node{ObjectMeta: taints.ObjectMeta{Name: text(), UID: text(), CreationTimestamp: instant()}}
		for range rnd.IntN(5) {
			at := instant()
			t := taints.Taint{Key: text(), Value: text(), Effect: taints.TaintEffect([]string{"NoExecute", "NoExecute", "NoSchedule", ""}[rnd.IntN(4)]), TimeAdded: &at}
			if rnd.IntN(2) == 0 {
				t.TimeAdded = nil
			}
			w.Node.Spec.Taints = append(w.Node.Spec.Taints, t)
		}
		for range rnd.IntN(4) {
			w.Node.Status.Conditions = append(w.Node.Status.Conditions, taints.NodeCondition{
				Type: []string{"Ready", "", "MemoryPressure"}[rnd.IntN(3)], Status: object.ConditionStatus([]string{"True", "False", "Unknown", "?"}[rnd.IntN(4)]),
				LastHeartbeatTime: instant(), LastTransitionTime: instant(),
			})
		}
	}
	for range rnd.IntN(6) {
		p := taints.Pod{ObjectMeta: taints.ObjectMeta{Namespace: text(), Name: text(), UID: text(), CreationTimestamp: instant()}}
		p.Spec.NodeName = []string{"n", "n", "n", "m", ""}[rnd.IntN(5)]
		p.Status.Phase = taints.PodPhase(text())
		for range rnd.IntN(3) {
			n := []int64{math.MinInt64, -1, 0, 1, 1 << 33, math.MaxInt64}[rnd.IntN(6)]
			o := taints.Toleration{Key: text(), Operator: taints.TolerationOperator([]string{"", "Exists", "Equal", "Lt", "?"}[rnd.IntN(5)]), Effect: taints.TaintEffect(text()), TolerationSeconds: &n}
			if rnd.IntN(3) == 0 {
				o.TolerationSeconds = nil
			}
			p.Spec.Tolerations = append(p.Spec.Tolerations, o)
		}
		w.Pods = append(w.Pods, p)
		if rnd.IntN(5) == 0 {
			w.Pods = append(w.Pods, p)
		}
	}
	if rnd.IntN(3) == 0 {
		w.Budgets = []taints.PodDisruptionBudget{{Spec: object.BudgetSpec{Selector: &object.LabelSelector{}}}, {}}
	}
	return w
}

// TestStepPure: whatever the world holds, Step does not panic, leaves its
// arguments as they are, answers the same twice, and remembers the same after its
// state was written and read; a clock that jumps does no harm either.
func TestStepPure(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 1))
	policies := []*taints.Policy{
		nil, {RespectBudgets: true, MaxAttempts: 2, MaxInFlight: 1}, {Lifecycle: &taints.Lifecycle{}, Match: taints.MatchLongest},
		{Lifecycle: &taints.Lifecycle{}, Options: &taints.Options{ComparisonOperators: true}},
	}
	for range long.N(500, 200_000) {
		policy := policies[rnd.IntN(len(policies))]
		var state taints.State
		now := start
		for range 3 {
			w := garbage(rnd)
			before := encode(t, []any{state, w})
			d := taints.Step(state, w, now, policy)
			if after := encode(t, []any{state, w}); !bytes.Equal(before, after) {
				t.Fatalf("Step has changed its arguments:\n%s\n%s", before, after)
			}
			var read taints.State
			if err := json.Unmarshal(encode(t, state), &read); err != nil {
				t.Fatal(err)
			}
			if e := taints.Step(read, w, now, policy); !bytes.Equal(encode(t, d), encode(t, e)) {
				t.Fatalf("after the state was read again Step decides otherwise:\n%s\n%s", encode(t, d), encode(t, e))
			}
			state = d.State
			now = now.Add(time.Duration(rnd.Int64N(int64(4*time.Hour))) - 2*time.Hour)
		}
	}
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestHugeNode: what Step remembers fits a Store, whatever the node holds.
func TestHugeNode(t *testing.T) {
	long := func(i int, n int) string { return fmt.Sprintf("%0*d", n, i) }
	w := &taints.World{Name: "n", Node: &taints.Node{ObjectMeta: taints.ObjectMeta{Name: "n", UID: "u"}}}
	for i := range 300 {
		w.Node.Spec.Taints = append(w.Node.Spec.Taints, taints.Taint{Key: long(i, 317), Effect: taints.NoExecute})
	}
	for i := range 3000 {
		p := taints.Pod{ObjectMeta: taints.ObjectMeta{Namespace: long(1, 253), Name: long(i, 253), UID: long(i, 253)}}
		p.Spec.NodeName = "n"
		w.Pods = append(w.Pods, p)
	}
	for _, policy := range []*taints.Policy{{MaxInFlight: 1000}} {
		w.Failures = nil
		d := taints.Step(taints.State{}, w, start, policy)
		if size := len(encode(t, d.State)); size > fairlead.MaxValueSize {
			t.Errorf("the state has %d bytes", size)
		}
		if len(d.Actions) < 500 || !slices.ContainsFunc(d.Blocked, func(b fairlead.Block) bool { return b.Reason == taints.ReasonThrottled }) {
			t.Errorf("%d actions, and nobody says that there would be more", len(d.Actions))
		}
	}
}

// TestPolicyCheck: what has no meaning is refused, by the name of its field.
func TestPolicyCheck(t *testing.T) {
	nan := math.NaN()
	for field, p := range map[string]*taints.Policy{
		"match":                            {Match: "Last"},
		"minBackoff":                       {MinBackoff: -1},
		"maxBackoff":                       {MaxBackoff: -1},
		"maxAttempts, maxInFlight":         {MaxInFlight: 1001},
		"lifecycle.sizeOf":                 {Lifecycle: &taints.Lifecycle{SizeOf: "Zone"}},
		"lifecycle.gracePeriod":            {Lifecycle: &taints.Lifecycle{GracePeriod: -1}},
		"lifecycle.nodeEvictionRate":       {Lifecycle: &taints.Lifecycle{NodeEvictionRate: math.Inf(1)}},
		"lifecycle.fullDisruptionRate":     {Lifecycle: &taints.Lifecycle{FullDisruptionRate: &nan}},
		"lifecycle.unhealthyZoneThreshold": {Lifecycle: &taints.Lifecycle{UnhealthyZoneThreshold: 55}},
		"lifecycle.recoveryThreshold":      {Lifecycle: &taints.Lifecycle{RecoveryThreshold: 0.6}},
	} {
		var wrong *taints.PolicyError
		if err := p.Check(); !errors.As(err, &wrong) || !strings.HasPrefix(wrong.Field, field) || wrong.Problem == "" {
			t.Errorf("%s: got %v", field, err)
		}
		if _, err := taints.NewRunner(new(taints.MemBackend), p, nil); err == nil {
			t.Errorf("%s: a runner takes it", field)
		}
	}
	for _, p := range []*taints.Policy{nil, {}, {Lifecycle: &taints.Lifecycle{}}, {Lifecycle: &taints.Lifecycle{NodeEvictionRate: -1, LargeClusterSize: -1}}} {
		if err := p.Check(); err != nil {
			t.Error(err)
		}
	}
}

// onlyNodes hides that a backend sees all zones.
type onlyNodes struct{ taints.Backend }

// TestNoZones: a lifecycle needs a backend that sees all zones.
func TestNoZones(t *testing.T) {
	_, err := taints.NewRunner(onlyNodes{new(taints.MemBackend)}, &taints.Policy{Lifecycle: &taints.Lifecycle{}}, nil)
	if err == nil || !strings.Contains(err.Error(), "ObserveZones") {
		t.Errorf("got %v", err)
	}
}

// batch counts, and fails for one pod.
type batch struct {
	*taints.MemBackend
	calls int
}

func (b *batch) ApplyAll(ctx context.Context, node string, actions []taints.Action) []error {
	b.calls++
	errs := make([]error, len(actions))
	for i, a := range actions {
		if e, ok := a.(taints.Evict); ok && e.Pod.Name == "p1" {
			errs[i] = errors.New("not this one")
			continue
		}
		errs[i] = b.Apply(ctx, node, a)
	}
	return errs
}

// TestApplyAll: many actions go at once, and each has its own error.
func TestApplyAll(t *testing.T) {
	b := &batch{MemBackend: new(taints.MemBackend)}
	b.PutNode(taints.Node{ObjectMeta: taints.ObjectMeta{Name: "n"}, Spec: taints.NodeSpec{Taints: []taints.Taint{{Key: "x", Effect: taints.NoExecute}}}})
	for i := range 3 {
		p := taints.Pod{ObjectMeta: taints.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("p%d", i), UID: fmt.Sprint(i)}}
		p.Spec.NodeName = "n"
		b.PutPod(p)
	}
	r, err := taints.NewRunner(b, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), "n"); err == nil || b.calls != 1 {
		t.Errorf("%d calls, %v", b.calls, err)
	}
	d, err := r.Preview(t.Context(), "n")
	if err != nil || len(d.Blocked) != 1 || !strings.Contains(d.Blocked[0].Message, "not this one") {
		t.Errorf("got %v, %v", d.Blocked, err)
	}
}

// TestReport: a node that is heard of again tells of all that had become unknown.
func TestReport(t *testing.T) {
	clock := new(fairlead.ManualClock)
	clock.Set(start)
	b := &taints.MemBackend{Clock: clock}
	b.PutNode(taints.Node{ObjectMeta: taints.ObjectMeta{Name: "n", UID: "n"}})
	b.Report("n", true)
	r, err := taints.NewRunner(b, &taints.Policy{Lifecycle: &taints.Lifecycle{}}, &fairlead.RunnerOptions{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	says := func() string {
		n, _ := b.Node("n")
		text := ""
		for _, c := range n.Status.Conditions {
			text += fmt.Sprintf("%s=%s ", c.Type, c.Status)
		}
		return text
	}
	if _, err := r.Reconcile(t.Context(), "n"); err != nil {
		t.Fatal(err)
	}
	clock.Set(start.Add(time.Minute))
	if _, err := r.Reconcile(t.Context(), "n"); err != nil {
		t.Fatal(err)
	}
	if got, want := says(), "Ready=Unknown MemoryPressure=Unknown DiskPressure=Unknown PIDPressure=Unknown "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	b.Report("n", true)
	if got, want := says(), "Ready=True MemoryPressure=False DiskPressure=False PIDPressure=False "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestRun lets a Runner run: a zone loses a node, whose pods leave when the time
// has come, and nobody looks in vain.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := new(fairlead.ManualClock)
		clock.Set(start)
		var left []string
		b := &taints.MemBackend{Clock: clock, Changed: func(a taints.Action) {
			left = append(left, clock.Now().Sub(start).Round(time.Second).String()+" "+describe(a))
		}}
		for _, n := range []string{"n", "m", "k"} {
			b.PutNode(taints.Node{ObjectMeta: taints.ObjectMeta{Name: n, UID: n}})
			b.Report(n, true)
		}
		p := taints.Pod{ObjectMeta: taints.ObjectMeta{Namespace: "ns", Name: "p", UID: "p"}}
		p.Spec.NodeName = "n"
		p.Spec.Tolerations = []taints.Toleration{{Key: unreachable, Operator: taints.Exists, TolerationSeconds: new(int64(300))}}
		b.PutPod(p)
		var passes atomic.Int64 // of both loops
		r, err := taints.NewRunner(b, &taints.Policy{Lifecycle: &taints.Lifecycle{}}, &fairlead.RunnerOptions{
			Clock: clock, Workers: 1, Trace: &fairlead.Trace{Begin: func(string) { passes.Add(1) }},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		for synctest.Wait(); clock.Now().Before(start.Add(10 * time.Minute)); synctest.Wait() {
			next, ok := clock.Next()
			if !ok {
				t.Fatal("nobody waits for anything")
			}
			b.Report("m", true)
			b.Report("k", true)
			clock.Set(next)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		want := []string{"50s conditions of n", "50s taints of n +node.kubernetes.io/unreachable=:NoExecute", "50s taints of n +node.kubernetes.io/unreachable=:NoSchedule", "5m50s evict ns/p"}
		text := strings.Join(left, "\n")
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("no %q in\n%s", w, text)
			}
		}
		if n := passes.Load(); n > 200 {
			t.Errorf("%d passes in ten minutes", n)
		}
	})
}

// TestModes is the table of what the state of a zone depends on, and of the
// limiter that it has then. (MonitorNodeHealth, SwapLimiter)
func TestModes(t *testing.T) {
	fleet := func(ready, unready int) *taints.Fleet {
		f := new(taints.Fleet)
		for i := range ready + unready {
			n := taints.Node{ObjectMeta: taints.ObjectMeta{Name: fmt.Sprintf("n%03d", i), UID: fmt.Sprint(i), Labels: map[string]string{taints.LabelZone: "a"}}}
			status := object.ConditionTrue
			if i >= ready {
				status = object.ConditionFalse
			}
			n.Status.Conditions = []taints.NodeCondition{{Type: "Ready", Status: status, LastTransitionTime: start}}
			f.Nodes = append(f.Nodes, n)
		}
		other := f.Nodes[0]
		other.Name, other.UID, other.Labels = "other", "other", nil
		other.Status.Conditions = []taints.NodeCondition{{Type: "Ready", Status: object.ConditionTrue}}
		f.Nodes = append(f.Nodes, other) // so that not all is dark
		return f
	}
	for _, c := range []struct {
		ready, unready int
		mode           taints.ZoneMode
		rate           float64
	}{
		{1, 0, taints.ZoneNormal, 0.1}, {0, 1, taints.ZoneFullDisruption, 0.1}, {1, 2, taints.ZoneNormal, 0.1}, {2, 3, taints.ZonePartialDisruption, 0},
		{9, 11, taints.ZonePartialDisruption, 0}, {46, 54, taints.ZoneNormal, 0.1}, {45, 55, taints.ZonePartialDisruption, 0.01},
		{10, 40, taints.ZonePartialDisruption, 0}, {10, 41, taints.ZonePartialDisruption, 0.01}, {0, 60, taints.ZoneFullDisruption, 0.1},
	} {
		d := taints.ZoneStep(taints.ZoneState{}, fleet(c.ready, c.unready), start, nil)
		z := d.State.Zones[1]
		if z.Name != "/a" || z.Mode != c.mode || z.Rate != c.rate {
			t.Errorf("%d ready, %d not: %+v", c.ready, c.unready, z)
		}
		if tokens := len(d.Actions); (c.rate > 0 && c.unready > 0) != (tokens == 1) {
			t.Errorf("%d ready, %d not: %d tokens at first", c.ready, c.unready, tokens)
		}
	}
	// From no tokens to some: the first comes after an interval; from some to others: so too; the same again: no change.
	d := taints.ZoneStep(taints.ZoneState{}, fleet(2, 3), start, nil)
	d = taints.ZoneStep(d.State, fleet(5, 3), start.Add(time.Hour), nil)
	if want := start.Add(time.Hour + 10*time.Second); len(d.Actions) != 0 || !d.Wake.Equal(want) {
		t.Errorf("after a stop: %d tokens, wake %s", len(d.Actions), d.Wake)
	}
	again := taints.ZoneStep(d.State, fleet(5, 3), start.Add(time.Hour+time.Second), nil)
	if !again.Wake.Equal(d.Wake) || !reflect.DeepEqual(again.State, d.State) {
		t.Errorf("at the same rate: %+v, was %+v", again.State, d.State)
	}
	// No token for nodes that are ready, or have their taint.
	f := fleet(5, 3)
	for i := range f.Nodes {
		f.Nodes[i].Spec.Taints = []taints.Taint{{Key: taints.KeyNotReady, Effect: taints.NoExecute}}
	}
	if d := taints.ZoneStep(taints.ZoneState{}, f, start, nil); len(d.Actions) != 0 || !d.State.Zones[1].Next.IsZero() {
		t.Errorf("tokens for nothing: %v", d.Actions)
	}
}

// TestStateVersion1: state that was saved before the values of taints were kept
// is read, and nobody gets more time by that.
func TestStateVersion1(t *testing.T) {
	clock, store := new(fairlead.ManualClock), new(fairlead.MemStore)
	clock.Set(start.Add(200 * time.Second))
	const old = `{"version":1,"name":"n","state":{"uid":"n","taints":[{"key":"maint","since":"2026-03-01T12:00:00Z"}]}}`
	if _, err := store.Put(t.Context(), loop.Key("taints", "n"), []byte(old), ""); err != nil {
		t.Fatal(err)
	}
	b := &taints.MemBackend{Clock: clock}
	b.PutNode(taints.Node{ObjectMeta: taints.ObjectMeta{Name: "n", UID: "n"}, Spec: taints.NodeSpec{Taints: []taints.Taint{{Key: "maint", Value: "hard", Effect: taints.NoExecute}}}})
	p := taints.Pod{ObjectMeta: taints.ObjectMeta{Namespace: "ns", Name: "p", UID: "p"}}
	p.Spec.NodeName = "n"
	p.Spec.Tolerations = []taints.Toleration{{Key: "maint", Operator: taints.Exists, TolerationSeconds: new(int64(300))}}
	b.PutPod(p)
	r, err := taints.NewRunner(b, nil, &fairlead.RunnerOptions{Clock: clock, Store: store})
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
	on := func(name, node string) taints.Pod {
		p := taints.Pod{ObjectMeta: taints.ObjectMeta{Namespace: "ns", Name: name, UID: name}}
		p.Spec.NodeName = node
		p.Status.Conditions = []object.Condition{{Type: "Ready", Status: object.ConditionTrue}}
		return p
	}
	w := &taints.World{Name: "n", Node: &taints.Node{ObjectMeta: taints.ObjectMeta{Name: "n", UID: "n"}}}
	w.Node.Spec.Taints = []taints.Taint{{Key: "x", Effect: taints.NoExecute}}
	w.Node.Status.Conditions = []taints.NodeCondition{{Type: "Ready", Status: object.ConditionUnknown, LastTransitionTime: start}}
	w.Pods = []taints.Pod{on("p", "n"), on("other", "m"), on("waits", ""), on("q", "n"), on("p", "n")}
	d := taints.Step(taints.State{}, w, start, &taints.Policy{Lifecycle: &taints.Lifecycle{}})
	evicted, marked := map[string]int{}, map[string]int{}
	for _, a := range d.Actions {
		switch a := a.(type) {
		case taints.Evict:
			evicted[a.Pod.Name]++
		case taints.MarkNotReady:
			marked[a.Pod.Name]++
		}
	}
	want := map[string]int{"p": 1, "q": 1}
	if !maps.Equal(evicted, want) || !maps.Equal(marked, want) {
		t.Errorf("evicted %v, marked as not ready %v, want %v of both", evicted, marked, want)
	}
	if n := len(d.State.Evictions); n != 2 {
		t.Errorf("%d evictions are remembered", n)
	}
}
