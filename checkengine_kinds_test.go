package fairlead_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
)

// The farm is to run as many workers as are wanted. Each has a number.
type (
	farmState struct {
		fairlead.Pending
		Seen []string `json:"seen,omitempty"` // of an engine that remembers too much
	}
	farmWorld struct {
		Wanted   int                `json:"wanted"`
		Running  []int              `json:"running,omitempty"`
		Outcomes []fairlead.Outcome `json:"outcomes,omitempty"`
	}
	farmAction interface {
		fairlead.Action
		farm()
	}
	hire         struct{ Number int }
	fire         struct{ Number int }
	farmDecision = fairlead.Decision[farmState, farmAction]
)

func (farmState) Kinds() []farmAction { return []farmAction{hire{}, fire{}} }
func (a hire) Key() fairlead.Key      { return fairlead.Key{Kind: "hire", ID: fmt.Sprint(a.Number)} }
func (a fire) Key() fairlead.Key      { return fairlead.Key{Kind: "fire", ID: fmt.Sprint(a.Number)} }
func (a hire) String() string         { return fmt.Sprint("hire worker ", a.Number) }
func (a fire) String() string         { return fmt.Sprint("fire worker ", a.Number) }
func (hire) farm()                    {}
func (fire) farm()                    {}

// farm is the world.
type farm struct {
	*rand.Rand
	wanted   int
	running  []bool // by number
	careless bool   // hires whoever comes, when asked twice
	anybody  bool   // fires whoever is there
}

func (f *farm) Observe(context.Context, string) (farmWorld, error) {
	w := farmWorld{Wanted: f.wanted}
	for i, is := range f.running {
		if is {
			w.Running = append(w.Running, i)
		}
	}
	return w, nil
}

func (f *farm) Apply(_ context.Context, _ string, a farmAction) error {
	switch a := a.(type) {
	case hire:
		for len(f.running) <= a.Number || f.careless && f.running[a.Number] {
			if f.running = append(f.running, false); f.careless {
				a.Number = len(f.running) - 1
			}
		}
		f.running[a.Number] = true
	case fire:
		for i := range f.running {
			if f.running[i] && (f.anybody || i == a.Number) {
				f.running[i] = false
				break
			}
		}
	}
	return nil
}

func (f *farm) Change() { f.wanted = 1 + f.IntN(3) }

func (f *farm) count() (n int) {
	for _, is := range f.running {
		if is {
			n++
		}
	}
	return n
}

// Check implements fairlead.Trial: there are at most three, and once there were workers, never none.
func (f *farm) Check() error {
	if n := f.count(); n > 3 || n == 0 && len(f.running) > 0 {
		return fmt.Errorf("there are %d workers", n)
	}
	return nil
}

func (f *farm) Settled(string) error {
	if n := f.count(); n != f.wanted {
		return fmt.Errorf("there are %d workers, and %d wanted", n, f.wanted)
	}
	return nil
}

// farmEngine hires those with the lowest numbers, and fires others once there is one that
// stays.
func farmEngine(spoil func(s *farmState, w farmWorld, d *farmDecision)) fairlead.Engine[farmState, farmWorld, farmAction] {
	return fairlead.Engine[farmState, farmWorld, farmAction]{
		Name: "farm", Version: 1,
		Outcomes: func(w farmWorld, o []fairlead.Outcome) farmWorld { w.Outcomes = o; return w },
		Step: func(s farmState, w farmWorld, now time.Time) (d farmDecision) {
			l := fairlead.NewLedger(s.Pending, w.Outcomes, now, fairlead.Backoff{Min: 5 * time.Second})
			do := func(a farmAction) {
				if l.Due(a.Key()) {
					d.Actions = append(d.Actions, a)
				}
				l.Block(fairlead.Block{Subject: "farm", Reason: "Changing", Message: "waits for " + a.String()})
			}
			for i := range w.Wanted {
				if !slices.Contains(w.Running, i) {
					do(hire{i})
				}
			}
			for _, i := range w.Running {
				if i >= w.Wanted && slices.Contains(w.Running, 0) {
					do(fire{i})
				}
			}
			d.State = farmState{Pending: l.Pending(), Seen: s.Seen}
			d.Blocked, d.Wake = l.Blocked(), l.Wake()
			if spoil != nil {
				spoil(&s, w, &d)
			}
			return d
		},
	}
}

