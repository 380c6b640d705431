package fairlead_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// lamp is a world in which a lamp is to burn, and goes out now and then.
type lamp struct {
	r      *rand.Rand
	on     bool
	broken bool // it cannot be turned on
}

func (l *lamp) Observe(context.Context, string) (bool, error) { return l.on, nil }
func (l *lamp) Apply(_ context.Context, _ string, a lampAction) error {
	if t, ok := a.(turn); ok && !l.broken {
		l.on = t.On
	}
	return nil
}
func (l *lamp) Change()      { l.on = l.on && l.r.IntN(2) == 0 }
func (l *lamp) Check() error { return nil }
func (l *lamp) Settled(string) error {
	if !l.on {
		return errors.New("it is dark")
	}
	return nil
}

func lampEngine() fairlead.Engine[lampState, bool, lampAction] {
	return fairlead.Engine[lampState, bool, lampAction]{
		Name: "lamp", Version: 1,
		Step: func(s lampState, on bool, now time.Time) (d lampDecision) {
			if !on {
				d.Actions = []lampAction{turn{true}}
			}
			d.Wake = now.Add(time.Minute)
			return d
		},
	}
}

// CheckEngine passes an engine that keeps the promises, and names the one that
// another does not keep.
func TestCheckEngine(t *testing.T) {
	plain := func(r *rand.Rand, _ *fairlead.ManualClock) fairlead.Trial[bool, lampAction] { return &lamp{r: r} }
	check := func(e fairlead.Engine[lampState, bool, lampAction], open func(*rand.Rand, *fairlead.ManualClock) fairlead.Trial[bool, lampAction]) error {
		return fairlead.CheckEngine(t.Context(), e, open, &fairlead.TrialOptions{Runs: 20})
	}
	if err := check(lampEngine(), plain); err != nil {
		t.Error(err)
	}
	n := 0
	for _, tt := range []struct {
		want  string
		spoil func(d *lampDecision)
	}{
		{"Step is not pure", func(d *lampDecision) { n++; d.State.On = n%2 == 0 }},
		{"does not settle: it is dark", func(d *lampDecision) { d.Actions = nil }},
		{"panic: boom", func(d *lampDecision) { panic("boom") }},
		{"a decision cannot be read from its JSON", func(d *lampDecision) { d.Actions = []lampAction{impostor{}} }},
	} {
		e := lampEngine()
		step := e.Step
		e.Step = func(s lampState, on bool, now time.Time) lampDecision {
			d := step(s, on, now)
			tt.spoil(&d)
			return d
		}
		if err := check(e, plain); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "seed 1") {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
	dark := func(r *rand.Rand, _ *fairlead.ManualClock) fairlead.Trial[bool, lampAction] {
		return &lamp{r: r, broken: true}
	}
	if err := check(lampEngine(), dark); err == nil {
		t.Error("a lamp that cannot burn, and no Block: found nothing")
	}
	e := lampEngine()
	step := e.Step
	e.Step = func(s lampState, on bool, now time.Time) lampDecision {
		d := step(s, on, now)
		if !on {
			d.Actions, d.Blocked = nil, []fairlead.Block{{Subject: "lamp", Reason: "Broken"}}
		}
		return d
	}
	if err := check(e, dark); err != nil {
		t.Errorf("it is told why it does not burn: %v", err)
	}
}

// dimmed is a lamp without power. At last a person switches that on again, once the engine
// has asked for it.
type dimmed struct {
	lamp
	power, asked bool
	t            *testing.T
	healed       int
}

func (l *dimmed) Apply(ctx context.Context, name string, a lampAction) error {
	if !l.power {
		return errors.New("there is no power")
	}
	return l.lamp.Apply(ctx, name, a)
}

func (l *dimmed) Observe(ctx context.Context, name string) (bool, error) {
	l.asked = true
	return l.lamp.Observe(ctx, name)
}

func (l *dimmed) Change() {
	if l.healed > 0 {
		l.t.Error("the world changes, and there were to be no more faults")
	}
	l.lamp.Change()
}

func (l *dimmed) Heal(name string) {
	if l.healed++; name != "a" {
		l.t.Errorf("%q is healed", name)
	}
	l.power = l.asked
	l.asked = false
}

// An engine that waits for others alone is told when they have done their part, and only
// in the end: they do nothing before.
func TestCheckEngineHeals(t *testing.T) {
	e := lampEngine()
	e.Step = func(_ lampState, on bool, _ time.Time) (d lampDecision) {
		if !on {
			d.Actions, d.Blocked = []lampAction{turn{true}}, []fairlead.Block{{Subject: "lamp", Reason: "NoPower"}}
		}
		return d
	}
	var last *dimmed
	open := func(r *rand.Rand, _ *fairlead.ManualClock) fairlead.Trial[bool, lampAction] {
		if last != nil && last.healed > 0 && (!last.on || !last.power) {
			t.Errorf("healed %d times, with power: %v, and it burns: %v", last.healed, last.power, last.on)
		}
		last = &dimmed{lamp: lamp{r: r}, t: t}
		return last
	}
	if err := fairlead.CheckEngine(t.Context(), e, open, &fairlead.TrialOptions{Runs: 50}); err != nil {
		t.Error(err)
	}
}
