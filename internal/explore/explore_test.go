package explore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/explore"
)

// lamp is a world in which an engine must light a lamp.
type lamp struct {
	Lit   bool
	Burnt int // how often the bulb may fail
	Asked int
}

type memory struct {
	Asked time.Time `json:"asked,omitzero"`
}

type light struct{}

func (light) String() string { return "light" }

// lampModel returns a model of a correct engine, except for the named mistake.
func lampModel(mistake string) *explore.Model[*lamp, memory, light] {
	return &explore.Model[*lamp, memory, light]{
		Name: "lamp", Worlds: []*lamp{{Burnt: 1}}, Clone: explore.Copy[lamp],
		Step: func(s memory, w *lamp, now time.Time) (d explore.Decision[memory, light]) {
			switch {
			case w.Lit:
				return d
			case s.Asked.IsZero() || mistake == "never waits" || !now.Before(s.Asked.Add(time.Minute)) || s.Asked.After(now) && mistake != "clock":
				d.State.Asked = now
				if mistake != "forgets" {
					d.Actions = []light{{}}
				}
			default:
				d.State = s
			}
			d.Wake = d.State.Asked.Add(time.Minute)
			if mistake == "sleeps" {
				d.Wake = time.Time{}
			}
			if mistake == "tells" {
				d.Actions, d.Blocked = nil, []fairlead.Block{{Subject: "lamp", Unblock: "light it"}}
			}
			return d
		},
		Apply: func(w *lamp, _ light, _ time.Time) error {
			if w.Lit && mistake == "twice" {
				return &explore.Broken{Rule: "it is lit already"}
			}
			w.Lit = true
			return nil
		},
		Moves: func(w *lamp, _ time.Time) []explore.Move[*lamp] {
			if w.Burnt == 0 || !w.Lit {
				return nil
			}
			return []explore.Move[*lamp]{{Name: "bulb fails", Do: func(w *lamp) { w.Lit = false; w.Burnt-- }}}
		},
		Rest:     func(w *lamp) bool { return w.Lit },
		Faults:   explore.Faults{Crash: 1, Fail: 1, Lost: 1, Late: 1, Second: 1, Back: 1},
		Patience: 5 * time.Minute, Horizon: 10 * time.Minute,
	}
}

// TestRules checks that each mistake in an engine is found, and that nothing is
// found without one.
func TestRules(t *testing.T) {
	for mistake, want := range map[string]string{
		"":        "",
		"tells":   "",
		"clock":   "sleeps for 24h",
		"forgets": "nothing has been done",
		"sleeps":  "sleeps forever",
		"twice":   "lit already",
	} {
		r, err := explore.Run(lampModel(mistake))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%q: %s", mistake, r)
		switch {
		case !r.Complete && r.Violation == nil:
			t.Errorf("%q: not all states were visited", mistake)
		case want == "" && r.Violation != nil:
			t.Errorf("%q: %v", mistake, r.Violation)
		case want != "" && (r.Violation == nil || !strings.Contains(r.Violation.Rule, want)):
			t.Errorf("%q was not found: %v", mistake, r.Violation)
		}
	}
}

// TestSilentCircle checks that it is not enough that a wait can end if it does
// not have to.
func TestSilentCircle(t *testing.T) {
	type door struct{ Open, Turned bool }
	m := &explore.Model[*door, memory, light]{
		Name: "door", Worlds: []*door{{}}, Clone: explore.Copy[door],
		Step: func(_ memory, w *door, now time.Time) explore.Decision[memory, light] {
			return explore.Decision[memory, light]{Wake: now.Add(time.Minute)}
		},
		Apply: func(*door, light, time.Time) error { return nil },
		Moves: func(w *door, _ time.Time) []explore.Move[*door] {
			return []explore.Move[*door]{{Name: "turns", Do: func(w *door) { w.Turned = !w.Turned }}, {Name: "opens", Do: func(w *door) { w.Open = true }}}
		},
		Rest: func(w *door) bool { return w.Open },
	}
	r, err := explore.Run(m)
	if err != nil || r.Violation == nil {
		t.Fatal(r, err)
	}
	m.Moves = func(w *door, _ time.Time) []explore.Move[*door] {
		return []explore.Move[*door]{{Name: "opens", Sure: true, Do: func(w *door) { w.Open = true }}}
	}
	if r, err = explore.Run(m); err != nil || r.Violation != nil {
		t.Errorf("a sure move ends the wait, but got %v, %v", r.Violation, err)
	}
}

