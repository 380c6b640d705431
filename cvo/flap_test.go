package cvo_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
)

// An operator that comes and goes every second is told of all the time, with few
// writes and transitions, and no longer than a while after it stays well.
func TestFlapping(t *testing.T) {
	const ill, well = "available=False degraded=False upgradeable=True operator=4.18.0", "available=True degraded=False upgradeable=True operator=4.18.0"
	for _, c := range []struct {
		name, condition string
		bad             cvo.ConditionStatus
		ill, well       string
		begin           func(*stage)
	}{
		{"at rest", "Failing", cvo.True, ill, well, func(*stage) {}},
		{"degraded at rest", "Failing", cvo.True, "available=True degraded=True operator=4.18.0", well, func(*stage) {}},
		{"while updating", "Failing", cvo.True, ill, well, func(s *stage) {
			s.backend.Operators["a"] = 1000 * time.Hour
			s.want(&cvo.Update{Version: "4.18.1", Image: "r@4.18.1"}, time.Minute)
		}},
		{"not upgradeable", "Upgradeable", cvo.False, "available=True degraded=False upgradeable=False operator=4.18.0", well, func(*stage) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := updatedStage(t)
			c.begin(s)
			is := func(kind string) cvo.Condition {
				for _, one := range s.backend.Version("c").Status.Conditions {
					if one.Type == kind {
						return one
					}
				}
				return cvo.Condition{}
			}
			status := func() cvo.ConditionStatus { return is(c.condition).Status }
			at := func(says string) {
				s.backend.says["a"] = says
				s.clock.Set(s.clock.Now().Add(time.Second))
				for range 20 {
					d, err := s.runner.Reconcile(t.Context(), "c")
					if err != nil {
						t.Fatal(err)
					}
					if len(d.Actions) == 0 {
						return
					}
				}
				t.Fatal("it does not come to rest")
			}
			good := status()
			s.backend.counted()
			transitions, hidden, last := 0, 0, good
			progress := map[string]bool{} // the reasons of Progressing while it is told
			for i := range 600 {
				at(map[bool]string{true: c.ill, false: c.well}[i%2 == 0])
				now := status()
				if now != last {
					transitions++
				}
				if last = now; i > 10 && now != c.bad {
					hidden++
				}
				if i > 10 {
					progress[is("Progressing").Reason] = true
				}
			}
			if len(progress) != 1 && c.name != "while updating" { // which has more to tell
				t.Errorf("Progressing comes and goes: %v", progress)
			}
			if s.backend.writes > 60 || transitions > 6 || hidden > 0 {
				t.Errorf("%d writes, %d transitions, and %d times it is not told", s.backend.writes, transitions, hidden)
			}
			for range 130 {
				at(c.well)
			}
			if status() != good {
				t.Errorf("it is well since two minutes, and %s is %s", c.condition, status())
			}
		})
	}
	t.Run("once", func(t *testing.T) { // is not damped
		s := updatedStage(t)
		for _, says := range []string{ill, well} {
			s.backend.says["a"] = says
			s.run(time.Second)
		}
		for _, one := range s.backend.Version("c").Status.Conditions {
			if one.Type == "Failing" && one.Status != cvo.False {
				t.Errorf("%+v", one)
			}
		}
	})
}

// Once it has come back twice, and not before, the message says that it is intermittent,
// and since when: since it first appeared.
func TestIntermittentText(t *testing.T) {
	const ill, well = "available=False degraded=False upgradeable=True operator=4.18.0", "available=True degraded=False upgradeable=True operator=4.18.0"
	s := updatedStage(t)
	first := s.clock.Now()
	text := "(intermittent since " + first.UTC().Format(time.RFC3339) + ")"
	for i, says := range []string{ill, well, ill, well, ill, well} {
		s.backend.says["a"] = says
		s.run(10 * time.Second)
		for _, one := range s.backend.Version("c").Status.Conditions {
			if one.Type == "Failing" && strings.Contains(one.Message, text) != (i >= 4) {
				t.Errorf("%d times: %s", i/2+1, one.Message)
			}
		}
		told := slices.ContainsFunc(s.last.Blocked, func(b fairlead.Block) bool {
			return b.Reason == "Flapping" && b.Since.Equal(first) && strings.Contains(b.Message, text)
		})
		if told != (i == 5) {
			t.Errorf("%d times, %s: %v", i/2+1, says, s.last.Blocked)
		}
	}
}
