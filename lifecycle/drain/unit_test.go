package drain

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// TestBackoff: it doubles up to its bound, strays by a quarter at most, differs
// between pods, and never depends on anything else.
func TestBackoff(t *testing.T) {
	p := &Policy{}
	different := map[time.Duration]bool{}
	for i := range 200 {
		uid := fmt.Sprint("uid-", i)
		for attempt, middle := range map[int]time.Duration{1: 5 * time.Second, 2: 10 * time.Second, 3: 20 * time.Second, 4: 40 * time.Second, 5: time.Minute, 99: time.Minute} {
			d := p.backoff().For(uid, attempt)
			if d < middle*3/4 || d > middle*5/4 {
				t.Errorf("%s, attempt %d: %v is not near %v", uid, attempt, d, middle)
			}
			if d != p.backoff().For(uid, attempt) {
				t.Errorf("%s, attempt %d: changes", uid, attempt)
			}
		}
		different[p.backoff().For(uid, 1)] = true
	}
	if len(different) < 150 {
		t.Errorf("200 pods share %d times", len(different))
	}
	for _, p := range []*Policy{{MinBackoff: math.MaxInt64}, {MaxBackoff: math.MaxInt64}, {MinBackoff: 1, MaxBackoff: 1}} {
		for _, attempt := range []int{1, 2, 50, 70, math.MaxInt32} {
			if d := p.backoff().For("u", attempt); d < 0 {
				t.Errorf("%+v, attempt %d: %v", p, attempt, d)
			}
		}
	}
}

// step drains once in a cluster and applies.
func (c *testCluster) step(state *Progress, policy *Policy) NodeDecision {
	w := c.world()
	d := Pods(*state, &w, c.labels, c.now, policy)
	for _, a := range d.Actions {
		c.apply(a)
	}
	*state = d.Progress
	return d
}

// TestRetryAfter: what the server asks to wait is waited.
func TestRetryAfter(t *testing.T) {
	c := newCluster()
	c.node.Spec.Unschedulable = true
	c.pod("a", map[string]string{"rs": "a"}, func(string) bool { return false })
	c.failing["evict/a"] = fairlead.Outcome{Failed: true, Code: 429, Message: "slow down"}
	var state Progress
	c.step(&state, nil)
	c.failures[0].RetryAfter = 10 * time.Minute
	c.now = c.now.Add(9 * time.Minute)
	if d := c.step(&state, nil); len(d.Actions) > 0 || d.Wake.Sub(c.now) != time.Minute {
		t.Errorf("%v, wake in %v", d.Actions, d.Wake.Sub(c.now))
	}
	c.now = c.now.Add(time.Minute)
	if d := c.step(&state, nil); len(d.Actions) != 1 {
		t.Errorf("%v", d.Actions)
	}
}

// TestClockSetBack: attempts noted for a time to come stop nothing for longer than
// a backoff.
func TestClockSetBack(t *testing.T) {
	c := newCluster()
	c.pod("a", map[string]string{"rs": "a"}, func(string) bool { return false })
	c.failing["evict/a"], c.failing["cordon/n"] = fairlead.Outcome{Failed: true, Code: 500, Message: "no"}, fairlead.Outcome{Failed: true, Code: 500, Message: "no"}
	var state Progress
	c.now = c.now.Add(24 * time.Hour)
	c.step(&state, nil)
	c.now = drainStart
	c.step(&state, nil)
	c.now = c.now.Add(20 * time.Second)
	if d := c.step(&state, nil); len(d.Actions) != 1 {
		t.Errorf("cordon is not repeated: %v, %+v", d.Actions, d.Progress)
	}
	delete(c.failing, "cordon/n")
	c.now = c.now.Add(time.Hour)
	c.step(&state, nil)
	c.step(&state, nil) // evicts
	c.now = drainStart
	c.step(&state, nil)
	c.now = c.now.Add(20 * time.Second)
	if d := c.step(&state, nil); len(d.Actions) != 1 {
		t.Errorf("the eviction is not repeated: %v, %+v", d.Actions, d.Progress)
	}
}

