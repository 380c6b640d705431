package eviction_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/eviction"
)

// TestEvictAt compares with the plain reading of the rules.
func TestEvictAt(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	keys := []string{"x", "y", "z"}
	times := []int64{math.MinInt64, -1, 0, 1, 30, 600}
	left := 0
	for range long.N(10_000, 2_000_000) {
		var on []eviction.Started
		var plain []fairlead.Taint
		for _, k := range keys[:rnd.IntN(4)] {
			taint := fairlead.Taint{Key: k, Effect: []fairlead.TaintEffect{fairlead.NoExecute, fairlead.NoExecute, fairlead.NoSchedule}[rnd.IntN(3)]}
			s := eviction.Started{Taint: taint, Since: start.Add(time.Duration(rnd.IntN(100)) * time.Second)}
			for rnd.IntN(2) == 0 {
				s.Before = append(s.Before, fairlead.Taint{Key: keys[rnd.IntN(3)], Effect: fairlead.NoExecute})
				s.First = s.Since.Add(-time.Duration(rnd.IntN(500)) * time.Second)
			}
			on = append(on, s)
			plain = append(plain, taint)
		}
		pod := &fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{CreationTimestamp: start.Add(time.Duration(rnd.IntN(150)-50) * time.Second)}}
		for range rnd.IntN(4) {
			o := fairlead.Toleration{Key: keys[rnd.IntN(3)], Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute}
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
		want, leaves := deadline(&bounded, plain, func(t *fairlead.Taint) began {
			i := slices.IndexFunc(on, func(s eviction.Started) bool { return s.Taint == *t })
			return began{on[i].Since, on[i].First, on[i].Before}
		})
		got := eviction.EvictAt(pod, on, nil)
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
			pod := &fairlead.Pod{}
			pod.Spec.Tolerations = []fairlead.Toleration{{Operator: fairlead.TolerationExists, TolerationSeconds: &n}}
			d := eviction.EvictAt(pod, []eviction.Started{{Taint: fairlead.Taint{Key: "x", Effect: fairlead.NoExecute}, Since: since}}, nil)
			if d.Evict() && (d.At.Before(since) || d.At.Year() > 9999) {
				t.Errorf("%d seconds after %s: %s", n, since, d.At)
			}
		}
	}
}

// garbage draws worlds that no cluster should hold.
func garbage(rnd *rand.Rand) *eviction.World {
	texts := []string{"", "n", "x", "ns", strings.Repeat("long", 500), "\x00é", "node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready"}
	text := func() string { return texts[rnd.IntN(len(texts))] }
	instants := []time.Time{{}, start, start.Add(time.Hour), time.Unix(0, 0), time.Date(9999, 12, 31, 23, 59, 59, 999, time.UTC), time.Unix(1<<36, 5)}
	instant := func() time.Time { return instants[rnd.IntN(len(instants))] }
	w := &eviction.World{Name: "n", LeaseRenewed: instant(), Heard: instant()}
	w.Zones.Disrupted = rnd.IntN(4) == 0
	if rnd.IntN(10) > 0 {
		w.Node = &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: text(), UID: text(), CreationTimestamp: instant()}}
		for range rnd.IntN(5) {
			at := instant()
			t := fairlead.Taint{Key: text(), Value: text(), Effect: fairlead.TaintEffect([]string{"NoExecute", "NoExecute", "NoSchedule", ""}[rnd.IntN(4)]), TimeAdded: &at}
			if rnd.IntN(2) == 0 {
				t.TimeAdded = nil
			}
			w.Node.Spec.Taints = append(w.Node.Spec.Taints, t)
		}
		for range rnd.IntN(4) {
			w.Node.Status.Conditions = append(w.Node.Status.Conditions, fairlead.NodeCondition{
				Type: []string{"Ready", "", "MemoryPressure"}[rnd.IntN(3)], Status: fairlead.ConditionStatus([]string{"True", "False", "Unknown", "?"}[rnd.IntN(4)]),
				LastHeartbeatTime: instant(), LastTransitionTime: instant(),
			})
		}
	}
	for range rnd.IntN(6) {
		p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: text(), Name: text(), UID: text(), CreationTimestamp: instant()}}
		p.Spec.NodeName = []string{"n", "n", "n", "m", ""}[rnd.IntN(5)]
		p.Status.Phase = fairlead.PodPhase(text())
		for range rnd.IntN(3) {
			n := []int64{math.MinInt64, -1, 0, 1, 1 << 33, math.MaxInt64}[rnd.IntN(6)]
			o := fairlead.Toleration{Key: text(), Operator: fairlead.TolerationOperator([]string{"", "Exists", "Equal", "Lt", "?"}[rnd.IntN(5)]), Effect: fairlead.TaintEffect(text()), TolerationSeconds: &n}
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
		w.Budgets = []fairlead.PodDisruptionBudget{{Spec: fairlead.BudgetSpec{Selector: &fairlead.LabelSelector{}}}, {}}
	}
	return w
}

