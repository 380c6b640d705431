package ownengine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/ownengine"
)

var policy = ownengine.Policy{Patience: 10 * time.Minute}

func open(r *rand.Rand, _ *fairlead.ManualClock) fairlead.Trial[ownengine.World, ownengine.Action] {
	return ownengine.NewTrial(r)
}

func TestEngine(t *testing.T) {
	if err := fairlead.CheckEngine(t.Context(), ownengine.Engine(nil, policy), open, &fairlead.TrialOptions{Runs: 1000}); err != nil {
		t.Error(err)
	}
}

// The simulation finds mistakes in engines.
func TestEngineBroken(t *testing.T) {
	calls := 0
	for want, spoil := range map[string]func(ownengine.World, *ownengine.Decision){
		"boots were ended": func(w ownengine.World, d *ownengine.Decision) {
			d.Actions = append(d.Actions, ownengine.Reboot{Boot: w.Boot})
		},
		"does not settle": func(_ ownengine.World, d *ownengine.Decision) { d.Actions, d.Blocked = nil, nil },
		"Step is not pure": func(_ ownengine.World, d *ownengine.Decision) {
			calls++
			d.State.Boot = fmt.Sprint(calls)
		},
	} {
		engine := ownengine.Engine(nil, policy)
		step := engine.Step
		engine.Step = func(s ownengine.State, w ownengine.World, now time.Time) ownengine.Decision {
			d := step(s, w, now)
			spoil(w, &d)
			return d
		}
		if err := fairlead.CheckEngine(t.Context(), engine, open, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A reboot that fails is retried, and people are alerted when it takes too long.
func TestStep(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	world := ownengine.World{Boot: "7", Wanted: "7"}
	first := ownengine.Step(ownengine.State{}, world, now, policy)
	later := ownengine.Step(first.State, world, now.Add(time.Hour), policy)
	if fmt.Sprint(first.Actions) != "[end boot 7]" || fmt.Sprint(later.Actions) != "[end boot 7 tell people that boot 7 does not end]" {
		t.Errorf("first %v, an hour later %v", first.Actions, later.Actions)
	}
	world.Boot = "8"
	if done := ownengine.Step(later.State, world, now, policy); len(done.Actions) > 0 || done.State.Boot != "" {
		t.Errorf("it is done, and decided on is %+v", done)
	}
}