// TestUnderWay: an eviction whose effect is not seen yet, neither on the pod nor in
// the numbers of its budget, counts against the budget.
func TestUnderWay(t *testing.T) {
	c := newCluster()
	c.node.Spec.Unschedulable = true
	for _, name := range []string{"b", "a"} {
		c.pod(name, map[string]string{"rs": "web", "labels": "app:web"}, func(string) bool { return false })
	}
	if err := c.budget("web", map[string]string{"max": "1", "app": "web"}, func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	c.control()
	w := c.world()
	d := Pods(Progress{}, &w, nil, c.now, nil)
	if len(d.Actions) != 1 || d.Actions[0].Key().ID != "uid-a" {
		t.Fatalf("%v", d.Actions)
	}
	w.Pods[0].Name = "0" // b is looked at first from now on
	if d = Pods(d.Progress, &w, nil, c.now.Add(time.Second), nil); len(d.Actions) > 0 {
		t.Errorf("another one goes: %v", d.Actions)
	}
}

// TestFailureFreesBudget: an attempt that is known to have failed holds nothing of
// a budget. The next look reports the failure, and lets another pod go instead;
// then all is told, and the same again changes nothing.
func TestFailureFreesBudget(t *testing.T) {
	for _, code := range []int{409, 429, 500} {
		c := newCluster()
		c.node.Spec.Unschedulable = true
		for _, name := range []string{"a", "b"} {
			c.pod(name, map[string]string{"rs": "web", "labels": "app:web"}, func(string) bool { return false })
			c.failing["evict/"+name] = fairlead.Outcome{Failed: true, Code: code, Message: "no"}
		}
		if err := c.budget("web", map[string]string{"max": "1", "app": "web"}, func(string) bool { return false }); err != nil {
			t.Fatal(err)
		}
		c.control()
		var state Progress
		for i, pod := range []string{"uid-a", "uid-b"} {
			if d := c.step(&state, nil); len(d.Actions) != 1 || d.Actions[0].Key().ID != pod {
				t.Fatalf("%d: look %d: %v", code, i, d.Actions)
			}
		}
		told := c.step(&state, nil)
		again := c.step(&state, nil)
		if len(told.Actions) > 0 || !reflect.DeepEqual(told, again) {
			t.Errorf("%d: the same again decides on %v, then on %v", code, told, again)
		}
		if ok := code != 409; strings.Contains(told.Failure, "a, d/b") != ok {
			t.Errorf("%d: %q", code, told.Failure)
		}
	}
}

// TestBudgetWithoutStatus: a budget whose status is not reported has no numbers, and one
// that changed has old ones. Neither is said to need what it does not.
func TestBudgetWithoutStatus(t *testing.T) {
	c := newCluster()
	c.node.Spec.Unschedulable = true
	c.pod("a", map[string]string{"rs": "web", "labels": "app:web"}, func(string) bool { return false })
	if err := c.budget("web", map[string]string{"min": "1", "app": "web"}, func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	var state Progress
	numbers := fairlead.BudgetStatus{ObservedGeneration: 1, ExpectedPods: 1, DesiredHealthy: 1, CurrentHealthy: 1}
	for i, x := range []struct {
		generation int64
		status     fairlead.BudgetStatus
		want       string
	}{
		{0, fairlead.BudgetStatus{}, "PodDisruptionBudget d/web: its status is not reported yet"},
		{1, fairlead.BudgetStatus{}, "PodDisruptionBudget d/web: its status is not reported yet"},
		{1, numbers, "PodDisruptionBudget d/web needs 1 healthy pod and has 1, of 1 expected"},
		{2, numbers, "PodDisruptionBudget d/web: its status is of an older generation"},
		{1, numbers, "PodDisruptionBudget d/web needs 1 healthy pod and has 1, of 1 expected"},
	} {
		c.budgets[0].Generation, c.budgets[0].Status = x.generation, x.status
		if d := c.step(&state, nil); len(d.Actions) > 0 || !strings.HasSuffix(d.Failure, x.want) {
			t.Errorf("%d: %v, %q, want %q", i, d.Actions, d.Failure, x.want)
		}
	}
}

// TestFailureIsToldAgain: once a budget lets a pod go again, it is told what the
// attempt failed with that is waited for, not what the budget said before.
func TestFailureIsToldAgain(t *testing.T) {
	c := newCluster()
	c.node.Spec.Unschedulable = true
	c.pod("a", map[string]string{"rs": "web", "labels": "app:web"}, func(string) bool { return false })
	c.failing["evict/a"] = fairlead.Outcome{Failed: true, Code: 500, Message: "webhook down"}
	if err := c.budget("web", map[string]string{"max": "1", "app": "web"}, func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	c.control()
	var state Progress
	c.step(&state, nil)
	b := &c.budgets[0].Status
	for i, allowed := range []int{1, 0, 1} {
		b.DisruptionsAllowed = allowed
		if d := c.step(&state, nil); len(d.Actions) > 0 || strings.HasSuffix(d.Failure, ": webhook down") != (allowed > 0) {
			t.Errorf("look %d: %v, %q", i, d.Actions, d.Failure)
		}
	}
}

// TestCallsPerBlockedPod measures how often the API is asked about a pod that a
// budget keeps, in the first ten minutes: with budgets in view, and without. The
// reference asks 1,284 times a minute: 642 evictions, and as many looks at the pod.
func TestCallsPerBlockedPod(t *testing.T) {
	for _, hidden := range []bool{false, true} {
		c := newCluster()
		c.node.Spec.Unschedulable, c.hidden = true, hidden
		c.pod("db", map[string]string{"sts": "db", "labels": "app:db"}, func(string) bool { return false })
		if err := c.budget("db", map[string]string{"max": "0", "app": "db"}, func(string) bool { return false }); err != nil {
			t.Fatal(err)
		}
		c.control()
		var state Progress
		looks := 0
		const minutes = 10
		for end := c.now.Add(minutes * time.Minute); c.now.Before(end); looks++ {
			c.now = c.step(&state, nil).Wake
		}
		t.Logf("budgets hidden %v: %.1f evictions and %.1f observations a minute", hidden, float64(c.evictions)/minutes, float64(looks)/minutes)
		if most := map[bool]int{false: 0, true: 20}[hidden]; c.evictions > most || looks > 40 {
			t.Errorf("budgets hidden %v: %d evictions, %d observations in %d minutes", hidden, c.evictions, looks, minutes)
		}
	}
}

// TestUncordon: a node is uncordoned only by the drain that has cordoned it, and
// only if it still is.
func TestUncordon(t *testing.T) {
	c := newCluster()
	var state Progress
	if _, ok := state.Uncordon(&c.node); ok {
		t.Error("before anything was done")
	}
	c.step(&state, nil)
	if a, ok := state.Uncordon(&c.node); !ok || a.Node != "n" || a.UID != "node" {
		t.Errorf("%v, %v", a, ok)
	}
	other := c.node
	other.UID = "another"
	if _, ok := state.Uncordon(&other); ok {
		t.Error("another node of the name")
	}
	c.node.Spec.Unschedulable = false
	if _, ok := state.Uncordon(&c.node); ok {
		t.Error("it is not cordoned")
	}
	if _, ok := state.Uncordon(nil); ok {
		t.Error("it is gone")
	}
	c = newCluster()
	c.node.Spec.Unschedulable = true
	state = Progress{}
	c.step(&state, nil)
	if _, ok := state.Uncordon(&c.node); ok {
		t.Error("somebody else has cordoned it")
	}
	state = Progress{Cordoned: "node", CordonMark: "2026-03-01T12:00:00Z"}
	if _, ok := state.Uncordon(&c.node); ok {
		t.Error("somebody else cordoned it at the same time")
	}
	c.node.Annotations = map[string]string{CordonAnnotation: "2026-03-01T12:00:00Z"}
	if _, ok := state.Uncordon(&c.node); !ok {
		t.Error("it is our own cordon")
	}
	c.node.Annotations = nil
	state.CordonMark = ""
	if _, ok := state.Uncordon(&c.node); !ok {
		t.Error("it was cordoned by an older version")
	}
}

// TestOwnFilter is kubectl's TestFilterPods: a filter of one's own may skip,
// refuse, or only tell something, after those that come before it.
func TestOwnFilter(t *testing.T) {
	c := newCluster()
	c.node.Spec.Unschedulable = true
	none := func(string) bool { return false }
	for _, name := range []string{"skip", "refuse", "tell", "none"} {
		c.pod(name, map[string]string{"rs": "a"}, none)
	}
	c.pod("ds", map[string]string{"ds": "a"}, none)
	w := c.world()
	w.Own = []OwnFate{
		{"uid-skip", FateSkip, "not mine"}, {"uid-refuse", FateRefuse, "mine"}, {"uid-ds", FateRefuse, "mine"},
		{"uid-tell", FateEvict, "look out"}, {"uid-none", "", ""}, {"uid-nobody", FateRefuse, "gone"},
	}
	f := newFilter(&Policy{}, &w, nil, c.now)
	got := ""
	for i := range w.Pods {
		s := f.judge(&w.Pods[i])
		got += fmt.Sprintf("%s %s %v\n", s.pod.Name, s.fate, s.reasons())
	}
	want := `skip Skip [{Own Skip not mine }]
refuse Refuse [{Own Refuse mine }]
tell Evict [{Own Evict look out }]
none Evict []
ds Skip [{DaemonSet Skip its DaemonSet would recreate it at once } {Own Refuse mine }]
`
	if got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// TestFiltersOracle compares the filters with a table walk that is written the
// other way round: what stops a pod, in the documented order, the first counts.
func TestFiltersOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	fates := map[Fate]int{}
	for range 20_000 {
		c := newCluster()
		opts := map[string]string{}
		var flags []string
		draw := func(n int) bool { return r.IntN(n) == 0 }
		kind := []string{"", "rs", "ds", "job"}[r.IntN(4)]
		if kind != "" {
			opts[kind] = "a"
		}
		for _, f := range []string{"emptydir", "mirror", "notready"} {
			if draw(3) {
				flags = append(flags, f)
			}
		}
		if draw(3) {
			opts["phase"] = []string{"Succeeded", "Failed", "Pending"}[r.IntN(3)]
		}
		if draw(5) {
			opts["deleting"] = []string{"-20s", "-21s", "5s"}[r.IntN(3)]
		}
		if draw(9) {
			opts["uid"] = "-"
		}
		if draw(4) {
			opts["labels"] = Label + ":" + []string{"Skip", "wait-completed", "x"}[r.IntN(3)]
		}
		c.pod("p", opts, func(w string) bool { return slices.Contains(flags, w) })
		c.setsKnown = draw(2)
		if draw(2) {
			c.sets = []ObjectMeta{{Namespace: "d", Name: "a"}}
		}
		policy := &Policy{KeepUnmanaged: draw(2), KeepLocalStorage: draw(2), RefuseDaemonSets: draw(2), SkipWaitForDeleteTimeoutSeconds: int64(20 * r.IntN(2))}
		w := c.world()
		f := newFilter(policy, &w, nil, c.now)
		s := f.judge(&w.Pods[0])
		finished := opts["phase"] == "Succeeded" || opts["phase"] == "Failed"
		orphan := c.setsKnown && len(c.sets) == 0
		stops := []struct {
			stops bool
			fate  Fate
		}{
			{opts["uid"] == "-", FateRefuse},
			{policy.SkipWaitForDeleteTimeoutSeconds > 0 && opts["deleting"] == "-21s", FateSkip},
			{kind == "ds" && !finished && orphan && policy.KeepUnmanaged, FateRefuse},
			{kind == "ds" && !finished && !orphan && policy.RefuseDaemonSets, FateRefuse},
			{kind == "ds" && !finished && !orphan, FateSkip},
			{slices.Contains(flags, "mirror"), FateSkip},
			{slices.Contains(flags, "emptydir") && !finished && policy.KeepLocalStorage, FateRefuse},
			{kind == "" && !finished && policy.KeepUnmanaged, FateRefuse},
			{strings.HasSuffix(opts["labels"], ":Skip"), FateSkip},
			{strings.HasSuffix(opts["labels"], "completed"), FateWait},
			{true, FateEvict},
		}
		want := stops[slices.IndexFunc(stops, func(x struct {
			stops bool
			fate  Fate
		}) bool {
			return x.stops
		})].fate
		if s.fate != want {
			t.Fatalf("%v %v %+v: %s, want %s, for %v", opts, flags, policy, s.fate, want, s.reasons())
		}
		fates[s.fate]++
	}
	if len(fates) != 4 {
		t.Errorf("only %v came up", fates)
	}
}

// TestForceStopped: only where the instance is known not to run budgets do not count,
// and pods have no grace.
func TestForceStopped(t *testing.T) {
	own := int64(45)
	policy := &Policy{ForceStopped: true, GracePeriodSeconds: &own}
	for _, stopped := range []bool{false, true} {
		c := newCluster()
		c.node.Spec.Unschedulable, c.stopped = true, stopped
		c.pod("a", map[string]string{"rs": "a"}, func(string) bool { return false })
		w := c.world()
		d := Pods(Progress{}, &w, nil, c.now, policy)
		if len(d.Actions) != 1 {
			t.Fatalf("stopped %v: %v", stopped, d.Actions)
		}
		switch a := d.Actions[0].(type) {
		case Evict:
			if stopped || *a.GracePeriodSeconds != own {
				t.Errorf("stopped %v: %+v", stopped, a)
			}
		case DeletePod:
			if !stopped || *a.GracePeriodSeconds != 0 {
				t.Errorf("stopped %v: %+v", stopped, a)
			}
		default:
			t.Errorf("stopped %v: %v", stopped, a)
		}
	}
}

// A rule has at most 32 machines and 32 pods.
func TestRuleEntries(t *testing.T) {
	for n, ok := range map[int]bool{32: true, 33: false} {
		r := Rule{ObjectMeta: ObjectMeta{Name: "r"}}
		r.Spec.Drain.Behavior = BehaviorSkip
		for i := range n {
			r.Spec.Pods = append(r.Spec.Pods, RulePods{Selector: &LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint(i)}}})
		}
		if err := (&Policy{Rules: []Rule{r}}).Check(); (err == nil) != ok {
			t.Errorf("%d entries: %v", n, err)
		}
	}
}

// TestPolicySound checks that the quick look at a policy and Check agree, on each
// field alone.
func TestPolicySound(t *testing.T) {
	rule := func(name string, behavior Behavior) Rule {
		var r Rule
		r.Name, r.Spec.Drain.Behavior = name, behavior
		return r
	}
	machines, pods := rule("a", "Drain"), rule("a", "Drain")
	machines.Spec.Machines, pods.Spec.Pods = make([]RuleMachines, 1), make([]RulePods, 1)
	of := func(r Rule, set func(*Rule)) Policy {
		r.Spec.Machines, r.Spec.Pods = slices.Clone(r.Spec.Machines), slices.Clone(r.Spec.Pods)
		set(&r)
		return Policy{Rules: []Rule{r}}
	}
	good, bad := &LabelSelector{MatchLabels: map[string]string{"a": "b"}}, &LabelSelector{MatchExpressions: []fairlead.SelectorRequirement{{Key: "a", Operator: "Odd"}}}
	for i, p := range []Policy{
		{}, {GracePeriodSeconds: new(int64)}, {GracePeriodSeconds: pointer(-1)}, {SkipWaitForDeleteTimeoutSeconds: -1},
		{MinBackoff: -1}, {MaxBackoff: -1}, {MaxAttempts: -1},
		{Rules: []Rule{rule("a", "Drain"), rule("b", "Skip")}}, {Rules: []Rule{rule("a", "Drain"), rule("a", "Skip")}}, {Rules: []Rule{rule("a", "Odd")}},
		of(machines, func(r *Rule) { r.Spec.Machines[0].Selector, r.Spec.Machines[0].ClusterSelector = good, good }),
		of(machines, func(r *Rule) { r.Spec.Machines[0].Selector = bad }),
		of(machines, func(r *Rule) { r.Spec.Machines[0].ClusterSelector = bad }),
		of(pods, func(r *Rule) { r.Spec.Pods[0].Selector, r.Spec.Pods[0].NamespaceSelector = good, good }),
		of(pods, func(r *Rule) { r.Spec.Pods[0].Selector = bad }),
		of(pods, func(r *Rule) { r.Spec.Pods[0].NamespaceSelector = bad }),
	} {
		if sound, err := p.sound(), p.Check(); sound != (err == nil) {
			t.Errorf("policy %d: sound is %v, Check returns %v", i, sound, err)
		}
	}
}

func pointer(n int64) *int64 { return &n }