// TestStepPure: whatever the world holds, Step does not panic, leaves its
// arguments as they are, answers the same twice, and remembers the same after its
// state was written and read; a clock that jumps does no harm either.
func TestStepPure(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 1))
	policies := []*eviction.Policy{
		nil, {RespectBudgets: true, MaxAttempts: 2, MaxInFlight: 1}, {NodeLifecycle: &eviction.NodeLifecycle{}, Match: eviction.MatchLongest},
		{NodeLifecycle: &eviction.NodeLifecycle{}, Options: &taints.Options{ComparisonOperators: true}},
	}
	for range long.N(500, 200_000) {
		policy := policies[rnd.IntN(len(policies))]
		var state eviction.State
		now := start
		for range 3 {
			w := garbage(rnd)
			before := encode(t, []any{state, w})
			d := eviction.Step(state, w, now, policy)
			if after := encode(t, []any{state, w}); !bytes.Equal(before, after) {
				t.Fatalf("Step has changed its arguments:\n%s\n%s", before, after)
			}
			var read eviction.State
			if err := json.Unmarshal(encode(t, state), &read); err != nil {
				t.Fatal(err)
			}
			if e := eviction.Step(read, w, now, policy); !bytes.Equal(encode(t, d), encode(t, e)) {
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
	w := &eviction.World{Name: "n", Node: &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n", UID: "u"}}}
	for i := range 300 {
		w.Node.Spec.Taints = append(w.Node.Spec.Taints, fairlead.Taint{Key: long(i, 317), Effect: fairlead.NoExecute})
	}
	for i := range 3000 {
		p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: long(1, 253), Name: long(i, 253), UID: long(i, 253)}}
		p.Spec.NodeName = "n"
		w.Pods = append(w.Pods, p)
	}
	for _, policy := range []*eviction.Policy{{MaxInFlight: 1000}} {
		d := eviction.Step(eviction.State{}, w, start, policy)
		if size := len(encode(t, d.State)); size > fairlead.MaxValueSize {
			t.Errorf("the state has %d bytes", size)
		}
		if len(d.Actions) < 500 || !slices.ContainsFunc(d.Blocked, func(b fairlead.Block) bool { return b.Reason == eviction.ReasonThrottled }) {
			t.Errorf("%d actions, and nobody says that there would be more", len(d.Actions))
		}
	}
}

// TestPolicyCheck: what has no meaning is refused, by the name of its field.
func TestPolicyCheck(t *testing.T) {
	nan := math.NaN()
	for field, p := range map[string]*eviction.Policy{
		"match":                                {Match: "Last"},
		"minBackoff":                           {MinBackoff: -1},
		"maxBackoff":                           {MaxBackoff: -1},
		"maxAttempts":                          {MaxAttempts: -1},
		"maxInFlight":                          {MaxInFlight: 1001},
		"nodeLifecycle.sizeOf":                 {NodeLifecycle: &eviction.NodeLifecycle{SizeOf: "Zone"}},
		"nodeLifecycle.gracePeriod":            {NodeLifecycle: &eviction.NodeLifecycle{GracePeriod: -1}},
		"nodeLifecycle.nodeEvictionRate":       {NodeLifecycle: &eviction.NodeLifecycle{NodeEvictionRate: math.Inf(1)}},
		"nodeLifecycle.fullDisruptionRate":     {NodeLifecycle: &eviction.NodeLifecycle{FullDisruptionRate: &nan}},
		"nodeLifecycle.unhealthyZoneThreshold": {NodeLifecycle: &eviction.NodeLifecycle{UnhealthyZoneThreshold: 55}},
		"nodeLifecycle.recoveryThreshold":      {NodeLifecycle: &eviction.NodeLifecycle{RecoveryThreshold: 0.6}},
	} {
		var wrong fairlead.FieldErrors
		if err := p.Check(); !errors.As(err, &wrong) || len(wrong) != 1 || wrong[0].Path != field || wrong[0].Problem == "" {
			t.Errorf("%s: got %v", field, err)
		}
		if _, err := eviction.NewRunner(new(eviction.MemBackend), p, nil); err == nil {
			t.Errorf("%s: a runner takes it", field)
		}
	}
	for _, p := range []*eviction.Policy{nil, {}, {NodeLifecycle: &eviction.NodeLifecycle{}}, {NodeLifecycle: &eviction.NodeLifecycle{NodeEvictionRate: -1, LargeClusterSize: -1}}} {
		if err := p.Check(); err != nil {
			t.Error(err)
		}
	}
}

// onlyNodes hides that a backend sees all zones.
type onlyNodes struct{ eviction.Backend }

// TestNoZones: a lifecycle needs a backend that sees all zones.
func TestNoZones(t *testing.T) {
	_, err := eviction.NewRunner(onlyNodes{new(eviction.MemBackend)}, &eviction.Policy{NodeLifecycle: &eviction.NodeLifecycle{}}, nil)
	if err == nil || !strings.Contains(err.Error(), "ObserveZones") {
		t.Errorf("got %v", err)
	}
}

// batch counts, and fails for one pod.
type batch struct {
	*eviction.MemBackend
	calls int
}

func (b *batch) ApplyAll(ctx context.Context, node string, actions []eviction.Action) []error {
	b.calls++
	errs := make([]error, len(actions))
	for i, a := range actions {
		if e, ok := a.(eviction.Evict); ok && e.Pod.Name == "p1" {
			errs[i] = errors.New("not this one")
			continue
		}
		errs[i] = b.Apply(ctx, node, a)
	}
	return errs
}

// TestApplyAll: many actions go at once, and each has its own error.
func TestApplyAll(t *testing.T) {
	b := &batch{MemBackend: new(eviction.MemBackend)}
	b.PutNode(fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n"}, Spec: fairlead.NodeSpec{Taints: []fairlead.Taint{{Key: "x", Effect: fairlead.NoExecute}}}})
	for i := range 3 {
		p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("p%d", i), UID: fmt.Sprint(i)}}
		p.Spec.NodeName = "n"
		b.PutPod(p)
	}
	r, err := eviction.NewRunner(b, nil, nil)
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

// TestReport: a node that is heard of again reports all that had become unknown.
func TestReport(t *testing.T) {
	clock := new(fairlead.ManualClock)
	clock.Set(start)
	b := &eviction.MemBackend{Clock: clock}
	b.PutNode(fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n", UID: "n"}})
	b.Report("n", true)
	r, err := eviction.NewRunner(b, &eviction.Policy{NodeLifecycle: &eviction.NodeLifecycle{}}, &fairlead.RunnerOptions{Clock: clock})
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
		b := &eviction.MemBackend{Clock: clock, Changed: func(a eviction.Action) {
			left = append(left, clock.Now().Sub(start).Round(time.Second).String()+" "+describe(a))
		}}
		for _, n := range []string{"n", "m", "k"} {
			b.PutNode(fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: n, UID: n}})
			b.Report(n, true)
		}
		p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "ns", Name: "p", UID: "p"}}
		p.Spec.NodeName = "n"
		p.Spec.Tolerations = []fairlead.Toleration{{Key: unreachable, Operator: fairlead.TolerationExists, TolerationSeconds: new(int64(300))}}
		b.PutPod(p)
		var passes atomic.Int64 // of both loops
		r, err := eviction.NewRunner(b, &eviction.Policy{NodeLifecycle: &eviction.NodeLifecycle{}}, &fairlead.RunnerOptions{
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
		want := []string{"50s conditions of n", "50s taints of n +node.kubernetes.io/unreachable:NoExecute", "50s taints of n +node.kubernetes.io/unreachable:NoSchedule", "5m50s evict ns/p"}
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
	fleet := func(ready, unready int) *eviction.ZoneWorld {
		f := new(eviction.ZoneWorld)
		for i := range ready + unready {
			n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprintf("n%03d", i), UID: fmt.Sprint(i), Labels: map[string]string{eviction.LabelZone: "a"}}}
			status := fairlead.ConditionTrue
			if i >= ready {
				status = fairlead.ConditionFalse
			}
			n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: status, LastTransitionTime: start}}
			f.Nodes = append(f.Nodes, n)
		}
		other := f.Nodes[0]
		other.Name, other.UID, other.Labels = "other", "other", nil
		other.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionTrue}}
		f.Nodes = append(f.Nodes, other) // so that not all is dark
		return f
	}
	for _, c := range []struct {
		ready, unready int
		mode           eviction.ZoneMode
		rate           float64
	}{
		{1, 0, eviction.ZoneNormal, 0.1}, {0, 1, eviction.ZoneFullDisruption, 0.1}, {1, 2, eviction.ZoneNormal, 0.1}, {2, 3, eviction.ZonePartialDisruption, 0},
		{9, 11, eviction.ZonePartialDisruption, 0}, {46, 54, eviction.ZoneNormal, 0.1}, {45, 55, eviction.ZonePartialDisruption, 0.01},
		{10, 40, eviction.ZonePartialDisruption, 0}, {10, 41, eviction.ZonePartialDisruption, 0.01}, {0, 60, eviction.ZoneFullDisruption, 0.1},
	} {
		d := eviction.ZoneStep(eviction.ZoneState{}, fleet(c.ready, c.unready), start, nil)
		z := d.State.Zones[1]
		if z.Name != "/a" || z.Mode != c.mode || z.Rate != c.rate {
			t.Errorf("%d ready, %d not: %+v", c.ready, c.unready, z)
		}
		if tokens := len(d.Actions); (c.rate > 0 && c.unready > 0) != (tokens == 1) {
			t.Errorf("%d ready, %d not: %d tokens at first", c.ready, c.unready, tokens)
		}
	}
	// From no tokens to some: the first comes after an interval; from some to others: so too; the same again: no change.
	d := eviction.ZoneStep(eviction.ZoneState{}, fleet(2, 3), start, nil)
	d = eviction.ZoneStep(d.State, fleet(5, 3), start.Add(time.Hour), nil)
	if want := start.Add(time.Hour + 10*time.Second); len(d.Actions) != 0 || !d.Wake.Equal(want) {
		t.Errorf("after a stop: %d tokens, wake %s", len(d.Actions), d.Wake)
	}
	again := eviction.ZoneStep(d.State, fleet(5, 3), start.Add(time.Hour+time.Second), nil)
	if !again.Wake.Equal(d.Wake) || !reflect.DeepEqual(again.State, d.State) {
		t.Errorf("at the same rate: %+v, was %+v", again.State, d.State)
	}
	// No token for nodes that are ready, or have their taint.
	f := fleet(5, 3)
	for i := range f.Nodes {
		f.Nodes[i].Spec.Taints = []fairlead.Taint{{Key: taints.KeyNotReady, Effect: fairlead.NoExecute}}
	}
	if d := eviction.ZoneStep(eviction.ZoneState{}, f, start, nil); len(d.Actions) != 0 || !d.State.Zones[1].Empty.IsZero() {
		t.Errorf("tokens for nothing: %v", d.Actions)
	}
}