// TestReplay checks that replaying the trace of a violation breaks the same
// rule.
func TestReplay(t *testing.T) {
	m := lampModel("clock")
	r, err := explore.Run(m)
	if err != nil || r.Violation == nil {
		t.Fatal(r, err)
	}
	got := explore.Replay(m, r.Violation.World, strings.Join(r.Violation.Trace, "\n"))
	if !strings.Contains(got, "broken: "+r.Violation.Rule) {
		t.Errorf("%s\n%s", r.Violation.Script("lamp"), got)
	}
	if got := explore.Replay(m, 0, "jump"); got != "jump: cannot happen here\n" {
		t.Error(got)
	}
	if got := explore.Replay(m, 7, "step"); got != "there is no world 7\n" {
		t.Error(got)
	}
}

// TestSame checks that an exploration is the same each time.
func TestSame(t *testing.T) {
	first, err := explore.Run(lampModel(""))
	if err != nil {
		t.Fatal(err)
	}
	second, err := explore.Run(lampModel(""))
	if err != nil || first.String() != second.String() {
		t.Errorf("%v, and then %v (%v)", first, second, err)
	}
}

// TestOwnClock checks that times that the runner writes are distinguished after its clock
// was set back further than the horizon.
func TestOwnClock(t *testing.T) {
	type since struct {
		At   time.Time
		Back bool
	}
	r, err := explore.Run(&explore.Model[*lamp, since, light]{
		Name: "own clock", Worlds: []*lamp{{}}, Clone: explore.Copy[lamp], Rest: func(*lamp) bool { return true },
		Step: func(s since, _ *lamp, now time.Time) (d explore.Decision[since, light]) {
			if s.At.IsZero() || now.Before(s.At) {
				s = since{now, !s.At.IsZero()}
			}
			d.State, d.Wake = s, now.Add(time.Second)
			if s.Back && now.Sub(s.At) == 3*time.Second {
				d.Broken = "three seconds have gone by"
			}
			return d
		},
		Apply:  func(*lamp, light, time.Time) error { return nil },
		Faults: explore.Faults{Back: 1}, Horizon: 10 * time.Minute, Max: 50_000,
	})
	if err != nil || r.Violation == nil || !strings.Contains(r.Violation.Rule, "three seconds") {
		t.Errorf("%v, %v", r, err)
	}
}

// TestOldMarks checks that times beyond the horizon are distinguished, because they
// may be compared.
func TestOldMarks(t *testing.T) {
	type marks struct{ At time.Time }
	r, err := explore.Run(&explore.Model[*marks, marks, light]{
		Name: "marks", Worlds: []*marks{{explore.Begin()}}, Clone: explore.Copy[marks], Rest: func(*marks) bool { return true },
		Step: func(s marks, w *marks, now time.Time) (d explore.Decision[marks, light]) {
			if s.At.IsZero() {
				s = *w
			}
			d.State, d.Wake = s, now.Add(time.Minute)
			if !s.At.Equal(w.At) && now.Sub(w.At) >= 6*time.Minute {
				d.Broken = "another mark"
			}
			return d
		},
		Apply: func(*marks, light, time.Time) error { return nil },
		Moves: func(_ *marks, now time.Time) []explore.Move[*marks] {
			if now != explore.Begin().Add(time.Minute) {
				return nil
			}
			return []explore.Move[*marks]{{Name: "again", Do: func(w *marks) { w.At = now }}}
		},
		Horizon: 3 * time.Minute,
	})
	if err != nil || r.Violation == nil || !strings.Contains(r.Violation.Rule, "another mark") {
		t.Errorf("%v, %v", r, err)
	}
}
