package fairlead_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// bulb is a small world in which an engine must light a lamp.
type bulb struct {
	Lit     bool
	Burnt   int  // how often the bulb may fail
	Flips   bool // it flickers forever
	Flicker bool
	Mistake string // of the world
	At      time.Time
	Marks   int // how often At may be moved
	clock   *fairlead.ManualClock
	bad     error
}

type memory struct {
	Asked time.Time `json:"asked,omitzero"`
	Back  bool      `json:"back,omitempty"`
}

type light struct{}

func (light) String() string    { return "light" }
func (light) Key() fairlead.Key { return fairlead.Key{Kind: "Light"} }

func (w *bulb) Observe(context.Context, string) (bulb, error) { return *w, nil }
func (w *bulb) Change()                                       {}
func (w *bulb) Check() error                                  { return w.bad }

func (w *bulb) Apply(context.Context, string, light) error {
	if w.Lit && w.Mistake == "twice" {
		w.bad = errors.New("it is lit already")
	}
	w.Lit = true
	return nil
}

func (w *bulb) Settled(string) error {
	if w.Lit {
		return nil
	}
	return errors.New("it is dark")
}

func (w *bulb) Clone() fairlead.SmallTrial[bulb, light] {
	n := *w
	return &n
}

func (w *bulb) Events() (all []fairlead.Event) {
	if w.Burnt > 0 && w.Lit {
		all = append(all, fairlead.Event{Name: "bulb fails", Do: func() { w.Lit = false; w.Burnt-- }})
	}
	if w.Flips {
		all = append(all, fairlead.Event{Name: "flickers", Do: func() { w.Flicker = !w.Flicker }}, fairlead.Event{Name: "is lit", Sure: w.Mistake == "", Do: func() { w.Lit = true }})
	}
	if now := w.clock.Now(); w.Marks > 0 && now.Sub(w.At) == time.Minute {
		all = append(all, fairlead.Event{Name: "mark", Do: func() { w.Marks--; w.At = now }})
	}
	return all
}

// Judge implements fairlead.Judge: rules for the clock.
func (w *bulb) Judge(s memory, seen bulb, now time.Time, d fairlead.Decision[memory, light]) error {
	switch {
	case seen.Mistake == "own clock" && s.Back && now.Sub(s.Asked) == 3*time.Second:
		return errors.New("three seconds have gone by")
	case seen.Mistake == "old marks" && !s.Asked.IsZero() && !s.Asked.Equal(seen.At) && now.Sub(seen.At) >= 6*time.Minute:
		return errors.New("another mark")
	}
	return nil
}

// lampStep returns the Step of a correct engine, except for the named mistake.
func lampStep(mistake string) func(memory, bulb, time.Time) fairlead.Decision[memory, light] {
	return func(s memory, w bulb, now time.Time) (d fairlead.Decision[memory, light]) {
		switch {
		case w.Lit:
			return d
		case s.Asked.IsZero() || !now.Before(s.Asked.Add(time.Minute)) || s.Asked.After(now) && mistake != "clock":
			d.State.Asked = now
			if mistake != "forgets" {
				d.Actions = []light{{}}
			}
		default:
			d.State = s
		}
		d.Wake = d.State.Asked.Add(time.Minute)
		switch mistake {
		case "sleeps":
			d.Wake = time.Time{}
		case "tells":
			d.Actions, d.Blocked = nil, []fairlead.Block{{Subject: "lamp", Reason: "Dark", Message: "it is dark", Unblock: "light it"}}
		case "panics":
			panic("no lamp")
		}
		return d
	}
}

// visitLamp visits the states of a lamp.
func visitLamp(t *testing.T, w bulb, step func(memory, bulb, time.Time) fairlead.Decision[memory, light], o fairlead.TrialOptions) error {
	o.Runs = -1
	if o.Visit.Patience == 0 {
		o.Visit.Patience, o.Visit.Horizon = 5*time.Minute, 10*time.Minute
	}
	engine := fairlead.Engine[memory, bulb, light]{Name: "lamp", Version: 1, Step: step}
	return fairlead.CheckEngine(t.Context(), engine, func(_ *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[bulb, light] {
		n := w
		n.clock = clock
		return &n
	}, &o)
}

// found reports whether a mistake was found, as it should be; the empty one never is.
func found(err error, want string) bool {
	if want == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), want)
}