// TestListedTwice: a pod that is listed twice is the same as one that is listed once.
func TestListedTwice(t *testing.T) {
	n := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n", UID: "u"}}
	added := start
	n.Spec.Taints = []fairlead.Taint{{Key: "k", Effect: fairlead.NoExecute, TimeAdded: &added}}
	pod := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "d", Name: "p", UID: "pod"}, Spec: fairlead.PodSpec{NodeName: "n"}}
	once := &eviction.World{Name: "n", Node: n, Pods: []fairlead.Pod{pod}}
	twice := &eviction.World{Name: "n", Node: n, Pods: []fairlead.Pod{pod, pod}}
	var states [2]eviction.State
	for i := range 4 { // evicted, waited for, evicted again
		now := start.Add(time.Duration(i) * time.Second)
		a, b := eviction.Step(states[0], once, now, nil), eviction.Step(states[1], twice, now, nil)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("listed once: %+v\nlisted twice: %+v", a, b)
		}
		states[0], states[1] = a.State, b.State
	}
}

// TestAllZonesIsNoNode: whoever has one pass over all zones made by the name that
// stands for them is told which method does that, and nothing is done.
func TestAllZonesIsNoNode(t *testing.T) {
	store := new(fairlead.MemStore)
	for _, p := range []*eviction.Policy{nil, {NodeLifecycle: &eviction.NodeLifecycle{}}} {
		runner, err := eviction.NewRunner(new(eviction.MemBackend), p, &fairlead.RunnerOptions{Store: store})
		if err != nil {
			t.Fatal(err)
		}
		for name, call := range map[string]func(context.Context, string) (eviction.Decision, error){"Reconcile": runner.Reconcile, "Preview": runner.Preview} {
			var field *fairlead.FieldError
			if _, err := call(t.Context(), eviction.AllZones); !errors.As(err, &field) || !strings.Contains(err.Error(), "ReconcileZones") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for r, err := range store.List(t.Context(), "") {
		t.Errorf("something is saved: %v, %v", r, err)
	}
}
