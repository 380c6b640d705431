package loop_test

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/loop"
)

// An engine that lets each node rest for ten minutes before it is started
// again. Its state is when the rest began; the world is whether the node is up.
func Example() {
	type rest struct{ Since time.Time }
	var clock fairlead.ManualClock
	clock.Set(start)
	up := map[string]bool{}
	runner := loop.New(loop.Engine[rest, bool, string]{
		Name:    "rest",
		Version: 1,
		Done:    func(s rest) bool { return s == rest{} },
		Observe: func(_ context.Context, node string) (bool, error) { return up[node], nil },
		Apply:   func(_ context.Context, node, action string) error { up[node] = true; return nil },
		Step: func(s rest, up bool, now time.Time) loop.Decision[rest, string] {
			if up {
				return loop.Decision[rest, string]{}
			}
			if s.Since.IsZero() {
				s.Since = now
			}
			end := s.Since.Add(10 * time.Minute)
			if now.Before(end) {
				wait := fairlead.Block{Subject: "node", Reason: "Resting", Message: "it rests for 10m", Since: s.Since, Unblock: "time"}
				return loop.Decision[rest, string]{State: s, Blocked: []fairlead.Block{wait}, Wake: end}
			}
			return loop.Decision[rest, string]{State: s, Actions: []string{"start"}}
		},
	}, &fairlead.RunnerOptions{Clock: &clock})

	for {
		d, err := runner.Reconcile(context.Background(), "n1")
		fmt.Println(d.Actions, d.Blocked, err)
		if d.Wake.IsZero() {
			return
		}
		clock.Set(d.Wake)
	}
	// Output:
	// [] [node: Resting: it rests for 10m (since 2026-03-01T12:00:00Z); to unblock: time] <nil>
	// [start] [] <nil>
	// [] [] <nil>
}