// Each mistake of an engine is found by a visit, and nothing without one.
func TestVisitRules(t *testing.T) {
	for mistake, want := range map[string]string{
		"":        "",
		"tells":   "none of 14 states is settled", // which a Block excuses, in each
		"clock":   "sleeps for 24h",
		"forgets": "nothing was done for more than 5m",
		"sleeps":  "sleeps forever",
		"twice":   "lit already\nwhat happened:\n\tstep\n\t  to do: light\n",
		"panics":  "no lamp",
	} {
		var counts []string
		o := fairlead.TrialOptions{Visit: fairlead.VisitOptions{Log: func(args ...any) { counts = append(counts, fmt.Sprint(args...)) }}}
		if err := visitLamp(t, bulb{Burnt: 1, Mistake: mistake}, lampStep(mistake), o); !found(err, want) {
			t.Errorf("%q: got %v, want %q", mistake, err, want)
		}
		if mistake == "" && (len(counts) != 8 || strings.Contains(strings.Join(counts, " "), "not all")) {
			t.Errorf("not all states were visited, with each set of faults: %q", counts)
		}
	}
}

// It is not enough that a wait can end if it does not have to.
func TestVisitSilentCircle(t *testing.T) {
	waits := func(_ memory, w bulb, now time.Time) (d fairlead.Decision[memory, light]) {
		d.Wake = now.Add(time.Minute)
		return d
	}
	if err := visitLamp(t, bulb{Flips: true, Mistake: "may be"}, waits, fairlead.TrialOptions{Visit: fairlead.VisitOptions{Patience: 24 * time.Hour}}); !found(err, "go in circles") {
		t.Error(err)
	}
	if err := visitLamp(t, bulb{Flips: true}, waits, fairlead.TrialOptions{Visit: fairlead.VisitOptions{Patience: 24 * time.Hour}}); err != nil {
		t.Errorf("a sure event ends the wait, but got %v", err)
	}
}

// What was found is found again from its path, and a path that is not possible is told.
func TestVisitPath(t *testing.T) {
	err := visitLamp(t, bulb{}, lampStep("clock"), fairlead.TrialOptions{})
	if !found(err, "sleeps for 24h") {
		t.Fatal(err)
	}
	_, history, _ := strings.Cut(err.Error(), "what happened:\n")
	var path []string
	for line := range strings.Lines(history) {
		if name := strings.TrimSuffix(strings.TrimPrefix(line, "\t"), "\n"); !strings.HasPrefix(name, " ") {
			path = append(path, name)
		}
	}
	if again := visitLamp(t, bulb{}, lampStep("clock"), fairlead.TrialOptions{Visit: fairlead.VisitOptions{Path: path}}); again == nil || again.Error() != err.Error() {
		t.Errorf("%v, and by its path %v", err, again)
	}
	if err := visitLamp(t, bulb{}, lampStep(""), fairlead.TrialOptions{Visit: fairlead.VisitOptions{Path: []string{"step", "jump"}}}); !found(err, "jump cannot happen here") {
		t.Error(err)
	}
}

// Times that the process writes are told apart after its clock was set back further than
// the horizon, and so are times beyond it, because they may be compared.
func TestVisitTimes(t *testing.T) {
	own := func(s memory, _ bulb, now time.Time) (d fairlead.Decision[memory, light]) {
		if s.Asked.IsZero() || now.Before(s.Asked) {
			s = memory{now, !s.Asked.IsZero()}
		}
		d.State, d.Wake = s, now.Add(time.Second)
		return d
	}
	if err := visitLamp(t, bulb{Lit: true, Mistake: "own clock"}, own, fairlead.TrialOptions{Visit: fairlead.VisitOptions{States: 50_000}}); !found(err, "three seconds") {
		t.Error(err)
	}
	marks := func(s memory, w bulb, now time.Time) (d fairlead.Decision[memory, light]) {
		if s.Asked.IsZero() {
			s.Asked = w.At
		}
		d.State, d.Wake = s, now.Add(time.Minute)
		return d
	}
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if err := visitLamp(t, bulb{Lit: true, Mistake: "old marks", At: begin, Marks: 1}, marks, fairlead.TrialOptions{Visit: fairlead.VisitOptions{Patience: 24 * time.Hour, Horizon: 3 * time.Minute}}); !found(err, "another mark") {
		t.Error(err)
	}
}
