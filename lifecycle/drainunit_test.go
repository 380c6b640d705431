package lifecycle

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// TestBackoff: it doubles up to its bound, strays by a quarter at most, differs
// between pods, and never depends on anything else.
func TestBackoff(t *testing.T) {
	p := &DrainPolicy{}
	different := map[time.Duration]bool{}
	for i := range 200 {
		uid := fmt.Sprint("uid-", i)
		for attempt, middle := range map[int]time.Duration{1: 5 * time.Second, 2: 10 * time.Second, 3: 20 * time.Second, 4: 40 * time.Second, 5: time.Minute, 99: time.Minute} {
			d := p.backoff(uid, attempt)
			if d < middle*3/4 || d > middle*5/4 {
				t.Errorf("%s, attempt %d: %v is not near %v", uid, attempt, d, middle)
			}
			if d != p.backoff(uid, attempt) {
				t.Errorf("%s, attempt %d: changes", uid, attempt)
			}
		}
		different[p.backoff(uid, 1)] = true
	}
	if len(different) < 150 {
		t.Errorf("200 pods share %d times", len(different))
	}
	for _, p := range []*DrainPolicy{{MinBackoff: math.MaxInt64}, {MaxBackoff: math.MaxInt64}, {MinBackoff: 1, MaxBackoff: 1}} {
		for _, attempt := range []int{1, 2, 50, 70, math.MaxInt32} {
			if d := p.backoff("u", attempt); d < 0 {
				t.Errorf("%+v, attempt %d: %v", p, attempt, d)
			}
		}
	}
}

// step drains once in a cluster and applies.
func (c *cluster) step(state *DrainState, policy *DrainPolicy) drainDecision {
	w := c.world()
	list := waitList{now: c.now}
	d := drain(*state, &w, c.labels, c.now, policy, &list)
	for _, a := range d.actions {
		c.apply(a)
	}
	*state = d.state
	return d
}

// TestRetryAfter: what the server asks to wait is waited.
func TestRetryAfter(t *testing.T) {
	c := newCluster()
	c.node.Spec.Unschedulable = true
	c.pod("a", map[string]string{"rs": "a"}, func(string) bool { return false })
	c.failing["evict/a"] = Failure{Code: 429, Message: "slow down"}
	var state DrainState
	c.step(&state, nil)
	c.failures[0].RetryAfter = 10 * time.Minute
	c.now = c.now.Add(9 * time.Minute)
	if d := c.step(&state, nil); len(d.actions) > 0 || d.wake.Sub(c.now) != time.Minute {
		t.Errorf("%v, wake in %v", d.actions, d.wake.Sub(c.now))
	}
	c.now = c.now.Add(time.Minute)
	if d := c.step(&state, nil); len(d.actions) != 1 {
		t.Errorf("%v", d.actions)
	}
}

// TestClockSetBack: attempts noted for a time to come stop nothing for longer than
// a backoff.
func TestClockSetBack(t *testing.T) {
	c := newCluster()
	c.pod("a", map[string]string{"rs": "a"}, func(string) bool { return false })
	c.failing["evict/a"], c.failing["cordon/n"] = Failure{Code: 500, Message: "no"}, Failure{Code: 500, Message: "no"}
	var state DrainState
	c.now = c.now.Add(24 * time.Hour)
	c.step(&state, nil)
	c.now = drainStart
	c.step(&state, nil)
	c.now = c.now.Add(20 * time.Second)
	if d := c.step(&state, nil); len(d.actions) != 1 {
		t.Errorf("cordon is not repeated: %v, %+v", d.actions, d.state)
	}
	delete(c.failing, "cordon/n")
	c.now = c.now.Add(time.Hour)
	c.step(&state, nil)
	c.step(&state, nil) // evicts
	c.now = drainStart
	c.step(&state, nil)
	c.now = c.now.Add(20 * time.Second)
	if d := c.step(&state, nil); len(d.actions) != 1 {
		t.Errorf("the eviction is not repeated: %v, %+v", d.actions, d.state)
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
		var state DrainState
		looks := 0
		const minutes = 10
		for end := c.now.Add(minutes * time.Minute); c.now.Before(end); looks++ {
			c.now = c.step(&state, nil).wake
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
	var state DrainState
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
	state = DrainState{}
	c.step(&state, nil)
	if _, ok := state.Uncordon(&c.node); ok {
		t.Error("somebody else has cordoned it")
	}
}
