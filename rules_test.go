package fairlead_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// TestMeasureRules: what a budget expects, desires, counts as healthy and allows.
func TestMeasureRules(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	all := &fairlead.LabelSelector{}
	count := func(n int) *fairlead.IntOrString { return &fairlead.IntOrString{Int: n} }
	isController := true
	pod := func(name string, change func(p *fairlead.Pod)) *fairlead.Pod {
		p := &fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: name}}
		p.OwnerReferences = []fairlead.OwnerReference{{Kind: "ReplicaSet", Name: "web", UID: "u", Controller: &isController}}
		p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionTrue}}
		if change != nil {
			change(p)
		}
		return p
	}
	three := []*fairlead.Pod{pod("a", nil), pod("b", nil), pod("c", nil)}
	deleting := []*fairlead.Pod{pod("a", nil), pod("b", nil), pod("c", func(p *fairlead.Pod) { p.DeletionTimestamp = &now })}
	free := []*fairlead.Pod{pod("a", nil), pod("b", nil), pod("c", func(p *fairlead.Pod) { p.OwnerReferences = nil })}
	evicted := func(ago time.Duration) map[string]time.Time { return map[string]time.Time{"a": now.Add(-ago)} }
	for _, c := range []struct {
		what                                string
		selector                            *fairlead.LabelSelector
		least, most                         *fairlead.IntOrString
		gone                                map[string]time.Time
		pods                                []*fairlead.Pod
		expected, desired, healthy, allowed int
	}{
		{"a count", all, count(2), nil, nil, three, 3, 2, 3, 1},
		{"no selector selects none", nil, count(2), nil, nil, three, 0, 2, 0, 0},
		{"no selector, nothing desired: nothing is allowed where nothing is expected", nil, count(0), nil, nil, three, 0, 0, 0, 0},
		{"neither number", all, nil, nil, nil, three, 0, 0, 3, 0},
		{"a pod that is being deleted is not healthy", all, count(2), nil, nil, deleting, 3, 2, 2, 0},
		{"a pod without a controller is expected by a count", all, count(2), nil, nil, free, 3, 2, 3, 1},
		{"and not with maxUnavailable", all, nil, count(1), nil, free, 2, 1, 3, 2},
		{"evicted a moment less than two minutes ago", all, count(2), nil, evicted(2*time.Minute - 1), three, 3, 2, 2, 0},
		{"evicted two minutes ago", all, count(2), nil, evicted(2 * time.Minute), three, 3, 2, 3, 1},
	} {
		b := &fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "b"}}
		b.Spec.Selector, b.Spec.MinAvailable, b.Spec.MaxUnavailable, b.Status.DisruptedPods = c.selector, c.least, c.most, c.gone
		s, err := b.Measure(c.pods, nil, now)
		if err != nil || s.ExpectedPods != c.expected || s.DesiredHealthy != c.desired || s.CurrentHealthy != c.healthy || s.DisruptionsAllowed != c.allowed {
			t.Errorf("%s: %+v, %v", c.what, s, err)
		}
	}
}

// TestToleratesRules: empty fields, and numbers at the bound.
func TestToleratesRules(t *testing.T) {
	taint := fairlead.Taint{Key: "load", Value: "5", Effect: fairlead.NoExecute}
	for _, c := range []struct {
		t    fairlead.Toleration
		want bool
	}{
		{fairlead.Toleration{Key: "load", Value: "5"}, true},
		{fairlead.Toleration{Key: "load", Value: "5", Effect: fairlead.NoSchedule}, false},
		{fairlead.Toleration{Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute}, true},
		{fairlead.Toleration{Key: "load", Operator: fairlead.TolerationLt, Value: "5"}, false},
		{fairlead.Toleration{Key: "load", Operator: fairlead.TolerationLt, Value: "6"}, true},
		{fairlead.Toleration{Key: "load", Operator: fairlead.TolerationGt, Value: "5"}, false},
		{fairlead.Toleration{Key: "load", Operator: fairlead.TolerationGt, Value: "4"}, true},
	} {
		if c.t.ToleratesNumber(taint) != c.want {
			t.Errorf("%v: %v", c.t, !c.want)
		}
	}
}

// TestAwaitedRules: the latest outcome counts, and only if it is that of the last attempt.
func TestAwaitedRules(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	key := fairlead.Key{Kind: "evict", ID: "a"}
	pending := fairlead.Pending{Retries: []fairlead.Retry{{Key: key, Attempts: 1, Since: now.Add(-time.Minute), Last: now.Add(-time.Second)}}}
	at := func(ago time.Duration, failed bool) fairlead.Outcome {
		return fairlead.Outcome{Key: key, Failed: failed, At: now.Add(-ago), Message: ago.String()}
	}
	for _, c := range []struct {
		what     string
		outcomes []fairlead.Outcome
		awaited  bool
		message  string
	}{
		{"nothing is known", nil, true, "m"},
		{"it failed", []fairlead.Outcome{at(time.Second, true)}, false, "m: the last attempt failed: 1s"},
		{"an earlier attempt failed", []fairlead.Outcome{at(2*time.Second, true)}, true, "m: the last attempt failed: 2s"},
		{"of two outcomes the latest counts", []fairlead.Outcome{at(time.Second, true), at(0, false)}, true, "m"},
	} {
		l := fairlead.NewLedger(pending, c.outcomes, now, fairlead.Backoff{})
		if got := l.Awaited(key, fairlead.Backoff{Min: time.Hour, Max: time.Hour}); got != c.awaited || l.Because("m", key) != c.message {
			t.Errorf("%s: awaited %v, %q", c.what, got, l.Because("m", key))
		}
	}
}

// TestWaitOfOwner: a wait without words is another one if its owner is another; one with words
// is not.
func TestWaitOfOwner(t *testing.T) {
	begin := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, message := range []string{"", "it waits"} {
		block := func(owner string) fairlead.Block {
			return fairlead.Block{Subject: "pod a/b", Reason: "Hook", Owner: owner, Message: message}
		}
		l := fairlead.NewLedger(fairlead.Pending{}, nil, begin, fairlead.Backoff{})
		l.Block(block("x"))
		later := begin.Add(time.Minute)
		l = fairlead.NewLedger(l.Pending(), nil, later, fairlead.Backoff{})
		want := later
		if message != "" {
			want = begin
		}
		if since := l.Block(block("y")); !since.Equal(want) {
			t.Errorf("message %q: since %v, not %v", message, since, want)
		}
	}
}