// Each kind of mistake is found within 300 runs, and what led to it is told in at most
// twenty lines.
func TestCheckEngineKinds(t *testing.T) {
	for _, c := range []struct {
		name  string
		want  string // nothing is wrong if it is empty
		world farm
		spoil func(s *farmState, w farmWorld, d *farmDecision)
	}{
		{"nothing is wrong", "", farm{}, nil},
		{"a backend that is not idempotent", "workers", farm{careless: true}, nil},
		{"a backend that does not check whom it fires", "workers", farm{anybody: true}, nil},
		{"a wait without a Block", "waits silently", farm{}, func(s *farmState, w farmWorld, d *farmDecision) {
			if len(d.Actions) > 0 && len(w.Running) == 1 { // it looks once more first
				if d.State.Seen = nil; len(s.Seen) == 0 {
					*d = farmDecision{State: farmState{Seen: []string{"a look"}}, Wake: d.Wake.Add(time.Hour)}
				}
			}
		}},
		{"the same wait with a Block", "", farm{}, func(s *farmState, w farmWorld, d *farmDecision) {
			if len(d.Actions) > 0 && len(w.Running) == 1 {
				if d.State.Seen = nil; len(s.Seen) == 0 {
					*d = farmDecision{State: farmState{Seen: []string{"a look"}}, Wake: d.Wake.Add(time.Hour), Blocked: d.Blocked}
				}
			}
		}},
		{"nothing is done", "does not settle", farm{}, func(_ *farmState, _ farmWorld, d *farmDecision) { *d = farmDecision{} }},
		{"a Wake that is forgotten", "Wake is forgotten", farm{}, func(_ *farmState, _ farmWorld, d *farmDecision) {
			if len(d.Actions) == 0 {
				d.Wake = time.Time{}
			}
		}},
		{"a state that grows with each pass", "grows with each pass", farm{}, func(s *farmState, _ farmWorld, d *farmDecision) {
			d.State.Seen = append(append([]string(nil), s.Seen...), "a look")
		}},
		{"a state that grows with each change", "grow with each change", farm{}, func(s *farmState, w farmWorld, d *farmDecision) {
			if len(d.Actions) > 0 {
				d.State.Seen = append(append([]string(nil), s.Seen...), fmt.Sprint("once there were to be ", w.Wanted))
			}
		}},
		{"a state that grows with some changes", "grow with each change", farm{}, func(s *farmState, w farmWorld, d *farmDecision) {
			if d.State.Seen = s.Seen; len(d.Actions) > 0 && len(w.Running) == 3 && w.Wanted == 1 { // a few bytes each time
				d.State.Seen = append(append([]string(nil), s.Seen...), "x")
			}
		}},
		{"a state that grows up to a bound", "", farm{}, func(s *farmState, w farmWorld, d *farmDecision) {
			if d.State.Seen = s.Seen; len(d.Actions) > 0 && len(s.Seen) < 100 {
				d.State.Seen = append(append([]string(nil), s.Seen...), fmt.Sprint("once there were to be ", w.Wanted))
			}
		}},
		{"a state that is too large", "and may have", farm{}, func(_ *farmState, _ farmWorld, d *farmDecision) {
			noise := rand.New(rand.NewPCG(1, 1)) // which cannot be compressed
			for range fairlead.MaxValueSize / 60 {
				d.State.Seen = append(d.State.Seen, strconv.FormatUint(noise.Uint64(), 36))
			}
		}},
		{"an engine that trusts a stale world", "there are 0 workers", farm{anybody: true}, func(_ *farmState, w farmWorld, d *farmDecision) {
			d.Actions = nil // one is fired if there seems to be one too many, whoever it is
			for i := range w.Wanted {
				if len(w.Running) < w.Wanted && !slices.Contains(w.Running, i) {
					d.Actions = append(d.Actions, hire{i})
				}
			}
			if len(w.Running) > w.Wanted {
				d.Actions = append(d.Actions, fire{})
			}
		}},
	} {
		open := func(r *rand.Rand, _ *fairlead.ManualClock) fairlead.Trial[farmWorld, farmAction] {
			w := c.world
			w.Rand, w.wanted = r, 1
			return &w
		}
		runs := 300
		if c.want == "" { // there is nothing to find
			runs = long.N(60, 300)
		}
		for _, seed := range []uint64{1, 5001}[:long.N(1, 2)] { // not by luck
			began := time.Now()
			err := fairlead.CheckEngine(t.Context(), farmEngine(c.spoil), open, &fairlead.TrialOptions{Runs: runs, Seed: seed})
			took := time.Since(began).Round(time.Millisecond)
			t.Logf("%s: %v: %v", c.name, took, err)
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			case err != nil && strings.Count(err.Error(), "\n\t") > 20:
				t.Errorf("%s: too many lines", c.name)
			case c.want != "" && took > time.Minute: // seconds, but for the race detector on a machine that is busy
				t.Errorf("%s: took %v", c.name, took)
			}
		}
	}
	// Runs with two faults at a time, all of them, find the same.
	open := func(r *rand.Rand, _ *fairlead.ManualClock) fairlead.Trial[farmWorld, farmAction] {
		return &farm{Rand: r, wanted: 1, careless: true}
	}
	if err := fairlead.CheckEngine(t.Context(), farmEngine(nil), open, &fairlead.TrialOptions{Runs: 1, Faults: 2, Moves: 8}); err == nil || !strings.Contains(err.Error(), "workers") {
		t.Errorf("all runs with two faults: %v", err)
	}
}

// An engine that, once the clock was set back, waits until it shows again what it showed before, and does not say
// so, is found: it waits for what it remembers, not for what the world names.
func TestCheckEngineSetBack(t *testing.T) {
	engine := farmEngine(nil)
	step := engine.Step
	engine.Step = func(s farmState, w farmWorld, now time.Time) farmDecision {
		d := step(s, w, now)
		if d.State.Seen = s.Seen; len(d.Actions) == 0 {
			return d
		}
		if len(s.Seen) > 0 {
			if until, err := time.Parse(time.RFC3339Nano, s.Seen[0]); err == nil && until.After(now) {
				return farmDecision{State: s, Wake: until}
			}
		}
		d.State.Seen = []string{now.Format(time.RFC3339Nano)}
		return d
	}
	open := func(r *rand.Rand, _ *fairlead.ManualClock) fairlead.Trial[farmWorld, farmAction] {
		return &farm{Rand: r, wanted: 1}
	}
	for _, seed := range []uint64{1, 5001} {
		err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: 300, Seed: seed})
		if err == nil || !strings.Contains(err.Error(), "waits silently") {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}
