package sim

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// TestWaited checks that the longest wait counts, without jumps of the clock.
func TestWaited(t *testing.T) {
	s := New(1)
	b := []fairlead.Block{{Subject: "a", Reason: "R", Since: s.Clock.Now()}}
	s.Clock.Advance(time.Hour)
	s.jumps = []jump{{s.Clock.Now(), time.Hour}}
	s.Clock.Advance(time.Minute)
	Waited(s, b)
	Waited(s, []fairlead.Block{{Subject: "b", Reason: "R", Since: s.Clock.Now().Add(-30 * time.Second)}}) // since the jump
	var all Waits
	all.See(fairlead.Block{Subject: "b", Reason: "R"}, 2*time.Second, 7)
	all.See(fairlead.Block{Subject: "b", Reason: "Q"}, 2*time.Second, 7)
	all.add(&s.waits)
	if got := all.String(); got != "\n          2s  Q (b, seed 7)\n        1m0s  R (a, seed 1)" {
		t.Error(got)
	}
}
